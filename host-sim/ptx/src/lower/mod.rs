//! Lowering of PTX to machine instructions for the timing model. Each PTX instruction that the
//! assembler would keep becomes one [`StaticInst`], in an order and with register names similar to
//! the assembler's.
//!
//! A generic load or store becomes one instruction per memory that its lanes access. The memories
//! are known when it is recorded.
//!
//! 1. [`fold`] drops instructions that are free on a GPU, and joins those that are one instruction
//!    there.
//! 2. [`schedule`] moves loads up within their basic block, as assemblers do to hide latency.
//! 3. [`allocate`] assigns names 0..=254 to the virtual registers; [`copies`] reserves some of them
//!    for asynchronous copies.
//!
//! Execution follows PTX order; [`observe`] sorts each stretch of events into the scheduled order.
//! [`record`] builds the warp trace, [`live`] counts registers, [`tensor`] divides matrix products,
//! and [`opcode`] spells the GPU opcodes.

pub mod allocate;
pub mod copies;
mod flow;
pub mod fold;
mod line;
pub mod live;
pub mod observe;
pub mod opcode;
pub mod record;
mod record_budget;
pub mod schedule;
pub mod tensor;

use super::exec::Op;
use super::exec::control::Control;
use super::exec::convert::Convert;
use super::exec::copy::Copy;
use super::exec::fetch::WORD_BYTES;
use super::exec::matrix::Matrix;
use super::exec::memory::{Access, Memory, Space as MemorySpace};
use super::exec::phase::{Phase, Update};
use super::exec::surface;
use super::exec::texture::Texturing;
use super::program::{Address, Inst, Program};
use mias_warp_trace::isa::{Class, MAX_SOURCES, Space, StaticInst};

/// Size of a machine instruction in bytes, from Volta on (CUDA binary utilities, "Instruction Set
/// Reference").
const INST_BYTES: u32 = 16;

/// Returns the address of the machine instruction for a PTX instruction, by index.
pub fn address(index: u32) -> u32 {
    index * INST_BYTES
}

/// A lowered program, as the timing model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// Machine instruction per PTX instruction; `None` if it is dropped or joined with a later one.
    pub statics: Vec<Option<StaticInst>>,
    /// Per PTX instruction, true if the addresses of its lanes determine the memory.
    pub generic: Vec<bool>,
    /// Number of GPU accesses per PTX instruction; their addresses come one after the other.
    pub accesses: Vec<usize>,
    /// Number of tensor instructions per PTX instruction.
    pub steps: Vec<tensor::Steps>,
    /// Effect on asynchronous copies per PTX instruction.
    pub copies: Vec<Option<copies::Use>>,
    /// Stretches of PTX instructions that are always executed together, in ascending order.
    pub segments: Vec<schedule::Segment>,
}

impl Lowered {
    /// Lowers a program. It never fails: every executable program can be lowered.
    pub fn new(program: &Program) -> Self {
        let folded = fold::fold(program);
        let segments = schedule::schedule(program, &folded);
        let names = allocate::allocate(program, &folded, &segments);
        let statics = program
            .insts
            .iter()
            .zip(&folded)
            .enumerate()
            .map(|(pc, (inst, folded))| {
                let folded = folded.as_ref()?;
                let mut sources: Vec<u8> = Vec::with_capacity(MAX_SOURCES);
                for name in folded.uses.iter().filter_map(|&reg| names[reg]) {
                    if !sources.contains(&name) {
                        sources.push(name);
                    }
                }
                let mut lowered = StaticInst::new(address(pc as u32), class(inst)).reads(&sources).width(width(inst));
                // The function writes the results of a call.
                lowered.dst = folded.defs.first().filter(|_| inst.op.enters().is_none()).and_then(|&reg| names[reg]);
                lowered.bypass_l1 = bypasses_l1(inst);
                Some(lowered)
            })
            .collect();
        let generic = program.insts.iter().map(is_generic).collect();
        let accesses = program.insts.iter().map(accesses).collect();
        let steps = program.insts.iter().map(steps).collect();
        let copies = copies::usages(program);
        Lowered { statics, generic, accesses, steps, copies, segments }
    }
}

