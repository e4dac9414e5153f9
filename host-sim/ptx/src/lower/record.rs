//! Recording of warp traces: a [`Sink`] that records lowered instructions, and a [`Recorder`] that
//! executes the TBs of a launch in grid order, as far as requested.

use super::Lowered;
use super::observe::{Code, Job, Sink};
use crate::cooperative;
use crate::error::ExecError;
use crate::launch::{Launch, TbRunner};
use crate::memory::DeviceMemory;
use crate::program::Program;
use mias_warp_trace::isa::StaticInst;
use mias_warp_trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder, TraceError};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Cause why a launch has no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The launch cannot be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The launch exceeds the format of traces.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A part of the trace has no space for its first TB.
    #[error("TB {tb}: its trace takes more than {} bytes", room_bytes)]
    MemoryLimit {
        /// Index of the TB.
        tb: u32,
        /// Size limit of a part in bytes.
        room_bytes: u64,
    },
    /// A part of the trace could not be stored.
    #[error("cannot store a part of the trace: {0}")]
    Closed(String),
    /// The caller stopped the recording.
    #[error("stopped after {recorded} of {tbs} TBs")]
    Stopped {
        /// Number of recorded TBs.
        recorded: u32,
        /// Number of TBs of the grid.
        tbs: u32,
    },
}

/// Maximum number of TBs per batch, after which workers synchronize. Assumption: enough that
/// synchronization takes no time, even for TBs of a few instructions.
const BATCH: u32 = 4096;

/// Memory limits of a [`Recorder`] in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordLimit {
    /// Size of a part from which it receives no further TB, unless TBs mostly share its content.
    pub part_bytes: u64,
    /// Maximum size of a part including its last TB.
    pub most_part_bytes: u64,
    /// Size of the records of all concurrent TBs. The first of them may take half of it.
    pub record_bytes: u64,
}

impl RecordLimit {
    /// Limits for one part of any size.
    pub const ANY: RecordLimit = RecordLimit { part_bytes: u64::MAX, most_part_bytes: u64::MAX, record_bytes: u64::MAX };
}

/// Receiver of a complete part: its first TB, and the trace.
pub type Closed<'a> = dyn FnMut(u32, KernelTrace) -> std::io::Result<()> + Send + 'a;

/// Approximate warp instructions per batch, estimated from earlier TBs. Assumption: a tenth of a
/// second.
const BATCH_WARP_INSTS: u64 = 1 << 20;

/// A lowered instruction and its index in the trace.
type Defined = (u16, StaticInst);

/// Text that threads printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Number of calls of `printf`.
    pub calls: u64,
    /// Printed text, TB by TB in grid order; text beyond [`PRINT_BYTES`] is lost.
    pub text: String,
}

/// Maximum bytes of buffered text: CUDA C programming guide, section "Formatted Output"; a device
/// has a buffer of 1 MiB.
pub const PRINT_BYTES: usize = 1 << 20;

impl Printed {
    fn add(&mut self, text: &str, calls: u64) {
        self.calls += calls;
        if self.text.len() + text.len() <= PRINT_BYTES {
            self.text.push_str(text);
        }
    }
}

/// Record of a TB under execution.
struct Recording {
    tb: TbRecorder,
    printed: Printed,
}

impl Sink<Defined> for Recording {
    fn resume(&mut self, warp: u32) {
        self.tb.resume(warp as usize);
    }

    fn inst(&mut self, (index, inst): &Defined, mask: u32, addresses: &[u64]) {
        self.tb.inst(*index, inst, mask.count_ones(), addresses);
    }

    fn printed(&mut self, text: &str, calls: u32) {
        self.printed.add(text, calls.into());
    }

    fn bytes(&self) -> u64 {
        self.tb.memory_bytes() + self.printed.text.len() as u64
    }
}

/// Recorder that executes the TBs of a launch in grid order, as far as requested.
#[derive(Debug)]
pub struct Recorder {
    lowered: Arc<Lowered>,
    builder: TraceBuilder,
    warps: u32,
    tbs: u32,
    /// Number of TBs in the parts that were taken.
    taken: u32,
    /// Bytes of the largest record of a TB so far.
    largest: u64,
    printed: Printed,
}

