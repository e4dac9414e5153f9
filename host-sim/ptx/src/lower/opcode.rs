//! Turing opcodes of lowered instructions, for traces that other simulators replay. Opcodes and
//! modifiers are those of CUDA binary utilities, "Turing instruction set", and of cuobjdump's
//! output for `kernels/`.
//!
//! Readers of traces derive the execution unit from the opcode's first part. The part before the
//! first dot therefore names an instruction of the unit that the model times
//! ([`StaticInst::class`]), even if the assembler would choose another:
//!
//! * Instructions that the model assigns to the multi-function unit are `MUFU`: conversions, bit
//!   counts, divisions (`MUFU.I2F`, `MUFU.POPC`, `MUFU.RCP`). A GPU has `I2F`, `POPC`, and a
//!   sequence around `MUFU.RCP`.
//! * A comparison of f32 is an `ISETP`, since the model compares on the integer unit.
//! * An integer division is one `IMAD`, since it is one instruction here.
//! * An exit of some lanes while others continue is a `BRA`.
//! * A matrix instruction of floats is one `HMMA` of a Turing shape, and an asynchronous copy is a
//!   load (`LDG`).
//!
//! A load from constant memory by a register is an `LDC` with its width, which tracers do not list.
//! The model's reader recognizes it by the width and times it in the load/store unit; other readers
//! time it as integer.
//!
//! Widths are spelled for the reference simulator. It reads a bare number of bits and `U` with a
//! number, and takes anything else for 32 bits. A signed byte is therefore loaded by `.U8`.

use crate::program::Inst;
use mias_warp_trace::isa::{Class, Space, StaticInst};

/// Returns the opcode of `inst`, which was lowered to `lowered`, with its modifiers.
pub fn opcode(inst: &Inst, lowered: &StaticInst) -> String {
    let parts: Vec<&str> = inst.opcode.split('.').collect();
    let text = match lowered.class {
        Class::Load(Space::Shared) if parts[0] == "ldmatrix" => {
            return format!("LDSM.16.M{}88.{}", if has(&parts, "trans") { "T" } else { "" }, lowered.width_bytes / 4);
        }
        Class::Load(Space::Texture) | Class::Store(Space::Texture) | Class::Texture => texels(&parts),
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
        Class::Tensor => tensor(&parts),
        // No PTX instruction is lowered to these classes; an opcode each completes the table.
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

/// Returns whether the last type is signed.
fn signed(parts: &[&str]) -> bool {
    parts.last().is_some_and(|ty| ty.starts_with('s'))
}

/// Returns the opcode of a texture or surface access. Tracers list no addresses for them, so there
/// is no width.
fn texels(parts: &[&str]) -> &'static str {
    match parts[0] {
        "tld4" => "TLD4.SCR",
        "txq" | "suq" => "TXQ.SCR",
        "suld" => "SULD.D.BA",
        "sust" => "SUST.D.BA",
        _ => "TEX.SCR.LL",
    }
}

/// Returns the opcode of a load or store. `STRONG.GPU` bypasses the L1.
fn access(stem: &str, space: Space, lowered: &StaticInst) -> String {
    let width = width(lowered.width_bytes);
    let scope = if lowered.bypass_l1 { "STRONG.GPU" } else { "SYS" };
    match space {
        Space::Global => format!("{stem}G.E{width}.{scope}"),
        Space::Local => format!("{stem}L{width}"),
        Space::Shared => format!("{stem}S{width}"),
        // A constant; for texels, see `texels`.
        Space::Constant | Space::Texture => format!("{stem}C{width}"),
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

/// Returns the opcode of an atomic; without a result on global memory it is a `RED`.
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

/// Returns the opcode of integer arithmetic, logic, moves, comparisons, and instructions across
/// lanes.
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
        "bar" | "barrier" | "prefetch" | "prefetchu" | "nanosleep" | "cp" => "NOP",
        "movmatrix" => "MOVM.16.MT88",
        // Pending arrivals of a state, or a wait for copies.
        "mbarrier" => {
            if has(parts, "pending_count") {
                "LOP3.LUT"
            } else {
                "NOP"
            }
        }
        // Moves, `cvta`, and parameters, which a GPU reads from the constant bank.
        _ => "MOV",
    }
}

/// Returns the opcode of f32 and f16 arithmetic.
fn single(parts: &[&str]) -> &'static str {
    let half = parts.last().is_some_and(|ty| ty.starts_with("f16") || ty.starts_with("bf16"));
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

/// Returns the opcode of f64 arithmetic; a sequence on a GPU is one `DFMA`.
fn double(parts: &[&str]) -> &'static str {
    match parts[0] {
        "add" | "sub" | "neg" | "abs" | "copysign" => "DADD",
        "mul" => "DMUL",
        "setp" | "set" | "slct" | "testp" | "min" | "max" => "DSETP",
        _ => "DFMA",
    }
}

/// Returns the opcode of the tensor unit.
fn tensor(parts: &[&str]) -> &'static str {
    match parts.last().copied() {
        _ if has(parts, "b1") => "BMMA.88128.XOR.POPC",
        _ if has(parts, "s4") || has(parts, "u4") => "IMMA.8832.S4.S4",
        _ if has(parts, "s8") || has(parts, "u8") => "IMMA.8816.S8.S8",
        Some("f16") => "HMMA.1688.F16",
        _ => "HMMA.1688.F32",
    }
}

/// Returns the opcode of the multi-function unit.
fn multi(parts: &[&str]) -> &'static str {
    let float = |part: Option<&&str>| part.is_some_and(|ty| ty.contains('f'));
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

/// Returns the relation and combination of a comparison.
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
