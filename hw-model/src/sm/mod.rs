//! Streaming multiprocessor (SM): warps, four sub-cores, operand collectors, execution units, and
//! the load/store unit.
//!
//! A cycle runs its stages in Accel-Sim's order, from the end of the pipeline to its start, so that
//! nothing passes two stages in one cycle. (See sources.md D57; the micro-benchmarks, sources.md
//! D97, fix each stage's length.)
//!
//! ```text
//! write back -> execute -> load/store unit -> two rounds of operand collection -> issue -> retire
//! ```
//!
//! An SM in which nothing can happen before a known cycle sleeps until then. The slept cycles are
//! accounted in the state in which it fell asleep, so sleeping changes no number (sources.md D109).
//!
//! Complex parts have a plain twin among the tests; start reading there: `plain.rs` for the waits
//! of warps and the classes of cycles, `operands/plain.rs` for operand collection,
//! `scheduler/plain.rs` for warp selection.

mod counters;
mod cycle;
mod cycle_accounting;
mod execution;
mod fetch;
mod inflight;
mod issue;
mod issue_slots;
mod l1;
mod lanes;
mod least_cycles;
mod lsu;
mod memory_issue;
mod memory_stage;
mod miss_resources;
mod operands;
mod oversubscription;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod plain_tests;
mod preempt;
mod program;
mod refused;
mod residents;
mod resources;
mod scheduler;
mod sub_core;
mod suspend;
mod tb;
mod timing_wheel;
mod validate;
mod warp;

pub use counters::{KernelCounters, SmCounters};
pub use issue_slots::{ISSUE_CLASSES, IssueClass, IssueSlots};
pub use lanes::LaneCounts;
pub use memory_issue::{KernelMemoryCounts, MemorySettings, WarpLimits, WarpQuotas};
pub use miss_resources::MissWeights;
pub use oversubscription::{
    CONTEXT_STORAGE, ContextEvent, ContextNote, MovedContext, OversubscriptionCounts, Storage as ContextStorage, Unswitchable,
};
pub use preempt::Ended;
pub use resources::Resources;

#[cfg(test)]
pub(crate) use lanes::LaneClass;
pub(crate) use oversubscription::Plans as OversubscriptionPlans;
pub(crate) use preempt::{Carried, LeftTb};
#[cfg(test)]
pub(crate) use program::WHOLE;
pub(crate) use program::{Program, Programs};
pub(crate) use suspend::SuspendedTb;
pub(crate) use tb::{FinishedTb, NewTb};

use crate::config::{GpuConfig, IssueTurns, UnitTiming, WarpSchedulerKind};
use crate::memory::Reply;
use cycle_accounting::CycleAccounting;
use execution::Execution;
use fetch::Fetch;
use lsu::Lsu;
pub(crate) use memory_issue::UNLIMITED;
use memory_issue::{ActiveWarps, MemoryIssue};
pub use memory_issue::{MemoryChoices, MemoryLimits};
use operands::{MAX_SUB_CORES, OperandStage};
use oversubscription::Oversubscription;
use preempt::{Preemption, TAG_CONTEXT};
use sub_core::{SubCore, unit_timings};
use tb::TbSlot;
use warp::{MAX_WARPS, OnChip, Warps};

/// Number of kernel slots, as in the register block.
pub use mias_registers::KERNEL_SLOTS;

/// Cycles from TB issue to a warp's first instruction: one to fetch, one to decode (assumption:
/// fetch and decode of Accel-Sim).
const FETCH_CYCLES: u64 = 2;

/// Cycles from acceptance by a fixed-latency unit to write-back, in addition to the unit's latency:
/// result latch and write-back stage. With operand collection, a dependent chain takes latency + 5
/// (sources.md D97: 7 for latency 2).
const RESULT_CYCLES: u64 = 2;

/// Timing of barriers and exits, which compute nothing (reference micro-benchmark `bar`: 8 warps, 2
/// cycles per barrier).
const QUICK: UnitTiming = UnitTiming { latency: 1, interval: 1 };

/// Flag above any number of loads from constant memory.
const GATED: u32 = 1 << 31;

