//! Plain SM: waits of warps and classes of cycles, by definition, warp by warp and cycle by cycle.
//!
//! Start reading here. The SM keeps masks of warps ([`super::sub_core::Readiness`]) that change
//! with a warp, and adds up cycles only after a possible change ([`super::cycle_accounting`]);
//! `plain_tests.rs` compares both.

use super::inflight::Unit;
use super::issue_slots::{IssueClass, IssueSlots};
use super::warp::{OnChip, Wait, Warp};
use super::{KERNEL_SLOTS, Programs};

/// Reason why a warp cannot issue its next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No instruction: the warp's last has issued, its first is being fetched, or it is at a
    /// barrier.
    NoInstruction,
    /// Fence or atomic of the warp itself.
    Fence,
    /// Register that a load through the L1 will write.
    Load,
    /// Register that a load from shared memory will write, but none that a load through the L1
    /// will.
    Shared,
    /// Register that a load from constant memory will write, but none that another load will.
    Constant,
    /// Register that arithmetic will write.
    Arithmetic,
    /// Ready, except for the issue latch of this unit, which may be full.
    Ready(Unit),
}

impl State {
    /// State of a warp that has not left, of a TB in this part of its kernel's trace.
    pub(super) fn of(warp: &Warp, on_chip: &OnChip, part: u32, programs: &Programs) -> State {
        if warp.issued_all {
            return State::NoInstruction;
        }
        match warp.wait {
            Wait::Barrier | Wait::Fetch => return State::NoInstruction,
            Wait::Fence | Wait::Drain | Wait::Atomic => return State::Fence,
            Wait::None => {}
        }
        let program = programs.get(warp.kernel).expect("the kernel of a warp is on the GPU");
        let next = program.decoded(program.executed(|| part, warp.next));
        let hazards: Vec<u16> = (0..256).filter(|&reg| next.registers.contains(reg) && warp.pending.contains(reg)).collect();
        if hazards.is_empty() {
            State::Ready(next.unit)
        } else if hazards.iter().any(|&reg| warp.loading.contains(reg) && !on_chip.loads.contains(reg)) {
            State::Load
        } else if hazards.iter().any(|&reg| on_chip.loads.contains(reg) && !on_chip.constant.contains(reg)) {
            State::Shared
        } else if hazards.iter().any(|&reg| on_chip.constant.contains(reg)) {
            State::Constant
        } else {
            State::Arithmetic
        }
    }

    /// True if the warp has an instruction that only registers or latches hold back.
    pub(super) fn is_valid(self) -> bool {
        matches!(self, State::Load | State::Shared | State::Constant | State::Arithmetic | State::Ready(_))
    }

    pub(super) fn is_ready(self) -> bool {
        matches!(self, State::Ready(_))
    }

    pub(super) fn is_on_memory(self) -> bool {
        matches!(self, State::Load | State::Fence)
    }
}

/// Warp on the SM.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainWarp {
    pub(super) number: u8,
    pub(super) sub_core: usize,
    pub(super) kernel: u8,
    /// Arrival; smaller is older.
    pub(super) age: u32,
    pub(super) state: State,
    /// True if the warp has issued an instruction in this cycle.
    pub(super) issued: bool,
}

/// Counts of an SM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlainAccounting {
    pub(super) cycles: u64,
    pub(super) issue_cycles: u64,
    pub(super) memory_stall_cycles: u64,
    /// MSHR entries in use, summed over the memory-stall cycles, and over all.
    pub(super) outstanding_misses: u64,
    pub(super) outstanding_cycles: u64,
    pub(super) issue_slots: IssueSlots,
    /// Issue slots attributed to each kernel.
    pub(super) by_kernel: [IssueSlots; KERNEL_SLOTS],
}

impl PlainAccounting {
    /// Counts a cycle of an SM with these schedulers, warps, resident kernels and outstanding
    /// misses. An access through the L1 may be at the load/store unit's head.
    pub(super) fn cycle(&mut self, schedulers: usize, warps: &[PlainWarp], resident: &[u8], outstanding: u32, through_l1: bool) {
        self.cycles += 1;
        self.outstanding_cycles += u64::from(outstanding);
        let classes: Vec<IssueClass> = (0..schedulers).map(|number| class(&of_sub_core(warps, number))).collect();
        for (number, &class) in classes.iter().enumerate() {
            self.issue_slots[class as usize] += 1;
            if let Some(kernel) = charged(&of_sub_core(warps, number), class, resident) {
                self.by_kernel[usize::from(kernel)][class as usize] += 1;
            }
        }
        if classes.contains(&IssueClass::Issued) {
            self.issue_cycles += 1;
        } else if (through_l1 && classes.iter().any(|class| matches!(class, IssueClass::MemoryPipeline | IssueClass::BothPipelines)))
            || warps.iter().any(|warp| warp.state.is_on_memory())
        {
            self.memory_stall_cycles += 1;
            self.outstanding_misses += u64::from(outstanding);
        }
    }
}

fn of_sub_core(warps: &[PlainWarp], number: usize) -> Vec<PlainWarp> {
    warps.iter().filter(|warp| warp.sub_core == number).copied().collect()
}

/// Class of a cycle of a scheduler with these warps.
fn class(warps: &[PlainWarp]) -> IssueClass {
    let any = |is: fn(&PlainWarp) -> bool| warps.iter().any(is);
    if any(|warp| warp.issued) {
        IssueClass::Issued
    } else if any(|warp| warp.state.is_ready()) {
        match (
            any(|warp| warp.state == State::Ready(Unit::Mem)),
            any(|warp| warp.state.is_ready() && warp.state != State::Ready(Unit::Mem)),
        ) {
            (true, true) => IssueClass::BothPipelines,
            (true, false) => IssueClass::MemoryPipeline,
            (false, _) => IssueClass::ComputePipeline,
        }
    } else if any(|warp| warp.state == State::Load) {
        IssueClass::MemoryRaw
    } else if any(|warp| warp.state == State::Shared) {
        IssueClass::SharedRaw
    } else if any(|warp| warp.state == State::Constant) {
        IssueClass::ConstantRaw
    } else if any(|warp| warp.state == State::Arithmetic) {
        IssueClass::ComputeRaw
    } else {
        IssueClass::IdleOrControl
    }
}

/// Kernel to which the cycle is attributed: the one that issued; else the only resident one; else
/// that of the oldest warp among those that determine the class, if any.
fn charged(warps: &[PlainWarp], class: IssueClass, resident: &[u8]) -> Option<u8> {
    let makes_it = |warp: &&PlainWarp| match class {
        IssueClass::Issued => warp.issued,
        IssueClass::IdleOrControl => true,
        IssueClass::MemoryRaw => warp.state == State::Load,
        IssueClass::SharedRaw => warp.state == State::Shared,
        IssueClass::ConstantRaw => warp.state == State::Constant,
        IssueClass::ComputeRaw => warp.state == State::Arithmetic,
        IssueClass::MemoryPipeline => warp.state == State::Ready(Unit::Mem),
        // No GPU in the tests of this twin holds warps back.
        IssueClass::BothPipelines | IssueClass::ComputePipeline | IssueClass::Held => warp.state.is_ready(),
    };
    match (class, resident) {
        (IssueClass::Issued, _) | (_, [] | [_, _, ..]) => warps.iter().filter(makes_it).min_by_key(|warp| warp.age).map(|warp| warp.kernel),
        (_, [only]) => Some(*only),
    }
}
