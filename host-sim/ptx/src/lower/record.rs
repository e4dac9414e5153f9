//! From executed PTX to the warp trace: a [`Sink`] that records lowered instructions, and a loop over all TBs of a launch.

use super::Lowered;
use super::observe::{Code, FirstFailure, Job, Sink};
use crate::error::ExecError;
use crate::launch::{Launch, TbRunner};
use crate::memory::DeviceMemory;
use crate::program::Program;
use mias_hw_model::isa::StaticInst;
use mias_hw_model::trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder, TraceError};
use rayon::prelude::*;

/// Why a launch has no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It could not be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// It does not fit the trace's form.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// TBs that are recorded before they are added to the trace, per batch. Assumption: enough to keep any number of workers
/// busy, few enough that a batch stays small in memory.
const BATCH: u32 = 128;

/// A lowered instruction and its index in the trace.
type Defined = (u16, StaticInst);

impl Sink<Defined> for TbRecorder {
    fn resume(&mut self, warp: u32) {
        TbRecorder::resume(self, warp as usize);
    }

    fn inst(&mut self, (index, inst): &Defined, mask: u32, addresses: &[u64]) {
        TbRecorder::inst(self, *index, inst, mask.count_ones(), addresses);
    }
}

/// Executes all TBs of a launch and records what they did. `progress` is told the TBs done so far, ascending. The result does
/// not depend on the number of worker threads, as long as TBs do not race.
///
/// # Errors
/// [`RecordError`]; of several failing TBs, the first in grid order within the first batch that has one.
pub fn trace(
    program: &Program,
    launch: &Launch,
    device: &DeviceMemory,
    info: KernelInfo,
    progress: &mut dyn FnMut(u64),
) -> Result<KernelTrace, RecordError> {
    // Checks the launch before anything is run.
    TbRunner::new(program, launch, device)?;
    let lowered = Lowered::new(program);
    let warps = info.warps();
    let mut builder = TraceBuilder::new(info)?;
    let code = Code::new(&lowered, |_, inst| Ok::<_, TraceError>((builder.define(inst)?, inst)))?;
    let sink = |_| {
        let mut tb = TbRecorder::new();
        (0..warps).for_each(|_| tb.warp());
        tb
    };
    let (job, tbs) = (Job { program, launch, device }, launch.tbs() as u32);
    let mut done = 0;
    while done < tbs {
        let batch = done..tbs.min(done + BATCH);
        for tb in job.observe(&code, batch.clone(), sink) {
            builder.add_tb(&tb?)?;
        }
        done = batch.end;
        progress(done.into());
    }
    Ok(builder.finish()?)
}

/// Executes all TBs of a launch without recording.
///
/// # Errors
/// [`ExecError`] of the first failing TB in grid order.
pub fn execute(program: &Program, launch: &Launch, device: &DeviceMemory) -> Result<(), ExecError> {
    TbRunner::new(program, launch, device)?;
    let together = if program.depends_on_order() { launch.tbs() as usize } else { 1 };
    let first_failure = FirstFailure::default();
    let results: Vec<Option<Result<(), ExecError>>> = (0..launch.tbs() as u32)
        .into_par_iter()
        .with_min_len(together)
        .map_init(
            || TbRunner::new(program, launch, device),
            |runner, tb| first_failure.run(tb, || runner.as_mut().map_err(|e| e.clone())?.run(tb, &mut crate::warp::Unobserved)),
        )
        .collect();
    results.into_iter().flatten().collect()
}
