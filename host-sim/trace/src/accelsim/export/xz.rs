//! Writer of an `.xz` file whose pieces are compressed in parallel. Each piece is a separate
//! stream. `xz` and every reader of concatenated streams (the format allows them: "The .xz file
//! format", section 2) see one text.
//!
//! The cuts depend only on the text. Equal text gives equal files for any number of workers.

use liblzma::write::XzEncoder;
use rayon::prelude::*;
use std::io::{self, Write};

/// Bytes of text per stream (assumption: twice the dictionary of the preset, so that the cuts cost
/// little compression).
const PIECE_BYTES: usize = 8 << 20;

/// Preset of the compressor. Instruction lines repeat at short distances: preset 6 takes three
/// times as long and saves a tenth.
const PRESET: u32 = 2;

/// An `.xz` file under construction.
#[derive(Debug)]
pub(super) struct XzFile<W: Write> {
    file: W,
    pieces: Vec<Vec<u8>>,
    text: Vec<u8>,
}

impl<W: Write> XzFile<W> {
    /// Creates an empty file.
    pub(super) fn new(file: W) -> Self {
        XzFile { file, pieces: Vec::new(), text: Vec::new() }
    }

    /// Appends text. `append` adds to the end of its argument.
    pub(super) fn write(&mut self, append: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        append(&mut self.text);
        while self.text.len() >= PIECE_BYTES {
            let rest = self.text.split_off(PIECE_BYTES);
            self.pieces.push(std::mem::replace(&mut self.text, rest));
        }
        if self.pieces.len() >= rayon::current_num_threads() { self.compress() } else { Ok(()) }
    }

    /// Writes the remaining text, and returns the file.
    pub(super) fn finish(mut self) -> io::Result<W> {
        self.pieces.push(std::mem::take(&mut self.text));
        self.compress()?;
        self.file.flush()?;
        Ok(self.file)
    }

    fn compress(&mut self) -> io::Result<()> {
        let compressed: Vec<io::Result<Vec<u8>>> = std::mem::take(&mut self.pieces).into_par_iter().map(|piece| stream(&piece)).collect();
        compressed.into_iter().try_for_each(|stream| self.file.write_all(&stream?))
    }
}

/// Compresses text into one stream.
fn stream(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = XzEncoder::new(Vec::new(), PRESET);
    encoder.write_all(text)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelsim::source::Lines;

    /// The device is full after a few bytes or at the end.
    #[test]
    fn a_full_device_is_an_error() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                match self.0.checked_sub(bytes.len()) {
                    Some(left) => self.0 = left,
                    None => return Err(io::ErrorKind::StorageFull.into()),
                }
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut file = XzFile::new(Full(10));
        file.write(|text| text.extend_from_slice(b"short")).unwrap();
        assert_eq!(file.finish().err().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
    }

    /// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
    mod slow {
        use super::*;

        #[test]
        fn pieces_read_as_one_text_whatever_the_workers() {
            let line = |n: u64| format!("{n:032} {:032}\n", n * n);
            let written = |threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut file = XzFile::new(Vec::new());
                    (0..300_000).for_each(|n| file.write(|text| text.extend_from_slice(line(n).as_bytes())).unwrap());
                    file.finish().unwrap()
                })
            };
            let bytes = written(1);
            assert!(bytes == written(3));
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("t.xz");
            std::fs::write(&path, bytes).unwrap();
            let mut lines = Lines::open(&path).unwrap();
            for n in 0..300_000 {
                assert_eq!(lines.next().unwrap(), Some(line(n).trim_end().as_bytes()));
            }
            assert_eq!(lines.next().unwrap(), None);
        }
    }
}
