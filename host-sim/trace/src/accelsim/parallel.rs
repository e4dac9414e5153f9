//! Several threads for one file: one decompresses it and cuts the text where TBs end, others read the TBs of a piece each, and the caller's
//! puts what they have read together, in the order of the file.
//!
//! ```text
//! file -> pieces of whole TBs -> reader 1, 2, .. in turn -> parts, numbered anew in order -> trace
//! ```
//!
//! Every queue holds one piece or part, so that memory is bounded by the number of threads. Numbers within a trace are given in the order in
//! which things first occur in the file, so that the trace does not depend on who read what. Where anything is wrong, nothing is said here:
//! then one thread reads the file from its beginning, and finds what is wrong first.

use super::Warnings;
use super::body::{Body, NoAudience};
use super::header::{self, Header};
use super::source::Lines;
use memchr::memmem;
use mias_hw_model::trace::{KernelTrace, TraceBuilder};
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Text of a piece at least (assumption: a thread reads it in a few milliseconds, within the second-level cache or the third).
const PIECE_BYTES: usize = 1 << 20;

/// A piece is a whole TB at least. Longer ones are left to one thread (assumption: 64 times what a piece has to have).
const MOST_PIECE_BYTES: usize = 64 << 20;

/// Bytes asked of the file at a time.
const CHUNK_BYTES: u64 = 256 << 10;

/// What ends a TB.
const END: &[u8] = b"\n#END_TB";

/// Reads a launch with `threads` threads. None if anything is wrong with it, or it does not come in pieces.
pub(super) fn read(path: &Path, threads: usize, warnings: &mut Warnings) -> Option<(KernelTrace, header::StreamId)> {
    let mut lines = Lines::open(path).ok()?;
    let header = header::read(&mut lines).ok()?;
    let (mut pieces, mut own) = (Pieces::new(lines), Warnings::new());
    let first = pieces.next().ok()?;
    let trace = match pieces.at_end {
        true => {
            let mut nobody = NoAudience;
            let mut body = Body::new(&header, &mut nobody).ok()?;
            body.read_tbs(&mut Lines::of(first?, path)).ok()?;
            body.finish(&mut own).ok()?
        }
        // One thread has enough to do with decompressing.
        false => in_pieces((first?, pieces), (&header, path), threads.saturating_sub(1).max(1), &mut own)?,
    };
    warnings.add(&own);
    Some((trace, header.stream))
}

fn in_pieces(
    (first, mut pieces): (Vec<u8>, Pieces),
    (header, path): (&Header, &Path),
    readers: usize,
    warnings: &mut Warnings,
) -> Option<KernelTrace> {
    thread::scope(|scope| {
        let mut builder = TraceBuilder::new(header.info.clone()).ok()?;
        let (mut to, mut from, mut readings) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..readers {
            let (texts, text) = sync_channel(1);
            let (part, parts) = sync_channel(1);
            to.push(texts);
            from.push(parts);
            readings.push(scope.spawn(move || read_pieces(header, path, &text, &part)));
        }
        scope.spawn(move || {
            let mut piece = Ok(Some(first));
            for to in to.iter().cycle() {
                // A reader that gets nothing any more ends, and so does one whose text cannot be read on.
                let text = match piece {
                    Ok(Some(text)) => Some(text),
                    Ok(None) => return,
                    Err(Unreadable) => None,
                };
                if to.send(text).is_err() {
                    return;
                }
                piece = pieces.next();
            }
        });
        for parts in from.iter().cycle() {
            match parts.recv() {
                Ok(part) => builder.append(&part?).ok()?,
                Err(_) => break,
            }
        }
        // All have ended, as the first of them in turn has.
        for reading in readings {
            let own = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            warnings.add(&own);
        }
        builder.finish().ok()
    })
}

