//! A kernel that is executed while it runs: its TBs are executed in grid order when the model is about to issue them, and somewhat
//! ahead of it, so that a run of a window does not wait for the whole grid.
//!
//! Each TB is executed once, whatever number of runs share the kernel: they read one trace, which grows. When the whole grid has been
//! executed, its results are checked, and its trace is kept in the cache.

use crate::kernels::{Instance, KernelError, Prepared};
use crate::trace_store::Keeper;
use mias_hw_model::trace::{KernelInfo, KernelTrace, TraceSource};
use mias_ptx::Program;
use mias_ptx::lower::observe::Job;
use mias_ptx::lower::record::Recorder;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A trace that is taken further grows by a quarter at least, so that all copies made of it while it grows take few times what it does.
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
    /// Bytes that its trace may take.
    budget_bytes: u64,
    /// Is told what its threads print.
    printer: Option<Printer>,
    /// How often they have.
    prints: AtomicU64,
    /// Where the whole trace is kept.
    keeper: Option<Keeper>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    recorder: Recorder,
    latest: Arc<KernelTrace>,
    failed: Option<String>,
}

impl Ahead {
    /// Nothing is executed yet. The trace may take `budget_bytes`; once it is whole it is kept.
    ///
    /// # Errors
    /// [`KernelError::Record`] for a launch that cannot be.
    pub fn new(prepared: Prepared, budget_bytes: u64, keeper: Option<Keeper>, printer: Option<Printer>) -> Result<Self, KernelError> {
        let Prepared { program, instance, info } = prepared;
        let job = Job { program: &program, launch: &instance.launch, device: &instance.memory };
        let recorder = Recorder::new(job, info.clone())?;
        let latest = Arc::new(recorder.so_far());
        let state = Mutex::new(State { recorder, latest, failed: None });
        Ok(Ahead { program, instance, info, budget_bytes, printer, prints: AtomicU64::new(0), keeper, state })
    }

    /// The trace of what has been executed.
    pub fn so_far(&self) -> Arc<KernelTrace> {
        self.state().latest.clone()
    }

    /// Whether the whole grid has been executed.
    pub fn is_whole(&self) -> bool {
        u64::from(self.state().recorder.recorded()) == self.info.tbs()
    }

    /// How often threads have printed so far.
    pub fn prints(&self) -> u64 {
        self.prints.load(Relaxed)
    }

    /// Executes until the whole grid is done, or `warp_insts` warp instructions have been. `progress` is told the TBs done.
    ///
    /// # Errors
    /// [`KernelError`], also for results that are not the host's.
    pub fn start(&self, warp_insts: u64, progress: &mut dyn FnMut(u64)) -> Result<(), KernelError> {
        self.advance(&mut self.state(), &mut |recorder| {
            progress(recorder.recorded().into());
            recorder.warp_insts() < warp_insts
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn advance(&self, state: &mut State, goes_on: &mut dyn FnMut(&Recorder) -> bool) -> Result<(), KernelError> {
        let job = Job { program: &self.program, launch: &self.instance.launch, device: &self.instance.memory };
        let within_budget = |recorder: &Recorder| recorder.memory_bytes() <= self.budget_bytes;
        let advanced = state.recorder.advance(job, &mut |recorder| within_budget(recorder) && goes_on(recorder));
        let printed = state.recorder.take_printed();
        self.prints.fetch_add(printed.calls, Relaxed);
        if let Some(print) = self.printer {
            print(&printed.text);
        }
        advanced?;
        state.latest = Arc::new(state.recorder.so_far());
        if !within_budget(&state.recorder) {
            return Err(KernelError::Memory {
                kernel: self.info.name.clone(),
                tbs: state.recorder.recorded(),
                of: self.info.tbs(),
                bytes: state.recorder.memory_bytes(),
                budget_bytes: self.budget_bytes,
            });
        }
        if u64::from(state.recorder.recorded()) == self.info.tbs() {
            self.instance.check_results(&self.info.name)?;
        }
        Ok(())
    }
}

impl TraceSource for Ahead {
    fn up_to(&self, tb: u32) -> Result<Arc<KernelTrace>, String> {
        let mut state = self.state();
        if let Some(message) = &state.failed {
            return Err(message.clone());
        }
        if state.latest.recorded_tbs() <= tb {
            let (insts, bytes) = (state.recorder.warp_insts(), state.recorder.memory_bytes());
            let enough = |recorder: &Recorder| {
                let grown = recorder.memory_bytes() >= bytes + bytes / GROWTH;
                recorder.recorded() > tb && grown && recorder.warp_insts() >= insts + LEAST_WARP_INSTS
            };
            if let Err(error) = self.advance(&mut state, &mut |recorder| !enough(recorder)) {
                state.failed = Some(error.to_string());
                return Err(error.to_string());
            }
            if u64::from(state.recorder.recorded()) == self.info.tbs()
                && let Some(keeper) = &self.keeper
            {
                // A cache is never needed. What is wrong with it, the next run says before it begins.
                let _ = keeper.keep(&self.info.name, &state.latest);
            }
        }
        Ok(state.latest.clone())
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
