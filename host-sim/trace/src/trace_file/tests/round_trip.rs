//! Decoding inverts encoding, and the bytes are those that `docs/reference/trace-format.md`
//! defines.

use super::super::{Sizes, container, decode, encode};
use super::{file, small};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn what_is_written_is_read(file in file()) {
        let bytes = encode(&file);
        let read = decode(&bytes).unwrap();
        prop_assert_eq!(&read, &file);
        prop_assert_eq!(encode(&read), bytes);
    }
}

/// Encoded sections equal bytes that were written by hand from `docs/reference/trace-format.md`.
#[test]
fn the_sections_are_as_the_format_says() {
    let bytes = encode(&small());
    let sections = container::unpack(&bytes).unwrap();
    let (list, launch, statics): (&[u8], &[u8], &[u8]) =
        (&[5, b's', b'm', b'a', b'l', b'l', 0], &[0, 1, b'k', 2, 1, 1, 32, 1, 1, 16, 0], &[2, 0x60, 16, 1, 4, 0x44, 20, 1, 4]);
    // One shape of 6, `0 1 0 1 0 1`: a run of 2, and a copy of 4 from 2 back.
    let shapes: &[u8] = &[1, 6, 1 << 2 | 3, 3 << 2 | 2, 2];
    // Four whole sectors.
    let patterns: &[u8] = &[1, 4, 0, 0, 0, 0];
    // Two warps of shape 0, as predicted.
    let warps: &[u8] = &[1 << 1];
    // First TB, sectors 128, 132, 136 of load and store in turn. The first access of the load is
    // 128 from the prediction of 0; the first of the store goes by it and its stride, 128 + 128, so
    // that it is 128 off, and its stride 0. The load's second, at 128 + 128, is 132 - 256 = -124
    // off; the store's, 128 + 0, is 4 off; the third ones, 132 + 4, are as predicted. Second TB:
    // its counterparts are shifted by 128, nothing says so yet; both first accesses are 128 off,
    // the rest is right.
    let miss = |step: i64| ((step << 1 ^ step >> 63) as u64) << 2 | 1;
    let varint = |value: u64| [value as u8 | 0x80, (value >> 7) as u8];
    let misses = [128, -128, -124].map(|step| varint(miss(step)));
    let memory = [&misses.concat()[..], &[4 << 3 | 1], &[1 << 1], &varint(miss(128)), &varint(miss(128)), &[3 << 1]].concat();
    assert_eq!(sections, [list, launch, statics, shapes, patterns, warps, &memory]);

    let sizes = Sizes::of(&bytes).unwrap();
    let content: usize = sections[1..].iter().map(|section| section.len()).sum();
    assert_eq!(sizes.launches, [content as u64]);
    // Header, 7 entries of the directory and its checksum.
    assert_eq!(sizes.total as usize, 24 + 7 * 12 + 4 + list.len() + content);
}

#[test]
fn the_header_is_as_the_format_says() {
    let bytes = encode(&small());
    assert_eq!(bytes[..16], *b"\x89mtr\r\n\x1a\n\x01\0\0\0\x01\0\0\0");
    assert_eq!(bytes[16..24], (bytes.len() as u64).to_le_bytes());
    assert_eq!(bytes[24..32], 7u64.to_le_bytes(), "the length of the section `list`");
    // The CRC-32 of its 7 bytes, bit by bit from the definition (ISO 3309: reflected polynomial
    // 0xedb88320).
    let crc = |bytes: &[u8]| {
        !bytes.iter().fold(u32::MAX, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
        })
    };
    assert_eq!(bytes[32..36], crc(b"\x05small\0").to_le_bytes());
    let directory = 24 + 7 * 12;
    assert_eq!(bytes[directory..directory + 4], crc(&bytes[..directory]).to_le_bytes());
}
