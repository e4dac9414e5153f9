//! A kernel that is executed while it runs: its TBs are executed in grid order when the model is about to issue them, and somewhat
//! ahead of it, so that a run of a window does not wait for the whole grid.
//!
//! Each TB is executed once, whatever number of runs share the kernel: they read one trace, which grows part by part. Parts that are too
//! much for memory wait on disk (`parts.rs`). When the whole grid has been executed, its results are checked, and its trace is kept in the
//! cache if it fits into memory.

use crate::budget::Budget;
use crate::kernels::{Instance, KernelError, Prepared, Progress};
use crate::parts::Parts;
use crate::trace_store::Keeper;
use mias_ptx::Program;
use mias_ptx::lower::observe::Job;
use mias_ptx::lower::record::{RecordError, Recorder};
use mias_warp_trace::{KernelInfo, KernelTrace, TraceBuilder, TracePart, TraceSource};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A part that is taken further grows by a quarter at least, so that all copies made of it while it grows take few times what it does.
const GROWTH: u64 = 4;

/// Warp instructions executed at least when a TB is wanted. Assumption: some tenths of a second.
const LEAST_WARP_INSTS: u64 = 4_000_000;

/// Takes what threads print.
pub type Printer = fn(&str);

/// A kernel, as far as it has been executed.
#[derive(Debug)]
pub struct Ahead {
    program: Program,
    instance: Instance,
    info: KernelInfo,
    /// What it may take in memory.
    budget: Budget,
    /// Is told what its threads print.
    printer: Option<Printer>,
    /// How often they have.
    prints: AtomicU64,
    /// Where the whole trace is kept.
    keeper: Option<Keeper>,
    without_tbs: Arc<KernelTrace>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorder: Recorder,
    /// What does not grow any more.
    parts: Parts,
    /// The part that grows, as far as somebody has seen it.
    latest: Arc<KernelTrace>,
    failed: Option<String>,
}

impl Ahead {
    /// Nothing is executed yet. The trace may take what `budget` says in memory; once it is whole it is kept.
    ///
    /// # Errors
    /// [`KernelError::Record`] for a launch that cannot be.
    pub fn new(prepared: Prepared, budget: Budget, keeper: Option<Keeper>, printer: Option<Printer>) -> Result<Self, KernelError> {
        let Prepared { program, instance, info } = prepared;
        let job = Job { program: &program, launch: &instance.launch, device: &instance.memory };
        let recorder = Recorder::new(job, info.clone())?;
        let latest = Arc::new(recorder.so_far());
        let without_tbs = latest.clone();
        let state = Mutex::new(State { recorder, parts: Parts::new(budget.held_bytes), latest, failed: None });
        Ok(Ahead { program, instance, info, budget, printer, prints: AtomicU64::new(0), keeper, without_tbs, state })
    }

    /// The trace of no TB: geometry and static instructions.
    pub fn without_tbs(&self) -> Arc<KernelTrace> {
        self.without_tbs.clone()
    }

    /// The whole trace, if the whole grid has been executed and is in one part.
    pub fn in_one_part(&self) -> Option<Arc<KernelTrace>> {
        let state = self.state();
        (state.recorder.recorded() == self.tbs() && state.parts.count() == 0).then(|| state.latest.clone())
    }

    fn tbs(&self) -> u32 {
        self.info.tbs() as u32
    }

    /// How often threads have printed so far.
    pub fn prints(&self) -> u64 {
        self.prints.load(Relaxed)
    }

