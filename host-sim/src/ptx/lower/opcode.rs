//! How Turing spells a lowered instruction, for traces that other simulators replay. Opcodes and modifiers: CUDA binary
//! utilities, "Turing instruction set", and what cuobjdump shows for `kernels/`.
//!
//! Readers of traces take the execution unit from the opcode's first part. So the part before the first dot always names an
//! instruction of the unit that the model times ([`StaticInst::class`]), even where the assembler would choose otherwise:
//!
//! * what the model gives to the multi-function unit is a `MUFU`: conversions, bit counts, divisions (`MUFU.I2F`, `MUFU.POPC`,
//!   `MUFU.RCP`), where the machine has `I2F`, `POPC`, and a sequence around `MUFU.RCP`;
//! * a comparison of f32 is an `ISETP`, as the model compares on the integer unit;
//! * an integer division is one `IMAD`, as it is one instruction here;
//! * an exit of some lanes while others go on is a `BRA`.
//!
//! A load from constant memory by a register is an `LDC` with its width, which tracers do not list: the model's reader knows it by
//! that and times it in the load/store unit, others as integer.
//!
//! Widths are spelled so that the reference reads them: it knows a bare number of bits and `U` with one, and takes anything
//! else for 32 bits. So a signed byte is loaded by `.U8`.

use crate::ptx::program::Inst;
use mias_hw_model::isa::{Class, Space, StaticInst};

/// The opcode of `inst`, which was lowered to `lowered`, with its modifiers.
pub fn opcode(inst: &Inst, lowered: &StaticInst) -> String {
    let parts: Vec<&str> = inst.opcode.split('.').collect();
    let text = match lowered.class {
        Class::Load(space) => return access("LD", space, lowered),
        Class::Store(space) => return access("ST", space, lowered),
        Class::Atomic(space) => return atomic(&parts, space, lowered),
        Class::Int => integer(&parts),
        Class::Sp => single(&parts),
        Class::Dp => double(&parts),
        Class::Sfu => multi(&parts),
        Class::Branch => match parts[0] {
            "brx" => "BRX",
            "call" => "CALL.REL.NOINC",
            "trap" => "BPT.TRAP",
            _ => "BRA",
        },
        Class::Barrier => "BAR.SYNC.DEFER_BLOCKING",
        Class::MemoryBarrier => "MEMBAR.SC.GPU",
        Class::Exit => "EXIT",
        // No PTX instruction is lowered to these; one each, so that the table is whole.
        Class::Tensor => "HMMA.1688.F32",
        Class::Texture => "TEX.SCR.LL",
        Class::Uniform => "UMOV",
    };
    let set = text.ends_with("SETP");
    let (relation, flush) = (if set { relation(&parts) } else { "" }, if has(&parts, "ftz") { ".FTZ" } else { "" });
    let flush = if matches!(lowered.class, Class::Sp) { flush } else { "" };
    format!("{text}{flush}{relation}")
}

fn has(parts: &[&str], part: &str) -> bool {
    parts.contains(&part)
}

/// True if the last type is signed.
fn signed(parts: &[&str]) -> bool {
    parts.last().is_some_and(|ty| ty.starts_with('s'))
}

/// Loads and stores. `STRONG.GPU` is what skips the L1.
fn access(stem: &str, space: Space, lowered: &StaticInst) -> String {
    let width = width(lowered.width_bytes);
    let scope = if lowered.bypass_l1 { "STRONG.GPU" } else { "SYS" };
    match space {
        Space::Global => format!("{stem}G.E{width}.{scope}"),
        Space::Local => format!("{stem}L{width}"),
        Space::Shared => format!("{stem}S{width}"),
        Space::Constant => format!("{stem}C{width}"),
    }
}

fn width(bytes: u8) -> &'static str {
    match bytes {
        1 => ".U8",
        2 => ".U16",
        8 => ".64",
        16 => ".128",
        _ => "",
    }
}

/// Read-modify-write; without a result on global memory it is a `RED`.
fn atomic(parts: &[&str], space: Space, lowered: &StaticInst) -> String {
    let names = [
        ("add", "ADD"),
        ("min", "MIN"),
        ("max", "MAX"),
        ("and", "AND"),
        ("or", "OR"),
        ("xor", "XOR"),
        ("exch", "EXCH"),
        ("cas", "CAS"),
        ("inc", "INC"),
        ("dec", "DEC"),
    ];
    let update = names.iter().find(|(ptx, _)| has(parts, ptx)).map_or("ADD", |(_, name)| name);
    let width = width(lowered.width_bytes);
    match (space, lowered.dst) {
        (Space::Shared, _) => format!("ATOMS.{update}{width}"),
        (_, None) => format!("RED.E.{update}{width}.STRONG.GPU"),
        (_, Some(_)) => format!("ATOMG.E.{update}{width}.STRONG.GPU"),
    }
}