impl Recorder {
    /// Creates a recorder after checking the launch, without executing anything.
    ///
    /// # Errors
    /// [`RecordError`] for an invalid launch, or one with too many different instructions.
    pub fn new(job: Job<'_>, info: KernelInfo) -> Result<Self, RecordError> {
        TbRunner::new(job.program, job.launch, job.device)?;
        let (lowered, warps, tbs) = (Arc::new(Lowered::new(job.program)), info.warps(), job.launch.tbs() as u32);
        let mut recorder =
            Recorder { lowered, builder: TraceBuilder::new(info)?, warps, tbs, taken: 0, largest: 0, printed: Printed::default() };
        // All static instructions are present from the start.
        code(&recorder.lowered, &mut recorder.builder)?;
        Ok(recorder)
    }

    /// Checks that every TB is recorded.
    ///
    /// # Errors
    /// [`RecordError::Stopped`] otherwise.
    pub fn whole(&self) -> Result<(), RecordError> {
        let (recorded, tbs) = (self.recorded(), self.tbs);
        if recorded == tbs { Ok(()) } else { Err(RecordError::Stopped { recorded, tbs }) }
    }

    /// Returns the number of recorded TBs.
    pub fn recorded(&self) -> u32 {
        self.builder.tbs()
    }

    /// Returns the number of recorded warp instructions.
    pub fn warp_insts(&self) -> u64 {
        self.builder.warp_insts()
    }

    /// Returns the number of TBs in the next batch: few at the start and for long TBs. If their
    /// records fit in memory together, TBs need not wait for each other.
    fn batch(&self, room: RecordLimit) -> u32 {
        let workers = (rayon::current_num_threads() as u32).min(BATCH);
        let fit = BATCH_WARP_INSTS.saturating_mul(self.recorded().into()).checked_div(self.warp_insts()).unwrap_or(0);
        let side_by_side = (room.record_bytes / 2).checked_div(2 * self.largest).unwrap_or(u64::MAX);
        u32::try_from(fit.min(side_by_side)).unwrap_or(BATCH).clamp(workers, BATCH)
    }

    /// Takes the text printed since the last call.
    pub fn take_printed(&mut self) -> Printed {
        std::mem::take(&mut self.printed)
    }

    /// Returns the bytes of the TBs since the last part.
    pub fn memory_bytes(&self) -> u64 {
        self.builder.memory_bytes() as u64
    }

    /// Returns the index of the first TB since the last part.
    pub fn first_tb(&self) -> u32 {
        self.taken
    }

    /// Records at least some TBs, until all are recorded, a part is full, or `goes_on` stops it.
    ///
    /// `job` must be the same for every call. If a part has no space for the next TB, `closed`
    /// receives the part. `goes_on` is called after each batch with the number of recorded TBs. The
    /// recording does not depend on the number of worker threads, unless TBs race.
    ///
    /// # Errors
    /// [`RecordError`]; of several failing TBs, the first in grid order within the first batch with
    /// a failure.
    pub fn advance(
        &mut self,
        job: Job<'_>,
        room: RecordLimit,
        closed: &mut Closed<'_>,
        goes_on: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), RecordError> {
        while self.recorded() < self.tbs {
            let done = self.recorded();
            // TBs that synchronize with each other run concurrently.
            let batch = if job.program.is_cooperative() { self.tbs } else { self.batch(room) };
            let warps = self.warps;
            let sink = |_| {
                let mut tb = TbRecorder::new();
                (0..warps).for_each(|_| tb.warp());
                Recording { tb, printed: Printed::default() }
            };
            let lowered = Arc::clone(&self.lowered);
            let code = code(&lowered, &mut self.builder)?;
            let tbs = done..self.tbs.min(done.saturating_add(batch));
            job.observe(&code, (tbs, room.record_bytes), sink, |Recording { tb, printed }| {
                self.printed.add(&printed.text, printed.calls);
                self.largest = self.largest.max(tb.memory_bytes());
                self.add(&tb, room, closed)
            })?;
            if !goes_on(self) || self.memory_bytes() >= room.part_bytes {
                break;
            }
        }
        Ok(())
    }

