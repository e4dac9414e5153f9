//! Surfaces, queries, references and parameters of textures, what is wrong with them, and what the
//! timing model sees of them.

use super::harness::{Device, count, program, row};
use super::textures::{Image, fetched, image, kernel, run};
use mias_ptx::ast::Type;
use mias_ptx::texture::{AddressMode, Filter, Read, Sampler, Shape, Texture};
use mias_ptx::{Arg, Program};
use mias_warp_trace::isa::{Class, Space};
use proptest::prelude::*;

/// Returns the bytes of a row of a surface.
fn row_bytes(image: &Image, [y, z]: [u32; 2]) -> &[u8] {
    let Texture { size, pitch, format, .. } = &image.texture;
    let start = u64::from(z * size[1] + y) * pitch;
    &image.texels[start as usize..][..(size[0] * format.bytes()) as usize]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// A load gives the bytes that are there; outside, those of the nearest place, or zeros.
    #[test]
    fn loads_move_bytes(
        shape in prop::sample::select(vec![Shape::One, Shape::Two, Shape::Three, Shape::OneLayered, Shape::TwoLayered]),
        (zero, seed) in any::<(bool, u16)>(),
        (width, many) in prop::sample::select(vec![(8, 1), (16, 1), (32, 1), (32, 2), (32, 4)]),
        places in prop::collection::vec([-3i32..12, -2i32..5, -2i32..4], 1..40),
    ) {
        let size = match shape {
            Shape::One => [8, 1, 1],
            Shape::Two => [8, 3, 1],
            Shape::OneLayered => [8, 1, 2],
            Shape::Three | Shape::TwoLayered => [8, 3, 2],
        };
        let bytes = width / 8 * many;
        // Rows begin where the widest access may.
        let mut image = image(shape, size, Type::Unsigned(4), 4, seed.into());
        image.texture.pitch = 144;
        image.texels.resize(144 * 6, 7);
        let place = match shape {
            Shape::One => "{%r2}",
            Shape::Two => "{%r2, %r3}",
            Shape::Three => "{%r2, %r3, %r4, %r4}",
            Shape::OneLayered => "{%r4, %r2}",
            Shape::TwoLayered => "{%r4, %r2, %r3, %r3}",
        };
        let (vector, to) = match many { 1 => ("", "{%r6}"), 2 => (".v2", "{%r6, %r7}"), _ => (".v4", "{%r6, %r7, %r8, %r9}") };
        let mode = if zero { "zero" } else { "clamp" };
        let clear = "mov.u32 %r6, 0;\nmov.u32 %r7, 0;\nmov.u32 %r8, 0;\nmov.u32 %r9, 0;";
        let body = format!("{clear}\nsuld.b.{shape}{vector}.b{width}.{mode} {to}, [%rd1, {place}];");
        let words: Vec<[u32; 4]> = places.iter().map(|&[x, y, z]| [(x * bytes) as u32, y as u32, z as u32, 0]).collect();
        let found = run("", &body, &image, &words).unwrap().0;
        for (found, &[x, y, z]) in found.iter().zip(&places) {
            let row = 16 * size[0] as i32;
            // Axes that there are not are not looked at.
            let y = if size[1] == 1 { 0 } else { y };
            let z = if size[2] == 1 { 0 } else { z };
            let to = [(x * bytes).clamp(0, row - bytes), y.clamp(0, size[1] as i32 - 1), z.clamp(0, size[2] as i32 - 1)];
            let inside = to == [x * bytes, y, z];
            let mut expected = [0; 16];
            if inside || !zero {
                expected[..bytes as usize].copy_from_slice(&row_bytes(&image, [to[1] as u32, to[2] as u32])[to[0] as usize..][..bytes as usize]);
            }
            let found: Vec<u8> = found.iter().flat_map(|word| word.to_le_bytes()).collect();
            prop_assert_eq!(&found[..], &expected[..]);
        }
    }

    /// A load returns the data of an earlier store; stores outside are dropped.
    #[test]
    fn stores_are_seen(width in prop::sample::select(vec![8u32, 16, 32, 64]), shift in 0u32..20, seed: u16) {
        let image = image(Shape::Two, [32, 2, 1], Type::Unsigned(4), 1, seed.into());
        let (bytes, value) = (width / 8, if width == 64 { "%rd8" } else { "%r3" });
        let body = format!(
            "mov.u32 %r7, 0;\nmov.u32 %r8, 0;\nmov.u32 %r9, 0;\nmov.u32 %r10, 1;\ncvt.u64.u32 %rd8, %r3;\n\
             sust.b.2d.b{width}.zero [%rd1, {{%r2, %r10}}], {{{value}}};\nsuld.b.2d.b{width}.zero {{{value}}}, [%rd1, {{%r2, %r10}}];\n{};",
            if width == 64 { "cvt.u32.u64 %r6, %rd8" } else { "mov.u32 %r6, %r3" }
        );
        let places: Vec<[u32; 4]> = (0..20).map(|i| [(i + shift) * bytes, 0x0102_0304 * (i + 1), 0, 0]).collect();
        let found = run("", &body, &image, &places).unwrap().0;
        for (found, [x, value, ..]) in found.iter().zip(&places) {
            let kept = if bytes >= 4 { *value } else { value & ((1 << width) - 1) };
            prop_assert_eq!(found[0], if x + bytes <= 128 { kept } else { 0 });
        }
    }
}

