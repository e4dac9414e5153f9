//! Kernel launches: streams, arrival, launch latency, and the register-block slot that a kernel
//! holds.
//!
//! Launches of one stream run one after the other. A kernel is announced to the firmware when it
//! arrives. Its first TB may issue one launch latency later (5,000 cycles on the reference
//! GPU), during which the firmware decides. A kernel may be *relaunched in place*: when its
//! last TB has been issued, its grid restarts, so that it runs through a fixed window without being
//! a new launch (sources.md D8). Launches *in sequence* are new launches: each grid of a program
//! starts when the previous one has completed, and the first follows the last.

use super::{Gpu, LaunchCounters, OversubscriptionStats};
use crate::counts::Count;
use crate::register_block::KernelDescriptor;
use crate::sm::{Program, Resources, SuspendedTb};
use mias_warp_trace::{KernelTrace, TraceSource};
use std::collections::VecDeque;
use std::sync::Arc;

/// One kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Trace of the kernel: all TBs, or the first ones if there is a `source`.
    pub trace: Arc<KernelTrace>,
    /// Source of the TBs that `trace` lacks.
    pub source: Option<Arc<dyn TraceSource>>,
    /// Core cycle in which the launch arrives at the GPU; later if its stream is busy.
    pub arrival_cycle: u64,
    /// Stream of the launch. Launches of a stream run one after the other, in the order of
    /// [`Gpu::launch`].
    pub stream: u32,
    /// Priority as the firmware sees it; 0 is the lowest.
    pub priority: u8,
    /// Maximum core cycles from the first possible TB issue until the kernel has its room, as the
    /// firmware sees it; 0: not specified.
    pub latency_limit: u32,
    /// Identity of the kernel, as the firmware sees it: launches with the same number execute the
    /// same code; 0: not specified.
    pub identity: u32,
    /// True if the grid restarts when its last TB has been issued.
    pub relaunch: bool,
    /// Maximum number of live registers per thread where warps may be switched, for each grid in
    /// sequence, if known. It is at most
    /// [`KernelInfo::registers_per_thread`](mias_warp_trace::KernelInfo). Only oversubscription
    /// uses it.
    pub live_registers: Vec<Option<u32>>,
    /// Offset added to every sector of the trace: the position of the kernel's buffers in device
    /// memory. Kernels that were traced separately start at the same address and must not share
    /// addresses when they run together.
    pub sector_offset: u64,
}

impl Launch {
    /// Creates a launch of `trace` in cycle 0 on stream 0: once, with the lowest priority, at its
    /// traced addresses.
    #[must_use]
    pub fn new(trace: Arc<KernelTrace>) -> Self {
        Launch {
            trace,
            source: None,
            arrival_cycle: 0,
            stream: 0,
            priority: 0,
            latency_limit: 0,
            identity: 0,
            relaunch: false,
            live_registers: Vec::new(),
            sector_offset: 0,
        }
    }
}

/// Reasons why a kernel cannot run on this GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// TB that needs more than an SM has.
    #[error(
        "one TB of kernel `{kernel}` needs {asked} {resource}, an SM of `{gpu}` has {had}: use a GPU with more per SM, or a kernel with smaller TBs"
    )]
    DoesNotFit {
        /// Kernel name.
        kernel: String,
        /// GPU name.
        gpu: String,
        /// Resource that is exceeded.
        resource: &'static str,
        /// Amount that one TB needs.
        asked: u32,
        /// Amount that an SM has.
        had: u32,
    },
}

/// Launch with its progress.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub launch: Launch,
    /// Launches that follow the first one in sequence.
    then: Vec<Arc<KernelTrace>>,
    /// Index in the sequence of the next or running launch: 0 for the launch itself.
    turn: usize,
    /// Cycle of the first announcement.
    pub start: Option<u64>,
    /// Cycle of the launch's first TB issue, and of the last TB issue of a pass over its grid.
    pub first_issue: Option<u64>,
    pub all_issued: Option<u64>,
    /// Cycle by which the launch had as many TBs as fit on the GPU, or all of a smaller grid.
    pub filled: Option<u64>,
    /// Cycle of the end of the launch's last TB, if no launch follows.
    pub end: Option<u64>,
    /// Cycle in which the launch became due: its arrival, or later if its stream was busy. Only if
    /// the firmware manages the queue.
    pub due: Option<u64>,
    /// True while the launch is in the window of the queue.
    pub shown: bool,
    /// True while the launch holds a slot.
    pub running: bool,
    /// Current or last slot.
    pub slot: usize,
    /// Counters of the slot when the launch took it.
    pub before: LaunchCounters,
    /// Counters of the launch's completed grids.
    pub done: LaunchCounters,
    /// Counters of the extra TBs of the launch's completed grids.
    pub oversubscription: Option<OversubscriptionStats>,
}

