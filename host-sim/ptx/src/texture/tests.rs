//! Formats, footprints, and what is no texture.

use super::*;
use proptest::prelude::*;

fn image() -> Texture {
    let format = Format { ty: Type::Unsigned(1), channels: 4 };
    let sampler = Sampler { address: [AddressMode::Clamp; 3], filter: Filter::Linear, normalized: true };
    let name = "img".into();
    Texture { name, address: 0x1000, shape: Shape::Two, size: [8, 4, 1], pitch: 48, format, read: Read::Normalized, sampler }
}

#[test]
fn what_is_no_texture_says_why() {
    type Break = fn(&mut Texture);
    let breaks: [(Break, &str); 12] = [
        (|t| t.format.ty = Type::Float(8), "channels of type f64; use u8, s8, u16, s16, u32, s32, f16 or f32"),
        (|t| t.format.channels = 3, "3 channels; a texel has 1, 2 or 4"),
        (|t| t.size[1] = 0, "no extent may be zero"),
        (|t| t.size[0] = 1 << 29, "an extent is at most 268435456"),
        (|t| t.size[2] = 2, "does not fit the geometry 2d"),
        (|t| t.shape = Shape::One, "does not fit the geometry 1d"),
        (|t| t.shape = Shape::OneLayered, "does not fit the geometry a1d"),
        (|t| t.format.ty = Type::Float(4), "only integers of 8 and 16 bits support this"),
        (|t| t.read = Read::Element, "a linear filter on integers"),
        (|t| (t.sampler.normalized, t.sampler.address[1]) = (false, AddressMode::Wrap), "wrap and mirror need normalized coordinates"),
        (|t| t.pitch = 34, "must be multiples of a texel's 4 bytes"),
        (|t| t.pitch = 28, "a row of 8 texels of 4 bytes needs 32"),
    ];
    assert_eq!((image().check(), image().bytes()), (Ok(()), Some(3 * 48 + 32)));
    for (break_it, message) in breaks {
        let mut broken = image();
        break_it(&mut broken);
        let error = broken.check().expect_err(message).to_string();
        assert!(error.starts_with("texture `img`: ") && error.contains(message), "{error}");
    }
}

#[test]
fn integers_become_floats_from_end_to_end() {
    let float = |ty, bits| Format { ty, channels: 1 }.float(bits);
    assert_eq!([0, 51, 255].map(|bits| float(Type::Unsigned(1), bits)), [0.0, 0.2, 1.0]);
    assert_eq!([0, 13_107, 65_535].map(|bits| float(Type::Unsigned(2), bits)), [0.0, 0.2, 1.0]);
    assert_eq!([127, 0x80, 0x81, 0].map(|bits| float(Type::Signed(1), bits)), [1.0, -1.0, -1.0, 0.0]);
    assert_eq!([32_767, 0x8000, 0x8001].map(|bits| float(Type::Signed(2), bits)), [1.0, -1.0, -1.0]);
    assert_eq!([0x3c00, 0xc000, 0x0001].map(|bits| float(Type::Float(2), bits)), [1.0, -2.0, 2f32.powi(-24)]);
    assert!(float(Type::Float(2), 0x7e00).is_nan() && float(Type::Float(2), 0xfc00) == f32::NEG_INFINITY);
}

proptest! {
    /// In every mode, the weights are the fraction of x - 0.5 to within half of a 256th, and the
    /// texels are inside.
    #[test]
    fn weights_are_those_of_the_fraction(x in -40.0f32..40.0, size in 1u32..30, mode in 0usize..2) {
        let modes = [AddressMode::Clamp, AddressMode::Border];
        let sampler = Sampler { address: [modes[mode]; 3], filter: Filter::Linear, normalized: false };
        let found = footprint(Coordinate::Place(x), 0, size, &sampler, Filter::Linear);
        prop_assert_eq!(found.weights[0] + found.weights[1], 256);
        prop_assert!(found.texels.iter().flatten().all(|&texel| texel < size));
        if let [Some(first), Some(second)] = found.texels && first != second {
            let center = f64::from(first) * f64::from(found.weights[0]) + f64::from(second) * f64::from(found.weights[1]);
            prop_assert!((center / 256.0 - (f64::from(x) - 0.5)).abs() <= 1.0 / 512.0);
        }
    }

    /// NaN and distant coordinates have a footprint too.
    #[test]
    fn any_bits_have_a_footprint(bits: u32, size in 1u32..1 << 28, normalized: bool, mode in 0usize..4, linear: bool) {
        let modes = [AddressMode::Clamp, AddressMode::Border, AddressMode::Wrap, AddressMode::Mirror];
        let filter = if linear { Filter::Linear } else { Filter::Point };
        let sampler = Sampler { address: [modes[mode]; 3], filter, normalized };
        for x in [Coordinate::Place(f32::from_bits(bits)), Coordinate::Texel(bits as i32)] {
            let found = footprint(x, 2, size, &sampler, filter);
            prop_assert!(found.texels.iter().flatten().all(|&texel| texel < size));
            prop_assert_eq!(found.weights[0] + found.weights[1], 256);
        }
    }
}
