//! A file as memory: the one `unsafe` of this crate.

use memmap2::Mmap;
use std::fs::File;

/// Maps a whole file, read only.
///
/// # Errors
/// Those of the system: the file is no regular file, or the address space is exhausted.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read only, and only this module's callers see it, as bytes, while they decode it. What they need of
    // it holds for any bytes at all: nothing is transmuted, every length and index read is checked before it is used, and no
    // check is repeated on the map later. `mias` replaces trace files by renaming, never in place, so that a map keeps the
    // file it began with. What stays open: a foreign program that writes into the file within these milliseconds may make
    // the result differ, or if it shortens the file end the process by SIGBUS, as with every reader that maps files.
    unsafe { Mmap::map(file) }
}
