//! Decoded program, which the executor runs and the lowering reads. Names are replaced by dense
//! indices.

use super::ast::Type;
use super::error::Position;
use super::exec::Op;
use super::exec::atomic::Update;
use super::exec::memory::{Memory, Space};
use super::exec::place::Special;
use super::exec::special::Move;
use super::exec::system::{Call, System};
use super::frames::Subroutine;
use super::image::Image;
use super::source::SourceMap;
use std::sync::Arc;

/// Index of a predicate register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PredReg(pub u16);

/// Index of a register of at most 32 bits: `.b16`, `.b32`, `.u32`, `.s32`, `.f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WordReg(pub u16);

/// Index of a 64-bit register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DoubleReg(pub u16);

/// A register of any class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reg {
    /// One bit per lane.
    Pred(PredReg),
    /// Up to 32 bits per lane.
    Word(WordReg),
    /// 64 bits per lane.
    Double(DoubleReg),
}

/// A register or a literal as a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src<R, V> {
    /// Register, read per lane.
    Reg(R),
    /// Literal, equal for all lanes.
    Imm(V),
}

/// A 32-bit source.
pub type Src32 = Src<WordReg, u32>;

/// A 64-bit source.
pub type Src64 = Src<DoubleReg, u64>;

/// Base of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// A 32-bit register.
    Word(WordReg),
    /// A 64-bit register.
    Double(DoubleReg),
    /// No base: the offset is the address.
    Absolute,
}

/// Guard of an instruction, as in `@%p`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Predicate register.
    pub pred: PredReg,
    /// True if lanes with a false predicate execute.
    pub negated: bool,
}

/// A decoded instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Operation of the instruction.
    pub op: Op,
    /// Guard that selects the lanes; all active ones if absent.
    pub guard: Option<Guard>,
    /// Registers written, in operand order.
    pub defs: Vec<Reg>,
    /// Registers read: that of the guard first, then in operand order.
    pub uses: Vec<Reg>,
    /// Position of the opcode in the source.
    pub at: Position,
    /// Opcode as written.
    pub opcode: String,
}

/// A kernel parameter and its place in parameter memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Param {
    /// Name in the PTX text.
    pub name: String,
    /// Byte offset in parameter memory.
    pub offset: u32,
    /// Size in bytes.
    pub bytes: u32,
    /// Declared type; for an array or a structure, the type of its elements.
    pub ty: Type,
}

/// A kernel, ready to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// File name for messages.
    pub file: String,
    /// Entry name.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Size of parameter memory in bytes.
    pub param_bytes: u32,
    /// Size of static shared memory in bytes.
    pub shared_bytes: u32,
    /// Start of dynamic shared memory, if the kernel declares any.
    pub dynamic_shared: Option<u32>,
    /// Local memory in bytes per thread, without the frames of recursive functions.
    pub local_bytes: u32,
    /// Variables of the module in device memory.
    pub image: Arc<Image>,
    /// Number of predicate registers.
    pub pred_count: u16,
    /// Number of registers of up to 32 bits.
    pub word_count: u16,
    /// Number of 64-bit registers.
    pub double_count: u16,
    /// Instructions; a branch target is an index here.
    pub insts: Vec<Inst>,
    /// Reconvergence point of a divergent branch per instruction: its immediate post-dominator, or
    /// `insts.len()` for the end of the kernel. Meaningful for branches only.
    pub reconverge: Vec<u32>,
    /// First instruction of each basic block, ascending.
    pub blocks: Vec<u32>,
    /// Recursive functions; their instructions follow those of the kernel.
    pub subroutines: Vec<Subroutine>,
    /// Source lines, for messages.
    pub source: Arc<SourceMap>,
}

impl Program {
    /// Returns the shared memory per TB in bytes with `dynamic` bytes from the launch. Saturates.
    pub fn shared_with(&self, dynamic: u32) -> u32 {
        self.dynamic_shared.unwrap_or(self.shared_bytes).saturating_add(dynamic)
    }

    /// Returns the local memory in bytes per thread, with a stack of `stack_bytes` if the kernel
    /// has recursive functions. Saturates.
    pub fn local_with(&self, stack_bytes: u32) -> u32 {
        self.local_bytes.saturating_add(if self.subroutines.is_empty() { 0 } else { stack_bytes.next_multiple_of(4) })
    }

    /// Returns the dense number of a register over all classes: predicates, then 32-bit, then
    /// 64-bit.
    pub fn dense(&self, reg: Reg) -> usize {
        match reg {
            Reg::Pred(PredReg(n)) => n.into(),
            Reg::Word(WordReg(n)) => usize::from(self.pred_count) + usize::from(n),
            Reg::Double(DoubleReg(n)) => usize::from(self.pred_count) + usize::from(self.word_count) + usize::from(n),
        }
    }

    /// Returns whether results may depend on the order of TBs.
    ///
    /// * Loads may bypass the L1: volatile, or of data of other TBs.
    /// * An atomic on global memory may return its old value or add floats.
    /// * The kernel may allocate memory.
    pub fn depends_on_order(&self) -> bool {
        self.insts.iter().any(|inst| match &inst.op {
            Op::Memory(Memory::Atomic { access, update, to, .. }) => {
                let floats = matches!(access.ty, Type::Float(_)) || *update == Update::AddPair;
                matches!(access.space, Space::Global | Space::Generic) && (to.is_some() || floats)
            }
            Op::Memory(Memory::Load { access, .. }) => access.bypass_l1,
            Op::System(System { call: Call::Allocate, .. }) => true,
            _ => false,
        })
    }

    /// Returns whether the kernel may synchronize its whole grid: it reads the workspace of a
    /// cooperative launch (`cooperative.rs`).
    pub fn is_cooperative(&self) -> bool {
        let asks = |special: &Special| matches!(special, Special::Environment(_));
        self.insts.iter().any(|inst| match &inst.op {
            Op::Special(Move::Special(_, special) | Move::SpecialWide(_, special)) => asks(special),
            Op::Special(Move::PackSpecial(_, specials)) => specials.iter().any(asks),
            _ => false,
        })
    }

    /// Returns whether the kernel allocates memory.
    pub fn allocates(&self) -> bool {
        self.insts.iter().any(|inst| matches!(inst.op, Op::System(System { call: Call::Allocate, .. })))
    }

    /// Returns the number of registers over all classes.
    pub fn dense_count(&self) -> usize {
        usize::from(self.pred_count) + usize::from(self.word_count) + usize::from(self.double_count)
    }
}