    /// Adds a TB to the growing part, or to a new one if that part has no space.
    fn add(&mut self, tb: &TbRecorder, room: RecordLimit, closed: &mut Closed<'_>) -> Result<(), RecordError> {
        // Parts with the same shapes would take more memory than one larger part.
        let full =
            self.memory_bytes() >= room.part_bytes && !self.builder.shares_shapes() || !self.builder.has_room(tb, room.most_part_bytes);
        if full && self.recorded() > self.taken {
            let (first_tb, part) = (self.taken, self.take_part());
            closed(first_tb, part).map_err(|error| RecordError::Closed(error.to_string()))?;
        }
        match self.builder.add_tb_within(tb, room.most_part_bytes) {
            Err(TraceError::MemoryLimit) => Err(RecordError::MemoryLimit { tb: self.recorded(), room_bytes: room.most_part_bytes }),
            added => Ok(added?),
        }
    }

    /// Returns the trace of the TBs since the last part that was taken.
    pub fn so_far(&self) -> KernelTrace {
        self.builder.so_far()
    }

    /// Takes the TBs since the last part out of the recorder.
    pub fn take_part(&mut self) -> KernelTrace {
        self.taken = self.recorded();
        self.builder.take_part()
    }

    /// Returns the trace of the whole grid.
    ///
    /// # Errors
    /// [`TraceError::TbCount`] unless every TB is recorded and none was taken.
    pub fn finish(self) -> Result<KernelTrace, TraceError> {
        self.builder.finish()
    }
}

/// Defines the lowered instructions in the trace; existing ones keep their numbers.
fn code<'l>(lowered: &'l Lowered, builder: &mut TraceBuilder) -> Result<Code<'l, Defined>, TraceError> {
    Code::new(lowered, |_, inst| Ok::<_, TraceError>((builder.define(inst)?, inst)))
}

/// Executes all TBs of a launch and records their trace.
///
/// `progress` receives the number of executed TBs, in ascending order, after each batch of about a
/// million warp instructions, and decides whether to continue. The result does not depend on the
/// number of worker threads, unless TBs race.
///
/// # Errors
/// [`RecordError`]; of several failing TBs, the first in grid order within the first batch with a
/// failure. [`RecordError::Stopped`] if `progress` stopped before the end.
pub fn trace(
    program: &Program,
    launch: &Launch,
    device: &DeviceMemory,
    info: KernelInfo,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<KernelTrace, RecordError> {
    let job = Job { program, launch, device };
    let mut recorder = Recorder::new(job, info)?;
    let closed = &mut |_, _| Ok(());
    recorder.advance(job, RecordLimit::ANY, closed, &mut |recorder| progress(recorder.recorded().into()).is_continue())?;
    recorder.whole()?;
    Ok(recorder.finish()?)
}

/// Executes all TBs of a launch without recording.
///
/// # Errors
/// [`ExecError`] of the first failing TB in grid order.
pub fn execute(program: &Program, launch: &Launch, device: &DeviceMemory) -> Result<(), ExecError> {
    TbRunner::new(program, launch, device)?;
    if program.is_cooperative() {
        return cooperative::run(program, launch, device, |_| crate::warp::Unobserved).map(|_| ());
    }
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

/// Lowest TB that failed. TBs above it need not run, but those below it must, so the error does not
/// depend on the number of workers.
struct FirstFailure(AtomicU32);

impl Default for FirstFailure {
    fn default() -> Self {
        FirstFailure(AtomicU32::new(u32::MAX))
    }
}

impl FirstFailure {
    fn run<T>(&self, tb: u32, f: impl FnOnce() -> Result<T, ExecError>) -> Option<Result<T, ExecError>> {
        if tb > self.0.load(Relaxed) {
            return None;
        }
        let result = f();
        if result.is_err() {
            self.0.fetch_min(tb, Relaxed);
        }
        Some(result)
    }
}
