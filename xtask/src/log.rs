//! Logs of an image that was built with the feature `defmt`: the ring that they are in (`firmware/images/src/bin/common/log.rs`), and the
//! text that the image's ELF file has for them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use defmt_decoder::{DecodeError, Table};

/// What to decode.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The image's ELF file.
    image: PathBuf,
    /// The memory at the symbol `MIAS_LOG`, to its end: in GDB `dump binary value FILE MIAS_LOG`.
    dump: PathBuf,
}

/// Prints the logs in a dump.
pub(crate) fn run(args: &Args) -> Result<()> {
    let table = table(&args.image)?;
    let dump = std::fs::read(&args.dump).with_context(|| format!("cannot read {}", args.dump.display()))?;
    let (written, ring) = dump.split_first_chunk().with_context(|| format!("{} is no dump of MIAS_LOG", args.dump.display()))?;
    for line in decode_with(&table, &args.image, &bytes(u32::from_le_bytes(*written), ring))? {
        println!("{line}");
    }
    Ok(())
}

/// The bytes in a ring, oldest first, from the first whole frame on. defmt ends a frame with a zero, and has none inside.
pub(crate) fn bytes(written: u32, ring: &[u8]) -> Vec<u8> {
    let written = written as usize;
    if written <= ring.len() {
        return ring[..written].to_vec();
    }
    let (newer, older) = ring.split_at(written % ring.len());
    let cut = [older, newer].concat();
    cut.iter().position(|byte| *byte == 0).map_or_else(Vec::new, |end| cut[end + 1..].to_vec())
}

/// The texts of an image.
fn table(image: &Path) -> Result<Table> {
    let elf = std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let table = Table::parse(&elf).with_context(|| format!("{} is no image with logs", image.display()))?;
    table.with_context(|| format!("{} has no logs: build it with the feature `defmt`", image.display()))
}

/// The text of frames.
pub(crate) fn decode(image: &Path, bytes: &[u8]) -> Result<Vec<String>> {
    decode_with(&table(image)?, image, bytes)
}

fn decode_with(table: &Table, image: &Path, bytes: &[u8]) -> Result<Vec<String>> {
    let mut decoder = table.new_stream_decoder();
    decoder.received(bytes);
    let mut lines = Vec::new();
    loop {
        match decoder.decode() {
            Ok(frame) => lines.push(frame.display_message().to_string()),
            Err(DecodeError::UnexpectedEof) => break,
            Err(DecodeError::Malformed) => bail!("frame {} is not one of {}", lines.len() + 1, image.display()),
        }
    }
    ensure!(bytes.is_empty() || !lines.is_empty(), "{} bytes of logs hold no whole frame", bytes.len());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_read_from_its_oldest_whole_frame() {
        assert_eq!(bytes(3, &[1, 2, 0, 9]), [1, 2, 0]);
        assert_eq!(bytes(4, &[1, 2, 0, 3]), [1, 2, 0, 3]);
        // Bytes 5 and 6 have overwritten the first two; of the first frame only its end is left.
        assert_eq!(bytes(6, &[4, 0, 0, 3]), [3, 4, 0]);
        assert!(bytes(9, &[1, 2, 3, 4]).is_empty());
    }
}
