//! Section `patterns`: sectors that an access touches, counted from its lowest, with their byte
//! masks.

use super::bytes::{Reader, put_varint};
use super::error::Fault;
use mias_warp_trace::{KernelTrace, SectorRef};

/// Codes of a sector's byte mask, in the two lowest bits: all bytes, those of the sector before,
/// whole 4-byte words, arbitrary.
const FULL: u64 = 0;
const SAME: u64 = 1;
const WORDS: u64 = 2;
const BYTES: u64 = 3;

/// Returns the byte mask from a mask of 4-byte words.
fn bytes_of_words(words: u8) -> u32 {
    (0..8).filter(|word| words >> word & 1 == 1).map(|word| 0xf << (4 * word)).sum()
}

/// Returns the mask of 4-byte words, if the byte mask has only whole words.
fn words_of_bytes(bytes: u32) -> Option<u8> {
    let words = (0..8).filter(|word| bytes >> (4 * word) & 0xf == 0xf).map(|word| 1 << word).sum();
    (bytes_of_words(words) == bytes).then_some(words)
}

pub(super) fn encode(trace: &KernelTrace) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, trace.patterns().into());
    let mut mask = u32::MAX;
    for pattern in 0..trace.patterns() {
        let sectors = trace.pattern(pattern);
        put_varint(&mut out, sectors.len() as u64);
        let mut expected = 0u64;
        for sector in sectors {
            let gap = (u64::from(sector.delta) - expected) << 2;
            let words = words_of_bytes(sector.byte_mask);
            match (sector.byte_mask, words) {
                (u32::MAX, _) => put_varint(&mut out, gap | FULL),
                (same, _) if same == mask => put_varint(&mut out, gap | SAME),
                (_, Some(words)) => {
                    put_varint(&mut out, gap | WORDS);
                    out.push(words);
                }
                (bytes, None) => {
                    put_varint(&mut out, gap | BYTES);
                    out.extend_from_slice(&bytes.to_le_bytes());
                }
            }
            mask = sector.byte_mask;
            expected = u64::from(sector.delta) + 1;
        }
    }
    out
}

/// Decodes the sectors of all patterns, and the start of each pattern with the end of the last.
pub(super) fn decode(section: &[u8], most_bytes: u64) -> Result<(Vec<SectorRef>, Vec<u32>), Fault> {
    let mut reader = Reader::new(section);
    let (mut sectors, mut starts) = (Vec::new(), vec![0]);
    let mut mask = u32::MAX;
    for _ in 0..reader.varint()? {
        let mut expected = 0u64;
        for _ in 0..reader.varint()? {
            let code = reader.varint()?;
            mask = match code & 3 {
                FULL => u32::MAX,
                SAME => mask,
                WORDS => bytes_of_words(reader.byte()?),
                _ => reader.bytes(4)?.iter().rev().fold(0, |mask, &byte| mask << 8 | u32::from(byte)),
            };
            let gap = code >> 2;
            let delta = u32::try_from(expected + gap).map_err(|_| Fault::Value { what: "a gap between sectors", value: gap })?;
            if size_of_val(&sectors[..]) as u64 >= most_bytes {
                return Err(Fault::MemoryLimit);
            }
            sectors.push(SectorRef { delta, byte_mask: mask });
            expected = u64::from(delta) + 1;
        }
        let end = sectors.len() as u64;
        starts.push(u32::try_from(end).map_err(|_| Fault::Value { what: "the number of sectors", value: end })?);
    }
    reader.finish()?;
    Ok((sectors, starts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Decoded patterns equal those of bytes that were written by hand from
    /// `docs/reference/trace-format.md`.
    #[test]
    fn patterns_are_as_the_format_says() {
        let sector = |delta, byte_mask| SectorRef { delta, byte_mask };
        let bytes = [2, 4, 0, 2 << 2 | 2, 0b101, 1, 0xff, 3, 1, 0, 0, 0x80, 0];
        let (sectors, starts) = decode(&bytes, u64::MAX).unwrap();
        assert_eq!(sectors, [sector(0, u32::MAX), sector(3, 0xf0f), sector(4, 0xf0f), sector(132, 0x8000_0001)]);
        assert_eq!(starts, [0, 4, 4]);
        assert!(decode(&[1, 1, 0xfc, 0xff, 0xff, 0xff, 0x7f], u64::MAX).is_err(), "beyond 32 bits");
    }

    proptest! {
        #[test]
        fn words_are_those_whose_bytes_are_all_set(bytes in any::<u32>(), words in any::<u8>()) {
            prop_assert_eq!(words_of_bytes(bytes_of_words(words)), Some(words));
            let whole = bytes.to_le_bytes().iter().all(|byte| matches!(byte, 0 | 0x0f | 0xf0 | 0xff));
            prop_assert_eq!(words_of_bytes(bytes).is_some(), whole);
        }
    }
}
