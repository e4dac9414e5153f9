//! Reader of PNG (W3C, "Portable Network Graphics, second edition", ISO/IEC 15948): all types of up
//! to 8 bits per channel, interlaced or not. Of an animation, it reads the first picture.

use super::{Picture, size_error};
use crate::input::file::InputFileError;
use ::png::{BitDepth, ColorType, Decoder, DecodingError, Transformations};
use std::io::Cursor;

/// Signature of PNG files (section 5.2).
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Returns whether the bytes are the beginning of a PNG file.
pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.starts_with(SIGNATURE)
}

pub(super) fn read(file: &str, bytes: &[u8]) -> Result<Picture, InputFileError> {
    let fail = |message: String| InputFileError::whole(file, message);
    let damaged = |error: DecodingError| fail(format!("damaged PNG: {error}; write it again"));
    let mut decoder = Decoder::new(Cursor::new(bytes));
    decoder.set_ignore_text_chunk(true);
    decoder.set_transformations(Transformations::EXPAND);
    let info = decoder.read_header_info().map_err(damaged)?;
    let (width, height, depth) = (info.width, info.height, info.bit_depth);
    if let Some(message) = size_error([width.into(), height.into()]) {
        return Err(fail(message));
    }
    if depth == BitDepth::Sixteen {
        return Err(fail("16 bits per channel; write it with 8".into()));
    }
    let mut reader = decoder.read_info().map_err(damaged)?;
    let size = reader.output_buffer_size().ok_or_else(|| fail("too large to decode; scale it down".into()))?;
    let mut data = vec![0; size];
    let frame = reader.next_frame(&mut data).map_err(damaged)?;
    reader.finish().map_err(damaged)?;
    let data = &data[..frame.buffer_size()];
    let gray = |value: u8| [value; 3];
    let over_black = |value: u8, alpha: u8| ((u16::from(value) * u16::from(alpha) + 127) / 255) as u8;
    let pixels = match frame.color_type {
        ColorType::Grayscale => data.iter().map(|&value| gray(value)).collect(),
        ColorType::GrayscaleAlpha => data.as_chunks().0.iter().map(|&[value, alpha]| gray(over_black(value, alpha))).collect(),
        ColorType::Rgb => data.as_chunks().0.to_vec(),
        ColorType::Rgba => data.as_chunks().0.iter().map(|&[r, g, b, alpha]| [r, g, b].map(|value| over_black(value, alpha))).collect(),
        ColorType::Indexed => return Err(fail("damaged PNG: the palette is missing; write it again".into())),
    };
    Ok(Picture { width: width as usize, height: height as usize, pixels })
}
