//! Model of the whole GPU: SMs, memory system, TB issue and the scheduler's register block,
//! advanced together.
//!
//! The microcontroller is external: an implementation of [`Microcontroller`] is called when the
//! register block's interrupt line is high, and sees only registers. Order within a core cycle
//! (sources.md D72): launches and register block; reply pop; memory system; SMs; TB issue.

mod active_warps;
mod arrivals;
mod dispatch;
mod drain_oracle;
mod dram_order;
mod extended;
mod first_run;
mod global_limits;
mod group;
mod handover;
mod launch;
mod memory_issue;
mod occupancy;
mod oversubscription;
mod parallel;
mod preempt;
mod quantum;
mod queue;
mod raw;
mod skip;
mod sm_states;
mod sms;
mod stats;
mod team;
mod thread_tuning;
mod transition;
mod validate;
mod watchdog;
mod ways;
mod work_queues;

pub use drain_oracle::TbEnd;
pub use first_run::FirstRun;
pub use launch::{Launch, LaunchError};
pub use oversubscription::{ContextLog, OversubscriptionStats, Share, Traffic, Utilization};
pub use preempt::{Preemption, Technique};
pub use sm_states::SmStateCycles;
pub use stats::{CacheStats, LaunchCounters, LaunchStats, SmStats, Stats, ThrownAway};
pub use transition::InPlace;
pub use watchdog::Stuck;

use crate::config::GpuConfig;
use crate::memory::{Lent, MemorySystem, most_arrivals};
use crate::register_block::{GpuDescription, RegisterBlock, Straps};
use crate::sm::{KERNEL_SLOTS, Programs, Sm};
use dispatch::Dispatcher;
use first_run::FirstRuns;
use global_limits::GlobalLimits;
use launch::{Queue, Slot};
use occupancy::Occupancy;
use oversubscription::Oversubscription;
use parallel::{GROUPS_PER_THREAD, least_threads, patience};
use preempt::Preemptions;
use raw::raw_counters;
use sm_states::SmStates;
use sms::Sms;
use std::sync::Arc;
use team::{Orders, Team};
use transition::Transition;
use validate::Validation;
use watchdog::Watchdog;

/// Scheduler firmware, called whenever the register block's interrupt line is high and no decision
/// is in progress.
pub trait Microcontroller {
    /// Serves the interrupts. It is called again if the line is still high afterwards.
    fn on_interrupt(&mut self, registers: &mut RegisterBlock);
}

impl<F: FnMut(&mut RegisterBlock)> Microcontroller for F {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self(registers);
    }
}

/// Reasons why [`Gpu::run`] returned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The given cycle was reached.
    CycleLimit,
    /// All launches have completed, which relaunched kernels never do.
    AllComplete,
    /// The run is stuck: no progress for a long time, or an interrupt line that stays high.
    Stuck(Stuck),
    /// A TB that was due could not be executed, with a message for the user.
    Failed(String),
}

/// Interrupts served in one cycle before the line counts as stuck (assumption: far more than the
/// events of one cycle).
pub const MOST_INTERRUPTS_PER_CYCLE: u32 = 1_000;

/// Model of a GPU. A clone continues exactly as the original would.
#[derive(Clone, Debug)]
pub struct Gpu {
    config: GpuConfig,
    /// Cycle that runs next.
    now: u64,
    sms: Sms,
    memory: MemorySystem,
    registers: RegisterBlock,
    programs: Arc<Programs>,
    slots: Vec<Option<Slot>>,
    queue: Queue,
    dispatcher: Dispatcher,
    transition: Transition,
    occupancy: Occupancy,
    preemptions: Preemptions,
    states: SmStates,
    watchdog: Watchdog,
    /// Generation of the memory-issue settings that the SMs have.
    memory_generation: u32,
    /// Generation of the active-warp limits that the SMs have.
    warps_generation: u32,
    /// Limits of global DMIL.
    global_limits: Option<Box<GlobalLimits>>,
    /// Extra TBs, if the GPU has oversubscription.
    oversubscription: Option<Box<Oversubscription>>,
    /// Maximum number of TBs of a kernel on an SM, in addition to its quota.
    tb_cap: u32,
    /// Number of SMs that receive TBs, from the first.
    open_sms: usize,
    /// True if idle cycles are skipped.
    skip: bool,
    /// Number of threads that run SMs, including the calling one.
    threads: usize,
    /// First runs of the launches, if recorded.
    first_runs: Option<FirstRuns>,
    /// Checks of every cycle and every TB, if enabled.
    validation: Option<Validation>,
    /// Message of a TB that was due and could not be executed.
    failure: Option<String>,
    /// Earliest cycle of the next attempt to start a quantum.
    next_quantum: u64,
    /// Buffers in which memory partitions move to other threads.
    #[expect(clippy::vec_box, reason = "they change hands between threads")]
    lent: Vec<Box<Lent>>,
    /// Number of cycles run in quanta, for the tests.
    quantum_cycles: u64,
    /// By SM: no TB ends on it before this cycle; 0 if unknown.
    no_end_before: Vec<u64>,
    /// Mask of released slots that may still have requests in flight. Only used if the firmware
    /// manages the queue.
    leaving: u8,
}