/// Model of one SM. Data used in every cycle comes first and is contiguous. An SM's state is far
/// larger than its share of the host's first-level cache, so every line that a cycle touches must
/// be fetched again.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Sm {
    /// Sub-cores; those beyond the GPU's number are never ready.
    sub_cores: Box<[SubCore; MAX_SUB_CORES]>,
    /// Warp slots: the GPU's, then spare ones in which suspended TBs drain.
    warps: Warps,
    /// On-chip loads by warp slot.
    on_chip: Box<[OnChip; MAX_WARPS]>,
    /// Number of registers that loads from constant memory will write, over all warps, plus
    /// [`GATED`] if warps may be held back. If nonzero, accounting examines the warps.
    constant_loads: u32,
    /// Next cycle in which the load/store unit has work.
    lsu_wake: u64,
    /// log2 of the number of sub-cores.
    sub_core_shift: u32,
    sub_core_mask: u8,
    /// Mask of sub-cores whose scheduler issued in the current cycle.
    issued: u8,
    /// Mask of sub-cores whose scheduler has only warps that are held back.
    held: u8,
    /// Mask of sub-cores that may have a warp to issue: since the last unsuccessful search, one has
    /// become ready, or an issue latch free.
    hopeful: u8,
    /// True while nothing is issued.
    stalled: bool,
    /// True if the SM may take TBs beyond those that fit.
    takes_extra: bool,
    /// True if no optional mechanism is on ([`Sm::settle_plain`]).
    plain: bool,
    /// True if an instruction buffer must be filled, or the end of a warp must be noticed.
    to_fetch: bool,
    /// Mask of kernel slots with TBs on the SM.
    resident_kernels: u8,
    /// Mask with four bits per register bank of a sub-core.
    bank_reads_mask: u32,
    next_seq: u32,
    /// Cycle in which sub-core 0 would have been first, had the SM always had TBs; 0 if rotation
    /// does not depend on TBs.
    turns_from: u64,
    /// Number of outstanding L1 misses.
    outstanding: u32,
    /// True if a suspended TB has drained since [`Sm::take_drained`].
    drained: bool,
    /// Warps whose next instructions are being fetched, with the cycle of arrival.
    fetching: Vec<(u64, u8)>,
    /// Memory-issue control; none: no restriction.
    memory_issue: Option<Box<MemoryIssue>>,
    /// Limits of active warps; none: no limit.
    active_warps: Option<Box<ActiveWarps>>,
    /// Instruction buffers; none: the next instruction is always available.
    fetch: Option<Box<Fetch>>,
    /// Preemption; none: TBs leave only when they have ended.
    preemption: Option<Box<Preemption>>,
    /// Oversubscription; none: no TBs beyond those that fit.
    oversubscription: Option<Box<Oversubscription>>,
    /// Warps that may have finished in this cycle.
    leaving: Vec<u8>,
    /// TBs that ended since [`Sm::take_finished`].
    finished: Vec<FinishedTb>,
    operands: OperandStage,
    execution: Execution,
    counters: SmCounters,
    accounting: CycleAccounting,
    kernels: [KernelCounters; KERNEL_SLOTS],
    lsu: Lsu,
    tbs: Vec<TbSlot>,
    free: Resources,
    /// Mask of the warp slots in use.
    warp_slots_used: u128,
    resident: [u32; KERNEL_SLOTS],
    /// True if warps that only drain have no bits in masks.
    drains_without: bool,
    warp_slots: u32,
    /// Number of warp slots that a TB may use without switched contexts.
    plain_slots: u32,
    /// Number of warp slots of the GPU.
    real_warps: u32,
    next_age: u32,
    /// True if rotation of the first sub-core advances only while the SM has TBs.
    turns_with_tbs: bool,
    /// Cycle since which the SM has had no TBs.
    empty_from: u64,
}

