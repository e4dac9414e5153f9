//! Tests of the PTX lowering's opcodes against the table of the trace reader. Each Turing opcode is
//! read back as the unit that the model gave the instruction.

use crate::accelsim::opcodes::{Isa, Operation};
use mias_ptx::Program;
use mias_ptx::lower::Lowered;
use mias_ptx::lower::opcode::opcode;
use mias_warp_trace::isa::{Class, StaticInst};

fn spelled(program: &Program) -> Vec<(String, StaticInst)> {
    let lowered = Lowered::new(program);
    let kept = program.insts.iter().zip(&lowered.statics).filter_map(|(inst, lowered)| Some((inst, (*lowered)?)));
    kept.map(|(inst, lowered)| (opcode(inst, &lowered), lowered)).collect()
}

/// Checks that Turing's table in the trace reader gives each opcode the unit of the model.
fn check(program: &Program) {
    for (text, lowered) in spelled(program) {
        let stem = text.split('.').next().unwrap();
        let expected = if lowered.class == Class::Exit { Operation::Exit } else { Operation::Of(lowered.class) };
        assert_eq!(Isa::Turing.operation(stem), Some(expected), "{text}");
    }
}

#[test]
fn every_family_keeps_its_unit() {
    let body = "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nadd.s32 %r2, %r1, 1;\nmul.hi.u32 %r2, %r1, %r2;\nmad.wide.s32 %rd2, %r1, %r2, %rd1;\n\
        div.u32 %r3, %r2, %r1;\nrem.s32 %r3, %r2, %r1;\nmin.s32 %r3, %r2, %r1;\nabs.s32 %r3, %r2;\nand.b32 %r4, %r1, %r2;\nnot.pred %p2, %p1;\n\
        lop3.b32 %r4, %r1, %r2, %r3, 17;\nshf.l.wrap.b32 %r4, %r1, %r2, %r3;\nprmt.b32 %r4, %r1, %r2, 5;\nbfe.s32 %r4, %r1, 3, 4;\n\
        popc.b32 %r5, %r1;\nclz.b32 %r5, %r1;\nbrev.b32 %r5, %r1;\nbfind.u32 %r5, %r1;\nsetp.lt.u32 %p1, %r1, %r2;\nsetp.lt.f32 %p1, %f1, %f2;\n\
        setp.lt.f64 %p1, %fd1, %fd2;\nselp.f32 %f3, %f1, %f2, %p1;\nslct.f32.f32 %f3, %f1, %f2, %f3;\ncvt.rn.f32.u32 %f4, %r1;\n\
        cvt.rzi.u32.f32 %r6, %f4;\ncvt.f64.f32 %fd1, %f4;\ncvt.s64.s32 %rd3, %r1;\ndiv.rn.f32 %f5, %f1, %f2;\nsqrt.rn.f32 %f5, %f1;\n\
        rcp.approx.f32 %f5, %f1;\nsin.approx.f32 %f5, %f1;\ntanh.approx.f32 %f5, %f1;\nfma.rn.ftz.f32 %f5, %f1, %f2, %f3;\nmin.f32 %f5, %f1, %f2;\n\
        add.rz.f32 %f5, %f1, %f2;\nfma.rn.f64 %fd3, %fd1, %fd2, %fd3;\nadd.f64 %fd3, %fd1, %fd2;\nmax.f64 %fd3, %fd1, %fd2;\nsqrt.rn.f64 %fd3, %fd1;\n\
        shfl.sync.down.b32 %r7, %r1, 1, 31, -1;\nvote.sync.any.pred %p2, %p1, -1;\nactivemask.b32 %r7;\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n\
        ld.global.s8 %r8, [%rd1];\nld.volatile.global.u32 %r8, [%rd1];\nst.global.u16 [%rd1], %r8;\nld.shared.f64 %fd1, [s];\nst.shared.u8 [s], %r8;\n\
        atom.global.add.u32 %r9, [%rd1], 1;\nred.global.add.u64 [%rd1], %rd2;\natom.shared.cas.b32 %r9, [s], 1, 2;\nmembar.gl;\nbar.sync 0;\nret;";
    let text = format!(
        ".version 7.8\n.target sm_75\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n\
         .reg .f64 %fd<40>;\n.reg .b64 %rd<40>;\n.shared .align 16 .b8 s[512];\n{body}\n}}\n"
    );
    let program = Program::parse("t.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    let texts: Vec<String> = spelled(&program).into_iter().map(|(text, _)| text).collect();
    // The opcodes are written as in cuobjdump.
    for expected in [
        "FFMA.FTZ",
        "DFMA",
        "MUFU.SIN",
        "ISETP.LT.AND",
        "LDG.E.128.SYS",
        "LDG.E.U8.SYS",
        "LDG.E.STRONG.GPU",
        "STG.E.U16.SYS",
        "LDS.64",
        "STS.U8",
        "ATOMG.E.ADD.STRONG.GPU",
        "RED.E.ADD.64.STRONG.GPU",
        "ATOMS.CAS",
        "MEMBAR.SC.GPU",
        "BAR.SYNC.DEFER_BLOCKING",
        "EXIT",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} not in {texts:?}");
    }
}