/// Reads pieces as they come. A part is none if a piece is wrong; it is the last.
fn read_pieces(header: &Header, path: &Path, texts: &Receiver<Option<Vec<u8>>>, parts: &SyncSender<Option<KernelTrace>>) -> Warnings {
    let (mut nobody, mut warnings) = (NoAudience, Warnings::new());
    let Ok(mut body) = Body::new(header, &mut nobody) else { return warnings };
    for text in texts {
        let part = text.and_then(|text| body.read_tbs(&mut Lines::of(text, path)).ok().map(|()| body.take_part()));
        let ends = part.is_none();
        if parts.send(part).is_err() || ends {
            return warnings;
        }
    }
    body.warn(&mut warnings);
    warnings
}

/// The file cannot be read on, or a TB of it is too long.
#[derive(Clone, Copy, Debug)]
struct Unreadable;

/// The text after the header, cut behind ends of TBs.
struct Pieces {
    input: Box<dyn Read + Send>,
    text: Vec<u8>,
    at_end: bool,
}

impl Pieces {
    fn new(lines: Lines) -> Self {
        let (input, text) = lines.into_rest();
        Pieces { input, text, at_end: false }
    }

    /// The next piece, none at the end of the file. The last one holds what is left, be it whole TBs or not.
    fn next(&mut self) -> Result<Option<Vec<u8>>, Unreadable> {
        let mut searched = 0;
        loop {
            if self.text.len() >= PIECE_BYTES {
                if let Some(end) = last_end(&self.text[searched..]) {
                    let rest = self.text.split_off(searched + end);
                    return Ok(Some(std::mem::replace(&mut self.text, rest)));
                }
                searched = self.text.len() - END.len();
            }
            if self.at_end {
                return Ok(Some(std::mem::take(&mut self.text)).filter(|text| !text.is_empty()));
            }
            if self.text.len() > MOST_PIECE_BYTES {
                return Err(Unreadable);
            }
            let read = (&mut self.input).take(CHUNK_BYTES).read_to_end(&mut self.text).map_err(|_| Unreadable)?;
            self.at_end = read == 0;
        }
    }
}

/// Where the last line that ends a TB ends, but for its line end.
fn last_end(text: &[u8]) -> Option<usize> {
    let end = memmem::rfind(text, END)? + END.len();
    // Whatever else may follow, the line must not.
    matches!(text.get(end), Some(b'\n' | b'\r')).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: Vec<u8>) -> Vec<Vec<u8>> {
        let mut pieces = Pieces { input: Box::new(std::io::Cursor::new(text)), text: Vec::new(), at_end: false };
        std::iter::from_fn(|| pieces.next().unwrap()).collect()
    }

    #[test]
    fn pieces_end_where_tbs_do_and_are_the_whole() {
        // TBs of 300 kB; the line that ends them is where chunks meet, too.
        for odd in 0..16 {
            let tb = |length: usize| ["#BEGIN_TB\n".to_owned(), "x".repeat(length), "\n#END_TB\n".into()].concat();
            let text = (0..20).map(|number| tb(CHUNK_BYTES as usize + 1000 * number + odd)).collect::<String>();
            let found = pieces(text.clone().into_bytes());
            assert!(found.len() > 3 && found.concat() == text.as_bytes());
            for piece in &found[..found.len() - 1] {
                assert!(piece.ends_with(END) && piece.len() > PIECE_BYTES - 300_000);
                assert!(piece.len() < PIECE_BYTES + CHUNK_BYTES as usize);
            }
        }
    }

    #[test]
    fn what_only_looks_like_an_end_is_none() {
        assert_eq!(last_end(b"a\n#END_TB\nb"), Some(9));
        assert_eq!(last_end(b"a\n#END_TB\r\nb"), Some(9));
        for text in ["a #END_TB\n", "a\n#END_TBS\n", "a\n#END_TB", ""] {
            assert_eq!(last_end(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_tb_beyond_all_bounds_is_refused() {
        let mut pieces = Pieces { input: Box::new(std::io::repeat(b'x')), text: Vec::new(), at_end: false };
        assert!(pieces.next().is_err() && pieces.text.len() < MOST_PIECE_BYTES + 2 * CHUNK_BYTES as usize);
    }
}