impl Sm {
    pub(crate) fn new(config: &GpuConfig, id: u16) -> Self {
        let real_warps = config.sm.threads / 32;
        // Readiness masks have 32 bits per sub-core, the mask of used slots has 128. With
        // preemption, warps that only drain return their bits; loose round robin has a bit for each
        // slot.
        let drains_without = config.sm.preemption.is_some() && config.sm.warp_scheduler != WarpSchedulerKind::Lrr;
        let per_sub_core = if drains_without { 64 } else { 32 };
        let plain_slots = (2 * real_warps).min(per_sub_core * config.sm.sub_cores).min(MAX_WARPS as u32);
        let oversubscription = Oversubscription::new(config);
        let warp_slots = oversubscription.as_ref().map_or(plain_slots, |extra| plain_slots.max(extra.numbers()));
        let mut sm = Sm {
            warps: Warps::new(),
            on_chip: Box::new([OnChip::default(); MAX_WARPS]),
            constant_loads: if config.sm.memory_issue.is_some() { GATED } else { 0 },
            warp_slots,
            plain_slots,
            oversubscription,
            drains_without,
            real_warps,
            tbs: vec![TbSlot::default(); 2 * config.sm.tbs as usize],
            sub_cores: Box::new(std::array::from_fn(|_| SubCore::new(&config.sm))),
            sub_core_shift: config.sm.sub_cores.trailing_zeros(),
            sub_core_mask: config.sm.sub_cores as u8 - 1,
            issued: 0,
            held: 0,
            hopeful: 0,
            stalled: false,
            takes_extra: config.sm.oversubscription.is_some(),
            plain: false,
            to_fetch: false,
            operands: OperandStage::new(
                config.sm.sub_cores,
                config.sm.collector_units / config.sm.sub_cores,
                config.sm.register_banks / config.sm.sub_cores,
                config.sm.register_rounds,
            ),
            bank_reads_mask: u32::MAX >> (32 - 4 * (config.sm.register_banks / config.sm.sub_cores)),
            lsu: Lsu::new(config, id),
            lsu_wake: u64::MAX,
            execution: Execution::new(unit_timings(&config.sm), config.sm.sub_cores, config.sm.result_buses),
            free: Resources::of_sm(&config.sm),
            warp_slots_used: 0,
            resident: [0; KERNEL_SLOTS],
            resident_kernels: 0,
            next_age: 0,
            next_seq: 0,
            turns_from: 0,
            turns_with_tbs: config.sm.issue_turns == IssueTurns::WithTbs,
            empty_from: 0,
            outstanding: 0,
            fetching: Vec::with_capacity(warp_slots as usize),
            memory_issue: config.sm.memory_issue.as_ref().map(|config| Box::new(MemoryIssue::new(config))),
            active_warps: None,
            fetch: config.sm.fetch.map(|fetch| Box::new(Fetch::new(fetch))),
            preemption: Preemption::new(config, id),
            leaving: Vec::with_capacity(warp_slots as usize),
            finished: Vec::with_capacity(config.sm.tbs as usize),
            drained: false,
            accounting: CycleAccounting::default(),
            kernels: [KernelCounters::default(); KERNEL_SLOTS],
            counters: SmCounters::default(),
        };
        sm.settle_plain();
        sm
    }

    /// Determines which mechanisms are on. Without any, the cycle without them runs
    /// ([`Sm::run_cycle`]), so an inactive mechanism costs nothing.
    fn settle_plain(&mut self) {
        let gated = self.memory_issue.is_some() || self.active_warps.is_some();
        self.plain = !(gated || self.fetch.is_some() || self.preemption.is_some() || self.takes_extra);
    }

    /// Counters of the kernel in `slot`.
    pub fn kernel_counters(&self, slot: usize) -> &KernelCounters {
        &self.kernels[slot]
    }

    /// Counters of the SM, up to the last cycle accounted.
    pub fn counters(&self) -> &SmCounters {
        &self.counters
    }

    /// Number of resident TBs of the kernel in `slot`.
    pub fn resident(&self, slot: usize) -> u32 {
        self.resident[slot]
    }

    /// Resources that resident TBs leave free.
    pub fn free(&self) -> &Resources {
        &self.free
    }

    /// True if a reply from the crossbar can be accepted.
    pub(crate) fn can_take_reply(&self) -> bool {
        self.lsu.can_take_reply()
    }

    /// Accepts a reply that leaves the crossbar in cycle `now`; the load/store unit sees it in the
    /// next cycle.
    pub(crate) fn take_reply(&mut self, reply: Reply, now: u64) {
        if reply.tag & TAG_CONTEXT != 0 && self.preemption.is_some() {
            return self.context_answered(reply.tag, now + 1);
        }
        self.lsu.take_reply(reply, now + 1);
        self.lsu_wake = self.lsu_wake.min(now + 1);
    }
}
