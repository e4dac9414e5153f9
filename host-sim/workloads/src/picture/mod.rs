//! Pictures for `dxtc`: from a PNG or PPM file, or generated.
//!
//! Pixels have 8 bits each of red, green and blue. Gray becomes three equal channels, and
//! transparent pixels are blended over black.

mod png;
mod ppm;
mod synthetic;
#[cfg(test)]
mod tests;

pub use synthetic::synthetic;

use crate::input::file::{self, InputFileError};

/// Maximum side of a picture in pixels (assumption: at a TB per 4 x 4 pixels, one launch of a
/// million TBs is enough).
pub const MAX_SIDE: usize = 4096;

/// Maximum size of a file in bytes: the longest sides in the widest form, numbers of three digits
/// with a space, and some comments.
const MAX_BYTES: u64 = (MAX_SIDE * MAX_SIDE * 3 * 4 + (1 << 20)) as u64;

/// Red, green and blue of a pixel.
pub type Pixel = [u8; 3];

/// A picture; neither side is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Pixels row by row, from the top.
    pub pixels: Vec<Pixel>,
}

/// Reads a PNG or PPM (P6 or P3) file, recognized by its first bytes.
///
/// # Errors
/// [`InputFileError`].
pub fn load(file: &str) -> Result<Picture, InputFileError> {
    let bytes = file::bytes(file, MAX_BYTES)?;
    if png::is(&bytes) { png::read(file, &bytes) } else { ppm::read(file, &bytes) }
}

/// Returns the error in a size, if any.
fn size_error([width, height]: [u64; 2]) -> Option<String> {
    match [width, height] {
        [0, _] | [_, 0] => Some(format!("{width} x {height} pixels: an image has at least one")),
        sides if sides.iter().any(|&side| side > MAX_SIDE as u64) => {
            Some(format!("{width} x {height} pixels: at most {MAX_SIDE} x {MAX_SIDE} are compressed; scale it down"))
        }
        _ => None,
    }
}

impl Picture {
    /// Returns the pixel at a row and column; beyond the edges, the nearest one.
    pub fn at(&self, row: usize, column: usize) -> Pixel {
        self.pixels[row.min(self.height - 1) * self.width + column.min(self.width - 1)]
    }

    /// Returns the square of `side` rows and columns from the middle; `None` if the picture is
    /// smaller.
    #[must_use]
    pub fn middle(&self, side: usize) -> Option<Picture> {
        let [left, top] = [self.width.checked_sub(side)? / 2, self.height.checked_sub(side)? / 2];
        let row = |row: usize| &self.pixels[(top + row) * self.width + left..][..side];
        (side > 0).then(|| Picture { width: side, height: side, pixels: (0..side).flat_map(row).copied().collect() })
    }

    /// Pads both sides to multiples of `step` by repeating the last column and row.
    #[must_use]
    pub fn padded(&self, step: usize) -> Picture {
        let [width, height] = [self.width, self.height].map(|side| side.next_multiple_of(step));
        let pixels = (0..height).flat_map(|row| (0..width).map(move |column| self.at(row, column))).collect();
        Picture { width, height, pixels }
    }
}
