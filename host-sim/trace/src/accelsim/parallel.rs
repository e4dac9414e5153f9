//! Parallel reader of one file. One thread decompresses the text and cuts it where TBs end. Other
//! threads parse the TBs of one piece each. The calling thread merges the results in file order.
//!
//! ```text
//! file -> pieces of whole TBs -> reader 1, 2, .. in turn -> parts, numbered anew in order -> trace
//! ```
//!
//! The decompressor and the parsers run on separate cores, as far as the number of cores allows
//! ([`cores`]).
//!
//! Every queue holds one piece or part, so the number of threads bounds memory. Numbers within a
//! trace follow the first occurrences in the file, so the trace does not depend on the distribution
//! of pieces. An error is not reported here: one thread then reads the file from its start and
//! finds the first error.

use super::Warnings;
use super::body::{self, Body, NoAudience};
use super::gathering::{Gathering, LastPart, MemoryBudget};
use super::header::{self, Header, StreamId};
use super::source::Lines;
use mias_warp_trace::cores;
use mias_warp_trace::{KernelTrace, TraceBuilder};
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

/// Minimum text of a piece in bytes (assumption: a thread reads it in a few milliseconds, within
/// the second-level or third-level cache).
const PIECE_BYTES: usize = 1 << 20;

/// Maximum size of a piece in bytes. A piece has at least one whole TB; files with larger TBs are
/// read by one thread (assumption: 64 times the minimum).
const MOST_PIECE_BYTES: usize = 64 << 20;

/// Bytes per read from the file.
const CHUNK_BYTES: usize = 256 << 10;

/// End of a TB.
const END: &[u8] = b"\n#END_TB";

/// Reads a launch with `threads` threads. Returns `None` if the launch has an error or cannot be
/// cut into pieces.
pub(super) fn read(path: &Path, threads: usize, warnings: &mut Warnings, room: &mut MemoryBudget<'_>) -> Option<(LastPart, StreamId)> {
    let mut lines = Lines::open(path).ok()?;
    let header = header::read(&mut lines).ok()?;
    let ((input, begin), (used, spare)) = (lines.into_rest(), channel());
    let (mut pieces, mut own) = (Pieces::new(input, begin, spare), Warnings::new());
    let first = pieces.next().ok()?;
    let last = match pieces.at_end {
        true => body::read(&mut first?.lines(path), &header, &mut own, &mut NoAudience, room).ok()?,
        // One thread is busy with decompression.
        false => in_pieces((first?, pieces, used), (&header, path), threads.saturating_sub(1).max(1), &mut own, room)?,
    };
    warnings.add(&own);
    Some((last, header.stream))
}

