//! Texture fetches against the definitions of the CUDA C programming guide, section "Texture
//! Fetching", computed here in another way: a texture is continued over all whole numbers, and the
//! filter's weights are exact.

use super::harness::{Device, random, row};
use mias_ptx::ast::Type;
use mias_ptx::lower::record::RecordError;
use mias_ptx::texture::{AddressMode, Filter, Format, Read, Sampler, Shape, Texture};
use mias_ptx::{Arg, Program};
use mias_warp_trace::KernelTrace;
use proptest::prelude::*;

/// Returns a kernel `k(h, in, out)`: four words of `in` per thread are in `%r2` to `%r5`, `%r6` to
/// `%r9` go to `out`.
pub(crate) fn kernel(before: &str, body: &str) -> String {
    format!(
        ".version 7.8\n.target sm_75, texmode_unified\n.address_size 64\n{before}\n.visible .entry k(.param .u64 h, .param .u64 in, .param .u64 out)\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<24>;\n.reg .b64 %rd<16>;\nld.param.u64 %rd1, [h];\nld.param.u64 %rd2, [in];\nld.param.u64 %rd3, [out];\n\
         mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd5, %rd2, %rd4;\nadd.s64 %rd6, %rd3, %rd4;\n\
         ld.global.v4.b32 {{%r2, %r3, %r4, %r5}}, [%rd5];\n{body}\nst.global.v4.b32 [%rd6], {{%r6, %r7, %r8, %r9}};\nret;\n}}\n"
    )
}

/// Texels with the texture that views them. The address is filled in.
pub(crate) struct Image {
    pub(crate) texels: Vec<u8>,
    pub(crate) texture: Texture,
}

/// Creates an image of the name `t` with random texels, with rows a little further apart than
/// necessary.
pub(crate) fn image(shape: Shape, size: [u32; 3], ty: Type, channels: u8, seed: u64) -> Image {
    let format = Format { ty, channels };
    let pitch = u64::from(size[0] * format.bytes()) + 2 * u64::from(format.bytes());
    let bytes = pitch as usize * (size[1] * size[2]) as usize;
    let random: Vec<u8> = random(seed).take(bytes.div_ceil(4)).flat_map(|bits| ((bits >> 20) as u32).to_le_bytes()).collect();
    // Floats between 0 and 1.
    let float = |chunk: &[u8]| (f32::from(chunk[0]) / 256.0 + f32::from(chunk[1]) / 65_536.0).to_le_bytes();
    let texels = if ty == Type::Float(4) { random.chunks(4).flat_map(float).collect() } else { random };
    let name = "t".into();
    let texture = Texture { name, address: 0, shape, size, pitch, format, read: Read::Element, sampler: Sampler::default() };
    Image { texels, texture }
}

impl Image {
    /// Returns the bits of a channel of a texel; zero for a missing channel.
    pub(crate) fn bits(&self, [x, y, z]: [i64; 3], channel: u8) -> u64 {
        let Texture { size, pitch, format, .. } = &self.texture;
        let width = usize::from(format.ty.bytes());
        let row = z * i64::from(size[1]) + y;
        let at = (row as u64 * pitch) as usize + x as usize * format.bytes() as usize + usize::from(channel) * width;
        self.texels[at..at + width].iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
    }

    /// Returns a channel as a float, of the types that are used here.
    fn value(&self, at: [i64; 3], channel: u8) -> f64 {
        let bits = self.bits(at, channel);
        match self.texture.format.ty {
            Type::Unsigned(1) => bits as f64 / 255.0,
            Type::Signed(2) => (f64::from(bits as u16 as i16) / 32_767.0).max(-1.0),
            _ => f32::from_bits(bits as u32).into(),
        }
    }

    /// Returns the index of the texel at `i` of an axis of the continued texture; none beyond a
    /// border.
    fn continued(&self, i: i64, axis: usize) -> Option<i64> {
        let size = i64::from(self.texture.size[axis]);
        match self.texture.sampler.address[axis] {
            AddressMode::Clamp => Some(i.max(0).min(size - 1)),
            AddressMode::Border => (0..size).contains(&i).then_some(i),
            AddressMode::Wrap => Some(i.rem_euclid(size)),
            AddressMode::Mirror => Some(i.rem_euclid(2 * size)).map(|j| if j < size { j } else { 2 * size - 1 - j }),
        }
    }
}

