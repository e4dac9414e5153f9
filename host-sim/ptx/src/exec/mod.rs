//! Opcode families. Each file decodes and executes its instructions for all lanes of a warp at
//! once.
//!
//! To add an instruction, extend the `decode`, `execute` and tests of its family.

pub mod access;
pub mod approx;
pub mod arith;
pub mod atomic;
pub mod bits;
pub mod collective;
pub mod compare;
pub mod control;
pub mod convert;
pub mod copy;
pub mod cvt;
pub mod fetch;
pub mod float;
pub mod generic;
pub mod integer;
pub mod integer_any;
pub mod logic;
pub mod matrix;
pub mod memory;
pub mod narrow;
pub mod phase;
pub mod place;
pub mod query;
pub mod scalar;
pub mod special;
pub mod surface;
pub mod system;
pub mod test;
#[cfg(test)]
mod testing;
pub mod texture;
pub mod video;

use super::ast::Type;
use super::error::PtxError;
use super::frames::Enter;
use super::operands::Decoder;
use super::registers::Lanes;

/// A decoded operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Integer arithmetic.
    Integer(integer::Integer),
    /// 32-bit floating point.
    Float(float::Float),
    /// Bitwise logic and shifts.
    Logic(logic::Logic),
    /// Comparison and selection.
    Compare(compare::Compare),
    /// Conversion between types.
    Convert(convert::Convert),
    /// Conversion of generic addresses.
    Generic(generic::Generic),
    /// One function per lane, for the less common instructions of all families.
    Scalar(scalar::Scalar),
    /// Instructions across the lanes of a warp.
    Collective(collective::Collective),
    /// Moves and special registers.
    Special(special::Move),
    /// Loads and stores.
    Memory(memory::Memory),
    /// Calls of the run-time system.
    System(system::System),
    /// Textures and surfaces.
    Texture(texture::Texturing),
    /// Branches, barriers, exits.
    Control(control::Control),
    /// Matrix instructions.
    Matrix(matrix::Matrix),
    /// Asynchronous copies.
    Copy(copy::Copy),
    /// Barriers in shared memory.
    Phase(phase::Phase),
}

impl Op {
    /// Creates the end of the kernel.
    pub fn exit() -> Op {
        Op::Control(control::Control::Exit)
    }

    /// Returns true for `ret` and `exit`.
    pub fn is_exit(&self) -> bool {
        matches!(self, Op::Control(control::Control::Exit))
    }

    /// Returns the call of a recursive function, if the operation is one.
    pub fn enters(&self) -> Option<&Enter> {
        if let Op::Control(control::Control::Enter(enter)) = self { Some(enter) } else { None }
    }

    /// Returns the mutable form of [`Op::enters`].
    pub(super) fn enters_mut(&mut self) -> Option<&mut Enter> {
        if let Op::Control(control::Control::Enter(enter)) = self { Some(enter) } else { None }
    }

    /// Returns true for the end of the kernel or of a recursive function.
    pub fn ends(&self) -> bool {
        matches!(self, Op::Control(control::Control::Exit | control::Control::Leave))
    }

    /// Returns true for `bar.sync`.
    pub fn is_barrier(&self) -> bool {
        matches!(self, Op::Control(control::Control::Barrier { .. }))
    }

    /// Returns the possible targets of a branch, as instruction indices.
    pub fn targets(&self) -> &[u32] {
        match self {
            Op::Control(control::Control::Branch { target }) => std::slice::from_ref(target),
            Op::Control(control::Control::Table { targets, .. }) => targets,
            _ => &[],
        }
    }
}

