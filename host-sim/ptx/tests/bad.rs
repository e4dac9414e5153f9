//! Bad input: one message each, with file and line.

use super::harness::{Device, row};
use super::written::{HEAD, kernel, run};
use mias_ptx::{Arg, DeviceMemory, Launch, Program, TbRunner};

fn refused(text: &str) -> String {
    let message = Program::parse("k.ptx", text, "k").unwrap_err().to_string();
    assert!(!message.contains('\n') && message.starts_with("k.ptx:"), "{message}");
    message
}

/// Line of the first of a kernel's own instructions.
const FIRST: usize = 16;

#[test]
fn files_that_are_cut_off_or_of_another_time() {
    let whole = kernel("", "mov.u32 %r3, 1;");
    for end in 0..whole.trim_end().len() {
        if whole.is_char_boundary(end) {
            refused(&whole[..end]);
        }
    }
    assert_eq!(refused(".version 9.1\n.target sm_75\n"), "k.ptx:1:10: unsupported PTX version: `9.1`");
    assert_eq!(refused(".target sm_75\n.address_size 64\n"), "k.ptx:3:1: expected `.version`, found `end of file`");
    assert_eq!(refused(".version 7.8\n.target sm_30\n.address_size 32\n"), "k.ptx:3:15: unsupported address size: `32`");
    let text = format!("{HEAD}.entry a()\n{{\nret;\n}}\n.entry b()\n{{\nret;\n}}\n");
    assert_eq!(Program::parse("k.ptx", &text, "c").unwrap_err().to_string(), "k.ptx: no entry `c`; the module has: a, b");
}

#[test]
fn calls_that_do_not_fit() {
    let declared = ".func (.param .b32 r) gone(.param .b32 a);\n.func (.param .b32 r) f(.param .b32 a)\n{\nret;\n}";
    let message = |body: &str| refused(&kernel(declared, body));
    let cell = "{ .param .b32 a; .param .b64 d; .param .b32 v;\n";
    let at = FIRST + 5;
    assert_eq!(message("call nowhere;"), format!("k.ptx:{}:1: expected a function of the module, found `nowhere`", at - 1));
    assert!(
        message(&format!("{cell}call (v), gone, (a); }}"))
            .ends_with(":1: a function that is declared but not defined in this file, found `gone`")
    );
    assert!(message(&format!("{cell}call (v), f; }}")).ends_with("expected 1 arguments, not 0, found `call`"));
    assert!(message(&format!("{cell}call f, (a); }}")).ends_with("expected 1 results, not 0, found `call`"));
    assert_eq!(
        message(&format!("{cell}call (v), f, (d); }}")),
        format!("k.ptx:{at}:1: expected a parameter of 4 bytes for `a`, found `d`")
    );
    assert!(message(&format!("{cell}call (v), f, (%r1); }}")).ends_with("expected a `.param` variable, found `%r1`"));
    assert!(message(&format!("{cell}mov.b64 %rd4, a; }}")).ends_with("the address of a function's parameter is not supported, found `a`"));
    assert!(message(&format!("{cell}st.param.b64 [a], %rd1; }}")).ends_with("an access of 8 bytes outside the parameter, found `[a+0]`"));
}

/// Calls that multiply would fill the memory: they end at what a trace can hold.
#[test]
fn calls_that_multiply() {
    let mut functions = String::from(".func f0()\n{\nret;\n}\n");
    for i in 1..30 {
        functions += &format!(".func f{i}()\n{{\ncall f{};\ncall f{};\nret;\n}}\n", i - 1, i - 1);
    }
    assert!(refused(&kernel(&functions, "call f29;")).contains("more than 65536 instructions with all calls expanded"));
    functions.clear();
    for i in (0..100).rev() {
        functions += &format!(".func f{i}()\n{{\ncall f{};\nret;\n}}\n", i + 1);
    }
    assert!(refused(&kernel(&functions, "call f0;")).contains("call nested in 64 others"));
}

