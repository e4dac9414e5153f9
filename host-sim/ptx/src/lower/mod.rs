//! PTX to what the machine would execute, for the timing model: one [`StaticInst`] per PTX instruction that the assembler
//! would keep, in an order and with register names such as it would choose.
//!
//! A generic load or store is one instruction per memory that its lanes meet: what it is, is known when it is recorded.
//!
//! 1. [`fold`] drops what costs nothing on the machine and joins what is one instruction there.
//! 2. [`schedule`] lets loads rise within their basic block, as every assembler does to hide their latency.
//! 3. [`allocate`] gives the virtual registers names 0..=254.
//!
//! Execution follows PTX order; [`observe`] sorts each stretch of events into the scheduled order. [`record`] makes the warp trace of
//! them, and [`opcode`] says how the machine spells them.

pub mod allocate;
pub mod fold;
pub mod observe;
pub mod opcode;
pub mod record;
pub mod schedule;

use super::exec::Op;
use super::exec::control::Control;
use super::exec::convert::Convert;
use super::exec::memory::{Memory, Space as MemorySpace};
use super::program::{Address, Inst, Program};
use mias_hw_model::isa::{Class, MAX_SOURCES, Space, StaticInst};

/// Bytes per machine instruction from Volta on (CUDA binary utilities, "Instruction Set Reference").
const INST_BYTES: u32 = 16;

/// The address of the instruction that a PTX instruction, by index, becomes.
pub fn address(index: u32) -> u32 {
    index * INST_BYTES
}

/// A program as the timing model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// Per PTX instruction, the machine instruction; none if it is dropped or joined with a later one.
    pub statics: Vec<Option<StaticInst>>,
    /// Per PTX instruction, whether its lanes' addresses say which memory they are in.
    pub generic: Vec<bool>,
    /// Stretches of PTX instructions that are always executed together, ascending.
    pub segments: Vec<schedule::Segment>,
}

impl Lowered {
    /// Lowers a program. Never fails: whatever can be executed can be lowered.
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
                lowered.dst = folded.defs.first().and_then(|&reg| names[reg]);
                lowered.bypass_l1 = bypasses_l1(inst);
                Some(lowered)
            })
            .collect();
        let generic = program.insts.iter().map(is_generic).collect();
        Lowered { statics, generic, segments }
    }
}

/// The unit that executes an instruction. A parameter is a move from the constant bank, as SASS has it.
fn class(inst: &Inst) -> Class {
    match &inst.op {
        Op::Integer(_) | Op::Logic(_) | Op::Compare(_) | Op::Collective(_) | Op::Special(_) | Op::Generic(_) => Class::Int,
        Op::Float(_) => Class::Sp,
        Op::Scalar(scalar) => scalar.function.class(),
        Op::Convert(Convert::FromFloat(..) | Convert::ToFloat(..)) => Class::Sfu,
        Op::Convert(_) => Class::Int,
        Op::Memory(Memory::Param { .. }) => Class::Int,
        // An address that is known is a move from the constant bank, too.
        Op::Memory(Memory::Load { access, .. })
            if matches!(access.space, MemorySpace::Const | MemorySpace::Param) && access.base == Address::Absolute =>
        {
            Class::Int
        }
        Op::Memory(Memory::Load { access, .. }) => Class::Load(space(access.space)),
        Op::Memory(Memory::Store { access, .. }) => Class::Store(space(access.space)),
        Op::Control(Control::Branch { .. } | Control::Table { .. } | Control::Call | Control::Trap | Control::Unknown { .. })
        | Op::System(_) => Class::Branch,
        // Who does not wait has nothing to do but to be counted.
        Op::Control(Control::Barrier(barrier)) if barrier.arrive => Class::Int,
        Op::Control(Control::Barrier(_)) => Class::Barrier,
        Op::Memory(Memory::Atomic { access, .. }) => Class::Atomic(space(access.space)),
        Op::Control(Control::Fence) => Class::MemoryBarrier,
        Op::Control(Control::Nothing) => Class::Int,
        Op::Control(Control::Exit) => Class::Exit,
    }
}

fn space(space: MemorySpace) -> Space {
    match space {
        // A generic access is told apart lane by lane when it is recorded.
        MemorySpace::Global | MemorySpace::Generic => Space::Global,
        MemorySpace::Shared => Space::Shared,
        MemorySpace::Local => Space::Local,
        MemorySpace::Const | MemorySpace::Param => Space::Constant,
    }
}

/// True for loads, stores and atomics by generic addresses.
fn is_generic(inst: &Inst) -> bool {
    matches!(
        &inst.op,
        Op::Memory(Memory::Load { access, .. } | Memory::Store { access, .. } | Memory::Atomic { access, .. })
            if access.space == MemorySpace::Generic
    )
}

fn width(inst: &Inst) -> u8 {
    match &inst.op {
        Op::Memory(Memory::Load { access, .. } | Memory::Store { access, .. } | Memory::Atomic { access, .. }) => access.bytes() as u8,
        _ => 0,
    }
}

fn bypasses_l1(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Memory(Memory::Load { access, .. } | Memory::Store { access, .. } | Memory::Atomic { access, .. }) if access.bypass_l1)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