impl Queued {
    /// True while the launch waits for its arrival, its stream or a slot.
    pub(super) fn waits(&self) -> bool {
        !self.running && self.end.is_none()
    }

    /// Trace that runs or runs next.
    pub(super) fn trace(&self) -> &Arc<KernelTrace> {
        match self.turn.checked_sub(1) {
            None => &self.launch.trace,
            Some(at) => &self.then[at],
        }
    }

    /// True if the last launch of the sequence runs.
    pub(super) fn is_last_in_turn(&self) -> bool {
        self.turn == self.then.len()
    }

    /// Adds the counters of the extra TBs of the grid that runs.
    fn add_oversubscription(&mut self, stats: Option<OversubscriptionStats>) {
        if let Some(stats) = stats {
            self.oversubscription.get_or_insert_default().add(&stats);
        }
    }

    /// Advances to the next launch of the sequence; false at the end.
    fn next_turn(&mut self) -> bool {
        let follows = self.turn < self.then.len();
        self.turn = if follows { self.turn + 1 } else { 0 };
        follows || self.launch.relaunch
    }
}

/// All launches in the given order.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub launches: Vec<Queued>,
    pub completed: usize,
}

impl Queue {
    pub(super) fn all_complete(&self) -> bool {
        self.completed == self.launches.len()
    }

    /// True for the first launch of its stream that has not completed, the only one that may start.
    pub(super) fn stream_is_free(&self, index: usize) -> bool {
        let stream = self.launches[index].launch.stream;
        self.launches[..index].iter().all(|earlier| earlier.launch.stream != stream || earlier.end.is_some())
    }
}

/// Kernel that holds a slot.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Index of the kernel's launch.
    pub launch: usize,
    /// First cycle in which the kernel's TBs may issue.
    pub ready: u64,
    pub demand: Resources,
    pub priority: u8,
    /// TBs issued so far in this pass over the grid, and the grid's size.
    pub issued: u32,
    pub grid: u32,
    /// TBs issued and not ended, including suspended ones.
    pub running: u32,
    /// TBs suspended from their SMs, oldest first.
    pub suspended: VecDeque<SuspendedTb>,
    pub relaunch: bool,
}

impl Slot {
    /// Number of TBs of the grid left to issue.
    pub(super) fn unissued(&self) -> u32 {
        self.grid - self.issued
    }

    /// Number of TBs available to an SM: suspended ones and those left to issue.
    pub(super) fn available(&self) -> u32 {
        self.suspended.len() as u32 + self.unissued()
    }
}

impl Gpu {
    /// Adds a launch and returns its index in [`super::Stats::launches`].
    ///
    /// # Errors
    /// [`LaunchError::DoesNotFit`] if one TB needs more than an SM has.
    pub fn launch(&mut self, launch: Launch) -> Result<usize, LaunchError> {
        self.launch_in_turn(launch, Vec::new())
    }

    /// Adds a sequence of launches and returns its index in [`super::Stats::launches`].
    ///
    /// The launches of `then` follow `launch`. Each is announced as a new launch when the previous
    /// one has completed. The sequence has one entry in the statistics, from the start of the first
    /// launch to the end of the last. With [`Launch::relaunch`] the first follows the last; a
    /// single grid restarts in place.
    ///
    /// # Errors
    /// As [`Gpu::launch`].
    pub fn launch_in_turn(&mut self, launch: Launch, then: Vec<Arc<KernelTrace>>) -> Result<usize, LaunchError> {
        for trace in std::iter::once(&launch.trace).chain(&then) {
            let demand = Resources::of_tb(trace.info(), &self.config.sm);
            if let Some((resource, asked, had)) = Resources::of_sm(&self.config.sm).lacking(&demand) {
                let kernel = trace.info().name.clone();
                return Err(LaunchError::DoesNotFit { kernel, gpu: self.config.name.clone(), resource, asked, had });
            }
        }
        let (before, done) = (LaunchCounters::default(), LaunchCounters::default());
        self.queue.launches.push(Queued {
            launch,
            then,
            turn: 0,
            start: None,
            first_issue: None,
            all_issued: None,
            filled: None,
            end: None,
            due: None,
            shown: false,
            running: false,
            slot: 0,
            before,
            done,
            oversubscription: None,
        });
        Ok(self.queue.launches.len() - 1)
    }

