//! Textures in a kernel's file: a whole kernel, and every mistake where it is.

use crate::kernels::{Instance, Prepared, Spec};
use std::ops::ControlFlow;
use std::path::Path;

/// `shrink` of the PTX front end's tests: the texture reference `colors` to a surface of half the
/// size.
const SHRINK: &str = r#"ptx = "textures.ptx"
registers = 20
entry = "shrink"
grid = [2, 2]
block = [16, 8]
args = ["surf:small", "size / 2", "height / 2"]
[size]
default = 32
multiple_of = 2
to = 32
[let]
height = 16
[buffers]
pixels = { type = "u32", count = "size * height", fill = "random" }
out = { type = "u8", count = "size * height", fill = "zeros" }
[textures.colors]
buffer = "pixels"
type = "u8"
channels = 4
width = "size"
height = "height"
filter = "linear"
address = ["clamp", "border"]
read = "normalized"
[textures.small]
buffer = "out"
channels = 4
width = "size / 2"
height = "height / 2"
"#;

fn prepared(toml: &str, settings: &str) -> Result<Prepared, String> {
    let folder = tempfile::tempdir().unwrap();
    let ptx = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ptx/tests/data/textures.ptx");
    std::fs::copy(ptx, folder.path().join("textures.ptx")).unwrap();
    std::fs::write(folder.path().join("t.toml"), toml).unwrap();
    let spec = Spec::parse(&format!("{}/t.toml{settings}", folder.path().display())).map_err(|error| error.to_string());
    let prepared = spec.and_then(|spec| spec.prepare().map_err(|error| error.to_string()));
    prepared.map_err(|message| message.replace(&format!("{}/", folder.path().display()), ""))
}

/// The mean of four pixels, channel by channel, up to the last bit of an 8-bit number.
#[test]
fn a_picture_is_made_smaller() {
    for (settings, width) in [("", 32usize), (":20", 20)] {
        let Prepared { program, instance: Instance { launch, memory, .. }, info } = prepared(SHRINK, settings).unwrap();
        let trace = mias_ptx::lower::record::trace(&program, &launch, &memory, info, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(trace.statics().iter().any(|inst| inst.class.is_offchip()));
        let bytes = |number: usize| {
            let (_, bytes, words) = memory.allocations().nth(number).unwrap();
            words.flat_map(u32::to_le_bytes).take(bytes as usize).collect::<Vec<u8>>()
        };
        let (pixels, small) = (bytes(0), bytes(1));
        for (x, y, channel) in (0..width / 2).flat_map(|x| (0..8).flat_map(move |y| (0..4).map(move |channel| (x, y, channel)))) {
            let pixel = |i, j| u32::from(pixels[4 * ((2 * y + j) * width + 2 * x + i) + channel]);
            let mean = (pixel(0, 0) + pixel(1, 0) + pixel(0, 1) + pixel(1, 1)) / 4;
            let found = u32::from(small[4 * (y * (width / 2) + x) + channel]);
            assert!(found == mean || found + 1 == mean, "{x} {y} {channel}: {found} {mean}");
        }
    }
}

#[test]
fn mistakes_in_textures_are_shown_where_they_are() {
    for (from, to, expected) in [
        ("surf:small", "surf:smal", "t.toml:6:9: unknown texture `smal`; did you mean `small`? known: colors, small\n"),
        (
            "\"size / 2\", \"height",
            "\"tex:small\", \"height",
            "t.toml:6: argument 2: the handle of a texture is given, which has 64 bits, but parameter",
        ),
        ("buffer = \"out\"", "buffer = \"oud\"", "t.toml:26:10: unknown buffer `oud`; did you mean `out`?"),
        ("type = \"u8\"\nchannels", "type = \"f64\"\nchannels", "t.toml:18:8: `f64`: expected the type of a channel: u8, i8, u16, "),
        (
            "channels = 4\nwidth = \"size\"",
            "channels = 3\nwidth = \"size\"",
            "t.toml:16:11: texture `colors`: 3 channels; a texel has 1, 2 or 4\n",
        ),
        ("filter = \"linear\"", "filter = \"cubic\"", "unknown variant `cubic`, expected `point` or `linear`"),
        (
            "filter = \"linear\"",
            "filter = \"linear\"\ndepth = 2",
            "t.toml:16:11: texture `colors`: [32, 16, 2] texels of 4 x u8 need 4096 bytes, the buffer has 2048",
        ),
        ("height = \"height\"\n", "depth = 2\n", "t.toml:21:9: a texture with a depth also needs a height\n"),
        ("filter = \"linear\"", "depth = 2\nlayers = 3", "t.toml:23:10: depth conflicts with layers; leave one out\n"),
        ("\"border\"]", "\"border\", \"clamp\", \"clamp\"]", "t.toml:23:11: expected one to three address modes, for x, y and z\n"),
        ("\"border\"]", "\"wrap\"]", "wrap and mirror need normalized coordinates; use clamp, which CUDA substitutes\n"),
        ("\"border\"]", "\"mirrored\"]", "expected clamp, border, wrap or mirror, or a list of up to three of them"),
        ("[textures.small]", "[textures.2small]", "t.toml:25:11: `2small`: a name has letters, digits and _, and begins with a letter\n"),
        (
            "width = \"size / 2\"",
            "width = \"size - 32\"",
            "t.toml:28:9: texels in a row: expected 1 to 4294967295, found 0: `size - 32`, with size = 32\n",
        ),
        (
            "width = \"size / 2\"",
            "width = 16\npitch = 60",
            "t.toml:25:11: texture `small`: a pitch of 60 bytes; a row of 16 texels of 4 bytes needs 64\n",
        ),
        (
            "[textures.colors]",
            "[textures.picture]",
            "texture or surface reference `colors` is not bound: add a texture of this name to the launch",
        ),
    ] {
        let toml = SHRINK.replacen(from, to, 1);
        assert_ne!(toml, SHRINK, "{from}");
        let found = prepared(&toml, "").and_then(|prepared| prepared.execute().map_err(|error| error.to_string()));
        let message = found.expect_err(expected);
        assert!(message.contains(expected), "{message}\nexpected {expected}");
    }
    let without = SHRINK.split_once("[textures").unwrap().0;
    assert!(prepared(without, "").unwrap_err().contains("unknown texture `small`: the table [textures] is missing"));
}
