//! A streaming multiprocessor: warps, four sub-cores, operand collectors, execution units, and the load/store unit.
//!
//! A cycle runs its stages in the peer's order, from the end of the pipeline to its start, so that nothing passes two
//! stages in one cycle (`reference/README.md`; the micro-benchmark table fixes each stage's length):
//!
//! ```text
//! write back -> execute -> load/store unit -> two rounds of operand collection -> issue -> retire
//! ```
//!
//! An SM in which nothing can happen before a known cycle sleeps until then; the cycles slept are accounted as what they
//! were when it fell asleep, so that sleeping changes no number (property 46).

mod account;
mod calendar;
mod collector;
mod counters;
mod inflight;
mod issue;
mod l1;
mod lsu;
mod memory_stage;
mod operand_stage;
mod program;
mod resources;
mod scheduler;
mod stall;
mod sub_core;
mod suspend;
mod tb;
mod warp;

pub use counters::{KernelCounters, SmCounters};
pub use resources::Resources;
pub use stall::{ISSUE_CLASSES, IssueClass, IssueCounters};

pub(crate) use program::Program;
pub(crate) use suspend::SuspendedTb;
pub(crate) use tb::FinishedTb;

use crate::config::{GpuConfig, UnitTiming};
use crate::memory::{MemorySystem, Reply};
use calendar::{Calendar, Result};
use inflight::{NO_REG, UNITS, Unit};
use lsu::Lsu;
use sub_core::{SubCore, unit_timings};
use tb::TbSlot;
use warp::Warp;

/// Kernel slots, as many as the register block has.
pub const KERNEL_SLOTS: usize = 8;

/// Cycles from TB issue to a warp's first instruction: one to fetch, one to decode (assumption: fetch and decode of the peer).
const FETCH_CYCLES: u64 = 2;

/// Cycles from the acceptance by a fixed-latency unit to write-back, on top of the unit's latency: result latch and
/// write-back stage. With operand collection this makes a dependent chain latency + 5 (`reference/README.md`: 7 for latency 2).
const RESULT_CYCLES: u64 = 2;

/// Timing of barriers and exits, which compute nothing (reference micro-benchmark `bar`: 8 warps, 2 cycles per barrier).
const QUICK: UnitTiming = UnitTiming { latency: 1, interval: 1 };

/// One SM.
#[derive(Clone, Debug)]
pub struct Sm {
    /// Warp slots: the machine's, then spare ones in which suspended TBs drain.
    warps: Vec<Warp>,
    /// How many of them the machine has.
    real_warps: u32,
    tbs: Vec<TbSlot>,
    sub_cores: Vec<SubCore>,
    /// log2 of the number of sub-cores.
    sub_core_shift: u32,
    /// Sub-cores with an instruction in a unit's issue latch, bit per sub-core.
    issue_latches: [u8; UNITS],
    lsu: Lsu,
    /// Cycle from which the load/store unit has something to do.
    lsu_wake: u64,
    timings: [UnitTiming; UNITS],
    register_rounds: u32,
    calendar: Calendar,
    free: Resources,
    /// Warp slots in use, bit per slot.
    warp_slots_used: u128,
    resident: [u32; KERNEL_SLOTS],
    next_age: u32,
    next_seq: u32,
    /// Warps whose first instruction is being fetched, and the cycle in which it is there.
    fetching: Vec<(u64, u8)>,
    /// Warps that may have finished in this cycle.
    leaving: Vec<u8>,
    /// TBs that ended since [`Sm::take_finished`].
    finished: Vec<FinishedTb>,
    /// Last cycle that was accounted.
    accounted: u64,
    kernels: [KernelCounters; KERNEL_SLOTS],
    counters: SmCounters,
}

impl Sm {
    pub(crate) fn new(config: &GpuConfig, id: u16) -> Self {
        let timings = unit_timings(&config.sm);
        let horizon = timings.iter().map(|t| t.latency).max().unwrap_or(1) + RESULT_CYCLES as u32;
        // A unit accepts an instruction per interval and holds it for its latency.
        let in_flight: u32 = timings.iter().map(|t| (t.latency + RESULT_CYCLES as u32).div_ceil(t.interval) + 1).sum();
        let real_warps = config.sm.threads / 32;
        // Readiness masks have 32 bits per sub-core, the mask of used slots has 128.
        let warps = (2 * real_warps).min(32 * config.sm.sub_cores).min(128) as usize;
        Sm {
            warps: vec![Warp::EMPTY; warps],
            real_warps,
            tbs: vec![TbSlot::default(); 2 * config.sm.tbs as usize],
            sub_cores: vec![SubCore::new(&config.sm); config.sm.sub_cores as usize],
            sub_core_shift: config.sm.sub_cores.trailing_zeros(),
            issue_latches: [0; UNITS],
            lsu: Lsu::new(config, id),
            lsu_wake: u64::MAX,
            timings,
            register_rounds: config.sm.register_rounds,
            calendar: Calendar::new(horizon, (in_flight * config.sm.sub_cores) as u16),
            free: Resources::of_sm(&config.sm),
            warp_slots_used: 0,
            resident: [0; KERNEL_SLOTS],
            next_age: 0,
            next_seq: 0,
            fetching: Vec::with_capacity(warps),
            leaving: Vec::with_capacity(warps),
            finished: Vec::with_capacity(config.sm.tbs as usize),
            accounted: 0,
            kernels: [KernelCounters::default(); KERNEL_SLOTS],
            counters: SmCounters::default(),
        }
    }