impl Gpu {
    /// Creates a GPU after reset. `straps` are the straps in the register block.
    ///
    /// # Panics
    /// If [`GpuConfig::check`] fails.
    pub fn new(config: &GpuConfig, straps: Straps) -> Self {
        if let Err(error) = config.check() {
            panic!("the GPU was not checked: {error}");
        }
        Gpu {
            config: config.clone(),
            now: 0,
            sms: Sms::new((0..config.sm.count).map(|id| Sm::new(config, id as u16)).collect(), most_arrivals(config)),
            memory: MemorySystem::new(config),
            registers: RegisterBlock::new(GpuDescription::of(config, straps))
                .with_commit_cycles_per_sm(config.scheduler.commit_cycles_per_sm)
                .with_memory_issue(config.sm.memory_issue.as_ref())
                .with_active_warps(&config.sm.active_warps)
                .with_ways()
                .with_miss_shares(config.l1.miss_resources.is_some())
                .with_oversubscription(oversubscription::peaks_for_firmware(config))
                .with_dram_order(config.dram.scheduler.as_ref())
                .with_preemption(config.sm.preemption.is_some()),
            programs: Arc::default(),
            slots: vec![None; KERNEL_SLOTS],
            queue: Queue::default(),
            dispatcher: Dispatcher::new(config.sm.count as usize),
            transition: Transition::default(),
            occupancy: Occupancy::new(config.sm.count as usize),
            preemptions: Preemptions::default(),
            states: SmStates::new(config.sm.count as usize, config.sm.power_gating.map_or(0, |gating| gating.wake_cycles)),
            watchdog: Watchdog::default(),
            memory_generation: 0,
            warps_generation: 0,
            global_limits: GlobalLimits::new(config.sm.memory_issue.as_ref()),
            oversubscription: config.sm.oversubscription.map(|_| Box::default()),
            tb_cap: u32::MAX,
            open_sms: usize::MAX,
            skip: true,
            threads: 1,
            first_runs: None,
            validation: None,
            failure: None,
            next_quantum: 0,
            lent: Vec::new(),
            quantum_cycles: 0,
            no_end_before: vec![0; config.sm.count as usize],
            leaving: 0,
        }
    }

    /// Runs every cycle instead of skipping idle ones. Statistics do not change.
    pub fn without_skipping(mut self) -> Self {
        self.skip = false;
        self
    }

    /// Sets the number of threads that run SMs, at most one per SM.
    ///
    /// Results do not change. Threads live as long as a call of [`Gpu::run`]; none is started while
    /// few SMs are awake.
    ///
    /// # Panics
    /// If `threads` is 0.
    pub fn set_threads(&mut self, threads: usize) {
        assert!(threads > 0, "no thread at all");
        self.threads = threads;
    }

