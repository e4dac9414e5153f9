//! Pictures given to kernels: the setting `image`.
//!
//! Without a file, `size` is the number of rows and columns of a generated picture. With a file, it
//! selects that many from the middle.

use super::InputRequest;
use crate::kernels::expression::Scope;
use crate::kernels::{KernelError, Setting};
use crate::picture::{self, MAX_SIDE, Picture};

/// Parts for buffers: the pixels as words, with red in the lowest byte.
pub(super) const PARTS: &[&str] = &["pixels"];

/// Returns the settings of a kernel that takes a picture.
pub(super) fn settings() -> Vec<Setting> {
    let image = "a PNG or PPM file, of which `size` selects that many rows and columns in the middle; by default a synthetic picture";
    vec![Setting::file("image", image)]
}

/// Reads or generates the picture that the settings request, and defines its sides, padded to
/// multiples of `step`.
pub(super) fn read(asked: &InputRequest<'_>, step: usize, scope: &mut Scope) -> Result<Picture, KernelError> {
    let picture = match asked.input.get("image") {
        Some(file) => of_file(asked, file, scope)?,
        None => match side(asked, scope)? {
            Some(side) => picture::synthetic(side, asked.input.seed),
            None => return Err(asked.wrong("image", "", "missing picture; set image=FILE")),
        },
    };
    for (name, pixels) in [("width", picture.width), ("height", picture.height)] {
        scope.set(name, pixels.next_multiple_of(step) as i64);
    }
    Ok(picture)
}

/// Returns the size, which must be possible for a picture.
fn side(asked: &InputRequest<'_>, scope: &Scope) -> Result<Option<usize>, KernelError> {
    let Some(size) = asked.size(scope)? else { return Ok(None) };
    match usize::try_from(size).ok().filter(|side| (1..=MAX_SIDE).contains(side)) {
        Some(side) => Ok(Some(side)),
        None => {
            let message = format!("a picture has 1 to {MAX_SIDE} rows and columns");
            Err(asked.wrong_size(size, message))
        }
    }
}

fn of_file(asked: &InputRequest<'_>, file: &str, scope: &Scope) -> Result<Picture, KernelError> {
    let picture = picture::load(file)?;
    if asked.input.size.is_none() {
        return Ok(picture);
    }
    let Some(side) = side(asked, scope)? else { return Ok(picture) };
    picture.middle(side).ok_or_else(|| {
        let message = format!("{file} has {} x {} pixels; use at most its shorter side", picture.width, picture.height);
        asked.wrong("size", side, message)
    })
}

/// Returns the words of one of [`PARTS`].
pub(super) fn words(picture: &Picture, step: usize, part: &str) -> Option<Vec<u32>> {
    let pixels = |picture: &Picture| picture.pixels.iter().map(|&[r, g, b]| u32::from_le_bytes([r, g, b, 0])).collect();
    (part == "pixels").then(|| pixels(&picture.padded(step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of three pixels, red, green and blue, padded to two rows of four.
    #[test]
    fn pixels_are_words_of_the_picture_filled_up() {
        let picture = Picture { width: 3, height: 1, pixels: vec![[255, 0, 0], [0, 255, 0], [0, 0, 255]] };
        let row = [0x0000_00ff, 0x0000_ff00, 0x00ff_0000, 0x00ff_0000];
        assert_eq!(words(&picture, 4, "pixels"), Some(row.repeat(4)));
        assert_eq!(words(&picture, 1, "pixels"), Some(row[..3].to_vec()));
        assert_eq!(words(&picture, 4, "planes"), None);
    }
}
