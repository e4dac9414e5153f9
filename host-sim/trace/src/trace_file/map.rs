//! Memory mapping of a file, with the only `unsafe` code of this crate.

use memmap2::Mmap;
use std::fs::File;

/// Maps a whole file, read-only.
///
/// # Errors
/// Errors of the system: the file is not a regular file, or the address space is exhausted.
pub(super) fn map(file: &File) -> std::io::Result<Mmap> {
    // SAFETY: the map is read-only, and only callers of this module see it, as bytes, while they
    // decode it. Decoding is sound for any bytes: nothing is transmuted, every length and index is
    // checked before use, and no check is repeated on the map later. `mias` replaces trace files by
    // renaming, never in place, so a map keeps its original file. One risk remains: another program
    // may write into the file during these milliseconds. That may change the result or, if the file
    // is shortened, end the process by SIGBUS, as with every reader that maps files.
    unsafe { Mmap::map(file) }
}