    /// Announces every launch that is due and has a free slot.
    pub(super) fn post_launches(&mut self) {
        if self.queue.all_complete() {
            return;
        }
        if self.registers.queue_is_managed() {
            self.show_launches();
            return;
        }
        if !self.registers.has_free_slot() {
            return;
        }
        self.finish_window();
        for index in 0..self.queue.launches.len() {
            let queued = &self.queue.launches[index];
            let due = queued.waits() && queued.launch.arrival_cycle <= self.now;
            if !due || !self.queue.stream_is_free(index) || !self.registers.has_free_slot() {
                continue;
            }
            // A slot is free for a new kernel once the previous one has nothing in flight.
            let vacant = self.slots.iter().enumerate().fold(0, |slots, (slot, state)| slots | u32::from(state.is_none()) << slot);
            if self.sms.iter().any(|sm| sm.drains(vacant)) {
                continue;
            }
            let Some(slot) = self.registers.post_launch(self.descriptor(index)) else { continue };
            self.take_slot(index, slot, self.now);
        }
    }

    /// Descriptor of a launch in the register block.
    pub(super) fn descriptor(&self, index: usize) -> KernelDescriptor {
        let queued = &self.queue.launches[index];
        let (launch, trace) = (&queued.launch, queued.trace());
        let info = trace.info();
        KernelDescriptor {
            grid_tbs: trace.tbs(),
            tb_threads: info.threads(),
            thread_registers: info.registers_per_thread,
            tb_shared_bytes: info.shared_bytes,
            priority: u32::from(launch.priority),
            stream: launch.stream,
            latency_limit: launch.latency_limit,
            identity: launch.identity,
        }
    }

    /// Assigns a slot to a launch. Its launch latency has run since cycle `announced`.
    pub(super) fn take_slot(&mut self, index: usize, slot: usize, announced: u64) {
        let queued = &self.queue.launches[index];
        let (launch, trace) = (&queued.launch, queued.trace());
        let demand = Resources::of_tb(trace.info(), &self.config.sm);
        let live = launch.live_registers.get(queued.turn).copied().flatten();
        let source = launch.source.clone().filter(|_| queued.turn == 0);
        let program = Program::new(trace.clone(), source, launch.sector_offset, &self.config.sm);
        let ready = self.now.max(announced + u64::from(self.config.launch.latency_cycles));
        let grid = trace.tbs();
        self.slots[slot] = Some(Slot {
            launch: index,
            ready,
            demand,
            priority: launch.priority,
            issued: 0,
            grid,
            running: 0,
            suspended: VecDeque::new(),
            relaunch: launch.relaunch && queued.then.is_empty(),
        });
        if let Some(validation) = &mut self.validation {
            validation.launched(slot, grid);
        }
        Arc::make_mut(&mut self.programs).set(slot as u8, program);
        for sm in 0..self.sms.len() {
            self.sms[sm].kernel_placed(slot as u8, self.now);
        }
        self.plan_oversubscription(slot, index, (&demand, live), ready);
        self.memory.kernels_here(self.slots_taken(), Some(slot as u8));
        self.count_anew(slot);
        self.global_limits.iter_mut().for_each(|limits| limits.forget(slot));
        self.add_in_turn(slot);
        self.settle(self.now);
        let before = self.slot_counters(slot);
        let queued = &mut self.queue.launches[index];
        queued.start.get_or_insert(announced);
        queued.shown = false;
        queued.running = true;
        queued.slot = slot;
        queued.before = before;
    }