#[test]
fn variables_that_cannot_be() {
    let message = |module: &str, body: &str| refused(&kernel(module, body));
    assert_eq!(message(".global .u32 a[2] = {1, 2, 3};", ""), "k.ptx:4:21: more values than elements, found `{`");
    assert_eq!(message(".global .u64 a = b;", ""), "k.ptx:4:18: expected a variable of the module, found `b`");
    assert!(message(".const .b8 a[65537];", "").contains("does not fit 64 KiB of constant memory"));
    assert!(message(".global .b8 a[4294967295];", "").contains("does not fit 256 MiB of module variables"));
    assert!(message(".global .b64 a[4294967295];", "").contains("expected a size that fits 32 bits"));
    assert!(message(".global .align 3 .b8 a[8];", "").contains("expected a power of two"));
    assert!(message("", ".local .b8 a[600000];").contains("does not fit 512 KiB of local memory per thread"));
    assert!(message("", ".shared .b8 a[49000];").contains("does not fit 48 KiB of static shared memory"));
    assert!(message(".extern .global .u32 a;", "ld.global.u32 %r3, [a];").contains("declared but not defined in this file, found `a`"));
    assert!(message(".global .u32 a;", "ld.shared.u32 %r3, [a];").contains("expected a variable of the instruction's state space"));
    assert!(message("", "T: .branchtargets X;\nbrx.idx %r1, T;").contains("expected a declared label in `.branchtargets`, found `X`"));
    assert!(message("", "brx.idx %r1, X;").contains("expected the name of a `.branchtargets` list, found `X`"));
    assert!(message("", "X: X: mov.u32 %r3, 1;").contains("a label declared twice, found `X`"));
    assert!(message("", ".reg .b32 %r<3>;").contains("a register declared twice, found `%r`"));
    assert!(message("", "bar.sync 16;").contains("expected a barrier number 0 to 15"));
    assert!(message("", "bar.arrive 1;").contains("wrong number of operands"));
    assert!(message("", "bar.sync 1, 40;").contains("a multiple of 32, found `40`"));
    assert!(message("", "tex.2d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [t, {%r1, %r2}];").starts_with(&format!("k.ptx:{FIRST}:")));
}

#[test]
fn arguments_that_do_not_fit() {
    let text = format!("{HEAD}.entry k(.param .u64 p, .param .f32 x, .param .u32 n, .param .align 4 .b8 s[12])\n{{\nret;\n}}\n");
    let program = Program::parse("k.ptx", &text, "k").unwrap();
    let device = DeviceMemory::new();
    let error = |args: Vec<Arg>| {
        let launch = Launch { grid: [1; 3], block: [32, 1, 1], args, shared_bytes: 0, ..Launch::default() };
        TbRunner::new(&program, &launch, &device).err().map_or(String::new(), |e| e.to_string())
    };
    let good = vec![Arg::U64(0), Arg::F32(1.0), Arg::I32(-1), Arg::Bytes(vec![0; 12])];
    let with = |at: usize, arg: Arg| {
        let mut args = good.clone();
        args[at] = arg;
        error(args)
    };
    assert_eq!(error(good.clone()), "");
    assert_eq!(error(good[..3].to_vec()), "kernel `k`: 3 arguments, the entry takes 4");
    assert_eq!(with(0, Arg::U32(1)), "kernel `k`: argument 1 has 4 bytes, parameter `p` has 8");
    assert_eq!(with(0, Arg::F64(1.0)), "kernel `k`: argument 1 is F64(1.0), parameter `p` is `.u64`");
    assert_eq!(with(1, Arg::I32(1)), "kernel `k`: argument 2 is I32(1), parameter `x` is `.f32`");
    assert_eq!(with(2, Arg::F32(1.0)), "kernel `k`: argument 3 is F32(1.0), parameter `n` is `.u32`");
    assert_eq!(with(3, Arg::Bytes(vec![0; 11])), "kernel `k`: argument 4 has 11 bytes, parameter `s` has 12");
}

