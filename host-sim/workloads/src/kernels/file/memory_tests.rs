//! Tests of memory contents from a kernel file: values of variables, borders around buffers,
//! addresses in place.

use super::super::*;
use mias_ptx::Arg;

/// y[i] = coefficients[i % 4] * pointer[i] for i < n.
const APPLY: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.const .align 4 .b8 coefficients[16];\n\
    .visible .global .align 8 .u64 pointer;\n.visible .global .align 4 .u32 n;\n.visible .global .align 4 .b8 _ZN2ns4restE[12];\n\
    .visible .entry _Z5applyPf(.param .u64 _Z5applyPf_param_0)\n{\n\
    .reg .pred %p<2>;\n.reg .f32 %f<5>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<12>;\nld.param.u64 %rd1, [_Z5applyPf_param_0];\n\
    cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nld.global.u32 %r2, [n];\nsetp.ge.u32 %p1, %r1, %r2;\n@%p1 bra END;\n\
    and.b32 %r3, %r1, 3;\nmul.wide.u32 %rd3, %r3, 4;\nmov.u64 %rd4, coefficients;\nadd.s64 %rd5, %rd4, %rd3;\n\
    ld.const.f32 %f1, [%rd5];\nld.global.u64 %rd6, [pointer];\ncvta.to.global.u64 %rd7, %rd6;\nmul.wide.u32 %rd8, %r1, 4;\n\
    add.s64 %rd9, %rd7, %rd8;\nld.global.f32 %f2, [%rd9];\nmul.f32 %f3, %f1, %f2;\nadd.s64 %rd10, %rd2, %rd8;\n\
    st.global.f32 [%rd10], %f3;\nEND: ret;\n}\n";

/// y[i] = x[i - 2] + x[i + 2], also with y = x.
const STENCIL: &str = ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry stencil(.param .u64 y, .param .u64 x)\n{\n\
    .reg .f32 %f<4>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<8>;\nld.param.u64 %rd1, [y];\nld.param.u64 %rd2, [x];\nmov.u32 %r1, %tid.x;\n\
    mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd1, %rd3;\nadd.s64 %rd5, %rd2, %rd3;\nld.global.f32 %f1, [%rd5+-8];\n\
    ld.global.f32 %f2, [%rd5+8];\nadd.f32 %f3, %f1, %f2;\nst.global.f32 [%rd4], %f3;\nret;\n}\n";

const APPLIED: &str = "ptx = \"k.ptx\"\nentry = \"apply\"\ngrid = 1\nblock = 64\nregisters = 16\nargs = [\"&y\"]\n\
    [size]\ndefault = 50\n[buffers]\nx = { type = \"f32\", count = \"size\", fill = \"iota\" }\n\
    y = { type = \"f32\", count = \"size\", fill = \"nan\" }\n\
    [variables]\nn = \"size\"\npointer = \"&x\"\ncoefficients = { type = \"f32\", fill = [1, 2, 0.5, -1] }\n";

const HALO: &str = "ptx = \"k.ptx\"\ngrid = 1\nblock = \"size\"\nregisters = 16\nargs = [\"&y\", \"&x\"]\n[size]\ndefault = 32\n[buffers]\n\
    x = { type = \"f32\", count = \"size\", fill = \"iota\", before = 2, after = \"size / 16\", around = 100 }\n\
    y = { type = \"f32\", count = \"size\" }\n";

fn prepared(ptx: &str, toml: &str) -> Result<Prepared, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), ptx).unwrap();
    let path = folder.path().join("k.toml");
    std::fs::write(&path, toml).unwrap();
    let spec = Spec::parse(path.to_str().unwrap()).map_err(|error| error.to_string());
    let prepared = spec.and_then(|spec| spec.prepare().map_err(|error| error.to_string()));
    prepared.map_err(|message| message.replace(&format!("{}/", folder.path().display()), ""))
}