/// Integer, logic, moves, comparisons, and what the lanes of a warp do together.
fn integer(parts: &[&str]) -> &'static str {
    match parts[0] {
        "add" | "addc" | "sub" | "subc" | "neg" | "sad" => "IADD3",
        "mul" | "mad" | "madc" | "mul24" | "mad24" if has(parts, "wide") => {
            if signed(parts) {
                "IMAD.WIDE"
            } else {
                "IMAD.WIDE.U32"
            }
        }
        "mul" | "mad" | "madc" if has(parts, "hi") => "IMAD.HI.U32",
        "mul" | "mad" | "madc" | "mul24" | "mad24" | "div" | "rem" => "IMAD",
        "min" | "max" => "IMNMX",
        "abs" => "IABS",
        "and" | "or" | "xor" | "not" if has(parts, "pred") => "PLOP3.LUT",
        "and" | "or" | "xor" | "not" | "cnot" | "lop3" | "bfi" => "LOP3.LUT",
        "shl" => "SHF.L.U32",
        "shr" | "bfe" if signed(parts) => "SHF.R.S32.HI",
        "shr" | "bfe" => "SHF.R.U32.HI",
        "shf" => {
            if has(parts, "l") {
                "SHF.L.W.U32.HI"
            } else {
                "SHF.R.W.U32"
            }
        }
        "prmt" => "PRMT",
        "dp4a" => "IDP.4A.U8.U8",
        "dp2a" => "IDP.2A.LO.U16.U8",
        "isspacep" => "QSPC.E.S",
        "setp" | "set" | "testp" => "ISETP",
        "selp" | "slct" => "SEL",
        "cvt" => "I2I",
        "shfl" if has(parts, "up") => "SHFL.UP",
        "shfl" if has(parts, "down") => "SHFL.DOWN",
        "shfl" if has(parts, "bfly") => "SHFL.BFLY",
        "redux" => "SHFL.BFLY",
        "shfl" => "SHFL.IDX",
        "vote" if has(parts, "all") => "VOTE.ALL",
        "vote" if has(parts, "uni") => "VOTE.EQ",
        "vote" | "activemask" => "VOTE.ANY",
        "match" if has(parts, "all") => "MATCH.ALL",
        "match" => "MATCH.ANY",
        "bar" | "barrier" | "prefetch" | "prefetchu" | "nanosleep" => "NOP",
        // Moves, `cvta`, and parameters, which the machine reads from the constant bank.
        _ => "MOV",
    }
}

/// f32 and f16.
fn single(parts: &[&str]) -> &'static str {
    let half = parts.last().is_some_and(|ty| ty.starts_with("f16"));
    match (parts[0], half) {
        ("mul", false) => "FMUL",
        ("mul", true) => "HMUL2",
        ("fma" | "mad", false) => "FFMA",
        ("fma" | "mad", true) => "HFMA2",
        ("min" | "max", false) => "FMNMX",
        ("min" | "max", true) => "HSET2",
        (_, false) => "FADD",
        (_, true) => "HADD2",
    }
}

/// f64; what the machine makes a sequence of is a `DFMA`.
fn double(parts: &[&str]) -> &'static str {
    match parts[0] {
        "add" | "sub" | "neg" | "abs" | "copysign" => "DADD",
        "mul" => "DMUL",
        "setp" | "set" | "slct" | "testp" | "min" | "max" => "DSETP",
        _ => "DFMA",
    }
}

/// The multi-function unit.
fn multi(parts: &[&str]) -> &'static str {
    let float = |part: Option<&&str>| part.is_some_and(|ty| ty.starts_with('f'));
    match parts[0] {
        "cvt" => match (float(parts.iter().rev().nth(1)), float(parts.last())) {
            (true, true) => "MUFU.F2F",
            (true, false) => "MUFU.I2F",
            _ => "MUFU.F2I",
        },
        "rsqrt" => "MUFU.RSQ",
        "sqrt" => "MUFU.SQRT",
        "sin" => "MUFU.SIN",
        "cos" => "MUFU.COS",
        "lg2" => "MUFU.LG2",
        "ex2" => "MUFU.EX2",
        "tanh" => "MUFU.TANH",
        "popc" => "MUFU.POPC",
        "clz" | "bfind" => "MUFU.FLO",
        "brev" => "MUFU.BREV",
        // Divisions and reciprocals.
        _ => "MUFU.RCP",
    }
}

/// Relation and join of a comparison.
fn relation(parts: &[&str]) -> &'static str {
    match parts.get(1).copied() {
        Some("eq" | "equ") => ".EQ.AND",
        Some("ne" | "neu") => ".NE.AND",
        Some("lt" | "ltu" | "lo") => ".LT.AND",
        Some("le" | "leu" | "ls") => ".LE.AND",
        Some("gt" | "gtu" | "hi") => ".GT.AND",
        Some("ge" | "geu" | "hs") => ".GE.AND",
        _ => ".NE.AND",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accelsim::opcodes::{Isa, Operation};
    use crate::kernels::{ALL, Spec, prepare};
    use crate::ptx::Program;
    use crate::ptx::lower::Lowered;

    fn spelled(program: &Program) -> Vec<(String, StaticInst)> {
        let lowered = Lowered::new(program);
        let kept = program.insts.iter().zip(&lowered.statics).filter_map(|(inst, lowered)| Some((inst, (*lowered)?)));
        kept.map(|(inst, lowered)| (opcode(inst, &lowered), lowered)).collect()
    }

    /// Turing's table, by which traces are read, gives each opcode the unit that the model gave the instruction.
    fn check(program: &Program) {
        for (text, lowered) in spelled(program) {
            let stem = text.split('.').next().unwrap();
            let expected = if lowered.class == Class::Exit { Operation::Exit } else { Operation::Of(lowered.class) };
            assert_eq!(Isa::Turing.operation(stem), Some(expected), "{text}");
        }
    }

    #[test]
    fn our_kernels_keep_their_units() {
        for &kernel in ALL {
            check(&prepare(&Spec::of(kernel)).unwrap().program);
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
        // As cuobjdump has them.
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
}