#[test]
fn matrices_and_copies_keep_their_unit() {
    let registers = |first: usize, count: usize| {
        let names: Vec<String> = (first..first + count).map(|i| format!("%r{i}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let body = format!(
        "ld.param.u64 %rd1, [p];\nldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {a}, [s];\nstmatrix.sync.aligned.m8n8.x2.shared.b16 [s], {b};\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a}, {a}, {b}, {a};\n\
         mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {b}, {b}, {{%r9}}, {b};\nmma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {a}, {a}, {b}, {a};\n\
         mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc {a}, {a}, {b}, {a};\n\
         mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{%fd1, %fd2}}, {{%fd3}}, {{%fd4}}, {{%fd1, %fd2}};\n\
         wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {b}, [%rd1];\nwmma.store.d.sync.aligned.col.m8n8k32.shared.s32 [s], {b};\n\
         cp.async.cg.shared.global [s], [%rd1], 16;\ncp.async.commit_group;\ncp.async.wait_group 0;\nmbarrier.init.shared.b64 [s], 1;\n\
         mbarrier.arrive.shared.b64 %rd2, [s];\nmbarrier.pending_count.b64 %r1, %rd2;\nW: mbarrier.test_wait.shared.b64 %p1, [s], %rd2;\n@!%p1 bra W;\n\
         cvt.rn.bf16.f32 %r1, %r2;\nfma.rn.bf16x2 %r1, %r2, %r3, %r4;\nret;",
        a = registers(4, 4),
        b = registers(8, 2)
    );
    let text = format!(
        ".version 7.8\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p)\n{{\n.reg .pred %p<9>;\n.reg .b32 %r<40>;\n.reg .f64 %fd<40>;\n\
         .reg .b64 %rd<40>;\n.shared .align 16 .b8 s[512];\n{body}\n}}\n"
    );
    let program = Program::parse("t.ptx", &text, "k").unwrap_or_else(|e| panic!("{e}"));
    check(&program);
    let texts: Vec<String> = spelled(&program).into_iter().map(|(text, _)| text).collect();
    for expected in [
        "LDSM.16.MT88.4",
        "STS.64",
        "MOVM.16.MT88",
        "HMMA.1688.F32",
        "HMMA.1688.F16",
        "IMMA.8816.S8.S8",
        "BMMA.88128.XOR.POPC",
        "LDG.E.128.STRONG.GPU",
        "LDG.E.SYS",
        "MUFU.F2F",
        "HFMA2",
        "ATOMS.ADD.64",
        "LDS.64",
    ] {
        assert!(texts.iter().any(|text| text == expected), "{expected} not in {texts:?}");
    }
}
