//! Logs of an image built with the feature `defmt`: the ring buffer with the frames
//! (`firmware/images/src/bin/common/log.rs`), and their texts in the image's ELF file.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use defmt_decoder::{DecodeError, Table};

/// Image and dump to decode.
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
    let (written, ring) = dump.split_first_chunk().with_context(|| format!("{} is not a dump of MIAS_LOG", args.dump.display()))?;
    for line in decode_with(&table, &args.image, &bytes(u32::from_le_bytes(*written), ring))? {
        println!("{line}");
    }
    Ok(())
}

/// Returns the bytes in a ring, oldest first, from the first whole frame. defmt ends a frame with a
/// zero, and has none inside.
pub(crate) fn bytes(written: u32, ring: &[u8]) -> Vec<u8> {
    let written = written as usize;
    if written <= ring.len() {
        return ring[..written].to_vec();
    }
    let (newer, older) = ring.split_at(written % ring.len());
    let cut = [older, newer].concat();
    cut.iter().position(|byte| *byte == 0).map_or_else(Vec::new, |end| cut[end + 1..].to_vec())
}

/// Reads the texts of an image.
fn table(image: &Path) -> Result<Table> {
    let elf = std::fs::read(image).with_context(|| format!("cannot read {}", image.display()))?;
    let table = Table::parse(&elf).with_context(|| format!("{} is not an image with logs", image.display()))?;
    table.with_context(|| format!("{} has no logs: build it with the feature `defmt`", image.display()))
}

/// Returns the text of frames.
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
    ensure!(bytes.is_empty() || !lines.is_empty(), "{} bytes of logs hold no complete frame", bytes.len());
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_read_from_its_oldest_whole_frame() {
        assert_eq!(bytes(3, &[1, 2, 0, 9]), [1, 2, 0]);
        assert_eq!(bytes(4, &[1, 2, 0, 3]), [1, 2, 0, 3]);
        // Bytes 5 and 6 have overwritten the first two; only the end of the first frame is left.
        assert_eq!(bytes(6, &[4, 0, 0, 3]), [3, 4, 0]);
        assert!(bytes(9, &[1, 2, 3, 4]).is_empty());
    }
}
