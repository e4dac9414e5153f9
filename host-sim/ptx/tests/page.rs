//! Tests of `docs/reference/ptx.md`: each group that the page calls supported decodes, and what it
//! calls refused is refused.

use mias_ptx::Program;
use std::path::Path;

/// Groups of the page's table, each with instructions of the PTX ISA 7.8.
const SUPPORTED: [(&str, &[&str]); 18] = [
    ("types", &["mov.u64 %rd1, 1;", "add.f16 %h1, %h2, %h3;", "add.f16x2 %r1, %r2, %r3;", "fma.rn.f64 %d1, %d2, %d3, %d4;"]),
    (
        "arithmetic",
        &["mul24.lo.s32 %r1, %r2, %r3;", "addc.u32 %r1, %r2, %r3;", "dp4a.s32.s32 %r1, %r2, %r3, %r4;", "sad.u32 %r1, %r2, %r3, %r4;"],
    ),
    (
        "approximate",
        &["div.approx.f32 %f1, %f2, %f3;", "rsqrt.approx.f32 %f1, %f2;", "lg2.approx.f32 %f1, %f2;", "tanh.approx.f32 %f1, %f2;"],
    ),
    ("bf16, bf16x2", &["fma.rn.relu.bf16x2 %r1, %r2, %r3, %r4;", "min.bf16x2 %r1, %r2, %r3;", "neg.bf16 %h1, %h2;"]),
    ("SIMD in a word", &["vadd2.s32.s32.s32.sat %r1, %r2, %r3, %r4;", "vabsdiff4.u32.u32.u32.add %r1, %r2, %r3, %r4;"]),
    (
        "logic, bits",
        &["lop3.b32 %r1, %r2, %r3, %r4, 0x96;", "shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "bfind.u32 %r1, %r2;", "fns.b32 %r1, %r2, %r3, %r4;"],
    ),
    (
        "compare, select, convert, move",
        &["setp.lt.s32 %p1, %r1, %r2;", "selp.b32 %r1, %r2, %r3, %p1;", "cvt.rn.bf16.f32 %h1, %f1;", "mov.b64 {%r1, %r2}, %rd1;"],
    ),
    ("control", &["bra $end;", "exit;", "trap;", "brkpt;"]),
    (
        "memory",
        &[
            "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];",
            "ld.volatile.u32 %r1, [%rd1];",
            "st.release.gpu.u32 [%rd1], %r1;",
            "isspacep.shared %p1, %rd1;",
        ],
    ),
    ("atomics", &["atom.cas.b16 %h1, [%rd1], %h2, %h3;", "atom.global.add.f64 %d1, [%rd1], %d2;", "red.global.add.u64 [%rd1], %rd2;"]),
    (
        "textures",
        &[
            "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
            "tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
            "txq.width.b32 %r1, [%rd1];",
        ],
    ),
    (
        "surfaces",
        &["suld.b.2d.b32.trap {%r1}, [%rd1, {%r2, %r3}];", "sust.b.2d.b32.clamp [%rd1, {%r2, %r3}], {%r1};", "suq.width.b32 %r1, [%rd1];"],
    ),
    (
        "warp",
        &[
            "shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;",
            "vote.sync.ballot.b32 %r1, %p1, -1;",
            "match.any.sync.b32 %r1, %r2, -1;",
            "redux.sync.add.s32 %r1, %r2, -1;",
            "bar.warp.sync -1;",
        ],
    ),
    ("TB", &["bar.sync 0;", "barrier.sync 1, 64;", "barrier.arrive 1, 64;", "bar.red.popc.u32 %r1, 0, %p1;"]),
    ("matrices", &["ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%rd1];", "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"]),
    (
        "asynchronous copies",
        &["cp.async.ca.shared.global [%rd1], [%rd2], 16;", "cp.async.commit_group;", "cp.async.wait_group 0;", "cp.async.wait_all;"],
    ),
    (
        "`mbarrier`",
        &[
            "mbarrier.init.shared.b64 [%rd1], %r1;",
            "mbarrier.arrive.shared.b64 %rd2, [%rd1];",
            "mbarrier.test_wait.shared.b64 %p1, [%rd1], %rd2;",
        ],
    ),
    ("special registers", &["mov.u32 %r1, %tid.x;", "mov.u32 %r1, %laneid;", "mov.u32 %r1, %lanemask_lt;", "mov.u32 %r1, %clock;"]),
];

/// Words of the page's list of refused PTX, each with an instruction.
const REFUSED: [(&str, &str); 12] = [
    ("scalar video instructions", "vadd.s32.s32.s32 %r1, %r2, %r3;"),
    ("`alloca`", "alloca.u64 %rd1, 16;"),
    ("`createpolicy`", "createpolicy.fractional.L2::evict_last.b64 %rd1, 1.0;"),
    (
        "sparse `mma`",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0;",
    ),
    ("bulk copies", "cp.async.bulk.commit_group;"),
    ("comparisons of bf16", "setp.lt.bf16 %p1, %h1, %h2;"),
    ("cubes", "tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6, %f7, %f8}];"),
    ("multisampling", "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r4}];"),
    ("offsets", "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}], {%r1, %r2};"),
    ("`sust.p`", "sust.p.2d.v4.b32.trap [%rd1, {%r2, %r3}], {%r1, %r2, %r3, %r4};"),
    ("`sured`", "sured.b.add.2d.u32.trap [%rd1, {%r2, %r3}], %r1;"),
    ("`%smid`", "mov.u32 %r1, %smid;"),
];

fn parsed(instruction: &str) -> Result<(), String> {
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{{\n.reg .pred %p<4>;\n.reg .b16 %h<8>;\n\
         .reg .b32 %r<8>;\n.reg .f32 %f<16>;\n.reg .b64 %rd<8>;\n.reg .f64 %d<8>;\n{instruction}\n$end:\nret;\n}}\n"
    );
    Program::parse("k.ptx", &text, "k").map(drop).map_err(|error| error.to_string())
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/ptx.md");
    std::fs::read_to_string(path).expect("the page").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn supported_groups_decode() {
    let page = page();
    for (group, instructions) in SUPPORTED {
        assert!(page.contains(&format!("| {group} |")), "the page has no group {group}");
        for instruction in instructions {
            assert_eq!(parsed(instruction), Ok(()), "{group}");
        }
    }
}

#[test]
fn refused_instructions_are_refused() {
    let page = page();
    let (_, refused) = page.split_once("## Refused").expect("the section");
    for (words, instruction) in REFUSED {
        assert!(refused.contains(words), "the page does not list {words}");
        let message = parsed(instruction).expect_err(words);
        assert!(message.starts_with("k.ptx:12:"), "{message}");
    }
}
