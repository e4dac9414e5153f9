//! Files written here by the formats' rules, or by the PNG crate's encoder, and damaged ones.

use super::*;
use ::png::{BitDepth, ColorType, Encoder};
use proptest::prelude::*;

fn ppm(bytes: &[u8]) -> Result<(usize, usize, Vec<Pixel>), String> {
    ppm::read("p", bytes).map(|p| (p.width, p.height, p.pixels)).map_err(|error| error.to_string())
}

fn png(bytes: &[u8]) -> Result<Vec<Pixel>, String> {
    assert!(png::is(bytes));
    png::read("p", bytes).map(|picture| picture.pixels).map_err(|error| error.to_string())
}

fn encoded(color: ColorType, depth: BitDepth, width: u32, data: &[u8], more: impl FnOnce(&mut Encoder<'_, &mut Vec<u8>>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width, 1);
    encoder.set_color(color);
    encoder.set_depth(depth);
    more(&mut encoder);
    encoder.write_header().unwrap().write_image_data(data).unwrap();
    bytes
}

#[test]
fn pixel_maps_are_read() {
    let pixels = vec![[1, 2, 3], [10, 35, 255]];
    assert_eq!(ppm(b"P6\n# c\n2 1\n255\n\x01\x02\x03\x0a\x23\xff"), Ok((2, 1, pixels.clone())), "10 and `#` are pixels here");
    assert_eq!(ppm(b"P6 1 2 255 \x01\x02\x03\x0a\x23\xffmore"), Ok((1, 2, pixels.clone())));
    assert_eq!(ppm(b"P3\n2 #c\n1\r\n255\n1 2 3\n# c\n10 35 255"), Ok((2, 1, pixels)));
    // Scaled to 255: 7/15 and 8/15 of it, 119 and 136; 1/2 rounds up.
    assert_eq!(ppm(b"P3 1 1 15 7 8 15"), Ok((1, 1, vec![[119, 136, 255]])));
    assert_eq!(ppm(b"P6 1 1 2\n\x00\x01\x02"), Ok((1, 1, vec![[0, 128, 255]])));
}

#[test]
fn damaged_pixel_maps_are_refused() {
    for (bytes, message) in [
        (&b"GIF89a"[..], "p: neither PNG nor PPM (P6, P3), by its first bytes; convert it to one of them"),
        (b"P5 1 1 255 x", "p: neither PNG nor PPM (P6, P3), by its first bytes; convert it to one of them"),
        (b"P6\n0 4\n255\n", "p:2: 0 x 4 pixels: an image has at least one"),
        (b"P6\n4097 4\n255\n", "p:2: 4097 x 4 pixels: at most 4096 x 4096 are compressed; scale it down"),
        (b"P6\n2 -1\n255\n", "p:2: height `-1`: expected a whole number, not negative"),
        (b"P6\n2", "p:2: the file ends before the height; use the complete file"),
        (b"P6\n2 1\n65535\n", "p:3: largest value 65535, 16 bits per channel; write it with 255"),
        (b"P6\n2 1\n0\n", "p:3: largest value 0: expected 1 to 255"),
        (b"P6\n2 1\n255\n12345", "p: 5 bytes of pixels, 2 x 1 take 6; use the complete file"),
        (b"P6\n1 1\n9\n\x01\x02\x0b", "p:4: value 11 is above the largest, 9; write the file again"),
        (b"P3\n1 1\n255\n1\n2\n", "p:6: the file ends before the last pixel; use the complete file"),
        (b"P3\n1 1\n255\n1\n2 256\n", "p:5: value 256 is above the largest, 255; write the file again"),
        (b"P3\n1 1\n255\n1\n2 x\n", "p:5: last pixel `x`: expected a whole number, not negative"),
    ] {
        assert_eq!(ppm(bytes), Err(message.to_owned()));
    }
}

#[test]
fn all_kinds_of_png_up_to_8_bits_are_read() {
    let none = |_: &mut Encoder<'_, &mut Vec<u8>>| {};
    let rgb = encoded(ColorType::Rgb, BitDepth::Eight, 2, &[1, 2, 3, 4, 5, 6], none);
    assert_eq!(png(&rgb), Ok(vec![[1, 2, 3], [4, 5, 6]]));
    let gray = encoded(ColorType::Grayscale, BitDepth::Two, 4, &[0b00_01_10_11], none);
    assert_eq!(png(&gray), Ok(vec![[0; 3], [85; 3], [170; 3], [255; 3]]));
    let palette = encoded(ColorType::Indexed, BitDepth::Four, 2, &[0x10], |encoder| encoder.set_palette(vec![9, 8, 7, 6, 5, 4]));
    assert_eq!(png(&palette), Ok(vec![[6, 5, 4], [9, 8, 7]]));
    // Over black: 200 of 255 of 100 is 78.4; half is 127.5 of 255, and 128 of 255 of 255 is 128.
    let rgba = encoded(ColorType::Rgba, BitDepth::Eight, 2, &[100, 255, 0, 200, 9, 9, 9, 0], none);
    assert_eq!(png(&rgba), Ok(vec![[78, 200, 0], [0; 3]]));
    let gray_alpha = encoded(ColorType::GrayscaleAlpha, BitDepth::Eight, 1, &[255, 128], none);
    assert_eq!(png(&gray_alpha), Ok(vec![[128; 3]]));
    let see_through = |encoder: &mut Encoder<'_, &mut Vec<u8>>| {
        encoder.set_palette(vec![9, 8, 7, 6, 5, 4]);
        encoder.set_trns(vec![0, 255]);
    };
    assert_eq!(png(&encoded(ColorType::Indexed, BitDepth::Eight, 2, &[0, 1], see_through)), Ok(vec![[0; 3], [6, 5, 4]]));
}