#[test]
fn what_is_asked_is_answered() {
    let mut image = image(Shape::Three, [8, 6, 4], Type::Unsigned(1), 2, 1);
    image.texture.read = Read::Normalized;
    image.texture.sampler.normalized = true;
    image.texture.sampler.filter = Filter::Linear;
    image.texture.sampler.address[1] = AddressMode::Mirror;
    let ask = |what: &str| {
        let body = format!("{what};\nmov.u32 %r7, %r6;\nmov.u32 %r8, %r6;\nmov.u32 %r9, %r6;");
        run(".global .texref t;\n.global .surfref s;", &body, &image, &[[0; 4]]).unwrap().0[0][0]
    };
    for (query, answer) in [
        ("txq.width.b32 %r6, [%rd1]", 8),
        ("txq.height.b32 %r6, [t]", 6),
        ("txq.level.depth.b32 %r6, [t], %r2", 4),
        ("txq.array_size.b32 %r6, [t]", 1),
        ("txq.normalized_coords.b32 %r6, [t]", 1),
        ("txq.filter_mode.b32 %r6, [t]", 1),
        ("txq.addr_mode_1.b32 %r6, [t]", 1),
        // CL_UNORM_INT8 and CL_RG.
        ("txq.channel_data_type.b32 %r6, [t]", 0x10d2),
        ("txq.channel_order.b32 %r6, [t]", 0x10b2),
        ("suq.width.b32 %r6, [%rd1]", 8),
        ("suq.channel_order.b32 %r6, [%rd1]", 0x10b2),
    ] {
        assert_eq!(ask(query), answer, "{query}");
    }
}

/// A sampler of the module's own, and textures that are parameters.
#[test]
fn samplers_and_parameters_name_textures() {
    let mut image = image(Shape::One, [8, 1, 1], Type::Float(4), 1, 5);
    image.texture.sampler.filter = Filter::Linear;
    let sampler = ".global .texref t;\n.global .samplerref s = { addr_mode_0 = clamp_to_border, filter_mode = nearest, force_unnormalized_coords = 1 };";
    let body = "tex.1d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [t, s, {%r2}];";
    let places = [[1.25f32, 7.9, 8.1].map(f32::to_bits)].concat().into_iter().map(|x| [x, 0, 0, 0]).collect::<Vec<_>>();
    let found = run(sampler, body, &image, &places).unwrap().0;
    let texel = |x| image.bits([x, 0, 0], 0) as u32;
    assert_eq!(found.iter().map(|four| four[0]).collect::<Vec<_>>(), [texel(1), texel(7), 0]);
    let text = kernel("", "tex.1d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [h, %r2];").replace(".param .u64 h", ".param .texref h");
    let text = text.replace("ld.param.u64 %rd1, [h];\n", "");
    let program = Program::parse("k.ptx", &text, "k").unwrap();
    let mut device = Device::default();
    let address = device.put(&image.texels);
    let handle = device.0.bind(Texture { address, ..image.texture.clone() }).unwrap();
    let (places, out) = (device.put(&1.5f32.to_le_bytes().repeat(4)), device.zeros(16));
    device.run(&program, row(1, 1), &[handle, places, out].map(Arg::U64)).unwrap();
    assert_eq!(device.read_ints(out, 1), [texel(1) as i32]);
}