/// Returns the unit that executes an instruction. A parameter is a move from the constant bank, as
/// in SASS.
fn class(inst: &Inst) -> Class {
    match &inst.op {
        Op::Integer(_) | Op::Logic(_) | Op::Compare(_) | Op::Collective(_) | Op::Special(_) | Op::Generic(_) => Class::Int,
        Op::Float(_) => Class::Sp,
        Op::Scalar(scalar) => scalar.function.class(),
        Op::Convert(Convert::FromFloat(..) | Convert::ToFloat(..)) => Class::Sfu,
        Op::Convert(_) => Class::Int,
        Op::Memory(Memory::Param { .. }) => Class::Int,
        // An access at a known address is a move from the constant bank too.
        Op::Memory(Memory::Load { access, .. })
            if matches!(access.space, MemorySpace::Const | MemorySpace::Param) && access.base == Address::Absolute =>
        {
            Class::Int
        }
        Op::Memory(Memory::Load { access, .. }) => Class::Load(space(access.space)),
        Op::Memory(Memory::Store { access, .. }) => Class::Store(space(access.space)),
        Op::Control(Control::Branch { .. } | Control::Table { .. } | Control::Trap | Control::Unknown { .. })
        | Op::Control(Control::Call | Control::Enter(_) | Control::Leave)
        | Op::System(_) => Class::Branch,
        // An arrival without waiting is only counted.
        Op::Control(Control::Barrier(barrier)) if barrier.arrive => Class::Int,
        Op::Control(Control::Barrier(_)) => Class::Barrier,
        Op::Memory(Memory::Atomic { access, .. }) => Class::Atomic(space(access.space)),
        Op::Texture(Texturing::Query(_)) => Class::Texture,
        Op::Texture(Texturing::Surface(surface)) if matches!(surface.moved, surface::Move::Store(_)) => Class::Store(Space::Texture),
        Op::Texture(_) => Class::Load(Space::Texture),
        Op::Control(Control::Fence) => Class::MemoryBarrier,
        Op::Control(Control::Nothing) => Class::Int,
        Op::Control(Control::Exit) => Class::Exit,
        Op::Matrix(Matrix::Multiply(_)) => Class::Tensor,
        Op::Matrix(Matrix::Transpose(..)) => Class::Int,
        Op::Matrix(Matrix::Rows(rows)) if rows.loads() => Class::Load(Space::Shared),
        Op::Matrix(Matrix::Rows(_)) => Class::Store(Space::Shared),
        Op::Matrix(Matrix::Tile(tile)) if tile.loads() => Class::Load(space(tile.access.space)),
        Op::Matrix(Matrix::Tile(tile)) => Class::Store(space(tile.access.space)),
        // The copy's own write to shared memory is not timed.
        Op::Copy(Copy::Start { .. }) => Class::Load(Space::Global),
        Op::Copy(Copy::Commit | Copy::Wait(_) | Copy::WaitAll) => Class::Int,
        Op::Phase(Phase::Update(Update::Init | Update::Invalidate, ..)) => Class::Store(Space::Shared),
        Op::Phase(Phase::Update(..)) => Class::Atomic(Space::Shared),
        Op::Phase(Phase::Test { .. }) => Class::Load(Space::Shared),
        Op::Phase(Phase::Pending(..)) => Class::Int,
    }
}

/// Returns the access of an instruction per lane, except for the rows of a matrix.
fn access(inst: &Inst) -> Option<&Access> {
    match &inst.op {
        Op::Memory(Memory::Load { access, .. } | Memory::Store { access, .. } | Memory::Atomic { access, .. }) => Some(access),
        Op::Matrix(Matrix::Tile(tile)) => Some(&tile.access),
        Op::Copy(Copy::Start { from, .. }) => Some(from),
        Op::Phase(Phase::Update(_, access, ..) | Phase::Test { access, .. }) => Some(access),
        _ => None,
    }
}

fn accesses(inst: &Inst) -> usize {
    match &inst.op {
        Op::Matrix(Matrix::Tile(tile)) => tile.matrix.fragment.tiles(),
        _ => 1,
    }
}

fn steps(inst: &Inst) -> tensor::Steps {
    match &inst.op {
        Op::Matrix(Matrix::Multiply(product)) => tensor::Steps::of(product),
        _ => tensor::Steps::ONE,
    }
}

fn space(space: MemorySpace) -> Space {
    match space {
        // The memory of a generic access is determined per lane when it is recorded.
        MemorySpace::Global | MemorySpace::Generic => Space::Global,
        MemorySpace::Shared => Space::Shared,
        MemorySpace::Local => Space::Local,
        MemorySpace::Const | MemorySpace::Param => Space::Constant,
    }
}

/// Returns true for an access at generic addresses that is not known to be in shared memory.
fn is_generic(inst: &Inst) -> bool {
    !matches!(inst.op, Op::Phase(_)) && access(inst).is_some_and(|access| access.space == MemorySpace::Generic)
}

fn width(inst: &Inst) -> u8 {
    match &inst.op {
        Op::Matrix(Matrix::Rows(rows)) => rows.bytes_per_lane() as u8,
        // The texels and their sizes are known at execution: their words are reported one by one.
        Op::Texture(Texturing::Fetch(_)) => WORD_BYTES as u8,
        Op::Texture(Texturing::Surface(surface)) => surface.bytes() as u8,
        _ => access(inst).map_or(0, |access| access.bytes() as u8),
    }
}

fn bypasses_l1(inst: &Inst) -> bool {
    if let Op::Texture(Texturing::Surface(surface)) = &inst.op {
        return surface.bypass_l1;
    }
    access(inst).is_some_and(|access| access.bypass_l1)
}

#[cfg(test)]
mod tests;