#[test]
fn accesses_that_fault_say_where() {
    let text = |body: &str| run(".global .align 8 .b8 few[4];", body, 40).unwrap_err().to_string();
    let at = |line: usize| format!("k.ptx:{line}: kernel `k`, TB [0, 0, 0], thread ");
    assert_eq!(text("st.local.u32 [%rd2], 1;"), at(FIRST) + "[0, 0, 0]: out of bounds local access of 4 bytes at address 0x0");
    assert_eq!(
        text(".local .align 4 .b8 d[16];\nst.local.u32 [%rd2], 1;"),
        at(FIRST + 1) + "[4, 0, 0]: out of bounds local access of 4 bytes at address 0x10"
    );
    assert!(
        text("cvta.shared.u64 %rd4, %rd2;\nld.u64 %rd5, [%rd4+252];")
            .contains("[0, 0, 0]: misaligned shared access of 8 bytes at address 0xfc")
    );
    assert!(
        text("add.s64 %rd4, %rd2, 176;\ncvta.shared.u64 %rd4, %rd4;\nld.u32 %r3, [%rd4];").contains("[20, 0, 0]: out of bounds shared")
    );
    assert!(text("mov.u64 %rd4, few;\nadd.s64 %rd4, %rd4, %rd2;\nld.u32 %r3, [%rd4];").contains("[1, 0, 0]: out of bounds global"));
    assert!(text("mov.u64 %rd4, 0;\natom.add.u32 %r3, [%rd4], 1;").contains("out of bounds global access of 4 bytes at address 0x0"));
    assert!(text("mov.b64 %rd4, out;\ncvta.param.u64 %rd4, %rd4;\nst.u32 [%rd4], 1;").contains("read-only parameter access"));
    assert!(text("mov.b64 %rd4, out;\nld.param.u32 %r3, [%rd4+8];").contains("out of bounds parameter access of 4 bytes at address 0x8"));
    assert!(
        text("T: .branchtargets A;\nbrx.idx %r1, T;\nA: mov.u32 %r3, 1;")
            .ends_with("thread [1, 0, 0]: stopped by a branch beyond the end of its list")
    );
}

#[test]
fn barriers_that_some_warps_never_reach() {
    let text = |body: &str| run("", body, 96).unwrap_err().to_string();
    let hang = text("setp.lt.u32 %p1, %r1, 64;\n@%p1 bra L;\nbar.sync 1, 64;\nL: bar.sync 0;");
    let (one, all) = (FIRST + 2, FIRST + 3);
    let start = format!("k.ptx:{all}: kernel `k`, TB [0, 0, 0], warp 0: the TB hangs: waiting: ");
    assert_eq!(hang, start + &format!("warps 0, 1 at barrier 0 in line {all}; warp 2 at barrier 1 in line {one}"));
    // Warps that end are waited for by number only.
    let body = "setp.lt.u32 %p1, %r1, 64;\n@%p1 exit;\nbar.sync 0";
    assert!(run("", &format!("{body};"), 96).is_ok());
    assert!(text(&format!("{body}, 96;")).ends_with("waiting: warp 2 at barrier 0 in line 18; warps 0, 1 ended"));
    assert!(
        text("setp.lt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;\nL: bar.sync 0;")
            .contains("only a part of the warp's threads reaches the barrier")
    );
    assert!(text("and.b32 %r2, %r1, 1;\nbar.sync %r2;").contains("the threads of a warp name different barriers"));
    assert!(text("mov.u32 %r2, 16;\nbar.sync %r2;").contains("a TB has 16 barriers"));
    assert!(
        text("shr.u32 %r2, %r1, 5;\nadd.u32 %r2, %r2, 1;\nshl.b32 %r2, %r2, 5;\nbar.sync 3, %r2;").contains("different numbers of threads")
    );
}

/// The message names the loop, also one that goes through a barrier and a function; and of many TBs
/// only the first is run.
#[test]
fn kernels_that_never_end() {
    let function = ".func f()\n{\n.reg .b32 %r<3>;\nadd.u32 %r1, %r1, 1;\nret;\n}";
    let text = kernel(function, "mov.u32 %r3, 0;\nL: add.u32 %r3, %r3, 1;\nbar.sync 0;\ncall f;\nbra L;");
    let program = Program::parse("k.ptx", &text, "k").unwrap();
    let mut device = Device::default();
    let out = device.zeros(4 * 64);
    let launch = Launch { grid: [1; 3], block: [64, 1, 1], args: vec![Arg::U64(out)], shared_bytes: 0, ..Launch::default() };
    let mut runner = TbRunner::new(&program, &launch, &device.0).unwrap().limit(1000);
    let message = runner.run(0, &mut mias_ptx::warp::Unobserved).unwrap_err().to_string();
    // From the function's first line to the branch back.
    let rest = ": kernel `k`, TB [0, 0, 0], warp 0: still running after 1000 instructions, in lines 7 to 25";
    assert!(message.starts_with("k.ptx:7:") && message.contains(rest), "{message}");
    let endless = Program::parse("k.ptx", &kernel("", "L: bra L;"), "k").unwrap();
    let message = device.run(&endless, row(100_000, 96), &[Arg::U64(out)]).unwrap_err().to_string();
    assert!(message.contains("still running after 10000000 instructions, in line 16"), "{message}");
}