/// A fetch is one access to memory through the L1, of the sectors of all texels that it takes.
#[test]
fn the_timing_model_sees_the_texels() {
    let mut image = image(Shape::Two, [64, 4, 1], Type::Float(4), 1, 5);
    image.texture.pitch = 256;
    image.texels.resize(1024, 0);
    let places: Vec<[u32; 4]> = (0..32).map(|i| [(i as f32 + 0.5).to_bits(), 1.5f32.to_bits(), 0, 0]).collect();
    let body = "tex.2d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd1, {%r2, %r3}];";
    let sectors = |image: &Image| {
        let trace = run("", body, image, &places).unwrap().1;
        assert_eq!((count(&trace, Class::Load(Space::Texture)), count(&trace, Class::Texture)), (1, 0));
        // The second reference: the coordinates are loaded before.
        let fetch = trace.mem(trace.warp(0, 0).first_mem + 1);
        trace.pattern(fetch.pattern).iter().map(|sector| (sector.delta, sector.byte_mask)).collect::<Vec<_>>()
    };
    // 32 texels of 4 bytes are 4 sectors.
    assert_eq!(sectors(&image), (0..4).map(|delta| (delta, u32::MAX)).collect::<Vec<_>>());
    // The filter takes one texel more, and as many of the next row, 8 sectors further.
    image.texture.sampler.filter = Filter::Linear;
    let row = |first: u32| (0..4).map(move |i| (first + i, u32::MAX)).chain([(first + 4, 0xf)]);
    assert_eq!(sectors(&image), row(0).chain(row(8)).collect::<Vec<_>>());
    let trace = run("", "txq.width.b32 %r6, [%rd1];\nsust.b.2d.b32.trap [%rd1, {%r1, %r1}], {%r6};", &image, &[[0; 4]]).unwrap().1;
    assert_eq!((count(&trace, Class::Texture), count(&trace, Class::Store(Space::Texture))), (1, 1));
}

#[test]
fn what_is_wrong_is_named() {
    let image = image(Shape::Two, [8, 6, 1], Type::Unsigned(1), 1, 1);
    let tex = "tex.2d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%rd1, {%r2, %r3}];";
    let fails = |before: &str, body: &str| run(before, body, &image, &[[3, 4, 0, 0]]).unwrap_err().to_string();
    assert_eq!(fetched(tex, &image, &[[3, 4, 0, 0]])[0][0], image.bits([3, 4, 0], 0) as u32);
    for (before, body, message) in [
        (
            ".global .texref pixels;",
            tex.replace("%rd1", "pixels"),
            "k.ptx:18: kernel `k`, TB [0, 0, 0], thread [0, 0, 0]: texture or surface reference `pixels` is not bound: add a texture of this name \
             to the launch",
        ),
        ("", tex.replace("%rd1", "%rd3"), "is not a handle of a texture or surface: describe it as"),
        ("", tex.replace("2d", "1d").replace("{%r2, %r3}", "{%r2}"), "texture `t` is 2d, the instruction is for 1d"),
        (
            "",
            tex.replace("u32.s32", "f32.s32"),
            "texture `t` has integers (1 x u8), the instruction reads floats: read it as normalized floats",
        ),
        (
            "",
            "suld.b.2d.b8.trap {%r6}, [%rd1, {%r3, 6}];".into(),
            "an access of 1 bytes outside surface `t`, at byte 4 of row 6 of plane 0: it has 8 texels",
        ),
        ("", "sust.b.2d.b16.clamp [%rd1, {%r2, 0}], {%r6};".into(), "a misaligned access of 2 bytes to surface `t`, at byte 3 of row 0"),
    ] {
        let found = fails(before, &body);
        assert!(found.contains(message), "{found}\nexpected {message}");
    }
    let refused = |before: &str, body: &str| Program::parse("k.ptx", &kernel(before, body), "k").unwrap_err().to_string();
    for (before, body, message) in [
        ("", tex.replace("%rd1", "nothing"), "k.ptx:18:1: expected a `.texref`, or a handle in a 64-bit register, found `nothing`"),
        (".global .surfref s;", tex.replace("%rd1", "s"), "expected a `.texref`, or a handle in a 64-bit register, found `s`"),
        ("", tex.replace("{%r2, %r3}]", "{%r2, %r3, %r4}]"), "expected the coordinates of a 2d texture, found `[%rd1, {%r2, %r3, %r4}]`"),
        ("", tex.replace("2d", "cube"), "unsupported instruction: `tex.cube.v4.u32.s32`"),
        ("", tex.replace("];", "], {%r2, %r3};"), "unsupported instruction: `tex.2d.v4.u32.s32`"),
        ("", "ld.global.u32 %r6, [%rd1, {%r2}];".into(), "expected an address, found `[%rd1, {%r2}]`"),
        (".global .texref t;", "ld.global.u32 %r6, [t];".into(), "expected a variable of the instruction's state space"),
        (".global .texref a[2];", String::new(), "k.ptx:4:17: unsupported array of textures or surfaces (declare one reference each): `a`"),
        (".global .samplerref s = { filter_mode = cubic };", String::new(), "expected a property of a sampler, with one of its values"),
        (".extern .global .texref t;", tex.replace("%rd1", "t"), "a reference that is declared but not defined in this file, found `t`"),
    ] {
        let found = refused(before, &body);
        assert!(found.contains(message), "{found}\nexpected {message}");
    }
    let mut device = Device::default();
    let address = device.zeros(40);
    let error = device.0.bind(Texture { address, ..image.texture.clone() }).unwrap_err().to_string();
    assert!(error.starts_with("texture `t`: [8, 6, 1] texels of 1 x u8 need 58 bytes, the buffer has 40 from there"), "{error}");
}