    /// Counters of the kernel in `slot`.
    pub fn kernel_counters(&self, slot: usize) -> &KernelCounters {
        &self.kernels[slot]
    }

    /// Counters of the SM, up to the last cycle accounted.
    pub fn counters(&self) -> &SmCounters {
        &self.counters
    }

    /// TBs of the kernel in `slot` that are resident.
    pub fn resident(&self, slot: usize) -> u32 {
        self.resident[slot]
    }

    /// What is not taken by resident TBs.
    pub fn free(&self) -> &Resources {
        &self.free
    }

    /// Room for one more reply from the crossbar.
    pub(crate) fn can_take_reply(&self) -> bool {
        self.lsu.can_take_reply()
    }

    /// A reply leaves the crossbar in cycle `now`; the load/store unit sees it in the next.
    pub(crate) fn take_reply(&mut self, reply: Reply, now: u64) {
        self.lsu.take_reply(reply, now + 1);
        self.lsu_wake = self.lsu_wake.min(now + 1);
    }

    /// Runs cycle `now`. Cycles since the last call were slept through.
    pub(crate) fn cycle(&mut self, now: u64, programs: &[Option<Program>], memory: &mut MemorySystem) {
        self.account_sleep(now);
        self.fetched(now, programs);
        self.write_back(now);
        self.execute(now);
        self.load_store(now, programs, memory);
        if self.has_work() {
            self.collect_operands();
            self.issue(now, programs);
        } else {
            for sub_core in &mut self.sub_cores {
                sub_core.operands.end_writes();
                sub_core.issued = false;
            }
        }
        self.account(1);
        self.accounted = now + 1;
        self.retire();
    }

    /// The next cycle in which something can happen; none if only a reply or a TB can wake the SM. To be asked after
    /// [`Sm::cycle`] of cycle `now`.
    pub(crate) fn next_event(&self, now: u64) -> Option<u64> {
        if self.has_work() || self.lsu_wake <= now + 1 {
            return Some(now + 1);
        }
        let lsu = (self.lsu_wake != u64::MAX).then_some(self.lsu_wake);
        let fetched = self.fetching.iter().map(|&(cycle, _)| cycle).min();
        [lsu, fetched, self.calendar.next(now + 1)].into_iter().flatten().min()
    }

    /// An instruction could issue, or is on its way to its unit.
    fn has_work(&self) -> bool {
        self.sub_cores.iter().any(|s| s.readiness.ready != 0 || !s.operands.is_empty())
    }

    /// Results of fixed-latency units reach the registers.
    fn write_back(&mut self, now: u64) {
        while let Some(Result { warp, dst }) = self.calendar.take(now) {
            if dst != NO_REG {
                let sub_core = self.sub_core(warp);
                // The fixed-latency units do not wait for a bank; only the load/store unit does.
                self.sub_cores[sub_core].operands.write(warp, dst);
            }
            self.complete(warp, dst);
        }
    }

    /// An instruction of `warp` is complete: its register is free and it is no longer in flight.
    fn complete(&mut self, warp: u8, dst: u16) {
        let state = &mut self.warps[usize::from(warp)];
        state.in_flight -= 1;
        let last = state.in_flight == 0 && state.issued_all;
        if dst != NO_REG {
            self.register_written(warp, dst);
        }
        if last {
            self.may_leave(warp);
        }
    }

    fn may_leave(&mut self, warp: u8) {
        if self.warps[usize::from(warp)].finished() {
            self.leaving.push(warp);
        }
    }

    /// Units take complete instructions; the load/store unit is served in [`Sm::load_store`].
    fn execute(&mut self, now: u64) {
        for sub_core in &mut self.sub_cores {
            let mut units = sub_core.operands.complete_full() & !(1 << Unit::Mem.index());
            while units != 0 {
                let unit = units.trailing_zeros() as usize;
                units &= units - 1;
                if sub_core.unit_free[unit] > now {
                    continue;
                }
                let inst = sub_core.operands.take_complete(unit);
                let timing = if inst.quick { QUICK } else { self.timings[unit] };
                sub_core.unit_free[unit] = now + u64::from(timing.interval);
                self.calendar.add(now + u64::from(timing.latency) + RESULT_CYCLES, Result { warp: inst.warp, dst: inst.dst });
            }
        }
    }
}