/// Returns the contents of a buffer after the run.
fn left(prepared: &Prepared, name: &str) -> Vec<f32> {
    prepared.record_once(&mut unwatched).unwrap_or_else(|error| panic!("{error}"));
    let bytes = prepared.contents(&prepared.region(name).unwrap()).unwrap();
    bytes.as_chunks().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

#[test]
fn variables_have_the_values_of_the_file() {
    let prepared = prepared(APPLY, APPLIED).unwrap();
    assert_eq!((prepared.program.name.as_str(), prepared.instance.entry.as_str()), ("_Z5applyPf", "_Z5applyPf"));
    let expected: Vec<f32> = (0..50u8).map(|i| f32::from(i) * [1.0, 2.0, 0.5, -1.0][usize::from(i % 4)]).collect();
    assert_eq!(left(&prepared, "y"), expected);
    assert_eq!(left(&prepared, "coefficients"), [1.0, 2.0, 0.5, -1.0]);
}

/// A part of a variable may be set: fewer elements than its capacity leave the rest; `ns::rest` is
/// a name of C++.
#[test]
fn a_part_of_a_variable_may_be_set() {
    let toml = format!("{APPLIED}\"ns::rest\" = {{ type = \"f32\", count = 2, fill = \"ones\" }}\n");
    let prepared = prepared(APPLY, &toml).unwrap();
    assert_eq!(left(&prepared, "rest"), [1.0, 1.0, 0.0]);
    assert_eq!(left(&prepared, "_ZN2ns4restE"), [1.0, 1.0, 0.0]);
}

/// Trace keys include all inputs of a trace.
#[test]
fn other_values_are_another_trace() {
    let key = |toml: &str| crate::trace_store::key(&prepared(APPLY, toml).unwrap());
    assert_eq!(key(APPLIED), key(APPLIED));
    assert_ne!(key(APPLIED), key(&APPLIED.replace("0.5", "0.25")));
    assert_ne!(key(APPLIED), key(&APPLIED.replace("n = \"size\"", "n = 49")));
}

#[test]
fn what_is_around_a_buffer_may_be_read() {
    let of = |index: i32| if (0..32).contains(&index) { index as f32 } else { 100.0 };
    let expected: Vec<f32> = (0..32).map(|i| of(i - 2) + of(i + 2)).collect();
    let halo = prepared(STENCIL, HALO).unwrap();
    assert_eq!(left(&halo, "y"), expected);
    assert_eq!(left(&halo, "x").len(), 32, "without what is around it");
    let Arg::U64(x) = halo.instance.launch.args[1] else { panic!() };
    assert_eq!(x % 256, 0, "aligned as any buffer");
    let narrow = |from: &str, to: &str| prepared(STENCIL, &HALO.replace(from, to)).unwrap().execute().unwrap_err().to_string();
    let message = narrow("before = 2", "before = 1");
    assert!(message.ends_with("4 bytes before argument 2 (`x` and its guard elements, 140 bytes)"), "{message}");
    let message = narrow("after = \"size / 16\"", "after = 0");
    assert!(message.ends_with(", right past the end of argument 2 (`x` and its guard elements, 136 bytes)"), "{message}");
}

/// In one warp every lane reads before any writes, so that in place is defined here.
#[test]
fn one_buffer_may_be_several_arguments() {
    let in_place = HALO.replace("\"&y\", \"&x\"", "\"&x\", \"&x\"");
    let both = prepared(STENCIL, &in_place).unwrap();
    assert_eq!(both.instance.launch.args[0], both.instance.launch.args[1]);
    let of = |index: i32| if (0..32).contains(&index) { index as f32 } else { 100.0 };
    assert_eq!(left(&both, "x"), (0..32).map(|i| of(i - 2) + of(i + 2)).collect::<Vec<_>>());
    let offset =
        HALO.replace("\"&y\", \"&x\"", "\"&y[size / 2] + 4 * 2 bytes\", \"&x + 8 bytes\"").replace("block = \"size\"", "block = 1");
    let shifted = prepared(STENCIL, &offset).unwrap();
    let y = left(&shifted, "y");
    assert_eq!((y[18], y.iter().filter(|value| **value != 0.0).count()), (4.0, 1), "x[0] + x[4]");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let shown = |ptx: &str, sound: &str, mistakes: &[(&str, &str, &str)]| {
        for (from, to, expected) in mistakes {
            let toml = sound.replacen(from, to, 1);
            assert_ne!(toml, sound, "{from}");
            let message = prepared(ptx, &toml).map(|_| ()).expect_err(expected);
            assert!(message.starts_with(expected), "{message}\nexpected {expected}");
        }
    };
    let known = "known: coefficients, pointer, n, _ZN2ns4restE (ns::rest)";
    shown(
        APPLY,
        APPLIED,
        &[
            (
                "coefficients =",
                "coeficients =",
                &format!("k.toml:15:1: unknown variable `coeficients`; did you mean `coefficients`? {known}"),
            ),
            (
                "1, 2, 0.5, -1]",
                "1, 2, 0.5, -1], count = 5",
                "k.toml:15:1: variable `coefficients`: 5 elements of f32, but the variable has 16 bytes",
            ),
            ("\"f32\", fill = [1", "\"b32\", fill = [1", "k.toml:15:16: unknown type `b32`; known: f16, "),
            ("pointer = \"&x\"", "pointer = \"&z\"", "k.toml:14:11: unknown buffer `z`; did you mean `y`?"),
            ("pointer = \"&x\"", "pointer = 2.5", "k.toml:14:1: variable `pointer`: `2.5` is given, but variable `pointer` is a u64"),
            ("n = \"size\"", "n = \"sise\"", "k.toml:13:5: unknown name `sise`; did you mean `size`?"),
            (
                "n = \"size\"",
                "n = \"&x\"",
                "k.toml:13:1: variable `n`: the address of a buffer is given, which has 64 bits, but variable `n` is a u32",
            ),
            ("n = \"size\"", "n = true", "k.toml:13:5: expected a number, a word such as \"&x\", or { type"),
        ],
    );
    let rest = format!("{APPLIED}rest = {{ type = \"f64\" }}\n");
    let message = prepared(APPLY, &rest).map(|_| ()).unwrap_err();
    assert!(message.contains("variable `rest`: the variable has 12 bytes, not a whole number of f64; use another type"), "{message}");
    shown(
        STENCIL,
        HALO,
        &[
            (
                "before = 2, after = \"size / 16\", ",
                "",
                "k.toml:9:61: no guard elements around the buffer: set before = N or after = N elements",
            ),
            ("before = 2", "before = \"2 - size\"", "k.toml:9:61: `2 - size` elements are -30, below 0, with size = 32"),
            ("before = 2", "before = 2_000_000_000", "k.toml:9:1: buffer `x`: a buffer has at most 4294967296 bytes"),
            ("\"&x\"", "\"&x + 4\"", "k.toml:5:15: `&x + 4`: expected an offset as in `&x + 64 bytes`, or an element as in `&x[16]`"),
            ("\"&x\"", "\"&x[size] + 4 bytes\"", "k.toml:5: argument 2: `+ 4 bytes` addresses byte 132, but `x` has 128"),
            ("\"&x\"", "\"&x + -4 bytes\"", "k.toml:5: argument 2: `+ -4 bytes` addresses byte -4, but `x` has 128"),
        ],
    );
}

/// Buffers larger than memory are refused before any of them is allocated.
#[test]
fn buffers_larger_than_memory_are_refused() {
    let many: String = (0..40).map(|n| format!("b{n} = {{ type = \"u8\", count = 4_294_967_296 }}\n")).collect();
    let message = prepared(STENCIL, &format!("{HALO}{many}")).map(|_| ()).unwrap_err();
    assert!(message.contains("the buffers have ") && message.contains(" in total"), "{message}");
}

/// A device without end and a pipe without a writer are not read.
#[test]
#[cfg(unix)]
fn files_without_an_end_are_refused() {
    let endless = HALO.replace("fill = \"iota\"", "fill = \"file:/dev/zero\"");
    let message = prepared(STENCIL, &endless).map(|_| ()).unwrap_err();
    assert!(message.contains("buffer `x`: cannot read /dev/zero: a device or a pipe of unknown length"), "{message}");
    let message = prepared(STENCIL, &HALO.replace("k.ptx", "/dev/zero")).map(|_| ()).unwrap_err();
    assert!(message.starts_with("cannot read the PTX file /dev/zero: a device or a pipe"), "{message}");
}