    /// Sets the number of threads as [`Gpu::set_threads`] does.
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.set_threads(threads);
        self
    }

    /// Puts a sector (byte address / 32) into the L2 at once, clean and most recently used, like a
    /// copy from the host. Call it before the first cycle.
    pub fn preload_l2(&mut self, sector: u64) {
        self.memory.preload(sector);
    }

    /// Limits the TBs of a kernel per SM to `cap`, in addition to quotas and resources. 0 would
    /// stop TB issue. The firmware does not see the limit.
    pub fn with_tb_cap(mut self, cap: u32) -> Self {
        self.tb_cap = cap;
        self
    }

    /// Restricts TB issue to the first `sms` SMs, in addition to the quotas. The memory system does
    /// not change.
    ///
    /// On a real GPU, a kernel that occupies the other SMs has this effect (Zhao et al. 2018,
    /// listing 1). 0 would stop TB issue. The firmware does not see the restriction.
    pub fn with_open_sms(mut self, sms: usize) -> Self {
        self.open_sms = sms;
        self
    }

    /// Enables validation, for tests; a violation panics.
    ///
    /// Checks run every cycle, or at the end of a quantum. No SM exceeds its resources. The
    /// scheduling state of one SM's warps, another SM in each cycle, matches what they wait for.
    /// TBs are issued within their quotas, and every TB runs exactly once.
    pub fn with_validation(mut self) -> Self {
        self.validation = Some(Validation::new(KERNEL_SLOTS));
        self
    }

    /// Next cycle to run, equal to the number of cycles run so far.
    pub fn cycle(&self) -> u64 {
        self.now
    }

    /// Configuration of the GPU.
    pub fn config(&self) -> &GpuConfig {
        &self.config
    }

    /// Register block, as a debugger of the host sees it.
    pub fn registers(&self) -> &RegisterBlock {
        &self.registers
    }

    /// Register block, for the start of the firmware.
    pub fn registers_mut(&mut self) -> &mut RegisterBlock {
        &mut self.registers
    }

    /// Runs until cycle `until`, or until all launches have completed. A further call continues.
    ///
    /// # Panics
    /// If the microcontroller panics, or an enabled check fails, in any thread. The GPU must not be
    /// used afterwards.
    pub fn run(&mut self, microcontroller: &mut dyn Microcontroller, until: u64) -> RunEnd {
        let threads = self.threads.max(least_threads()).min(self.sms.len());
        self.sms.share(threads, GROUPS_PER_THREAD);
        self.sms.tuner.interrupt();
        if threads == 1 {
            return self.run_with(None, microcontroller, until);
        }
        // Maximum number of items handed over at once: all groups, or all partitions of the memory
        // system one by one.
        let most = self.sms.groups.len().max(self.memory.partitions());
        let queues = Orders::new(threads, most);
        let end = std::thread::scope(|scope| {
            let mut team = Team::new(scope, &queues, patience(threads));
            self.run_with(Some(&mut team), microcontroller, until)
        });
        self.memory.catch_up_now();
        end
    }

    fn run_with(&mut self, mut team: Option<&mut Team<'_, '_>>, microcontroller: &mut dyn Microcontroller, until: u64) -> RunEnd {
        while self.now < until {
            if let Err(stuck) = self.serve_registers(microcontroller) {
                return RunEnd::Stuck(stuck);
            }
            if self.queue.all_complete() {
                return RunEnd::AllComplete;
            }
            match self.quantum(until) {
                0 => self.run_cycle(until, team.as_deref_mut()),
                cycles => self.run_quantum(cycles, until, team.as_deref_mut()),
            }
            if let Some(failure) = &self.failure {
                return RunEnd::Failed(failure.clone());
            }
            if self.skip {
                self.skip_ahead(until);
            }
            if let Some(stuck) = self.watch() {
                return RunEnd::Stuck(stuck);
            }
        }
        RunEnd::CycleLimit
    }

    /// Runs the next cycle, with `team` if that is faster; cycle `until` is not run.
    fn run_cycle(&mut self, until: u64, team: Option<&mut Team<'_, '_>>) {
        self.memory.catch_up_now();
        self.deliver_limits();
        self.decide_oversubscription();
        self.replies();
        self.memory.tick();
        let ended = match team {
            Some(team) if self.pays_in_parallel(team) => self.run_sms_in_parallel(team, self.now + 1 == until),
            _ => self.sms.run(self.now, &self.programs, &mut self.memory, self.skip),
        };
        if ended {
            self.retire_tbs(self.now + 1);
        }
        self.issue_tbs();
        self.send_limits();
        self.end_transition();
        self.gate_empty(self.now + 1);
        if self.validation.is_some() {
            self.check_sms();
        }
        self.now += 1;
    }

    /// Serves due launches and the register block, and calls the firmware if needed.
    fn serve_registers(&mut self, microcontroller: &mut dyn Microcontroller) -> Result<(), Stuck> {
        self.registers.stamp(self.now);
        self.post_launches();
        self.latch_oversubscription();
        for _ in 0..MOST_INTERRUPTS_PER_CYCLE {
            if self.registers.needs_tick(self.now) {
                let (sms, memory, now) = (&mut self.sms, &self.memory, self.now);
                self.registers.tick(now, |sm| raw_counters(&mut sms[sm], memory, sm, now));
                self.take_latched();
            }
            // Writes of a held decision may have admitted launches.
            self.take_admitted();
            self.carry_out();
            self.follow_states();
            if !self.registers.calls_firmware() {
                self.follow_quotas();
                self.follow_memory_issue();
                self.follow_active_warps();
                self.follow_ways();
                self.follow_oversubscription();
                self.follow_dram_order();
                return Ok(());
            }
            self.registers.set_now(self.now);
            self.load_counters();
            self.load_monitors();
            self.consult_drain_oracle();
            self.show_tbs();
            microcontroller.on_interrupt(&mut self.registers);
            self.take_admitted();
            self.take_latched();
        }
        Err(self.stuck("the scheduler's interrupt line stays high".into()))
    }

    fn replies(&mut self) {
        for word in 0..self.memory.replies_waiting().len() {
            let mut waiting = self.memory.replies_waiting()[word];
            while waiting != 0 {
                let sm = 64 * word + waiting.trailing_zeros() as usize;
                waiting &= waiting - 1;
                if self.sms.can_take_reply(sm)
                    && let Some(reply) = self.memory.pop_reply(sm as u16)
                {
                    self.sms.reply(sm, reply, self.now);
                }
            }
        }
    }

    /// Number of registers without a TB, summed over SMs.
    pub fn free_registers(&self) -> u64 {
        self.sms.iter().map(|sm| u64::from(sm.free().registers)).sum()
    }

    /// Statistics up to now.
    pub fn stats(&mut self) -> Stats {
        self.settle(self.now);
        stats::collect(self)
    }
}

#[cfg(test)]
mod tests;
