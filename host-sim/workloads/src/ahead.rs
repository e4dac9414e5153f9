//! Execution of a kernel during its simulation. TBs are executed in grid order shortly before the
//! model issues them, so a run of a window does not wait for the whole grid.
//!
//! Each TB is executed once, for any number of runs that share the kernel: they read one trace that
//! grows part by part. Parts that exceed memory are written to disk (`parts.rs`). After the whole
//! grid, the results are checked. The trace is cached if it fits into memory.

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

/// Inverse of the minimum growth of a part: one quarter. All copies made of a growing part then
/// cost only a few times its size.
const GROWTH: u64 = 4;

/// Minimum number of warp instructions to execute for a requested TB. Assumption: some tenths of a
/// second.
const LEAST_WARP_INSTS: u64 = 4_000_000;

/// Receiver of the text that threads print.
pub type Printer = fn(&str);

/// A kernel that is executed during its simulation.
#[derive(Debug)]
pub struct Ahead {
    program: Program,
    instance: Instance,
    info: KernelInfo,
    /// Memory limit of the kernel.
    budget: Budget,
    /// Receiver of the text that threads print.
    printer: Option<Printer>,
    /// Number of print calls so far.
    prints: AtomicU64,
    /// Cache entry for the whole trace.
    keeper: Option<Keeper>,
    without_tbs: Arc<KernelTrace>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorder: Recorder,
    /// Parts that no longer grow.
    parts: Parts,
    /// Growing part, as last published to a reader.
    latest: Arc<KernelTrace>,
    failed: Option<String>,
}

impl Ahead {
    /// Creates a kernel without executed TBs.
    ///
    /// `budget` limits the trace in memory. `keeper` caches the trace once it is complete.
    ///
    /// # Errors
    /// [`KernelError::Record`] for an invalid launch.
    pub fn new(prepared: Prepared, budget: Budget, keeper: Option<Keeper>, printer: Option<Printer>) -> Result<Self, KernelError> {
        let Prepared { program, instance, info } = prepared;
        let job = Job { program: &program, launch: &instance.launch, device: &instance.memory };
        let recorder = Recorder::new(job, info.clone())?;
        let latest = Arc::new(recorder.so_far());
        let without_tbs = latest.clone();
        let state = Mutex::new(State { recorder, parts: Parts::new(budget.held_bytes), latest, failed: None });
        Ok(Ahead { program, instance, info, budget, printer, prints: AtomicU64::new(0), keeper, without_tbs, state })
    }

    /// Returns the trace without TBs: geometry and static instructions.
    pub fn without_tbs(&self) -> Arc<KernelTrace> {
        self.without_tbs.clone()
    }

    /// Returns the whole trace, if the whole grid has been executed into one part.
    pub fn in_one_part(&self) -> Option<Arc<KernelTrace>> {
        let state = self.state();
        (state.recorder.recorded() == self.tbs() && state.parts.count() == 0).then(|| state.latest.clone())
    }

    fn tbs(&self) -> u32 {
        self.info.tbs() as u32
    }

    /// Returns the number of print calls of threads so far.
    pub fn prints(&self) -> u64 {
        self.prints.load(Relaxed)
    }

    /// Executes TBs until the grid is complete, a part is full, or `warp_insts` warp instructions
    /// have been executed. `progress` receives the number of executed TBs and the total.
    ///
    /// # Errors
    /// [`KernelError`], also for results that differ from the host's, and if `progress` stopped the
    /// execution.
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

    /// Executes TBs into the growing part until it is full or `goes_on` returns false.
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
        // Drop the old copy first, so that only one exists at a time.
        state.latest = self.without_tbs.clone();
        state.latest = Arc::new(state.recorder.so_far());
        if state.recorder.recorded() == self.tbs() {
            self.instance.check_results(&self.info.name)?;
        }
        Ok(())
    }

    /// Executes TBs up to and including `tb`.
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
            // The cache is optional. The next run reports its errors before it starts.
            let _ = keeper.keep(&self.info.name, &whole);
        }
        Ok(())
    }

    /// Returns the whole trace once all TBs are executed; `None` if its parts exceed memory.
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

    /// Converts an error into one with a remedy for the user.
    fn explain(&self, error: RecordError) -> KernelError {
        match error {
            RecordError::MemoryLimit { tb, room_bytes } => {
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