fn in_pieces(
    (first, mut pieces, used): (Piece, Pieces, Sender<Vec<u8>>),
    (header, path): (&Header, &Path),
    readers: usize,
    warnings: &mut Warnings,
    room: &mut MemoryBudget<'_>,
) -> Option<LastPart> {
    let core = cores::current();
    thread::scope(|scope| {
        let mut gathering = Gathering::new(room);
        let mut builder = TraceBuilder::new(header.info.clone()).ok()?;
        let (mut to, mut from, mut readings) = (Vec::new(), Vec::new(), Vec::new());
        for reader in 0..readers {
            let (texts, text) = sync_channel(1);
            let (part, parts) = sync_channel(1);
            to.push(texts);
            from.push(parts);
            let used = used.clone();
            readings.push(scope.spawn(move || read_pieces((header, path), reader, &text, &part, &used)));
        }
        scope.spawn(move || {
            cores::begin_apart(core, 1);
            let mut piece = Ok(Some(first));
            for to in to.iter().cycle() {
                // A reader ends when its queue ends or when its text is unreadable.
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
                Ok(part) => {
                    builder.append(&part?).ok()?;
                    gathering.added(&mut builder).ok()?;
                }
                Err(_) => break,
            }
        }
        // All readers have ended, as the first one has.
        for reading in readings {
            let own = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            warnings.add(&own);
        }
        gathering.last(&header.info, builder).ok()
    })
}

/// Reads pieces from the queue as reader `number`. A part is `None` for an invalid piece and then
/// the last one. Buffers return to `used`.
fn read_pieces(
    (header, path): (&Header, &Path),
    number: usize,
    pieces: &Receiver<Option<Piece>>,
    parts: &SyncSender<Option<KernelTrace>>,
    used: &Sender<Vec<u8>>,
) -> Warnings {
    let (mut nobody, mut warnings) = (NoAudience, Warnings::new());
    let Ok(mut body) = Body::new(header, &mut nobody) else { return warnings };
    for piece in pieces {
        let part = piece.and_then(|piece| {
            // A reader woken on the decompressor's core would alternate with it, while another core
            // is idle.
            if piece.core == cores::current() {
                cores::begin_apart(piece.core, 1 + number);
            }
            let mut lines = piece.lines(path);
            body.read_tbs(&mut lines, &mut |_| Ok(())).ok()?;
            // A failed send means that the cutting thread has ended.
            let _ = used.send(lines.into_buffer());
            Some(body.take_part())
        });
        let ends = part.is_none();
        if parts.send(part).is_err() || ends {
            return warnings;
        }
    }
    body.warn(&mut warnings);
    warnings
}

/// Error: the file cannot be read further, or one of its TBs is too long.
#[derive(Clone, Copy, Debug)]
struct Unreadable;

/// Piece of text with whole TBs: a prefix of a buffer.
struct Piece {
    buffer: Vec<u8>,
    bytes: usize,
    /// Core on which the piece was cut, once known.
    core: Option<usize>,
}

impl Piece {
    fn lines(self, path: &Path) -> Lines {
        Lines::of(self.buffer, self.bytes, path)
    }
}

/// Text after the header, cut at the ends of TBs.
struct Pieces {
    input: Box<dyn Read + Send>,
    /// Bytes read for the next piece.
    piece: Piece,
    /// Buffers that are free for reuse.
    spare: Receiver<Vec<u8>>,
    at_end: bool,
}

impl Pieces {
    fn new(input: Box<dyn Read + Send>, begin: Vec<u8>, spare: Receiver<Vec<u8>>) -> Self {
        Pieces { input, piece: Piece { bytes: begin.len(), buffer: begin, core: None }, spare, at_end: false }
    }

    /// Returns the next piece, or `None` at the end of the file. The last piece contains the rest,
    /// which may not be whole TBs.
    fn next(&mut self) -> Result<Option<Piece>, Unreadable> {
        let mut searched = 0;
        loop {
            let Piece { buffer, bytes, .. } = &mut self.piece;
            if *bytes >= PIECE_BYTES {
                if let Some(end) = last_end(&buffer[searched..*bytes]) {
                    let end = searched + end;
                    let rest = &buffer[end..*bytes];
                    let mut next = self.spare.try_recv().unwrap_or_default();
                    next.resize(next.len().max(rest.len()), 0);
                    next[..rest.len()].copy_from_slice(rest);
                    let next = Piece { bytes: rest.len(), buffer: next, core: None };
                    return Ok(Some(Piece { bytes: end, core: cores::current(), ..std::mem::replace(&mut self.piece, next) }));
                }
                searched = *bytes - END.len();
            }
            if self.at_end {
                let last = std::mem::replace(&mut self.piece, Piece { buffer: Vec::new(), bytes: 0, core: None });
                return Ok(Some(last).filter(|last| last.bytes > 0));
            }
            if *bytes > MOST_PIECE_BYTES {
                return Err(Unreadable);
            }
            buffer.resize(buffer.len().max(*bytes + CHUNK_BYTES), 0);
            match self.input.read(&mut buffer[*bytes..*bytes + CHUNK_BYTES]) {
                Ok(0) => self.at_end = true,
                Ok(read) => *bytes += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(Unreadable),
            }
        }
    }
}

/// Returns the position after the last line that ends a TB, without its line end.
fn last_end(text: &[u8]) -> Option<usize> {
    // Few other lines contain `#`, and a search for one byte is faster than for several.
    memchr::memrchr_iter(b'#', text).find_map(|at| {
        let begin = at.checked_sub(1)?;
        let end = begin + END.len();
        // Text after the marker on the same line invalidates it.
        (text[begin..].starts_with(END) && matches!(text.get(end), Some(b'\n' | b'\r'))).then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: Vec<u8>) -> Vec<Vec<u8>> {
        let (used, spare) = channel();
        let mut pieces = Pieces::new(Box::new(std::io::Cursor::new(text)), Vec::new(), spare);
        let text = |Piece { buffer, bytes, .. }: Piece| {
            let text = buffer[..bytes].to_vec();
            // A used buffer is longer or shorter than its next content, and contains other text.
            used.send(vec![b'?'; bytes / 2]).unwrap();
            text
        };
        std::iter::from_fn(|| pieces.next().unwrap().map(text)).collect()
    }

    #[test]
    fn pieces_end_where_tbs_do_and_are_the_whole() {
        // TBs of 300 kB, with the line that ends them also across chunk boundaries.
        for odd in 0..16 {
            let tb = |length: usize| ["#BEGIN_TB\n".to_owned(), "x".repeat(length), "\n#END_TB\n".into()].concat();
            let text = (0..20).map(|number| tb(CHUNK_BYTES + 1000 * number + odd)).collect::<String>();
            let found = pieces(text.clone().into_bytes());
            assert!(found.len() > 3 && found.concat() == text.as_bytes());
            for piece in &found[..found.len() - 1] {
                assert!(piece.ends_with(END) && piece.len() > PIECE_BYTES - 300_000);
                assert!(piece.len() < PIECE_BYTES + CHUNK_BYTES);
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
        let mut pieces = Pieces::new(Box::new(std::io::repeat(b'x')), Vec::new(), channel().1);
        assert!(pieces.next().is_err() && pieces.piece.bytes <= MOST_PIECE_BYTES + CHUNK_BYTES);
    }
}