    /// Executes until the whole grid is done, or `warp_insts` warp instructions have been, or a part is full. `progress` is told the TBs done,
    /// and of how many.
    ///
    /// # Errors
    /// [`KernelError`], also for results that are not the host's, and if `progress` asked to stop.
    pub fn start(&self, warp_insts: u64, progress: &mut Progress<'_>) -> Result<(), KernelError> {
        let (mut state, mut flow) = (self.state(), ControlFlow::Continue(()));
        self.advance(&mut state, &mut |recorder| {
            flow = progress(recorder.recorded().into(), self.tbs().into());
            flow.is_continue() && recorder.warp_insts() < warp_insts
        })?;
        if flow.is_break() { Ok(state.recorder.whole()?) } else { Ok(()) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Executes TBs into the growing part while `goes_on`, or until it is full.
    fn advance(&self, state: &mut State, goes_on: &mut dyn FnMut(&Recorder) -> bool) -> Result<(), KernelError> {
        let job = Job { program: &self.program, launch: &self.instance.launch, device: &self.instance.memory };
        let State { recorder, parts, .. } = state;
        let closed = &mut |first_tb, part| parts.add(first_tb, part);
        let advanced = recorder.advance(job, self.budget.room, closed, goes_on);
        let printed = recorder.take_printed();
        self.prints.fetch_add(printed.calls, Relaxed);
        if let Some(print) = self.printer {
            print(&printed.text);
        }
        advanced.map_err(|error| self.explain(error))?;
        // Not two copies at a time.
        state.latest = self.without_tbs.clone();
        state.latest = Arc::new(state.recorder.so_far());
        if state.recorder.recorded() == self.tbs() {
            self.instance.check_results(&self.info.name)?;
        }
        Ok(())
    }

    /// Executes TBs until `tb` is among them.
    fn reach(&self, state: &mut State, tb: u32) -> Result<(), KernelError> {
        if state.recorder.recorded() > tb {
            return Ok(());
        }
        while state.recorder.recorded() <= tb {
            let (insts, bytes) = (state.recorder.warp_insts(), state.recorder.memory_bytes());
            let enough = |recorder: &Recorder| {
                let grown = recorder.memory_bytes() >= bytes + bytes / GROWTH;
                recorder.recorded() > tb && grown && recorder.warp_insts() >= insts + LEAST_WARP_INSTS
            };
            self.advance(state, &mut |recorder| !enough(recorder))?;
        }
        if state.recorder.recorded() == self.tbs()
            && let Some(keeper) = &self.keeper
            && let Some(whole) = self.whole(state)?
        {
            // A cache is never needed. What is wrong with it, the next run says before it begins.
            let _ = keeper.keep(&self.info.name, &whole);
        }
        Ok(())
    }

    /// The whole trace, once all TBs are there; none if its parts are too much for memory.
    fn whole(&self, state: &mut State) -> Result<Option<Arc<KernelTrace>>, KernelError> {
        if state.parts.count() == 0 {
            return Ok(Some(state.latest.clone()));
        }
        if state.parts.spilled() {
            return Ok(None);
        }
        let mut builder = TraceBuilder::new(self.info.clone()).map_err(RecordError::from)?;
        for &inst in state.latest.statics() {
            builder.define(inst).map_err(RecordError::from)?;
        }
        let parts = state.parts.all().map_err(|error| self.spill_error(&error.to_string()))?;
        for part in parts.iter().chain([&state.latest]) {
            builder.append(part).map_err(RecordError::from)?;
        }
        Ok(Some(Arc::new(builder.finish().map_err(RecordError::from)?)))
    }

    fn spill_error(&self, error: &str) -> KernelError {
        let (kernel, folder) = (self.info.name.clone(), std::env::temp_dir().display().to_string());
        KernelError::Spill { kernel, folder, error: error.to_owned() }
    }

    /// What went wrong, in terms of what the user can do about it.
    fn explain(&self, error: RecordError) -> KernelError {
        match error {
            RecordError::Room { tb, room_bytes } => {
                KernelError::Memory { kernel: self.info.name.clone(), tb, of: self.info.tbs(), room_bytes, budget_bytes: self.budget.bytes }
            }
            RecordError::Closed(error) => self.spill_error(&error),
            error => error.into(),
        }
    }
}

impl TraceSource for Ahead {
    fn part_with(&self, tb: u32) -> Result<TracePart, String> {
        let mut state = self.state();
        if let Some(message) = &state.failed {
            return Err(message.clone());
        }
        if let Err(error) = self.reach(&mut state, tb) {
            state.failed = Some(error.to_string());
            return Err(error.to_string());
        }
        let State { parts, recorder, latest, .. } = &mut *state;
        let first_tb = recorder.first_tb();
        let closed = parts.with(tb, first_tb).map_err(|error| self.spill_error(&error.to_string()).to_string())?;
        Ok(closed.unwrap_or_else(|| TracePart { number: parts.count(), first_tb, trace: latest.clone() }))
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
