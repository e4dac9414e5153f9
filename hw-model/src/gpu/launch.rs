//! Kernel launches: streams, arrival, launch latency, and which slot of the register block a kernel holds.
//!
//! Launches of one stream run one after the other. A kernel is announced to the firmware when it arrives; its first TB
//! may issue one launch latency later (5,000 cycles on the reference machine), during which the firmware decides.
//! A kernel may be *relaunched in place*: when its last TB has been issued its grid starts again, so that it runs through
//! a fixed window without being a new launch (sources.md D8). What launches *in turn* does launch anew: each grid of a program when
//! the one before has completed, and the first again after the last.

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
    /// What the kernel does: all of it, or its first TBs if there is a `source`.
    pub trace: Arc<KernelTrace>,
    /// Where the TBs come from that `trace` has not.
    pub source: Option<Arc<dyn TraceSource>>,
    /// Core cycle in which the launch arrives at the GPU, or later if its stream is busy.
    pub arrival_cycle: u64,
    /// Launches with the same stream run one after the other, in the order of [`Gpu::launch`].
    pub stream: u32,
    /// Priority as the firmware sees it; 0 is the lowest.
    pub priority: u8,
    /// Core cycles from the moment at which its TBs may issue until it is to have its room, as the firmware sees it; 0: not said.
    pub latency_limit: u32,
    /// Which kernel it is: launches with the same number execute the same code, as the firmware sees it; 0: not said.
    pub identity: u32,
    /// Start the grid again when its last TB has been issued.
    pub relaunch: bool,
    /// Registers of a thread that are live where its warps may be switched, at most, of each grid in turn where it is known: out of
    /// [`KernelInfo::registers_per_thread`](mias_warp_trace::KernelInfo). Nothing but contexts on spare storage asks for it.
    pub live_registers: Vec<Option<u32>>,
    /// Added to every sector of the trace: where the kernel's buffers lie in device memory. Kernels that were traced
    /// apart, each from the same first address, must not share addresses when they run together.
    pub sector_offset: u64,
}

impl Launch {
    /// A launch of `trace` in cycle 0 on stream 0: once, of the lowest priority, its buffers where it was traced.
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

/// Why a kernel cannot run on this GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// One TB takes more than an SM has.
    #[error(
        "one TB of kernel `{kernel}` needs {asked} {resource}, an SM of `{gpu}` has {had}: take a GPU whose SMs have more, or a kernel whose TBs need less"
    )]
    DoesNotFit {
        /// Kernel name.
        kernel: String,
        /// GPU name.
        gpu: String,
        /// Which resource.
        resource: &'static str,
        /// How much one TB takes.
        asked: u32,
        /// How much an SM has.
        had: u32,
    },
}

/// A launch and how far it is.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub launch: Launch,
    /// What is launched after it, in turn.
    then: Vec<Arc<KernelTrace>>,
    /// Which of all of them is next or runs: 0 for the launch itself.
    turn: usize,
    /// Cycle in which it was announced, the first time.
    pub start: Option<u64>,
    /// Cycle in which it was given its first TB, and in which the last of a pass over its grid was.
    pub first_issue: Option<u64>,
    pub all_issued: Option<u64>,
    /// Cycle in which it had been given as many TBs as fit on the GPU, or all of a smaller grid.
    pub filled: Option<u64>,
    /// Cycle in which its last TB ended, and nothing follows.
    pub end: Option<u64>,
    /// Cycle in which it was found due: its arrival, or later if its stream was busy. Only where the firmware says which launch is next.
    pub due: Option<u64>,
    /// It is in the window of the queue.
    pub shown: bool,
    /// It holds a slot.
    pub running: bool,
    /// The slot it holds or held.
    pub slot: usize,
    /// Counters of its slot when it took it.
    pub before: LaunchCounters,
    /// What has been counted of all that has completed.
    pub done: LaunchCounters,
    /// What of its extra TBs has been counted of all that has completed.
    pub contexts: Option<OversubscriptionStats>,
}

impl Queued {
    /// It waits for its arrival, its stream or a slot.
    pub(super) fn waits(&self) -> bool {
        !self.running && self.end.is_none()
    }

    /// What runs, or runs next.
    pub(super) fn trace(&self) -> &Arc<KernelTrace> {
        match self.turn.checked_sub(1) {
            None => &self.launch.trace,
            Some(at) => &self.then[at],
        }
    }

    /// Nothing follows what runs before the first comes again.
    pub(super) fn is_last_in_turn(&self) -> bool {
        self.turn == self.then.len()
    }

    /// What its extra TBs have come to, of the grid that runs, is added.
    fn add_contexts(&mut self, stats: Option<OversubscriptionStats>) {
        if let Some(stats) = stats {
            self.contexts.get_or_insert_default().add(&stats);
        }
    }