/// Whole kernels of `textures.cu`: a picture turned by a right angle is the picture with its axes
/// exchanged; a picture of half the size has the means of four pixels.
#[test]
fn pictures_are_turned_and_made_smaller() {
    let mut picture = image(Shape::Two, [32, 32, 1], Type::Float(4), 1, 8);
    picture.texture.sampler = Sampler { address: [AddressMode::Wrap; 3], filter: Filter::Linear, normalized: true };
    let mut device = Device::default();
    let address = device.put(&picture.texels);
    let handle = device.0.bind(Texture { address, ..picture.texture.clone() }).unwrap();
    let out = device.zeros(4 * 32 * 32);
    let args = [Arg::U64(out), Arg::U32(32), Arg::U32(32), Arg::F32(0.0), Arg::F32(1.0), Arg::U64(handle)];
    device.run(&program("textures", "rotate"), ([4, 4, 1], [8, 8, 1]), &args).unwrap();
    let found = device.read_floats(out, 32 * 32);
    // The corner of a texel is between four of them.
    let texel = |x: i64, y: i64| f32::from_bits(picture.bits([x.rem_euclid(32), y.rem_euclid(32), 0], 0) as u32);
    for (i, &found) in found.iter().enumerate() {
        let (x, y) = (i as i64 % 32, i as i64 / 32);
        let corners = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[i, j]| texel(31 - y + i, x - 1 + j));
        let mean = corners.iter().sum::<f32>() / 4.0;
        assert!((found - mean).abs() < 1e-5, "{x} {y}: {found} {mean}");
    }
    let mut colors = image(Shape::Two, [64, 48, 1], Type::Unsigned(1), 4, 9);
    colors.texture.name = "colors".into();
    colors.texture.read = Read::Normalized;
    colors.texture.sampler.filter = Filter::Linear;
    let mut small = image(Shape::Two, [32, 24, 1], Type::Unsigned(1), 4, 0);
    let address = device.put(&colors.texels);
    device.0.bind(Texture { address, ..colors.texture.clone() }).unwrap();
    small.texture.address = device.put(&small.texels);
    let handle = device.0.bind(small.texture.clone()).unwrap();
    let args = [Arg::U64(handle), Arg::U32(32), Arg::U32(24)];
    device.run(&program("textures", "shrink"), ([3, 2, 1], [16, 16, 1]), &args).unwrap();
    for (x, y, channel) in (0..32).flat_map(|x| (0..24).flat_map(move |y| (0..4).map(move |channel| (x, y, channel)))) {
        let found = device.read::<1>(small.texture.texel([x, y, 0]) + u64::from(channel), 1)[0][0];
        let four =
            [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[i, j]| colors.bits([2 * i64::from(x) + i, 2 * i64::from(y) + j, 0], channel) as u32);
        let mean = four.iter().sum::<u32>() / 4;
        // The mean of whole numbers may be a hair below a whole number.
        assert!(u32::from(found) == mean || u32::from(found) + 1 == mean, "{x} {y} {channel}: {found} {mean}");
    }
}
