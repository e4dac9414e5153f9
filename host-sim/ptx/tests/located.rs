//! Tests of locations in run-time errors: the source line of `nvcc -lineinfo`, the nearest argument
//! or variable, C++ names.

use super::harness::{Device, row};
use super::written::{HEAD, kernel, run};
use mias_ptx::{Arg, Launch, Program, TbRunner};

/// Returns PTX with source lines, in which files' names come last, as nvcc writes them.
fn with_lines(body: &str, function: &str) -> String {
    kernel(function, body) + ".file 1 \"/home/me/k.cu\"\n.file 2 \"/home/me/k.h\"\n"
}

fn failed(text: &str, limit: u64) -> String {
    let program = Program::parse("k.ptx", text, "k").unwrap();
    let mut device = Device::default();
    let out = device.zeros(4 * 64);
    let launch = Launch { grid: [1; 3], block: [64, 1, 1], args: vec![Arg::U64(out)], shared_bytes: 0, ..Launch::default() };
    let mut runner = TbRunner::new(&program, &launch, &device.0).unwrap().limit(limit);
    runner.run(0, &mut mias_ptx::warp::Unobserved).unwrap_err().to_string()
}

#[test]
fn errors_name_the_source_line() {
    let message = |body: &str| failed(&with_lines(body, ""), 1000);
    assert!(
        message(".loc 1 5 3\nst.global.u32 [%rd1+260], 1;").starts_with("k.ptx:17 (/home/me/k.cu:5): kernel `k`, TB [0, 0, 0], thread")
    );
    assert!(message(".loc 1 7 1\ntrap;").starts_with("k.ptx:17 (/home/me/k.cu:7): kernel `k`"));
    let inlined = ".loc 2 3 9, function_name $L__info_string0, inlined_at 1 9 5\ntrap;";
    assert!(message(inlined).starts_with("k.ptx:17 (/home/me/k.h:3, inlined at /home/me/k.cu:9): kernel `k`"));
    let hang = message(".loc 1 8 1\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra L;\n.loc 1 9 1\nbar.sync 1, 64;\nL: bar.sync 0, 64;");
    assert!(hang.starts_with("k.ptx:21 (/home/me/k.cu:9): kernel `k`, TB [0, 0, 0], warp 0: the TB hangs"), "{hang}");
}

/// The loop is that of the source, too, and goes through the function's line.
#[test]
fn a_loop_is_named_by_its_source_lines() {
    let function = ".func f()\n{\n.reg .b32 %r<3>;\n.loc 2 2 1\nadd.u32 %r1, %r1, 1;\nret;\n}";
    let body = ".loc 1 4 1\nmov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1;\n.loc 1 6 1\ncall f;\n.loc 1 5 1\nbra L;";
    let message = failed(&with_lines(body, function), 1000);
    assert!(message.contains(" (/home/me/k.cu:4 to 6, /home/me/k.h:2): kernel `k`, TB [0, 0, 0], warp 0: still running"), "{message}");
}

#[test]
fn accesses_name_what_is_nearest() {
    let text = |body: &str| run(".global .align 8 .b8 few[4];\n.const .align 4 .b8 _ZN2ns5tableE[12];", body, 40).unwrap_err().to_string();
    let out = text("st.global.u32 [%rd1+4096], 1;");
    assert!(out.contains(" bytes past the end of argument 1 ("), "{out}");
    assert!(text("mov.u64 %rd4, few;\nld.global.u32 %r3, [%rd4+8];").ends_with(", 4 bytes past the end of variable `few` (4 bytes)"));
    let table = text("mov.u64 %rd4, _ZN2ns5tableE;\nld.const.u32 %r3, [%rd4+12];");
    assert!(table.ends_with(", right past the end of variable `_ZN2ns5tableE` (ns::table) (12 bytes)"), "{table}");
    assert!(text("mov.u64 %rd4, 8;\nld.global.u32 %r3, [%rd4];").ends_with("at address 0x8, a null pointer or an offset from one"));
    let shared = text(".shared .align 4 .b8 s2[8];\nmov.u32 %r3, s2;\nst.shared.u32 [%r3+4096], 1;");
    assert!(shared.contains("; the TB has ") && shared.ends_with(" of shared memory"), "{shared}");
}

const MANGLED: &str = "_Z3addPfS_i";

#[test]
fn entries_have_their_names_of_cpp() {
    let entry = |name: &str| format!(".visible .entry {name}(.param .u64 p)\n{{\ntrap;\n}}\n");
    let text = format!("{HEAD}{}{}{}", entry(MANGLED), entry("_Z5scaleIfEvPT_i"), entry("_Z5scaleIdEvPT_i"));
    let named = |name: &str| Program::parse("k.ptx", &text, name).map(|program| program.name).map_err(|error| error.to_string());
    for name in [MANGLED, "add", "add(float*, float*, int)"] {
        assert_eq!(named(name).as_deref(), Ok(MANGLED));
    }
    assert_eq!(named("scale<double>").as_deref(), Ok("_Z5scaleIdEvPT_i"));
    let either = "_Z5scaleIfEvPT_i (void scale<float>(float*, int)), _Z5scaleIdEvPT_i (void scale<double>(double*, int))";
    assert_eq!(named("scale").unwrap_err(), format!("k.ptx: ambiguous `scale`: the module has: {either}; name one"));
    let all = format!("k.ptx: no entry `ad`; the module has: {MANGLED} (add(float*, float*, int)), {either}");
    assert_eq!(named("ad").unwrap_err(), all);
    let mut device = Device::default();
    let out = device.zeros(4);
    let message = device.run(&Program::parse("k.ptx", &text, "add").unwrap(), row(1, 32), &[Arg::U64(out)]).unwrap_err().to_string();
    assert!(message.contains(": kernel `_Z3addPfS_i` (add(float*, float*, int)), TB [0, 0, 0], thread"), "{message}");
}