    /// Next cycle in which a launch can be announced, or a kernel's launch latency ends.
    pub(super) fn next_launch_event(&self) -> Option<u64> {
        let arrivals = if self.registers.queue_is_managed() { self.next_shown() } else { self.next_announced() };
        let ready = self.slots.iter().flatten().map(|slot| slot.ready).filter(|&ready| ready >= self.now);
        arrivals.into_iter().chain(ready).min()
    }

    /// Next cycle in which a launch can be announced. None while every slot is taken, since the
    /// release of a slot triggers the announcement.
    fn next_announced(&self) -> Option<u64> {
        if !self.registers.has_free_slot() {
            return None;
        }
        let arrivals = self.queue.launches.iter().enumerate().filter(|(i, q)| q.waits() && self.queue.stream_is_free(*i));
        arrivals.map(|(_, q)| q.launch.arrival_cycle.max(self.now)).min()
    }

    /// Retires TBs that ended in this cycle: progress of their kernels, completion. `until` is the
    /// first cycle that the SMs have not run.
    pub(super) fn retire_tbs(&mut self, until: u64) {
        for sm in 0..self.sms.len() {
            self.retire_tbs_of(sm, until);
        }
        self.post_preempted();
    }

    /// Retires the ended TBs of one SM, without the reports on preempted TBs.
    pub(super) fn retire_tbs_of(&mut self, sm: usize, until: u64) {
        let mut slots_changed = 0u32;
        let (slots, validation, preemptions) = (&mut self.slots, &mut self.validation, &mut self.preemptions);
        let first_runs = &mut self.first_runs;
        self.sms[sm].take_finished(|tb| {
            slots_changed |= 1 << tb.kernel;
            if let Some(slot) = &mut slots[usize::from(tb.kernel)] {
                slot.running -= 1;
                if let Some(runs) = first_runs.as_mut().filter(|_| !tb.again) {
                    runs.tb_ended(slot.launch, until);
                }
            }
            if let Some(validation) = validation {
                validation.ended(usize::from(tb.kernel), tb.index);
            }
            preemptions.ended(sm, (tb.kernel, tb.index), until, None);
        });
        let left = self.take_left(sm);
        slots_changed |= left;
        let drained = self.sms[sm].take_drained();
        if drained {
            self.dispatcher.room_on(sm);
        }
        if drained || slots_changed != 0 {
            self.occupancy.set(sm, self.now + 1, !self.sms[sm].is_empty());
        }
        while slots_changed != 0 {
            let slot = slots_changed.trailing_zeros() as usize;
            slots_changed &= slots_changed - 1;
            self.registers.set_resident(sm, slot, self.sms[sm].resident(slot));
            self.dispatcher.room_on(sm);
            self.after_progress(slot, until);
        }
    }

    /// Mask of the slots that kernels hold.
    fn slots_taken(&self) -> u8 {
        self.slots.iter().enumerate().fold(0, |taken, (slot, state)| taken | u8::from(state.is_some()) << slot)
    }

    fn after_progress(&mut self, slot: usize, until: u64) {
        let Some(state) = &self.slots[slot] else { return };
        self.registers.set_unfinished(slot, state.unissued() + state.running);
        if state.running > 0 || state.unissued() > 0 {
            return;
        }
        let launch = state.launch;
        self.settle(until);
        let after = self.slot_counters(slot);
        let oversubscription = self.context_stats(slot, until);
        let queued = &mut self.queue.launches[launch];
        queued.done.add(&after.since(&queued.before));
        queued.add_oversubscription(oversubscription);
        queued.running = false;
        if !queued.next_turn() {
            queued.end = Some(self.now + 1);
            self.queue.completed += 1;
        }
        if let Some(validation) = &self.validation {
            validation.completed(slot);
        }
        self.slots[slot] = None;
        self.leaving |= 1 << slot;
        self.forget_oversubscription(slot);
        self.forget_reserved(slot);
        self.memory.kernels_here(self.slots_taken(), None);
        self.dispatcher.remove(slot);
        if self.oversubscription.is_some() {
            // A kernel may receive extra TBs once no other kernel is to have TBs on the SM.
            self.dispatcher.room_everywhere();
        }
        self.registers.post_completed(slot);
    }
}