    /// Goes on to what follows; false if nothing does.
    fn next_turn(&mut self) -> bool {
        let follows = self.turn < self.then.len();
        self.turn = if follows { self.turn + 1 } else { 0 };
        follows || self.launch.relaunch
    }
}

/// All launches in the order given.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    pub launches: Vec<Queued>,
    pub completed: usize,
}

impl Queue {
    pub(super) fn all_complete(&self) -> bool {
        self.completed == self.launches.len()
    }

    /// The first launch of its stream that has not completed is the only one of it that may start.
    pub(super) fn stream_is_free(&self, index: usize) -> bool {
        let stream = self.launches[index].launch.stream;
        self.launches[..index].iter().all(|earlier| earlier.launch.stream != stream || earlier.end.is_some())
    }
}

/// A kernel that holds a slot.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// Index of its launch.
    pub launch: usize,
    /// Cycle from which its TBs may issue.
    pub ready: u64,
    pub demand: Resources,
    pub priority: u8,
    /// TBs issued so far in this pass over the grid, and the grid's size.
    pub issued: u32,
    pub grid: u32,
    /// TBs issued and not ended, suspended ones included.
    pub running: u32,
    /// TBs taken off their SMs, oldest first.
    pub suspended: VecDeque<SuspendedTb>,
    pub relaunch: bool,
}

impl Slot {
    /// TBs of the grid left to issue.
    pub(super) fn unissued(&self) -> u32 {
        self.grid - self.issued
    }

    /// TBs that an SM could be given: suspended ones and those left to issue.
    pub(super) fn available(&self) -> u32 {
        self.suspended.len() as u32 + self.unissued()
    }
}

impl Gpu {
    /// Adds a launch and returns its index in [`super::Stats::launches`].
    ///
    /// # Errors
    /// [`LaunchError::DoesNotFit`] if one TB takes more than an SM has.
    pub fn launch(&mut self, launch: Launch) -> Result<usize, LaunchError> {
        self.launch_in_turn(launch, Vec::new())
    }

    /// The same, followed by the launches of `then`, each announced when the one before has completed, as a launch of its own. They are one
    /// in [`super::Stats::launches`], from the start of the first to the end of the last. With [`Launch::relaunch`] the first follows the
    /// last; a grid alone starts again in place.
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
            contexts: None,
        });
        Ok(self.queue.launches.len() - 1)
    }

    /// Announces every launch that is due and finds a free slot.
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
            // A slot is free for a new kernel once nothing of the one before is in flight.
            let vacant = self.slots.iter().enumerate().fold(0, |slots, (slot, state)| slots | u32::from(state.is_none()) << slot);
            if self.sms.iter().any(|sm| sm.drains(vacant)) {
                continue;
            }
            let Some(slot) = self.registers.post_launch(self.descriptor(index)) else { continue };
            self.take_slot(index, slot, self.now);
        }
    }

    /// What the register block shows of a launch.
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

    /// A launch has a slot. Its launch latency has run since cycle `announced`.
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
        self.plan_contexts(slot, index, (&demand, live), ready);
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

    /// The next cycle in which a launch arrives and can be announced, or a kernel's launch latency ends.
    pub(super) fn next_launch_event(&self) -> Option<u64> {
        let arrivals = if self.registers.queue_is_managed() { self.next_shown() } else { self.next_announced() };
        let ready = self.slots.iter().flatten().map(|slot| slot.ready).filter(|&ready| ready >= self.now);
        arrivals.into_iter().chain(ready).min()
    }

    /// The next cycle in which a launch could be announced; none while every slot is taken: who gives one free says so.
    fn next_announced(&self) -> Option<u64> {
        if !self.registers.has_free_slot() {
            return None;
        }
        let arrivals = self.queue.launches.iter().enumerate().filter(|(i, q)| q.waits() && self.queue.stream_is_free(*i));
        arrivals.map(|(_, q)| q.launch.arrival_cycle.max(self.now)).min()
    }

    /// TBs that ended in this cycle: progress of their kernels, completion.
    /// `until` is the first cycle that the SMs have not run.
    pub(super) fn retire_tbs(&mut self, until: u64) {
        for sm in 0..self.sms.len() {
            self.retire_tbs_of(sm, until);
        }
        self.post_preempted();
    }

    /// The same of one SM, but for what is told of TBs that were to leave.
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

    /// Slots that kernels hold, bit per slot.
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
        let contexts = self.context_stats(slot, until);
        let queued = &mut self.queue.launches[launch];
        queued.done.add(&after.since(&queued.before));
        queued.add_contexts(contexts);
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
        self.forget_contexts(slot);
        self.forget_reserved(slot);
        self.memory.kernels_here(self.slots_taken(), None);
        self.dispatcher.remove(slot);
        if self.oversubscription.is_some() {
            // Extra TBs come to a kernel beside which no other is to have any.
            self.dispatcher.room_everywhere();
        }
        self.registers.post_completed(slot);
    }
}