#[test]
fn other_png_files_are_refused() {
    let deep = encoded(ColorType::Rgb, BitDepth::Sixteen, 1, &[0; 6], |_| {});
    assert_eq!(png(&deep), Err("p: 16 bits per channel; write it with 8".into()));
    let wide = encoded(ColorType::Grayscale, BitDepth::Eight, 4097, &[0; 4097], |_| {});
    assert_eq!(png(&wide), Err("p: 4097 x 1 pixels: at most 4096 x 4096 are compressed; scale it down".into()));
    let whole = encoded(ColorType::Rgb, BitDepth::Eight, 2, &[1, 2, 3, 4, 5, 6], |_| {});
    // Cut anywhere, up to the last byte of its end.
    for length in 8..whole.len() {
        let message = png(&whole[..length]).unwrap_err();
        assert!(message.starts_with("p: damaged PNG: ") && message.ends_with("; write it again"), "{message}");
    }
    // The width in the header is 0.
    let mut zero = whole.clone();
    zero[16..20].fill(0);
    assert!(png(&zero).unwrap_err().starts_with("p: "));
}

#[test]
fn files_are_told_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let file = |bytes: &[u8]| {
        let path = folder.path().join("picture.jpg");
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    assert_eq!(load(&file(&encoded(ColorType::Rgb, BitDepth::Eight, 1, &[1, 2, 3], |_| {}))).unwrap().pixels, [[1, 2, 3]]);
    assert_eq!(load(&file(b"P3 1 1 255 1 2 3")).unwrap().pixels, [[1, 2, 3]]);
    assert!(load(&file(b"")).unwrap_err().to_string().ends_with("picture.jpg: the file is empty"));
    assert_eq!(load("no.png").unwrap_err().to_string(), "no.png: No such file or directory (os error 2)");
}

#[test]
fn the_edge_is_repeated() {
    let pixels: Vec<Pixel> = (0..6).map(|k| [k; 3]).collect();
    let padded = Picture { width: 3, height: 2, pixels }.padded(4);
    let values: Vec<u8> = padded.pixels.iter().map(|pixel| pixel[0]).collect();
    assert_eq!((padded.width, padded.height), (4, 4));
    assert_eq!(values, [[0, 1, 2, 2], [3, 4, 5, 5], [3, 4, 5, 5], [3, 4, 5, 5]].concat());
    assert_eq!(padded.padded(4), padded);
    let middle = padded.middle(2).unwrap();
    assert_eq!(middle.pixels.iter().map(|pixel| pixel[0]).collect::<Vec<u8>>(), [4, 5, 4, 5]);
    assert_eq!((padded.middle(5), padded.middle(0)), (None, None));
}

proptest! {
    /// P3 and P6 of the same picture are the same.
    #[test]
    fn both_forms_of_pixel_maps_agree(width in 1usize..9, height in 1usize..9, most in 1u8..=255, seed in any::<u64>()) {
        let mut random = crate::random::Random::new(seed);
        let values: Vec<u8> = (0..3 * width * height).map(|_| random.integer(0, most.into()) as u8).collect();
        let text: String = values.iter().map(|value| format!("{value}\n")).collect();
        let head = |magic: &str| format!("{magic}\n{width} {height}\n{most}\n").into_bytes();
        let plain = ppm(&[head("P3"), text.into_bytes()].concat()).unwrap();
        prop_assert_eq!(&ppm(&[head("P6"), values.clone()].concat()).unwrap(), &plain);
        for (value, scaled) in values.iter().zip(plain.2.as_flattened()) {
            // Nearest, halves up.
            prop_assert_eq!(u32::from(*scaled), (510 * u32::from(*value) / u32::from(most)).div_ceil(2), "{} of {}", value, most);
        }
    }

    /// A file with bytes changed or cut off is read, or refused by its name.
    #[test]
    fn damaged_files_never_panic(at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<bool>(), kind in 0usize..3) {
        let mut bytes = match kind {
            0 => encoded(ColorType::Indexed, BitDepth::Four, 5, &[0x10, 0x01, 0x10], |encoder| encoder.set_palette(vec![9, 8, 7, 6, 5, 4])),
            1 => b"P6\n# c\n2 1\n255\n\x01\x02\x03\x0a\x23\xff".to_vec(),
            _ => b"P3\n2 #c\n1\r\n255\n1 2 3\n# c\n10 35 255".to_vec(),
        };
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = with }
        let found = if png::is(&bytes) { png::read("p", &bytes) } else { ppm::read("p", &bytes) };
        match found {
            Ok(picture) => prop_assert_eq!(picture.pixels.len(), picture.width * picture.height),
            Err(error) => prop_assert!(error.to_string().starts_with("p:")),
        }
    }
}
