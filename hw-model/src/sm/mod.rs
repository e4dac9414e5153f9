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

mod calendar;
mod collector;
mod counters;
mod inflight;
mod issue;
mod l1;
mod lsu;
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
use lsu::{Done, Lsu, Surroundings};
use stall::IssueClass as Class;
use sub_core::{SubCore, unit_timings};
use tb::TbSlot;
use warp::{Wait, Warp};

/// Kernel slots, as many as the register block has.
pub const KERNEL_SLOTS: usize = 8;

/// Cycles from TB issue to a warp's first instruction: one to fetch, one to decode (assumption: fetch and decode of the peer).
const FETCH_CYCLES: u64 = 2;

/// Cycles from the acceptance by a fixed-latency unit to write-back, on top of the unit's latency: result latch and
/// write-back stage. With operand collection this makes a dependent chain latency + 5 (`reference/README.md`: 7 for latency 2).
const RESULT_CYCLES: u64 = 2;

/// Timing of barriers and exits, which compute nothing (reference micro-benchmark `bar`: 8 warps, 2 cycles per barrier).
const QUICK: UnitTiming = UnitTiming { latency: 1, interval: 1 };

/// Instructions of one latch kind that the operand collector takes up per round (the peer's number of input ports).
const COLLECTOR_PORTS: u32 = 8;

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

    fn load_store(&mut self, now: u64, programs: &[Option<Program>], memory: &mut MemorySystem) {
        if self.lsu_wake <= now {
            let mut around = Surroundings { memory, programs, counters: &mut self.kernels, sub_cores: &mut self.sub_cores };
            self.lsu.cycle(now, &mut around);
            self.lsu_wake = self.lsu.next_event(now).unwrap_or(u64::MAX);
            let mut done = std::mem::take(&mut self.lsu.done);
            for event in done.drain(..) {
                self.memory_event(event, programs);
            }
            self.lsu.done = done;
        }
        if !self.lsu.is_free() {
            return;
        }
        // The oldest memory instruction of all sub-cores goes first.
        let mem = Unit::Mem.index();
        let mut oldest: Option<(u32, usize)> = None;
        for (number, sub_core) in self.sub_cores.iter().enumerate() {
            if sub_core.operands.complete_full() >> mem & 1 == 1 {
                let seq = sub_core.operands.peek_complete(mem).seq;
                if oldest.is_none_or(|(other, _)| seq < other) {
                    oldest = Some((seq, number));
                }
            }
        }
        if let Some((_, sub_core)) = oldest {
            let inst = self.sub_cores[sub_core].operands.take_complete(mem);
            let kernel = self.warps[usize::from(inst.warp)].kernel;
            if let Some(program) = &programs[usize::from(kernel)] {
                self.lsu.accept(inst, kernel, program);
                self.lsu_wake = now + 1;
            }
        }
    }

    fn memory_event(&mut self, event: Done, programs: &[Option<Program>]) {
        match event {
            Done::Loaded { warp, dst } => self.complete(warp, dst),
            Done::Atomic { warp, dst } => {
                let state = &mut self.warps[usize::from(warp)];
                state.atomics -= 1;
                if state.atomics == 0 && state.wait == Wait::Atomic {
                    state.wait = Wait::None;
                    self.refresh(warp, programs);
                }
                self.complete(warp, dst);
            }
            Done::Passed { warp } => self.complete(warp, NO_REG),
            Done::Fenced { warp } => {
                let state = &mut self.warps[usize::from(warp)];
                if state.wait == Wait::Fence {
                    state.wait = if state.stores == 0 { Wait::None } else { Wait::Drain };
                    self.refresh(warp, programs);
                }
                self.complete(warp, NO_REG);
            }
            Done::StoreSent { warp } => self.warps[usize::from(warp)].stores += 1,
            Done::StoreAcknowledged { warp } => {
                let state = &mut self.warps[usize::from(warp)];
                state.stores -= 1;
                if state.stores == 0 && state.wait == Wait::Drain {
                    state.wait = Wait::None;
                    self.refresh(warp, programs);
                }
                self.may_leave(warp);
            }
        }
    }

    /// The rounds of operand collection. Within a round, collectors are given out unit by unit to the oldest issued
    /// instruction of the SM; one that finds its sub-core's collectors taken holds up its unit in all sub-cores.
    fn collect_operands(&mut self) {
        for round in 0..self.register_rounds {
            for sub_core in &mut self.sub_cores {
                sub_core.operands.collect();
                if round == 0 {
                    sub_core.operands.end_writes();
                }
            }
            let mut units: u32 = 0;
            for (unit, latches) in self.issue_latches.iter().enumerate() {
                units |= u32::from(*latches != 0) << unit;
            }
            // Port by port, each unit's oldest instruction; a unit that is held up stays so for the round.
            for _ in 0..COLLECTOR_PORTS {
                let mut rest = units;
                while rest != 0 {
                    let unit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let sub_core = self.oldest_issued(unit);
                    let operands = &mut self.sub_cores[sub_core].operands;
                    if operands.has_free_collector() {
                        operands.allocate(unit);
                        self.issue_latches[unit] &= !(1 << sub_core);
                        if self.issue_latches[unit] != 0 {
                            continue;
                        }
                    }
                    units &= !(1 << unit);
                }
                if units == 0 {
                    break;
                }
            }
        }
    }

    /// The sub-core whose instruction in `unit`'s issue latch is the oldest; there is one.
    fn oldest_issued(&self, unit: usize) -> usize {
        let mut latches = self.issue_latches[unit];
        let mut oldest = latches.trailing_zeros() as usize;
        latches &= latches - 1;
        while latches != 0 {
            let sub_core = latches.trailing_zeros() as usize;
            latches &= latches - 1;
            if self.sub_cores[sub_core].operands.issue_seq(unit) < self.sub_cores[oldest].operands.issue_seq(unit) {
                oldest = sub_core;
            }
        }
        oldest
    }

    /// Accounts the cycles since the last accounted one, in which the SM slept.
    pub(crate) fn account_sleep(&mut self, now: u64) {
        if now > self.accounted {
            for sub_core in &mut self.sub_cores {
                sub_core.issued = false;
            }
            self.account(now - self.accounted);
            self.accounted = now;
        }
    }

    /// Accounts `cycles` cycles as what the SM does now.
    fn account(&mut self, cycles: u64) {
        self.counters.cycles += cycles;
        let mut issued = false;
        let mut on_memory = false;
        for sub_core in &self.sub_cores {
            let class = classify(sub_core);
            self.counters.schedulers[class as usize] += cycles;
            issued |= class == Class::Issued;
            on_memory |= sub_core.readiness.on_memory != 0 || class == Class::MemoryPipeline;
        }
        if issued {
            self.counters.issue_cycles += cycles;
        } else if on_memory {
            self.counters.memory_stall_cycles += cycles;
            self.counters.accumulated_outstanding += cycles * u64::from(self.lsu.l1.outstanding());
        }
    }
}

/// What a scheduler's cycle was.
fn classify(sub_core: &SubCore) -> Class {
    let readiness = &sub_core.readiness;
    if sub_core.issued {
        Class::Issued
    } else if readiness.valid == 0 {
        Class::IdleOrControl
    } else if readiness.ready != 0 {
        if readiness.by_unit[Unit::Mem.index()] != 0 { Class::MemoryPipeline } else { Class::ComputePipeline }
    } else if readiness.on_memory & readiness.valid != 0 {
        Class::RawMemory
    } else {
        Class::RawCompute
    }
}