/// Runs `body` with a thread for each of `places`.
pub(crate) fn run(before: &str, body: &str, image: &Image, places: &[[u32; 4]]) -> Result<(Vec<[u32; 4]>, KernelTrace), RecordError> {
    let program = Program::parse("k.ptx", &kernel(before, body), "k").unwrap_or_else(|e| panic!("{e}"));
    let mut device = Device::default();
    let address = device.put(&image.texels);
    let handle = device.0.bind(Texture { address, ..image.texture.clone() }).unwrap();
    let places_at = device.put(&places.iter().flatten().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    let out = device.zeros(16 * places.len());
    let trace = device.run(&program, row(1, places.len() as u32), &[handle, places_at, out].map(Arg::U64))?;
    let words = device.read::<4>(out, 4 * places.len()).into_iter().map(u32::from_le_bytes).collect::<Vec<u32>>();
    Ok((words.chunks(4).map(|four| [four[0], four[1], four[2], four[3]]).collect(), trace))
}

pub(crate) fn fetched(body: &str, image: &Image, places: &[[u32; 4]]) -> Vec<[u32; 4]> {
    run(".global .texref t;", body, image, places).unwrap_or_else(|e| panic!("{e}")).0
}

/// Returns the instruction that looks up the coordinates of a shape, with a layer in `%r5` before
/// them if the shape has layers.
fn lookup(shape: Shape, types: &str) -> String {
    let place = match shape {
        Shape::One => "{%r2}",
        Shape::Two => "{%r2, %r3}",
        Shape::Three => "{%r2, %r3, %r4, %r4}",
        Shape::OneLayered => "{%r5, %r2}",
        Shape::TwoLayered => "{%r5, %r2, %r3, %r3}",
    };
    format!("tex.{shape}.v4.{types} {{%r6, %r7, %r8, %r9}}, [%rd1, {place}];")
}

const SHAPES: [Shape; 5] = [Shape::One, Shape::Two, Shape::Three, Shape::OneLayered, Shape::TwoLayered];
const MODES: [AddressMode; 4] = [AddressMode::Clamp, AddressMode::Border, AddressMode::Wrap, AddressMode::Mirror];

fn sized(shape: Shape, [x, y, z]: [u32; 3]) -> [u32; 3] {
    match shape {
        Shape::One => [x, 1, 1],
        Shape::Two => [x, y, 1],
        Shape::OneLayered => [x, 1, z],
        Shape::Three | Shape::TwoLayered => [x, y, z],
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Fetches equal sums over a continued texture with exact weights, to within half of a 256th of
    /// a texel per axis: filtered and not, normalized and not, with every address mode, on every
    /// geometry.
    #[test]
    fn fetches_are_sums_over_the_continued_texture(
        shape in prop::sample::select(SHAPES.to_vec()),
        size in [1u32..9, 1u32..7, 1u32..5],
        modes in [0usize..4, 0usize..4, 0usize..4],
        (linear, normalized, seed) in any::<(bool, bool, u16)>(),
        ty in prop::sample::select(vec![Type::Unsigned(1), Type::Signed(2), Type::Float(4)]),
        channels in prop::sample::select(vec![1u8, 2, 4]),
        places in prop::collection::vec([-2.0f32..3.0, -2.0f32..3.0, -2.0f32..3.0, -1.0f32..5.0], 1..40),
    ) {
        let size = sized(shape, size);
        let mut image = image(shape, size, ty, channels, seed.into());
        image.texture.read = if ty == Type::Float(4) { Read::Element } else { Read::Normalized };
        let filter = if linear { Filter::Linear } else { Filter::Point };
        image.texture.sampler = Sampler { address: modes.map(|mode| MODES[if normalized { mode } else { mode % 2 }]), filter, normalized };
        let scale = |axis: usize| if normalized { 1.0 } else { size[axis] as f32 };
        let word = |place: &[f32; 4]| {
            let [x, y, z] = [0, 1, 2].map(|axis| (place[axis] * scale(axis)).to_bits());
            [x, y, z, place[3] as i32 as u32]
        };
        let words: Vec<[u32; 4]> = places.iter().map(word).collect();
        let axes = shape.axes();
        for (found, place) in fetched(&lookup(shape, "f32.f32"), &image, &words).iter().zip(&words) {
            let layer = i64::from(place[3]).min(i64::from(size[2]) - 1);
            let at = [0, 1, 2].map(|axis| f64::from(f32::from_bits(place[axis])) * if normalized { f64::from(size[axis]) } else { 1.0 });
            // At the edge between two texels, rounding may choose either.
            if !linear && (0..axes).any(|axis| (at[axis] - at[axis].round()).abs() < 1e-5) {
                continue;
            }
            for channel in 0..channels {
                let mut sum = 0.0;
                for corner in 0..1usize << axes {
                    let (mut weight, mut texel) = (1.0, [Some(0), Some(0), Some(if shape.is_layered() { layer } else { 0 })]);
                    for axis in 0..axes {
                        let from = if linear { at[axis] - 0.5 } else { at[axis] };
                        let upper = corner >> axis & 1 == 1;
                        let fraction = if linear { from - from.floor() } else { 0.0 };
                        weight *= if upper { fraction } else { 1.0 - fraction };
                        texel[axis] = image.continued(from.floor() as i64 + i64::from(upper), axis);
                    }
                    if let [Some(x), Some(y), Some(z)] = texel {
                        sum += weight * image.value([x, y, z], channel);
                    }
                }
                // Texels are in [-1, 1].
                let bound = if linear { 2.0 * axes as f64 / 512.0 + 1e-5 } else { 1e-7 };
                let found = f64::from(f32::from_bits(found[usize::from(channel)]));
                prop_assert!((found - sum).abs() <= bound, "{} {} {:?} {:?}", found, sum, image.texture, at);
            }
            // The channels that there are not.
            let absent = found.map(f32::from_bits);
            prop_assert_eq!(&absent[usize::from(channels)..], &[0.0, 0.0, 0.0, 1.0][usize::from(channels)..]);
        }
    }

    /// Fetches of integers by texel number are exact for every type.
    #[test]
    fn integers_are_fetched_exactly(
        shape in prop::sample::select(SHAPES.to_vec()),
        size in [1u32..9, 1u32..7, 1u32..5],
        (signed, border, seed) in any::<(bool, bool, u16)>(),
        (bytes, channels) in (prop::sample::select(vec![1u8, 2, 4]), prop::sample::select(vec![1u8, 2, 4])),
        places in prop::collection::vec([-2i32..10, -2i32..10, -2i32..10, -2i32..10], 1..40),
    ) {
        let size = sized(shape, size);
        let mut image = image(shape, size, if signed { Type::Signed(bytes) } else { Type::Unsigned(bytes) }, channels, seed.into());
        image.texture.sampler.address = [if border { AddressMode::Border } else { AddressMode::Clamp }; 3];
        let words: Vec<[u32; 4]> = places.iter().map(|place| place.map(|i| i as u32)).collect();
        let types = if signed { "s32.s32" } else { "u32.s32" };
        for (found, place) in fetched(&lookup(shape, types), &image, &words).iter().zip(&places) {
            let layer = i64::from(place[3] as u32).min(i64::from(size[2]) - 1);
            let mut at = [Some(0), Some(0), Some(if shape.is_layered() { layer } else { 0 })];
            for axis in 0..shape.axes() {
                at[axis] = image.continued(place[axis].into(), axis);
            }
            for channel in 0..4 {
                let expected = match at {
                    _ if channel >= channels => u32::from(channel == 3),
                    [Some(x), Some(y), Some(z)] => match (image.bits([x, y, z], channel) as u32, signed, bytes) {
                        (bits, true, 1) => bits as u8 as i8 as u32,
                        (bits, true, 2) => bits as u16 as i16 as u32,
                        (bits, ..) => bits,
                    },
                    _ => 0,
                };
                prop_assert_eq!(found[usize::from(channel)], expected);
            }
        }
    }

    /// A gather gives one channel of the four texels that the linear filter would take, from the
    /// lower left against the clock.
    #[test]
    fn gathers_are_the_four_neighbors(channel in 0usize..4, x in -1.0f32..9.0, y in -1.0f32..7.0, seed: u16) {
        let image = image(Shape::Two, [8, 6, 1], Type::Unsigned(4), 4, seed.into());
        let comp = ["r", "g", "b", "a"][channel];
        let body = format!("tld4.{comp}.2d.v4.u32.f32 {{%r6, %r7, %r8, %r9}}, [t, {{%r2, %r3}}];");
        let found = fetched(&body, &image, &[[x.to_bits(), y.to_bits(), 0, 0]])[0];
        // A 512th below a whole number is the next whole number.
        let [i, j] = [x, y].map(|place| (f64::from(place) - 0.5 + 1.0 / 512.0).floor() as i64);
        let texel = |i, j| image.bits([image.continued(i, 0).unwrap(), image.continued(j, 1).unwrap(), 0], channel as u8) as u32;
        prop_assert_eq!(found, [texel(i, j + 1), texel(i + 1, j + 1), texel(i + 1, j), texel(i, j)]);
    }
}

/// At the middle of a texel, the filter returns the texel for any neighbors. One level of detail
/// serves all levels.
#[test]
fn a_texels_middle_is_the_texel() {
    let mut image = image(Shape::Two, [4, 4, 1], Type::Float(4), 1, 3);
    image.texels[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
    image.texture.sampler.filter = Filter::Linear;
    let places: Vec<[u32; 4]> = (0..4).map(|i| [(i as f32 + 0.5).to_bits(), 2.5f32.to_bits(), 0, 0]).collect();
    let expected: Vec<u32> = (0..4).map(|i| image.bits([i, 2, 0], 0) as u32).collect();
    for body in [
        "tex.2d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd1, {%r2, %r3}];",
        "tex.level.2d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd1, {%r2, %r3}], %r2;",
        "tex.grad.2d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd1, {%r2, %r3}], {%r2, %r3}, {%r3, %r2};",
        "mov.u64 %rd7, t;\ntex.base.2d.v4.f32.f32 {%r6, _, _, %r9}, [%rd7, {%r2, %r3}];",
        "tex.2d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [t, {%r2, %r3}];",
    ] {
        let found: Vec<u32> = fetched(body, &image, &places).iter().map(|four| four[0]).collect();
        assert_eq!(found, expected, "{body}");
    }
}