/// Decodes one instruction.
pub(super) fn decode(d: &mut Decoder<'_, '_>) -> Result<Op, PtxError> {
    let ty = d.parts.last().and_then(|p| Type::parse(p));
    let pair = d.parts.last().is_some_and(|last| matches!(*last, "f16x2" | "bf16" | "bf16x2"));
    let float = pair || matches!(ty, Some(Type::Float(_)));
    let plain = !d.parts.iter().any(|&p| matches!(p, "cc" | "sat"));
    let wide = ty.is_some_and(|ty| ty.bytes() > 2);
    match d.parts[0] {
        "add" | "sub" | "mul" | "mad" | "fma" | "neg" | "abs" | "min" | "max"
            if ty == Some(Type::Float(4)) && !d.parts.iter().any(|&p| matches!(p, "sat" | "rz" | "rm" | "rp")) =>
        {
            float::decode(d).map(Op::Float)
        }
        "add" | "sub" | "mul" | "mad" | "fma" | "neg" | "abs" | "min" | "max" | "div" | "copysign" | "sqrt" | "rcp" if float => {
            arith::decode(d).map(Op::Scalar)
        }
        "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => arith::decode(d).map(Op::Scalar),
        "add" | "sub" | "mul" | "mad" | "neg" | "abs" | "min" | "max" | "div" | "rem" if plain && wide => {
            integer::decode(d).map(Op::Integer)
        }
        "add" | "addc" | "sub" | "subc" | "mul" | "mul24" | "mad" | "madc" | "mad24" | "neg" | "abs" | "min" | "max" | "div" | "rem"
        | "sad" => integer_any::decode(d).map(Op::Scalar),
        "and" | "or" | "xor" | "not" | "shl" | "shr" if ty == Some(Type::Pred) || wide => logic::decode(d).map(Op::Logic),
        "and" | "or" | "xor" | "not" | "shl" | "shr" | "popc" | "clz" | "brev" | "bfind" | "bfe" | "bfi" | "prmt" | "lop3" | "shf"
        | "cnot" | "dp4a" | "dp2a" | "fns" => bits::decode(d).map(Op::Scalar),
        "vadd2" | "vadd4" | "vsub2" | "vsub4" | "vmin2" | "vmin4" | "vmax2" | "vmax4" | "vabsdiff2" | "vabsdiff4" => {
            video::decode(d).map(Op::Scalar)
        }
        "selp" => compare::decode(d).map(Op::Compare),
        "setp" if compare::is_common(d) => compare::decode(d).map(Op::Compare),
        "setp" | "set" | "slct" | "testp" => test::decode(d).map(Op::Scalar),
        "cvt" if narrow::is_one(d) => narrow::decode(d).map(Op::Scalar),
        "cvt" if !convert::is_common(d) => cvt::decode(d).map(Op::Scalar),
        "shfl" | "vote" | "match" | "activemask" | "redux" => collective::decode(d).map(Op::Collective),
        "cvt" => convert::decode(d).map(Op::Convert),
        "cvta" | "isspacep" => generic::decode(d),
        "mov" => special::decode(d),
        "ld" | "ldu" | "st" => memory::decode(d),
        "atom" | "red" => memory::decode_atomic(d),
        "tex" | "tld4" | "txq" | "suq" => texture::decode(d).map(Op::Texture),
        "suld" | "sust" => surface::decode(d).map(Op::Texture),
        "membar" | "fence" | "discard" | "prefetch" | "prefetchu" | "nanosleep" => control::decode(d).map(Op::Control),
        "bra" | "brx" | "bar" | "barrier" | "ret" | "exit" | "trap" | "brkpt" => control::decode(d).map(Op::Control),
        "mma" | "wmma" | "ldmatrix" | "stmatrix" | "movmatrix" => matrix::decode(d).map(Op::Matrix),
        "cp" if d.parts.get(2) != Some(&"mbarrier") => copy::decode(d).map(Op::Copy),
        "cp" | "mbarrier" => phase::decode(d).map(Op::Phase),
        _ => d.unsupported(),
    }
}

/// Executes an operation that accesses only registers. Memory, special registers and control flow
/// belong to the warp and have no effect here.
#[inline]
pub fn execute(op: &Op, lanes: &mut Lanes<'_>) {
    match op {
        Op::Integer(op) => integer::execute(op, lanes),
        Op::Float(op) => float::execute(op, lanes),
        Op::Logic(op) => logic::execute(op, lanes),
        Op::Compare(op) => compare::execute(op, lanes),
        Op::Convert(op) => convert::execute(op, lanes),
        Op::Generic(op) => generic::execute(op, lanes),
        Op::Scalar(op) => scalar::execute(op, lanes),
        Op::Collective(op) => collective::execute(op, lanes),
        Op::Special(_) | Op::Memory(_) | Op::Texture(_) | Op::System(_) | Op::Control(_) | Op::Matrix(_) | Op::Copy(_) | Op::Phase(_) => {}
    }
}
