//! A kernel that is executed while it runs: its TBs are executed in grid order when the model is about to issue them, and somewhat
//! ahead of it, so that a run of a window does not wait for the whole grid.
//!
//! Each TB is executed once, whatever number of runs share the kernel: they read one trace, which grows part by part. Parts that are too
//! much for memory wait on disk (`parts.rs`). When the whole grid has been executed, its results are checked, and its trace is kept in the
//! cache if it fits into memory.

use crate::kernels::{Instance, KernelError, Prepared};
use crate::parts::Parts;
use crate::trace_store::Keeper;
use mias_hw_model::trace::{KernelInfo, KernelTrace, TraceBuilder, TracePart, TraceSource};
use mias_ptx::Program;
use mias_ptx::lower::observe::Job;
use mias_ptx::lower::record::{RecordError, Recorder};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A part that is taken further grows by a quarter at least, so that all copies made of it while it grows take few times what it does.
const GROWTH: u64 = 4;

/// Bytes of a part, if the budget is large. Assumption: written or read back in tenths of a second.
const PART_BYTES: u64 = 64 << 20;

/// Parts that a small budget is divided into. Half of them are held; the others are what runs have from others' progress, and what is
/// being executed.
const PARTS: u64 = 16;

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
    /// Bytes that its trace may take in memory.
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
    /// What does not grow any more.
    parts: Parts,
    /// The part that grows: its first TB, and as far as somebody has seen it.
    first_tb: u32,
    latest: Arc<KernelTrace>,
    failed: Option<String>,
}

impl Ahead {
    /// Nothing is executed yet. The trace may take `budget_bytes` in memory; once it is whole it is kept.
    ///
    /// # Errors
    /// [`KernelError::Record`] for a launch that cannot be.
    pub fn new(prepared: Prepared, budget_bytes: u64, keeper: Option<Keeper>, printer: Option<Printer>) -> Result<Self, KernelError> {
        let Prepared { program, instance, info } = prepared;
        let job = Job { program: &program, launch: &instance.launch, device: &instance.memory };
        let recorder = Recorder::new(job, info.clone())?;
        let latest = Arc::new(recorder.so_far());
        let state = Mutex::new(State { recorder, parts: Parts::new(budget_bytes / 2), first_tb: 0, latest, failed: None });
        Ok(Ahead { program, instance, info, budget_bytes, printer, prints: AtomicU64::new(0), keeper, state })
    }

    /// The trace of what has been executed, before anybody has asked for a TB.
    pub fn so_far(&self) -> Arc<KernelTrace> {
        self.state().latest.clone()
    }

    /// Whether the whole grid has been executed.
    pub fn is_whole(&self) -> bool {
        self.state().recorder.recorded() == self.tbs()
    }

    fn tbs(&self) -> u32 {
        self.info.tbs() as u32
    }

    /// How often threads have printed so far.
    pub fn prints(&self) -> u64 {
        self.prints.load(Relaxed)
    }

    /// Executes until the whole grid is done, or `warp_insts` warp instructions have been, or a part is full. `progress` is told the TBs done.
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

    /// Bytes of a part.
    fn part_bytes(&self) -> u64 {
        (self.budget_bytes / PARTS).min(PART_BYTES)
    }

    /// Executes TBs into the growing part while `goes_on`, or until it is full.
    fn advance(&self, state: &mut State, goes_on: &mut dyn FnMut(&Recorder) -> bool) -> Result<(), KernelError> {
        let job = Job { program: &self.program, launch: &self.instance.launch, device: &self.instance.memory };
        let advanced = state.recorder.advance(job, self.part_bytes(), goes_on);
        let printed = state.recorder.take_printed();
        self.prints.fetch_add(printed.calls, Relaxed);
        if let Some(print) = self.printer {
            print(&printed.text);
        }
        advanced?;
        let (tbs, bytes) = (state.recorder.recorded() - state.first_tb, state.recorder.memory_bytes());
        if bytes > self.budget_bytes {
            let (kernel, of, budget_bytes) = (self.info.name.clone(), self.info.tbs(), self.budget_bytes);
            return Err(KernelError::Memory { kernel, tbs, of, bytes, budget_bytes });
        }
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
            if state.recorder.recorded() > state.first_tb && state.recorder.memory_bytes() >= self.part_bytes() {
                let (first_tb, part) = (state.first_tb, state.recorder.take_part());
                state.first_tb = state.recorder.recorded();
                state.parts.add(first_tb, part).map_err(|error| self.spill_error(&error))?;
            }
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
        let parts = state.parts.all().map_err(|error| self.spill_error(&error))?;
        for part in parts.iter().chain([&state.latest]) {
            builder.append(part).map_err(RecordError::from)?;
        }
        Ok(Some(Arc::new(builder.finish().map_err(RecordError::from)?)))
    }

    fn spill_error(&self, error: &std::io::Error) -> KernelError {
        let (kernel, folder) = (self.info.name.clone(), std::env::temp_dir().display().to_string());
        KernelError::Spill { kernel, folder, error: error.to_string() }
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
        let State { parts, first_tb, latest, .. } = &mut *state;
        let closed = parts.with(tb, *first_tb).map_err(|error| self.spill_error(&error).to_string())?;
        Ok(closed.unwrap_or_else(|| TracePart { number: parts.count(), first_tb: *first_tb, trace: latest.clone() }))
    }
}

#[cfg(test)]
#[path = "ahead_tests.rs"]
mod tests;
