//! From executed PTX to the warp trace: a [`Sink`] that records lowered instructions, and a [`Recorder`] that goes through the TBs of a
//! launch in grid order, as far as they are wanted.

use super::Lowered;
use super::observe::{Code, Job, Sink};
use crate::error::ExecError;
use crate::launch::{Launch, TbRunner};
use crate::memory::DeviceMemory;
use crate::program::Program;
use crate::together;
use mias_warp_trace::isa::StaticInst;
use mias_warp_trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder, TraceError};
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Why a launch has no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It could not be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// It does not fit the trace's form.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A part of the trace has no room for its first TB.
    #[error("TB {tb}: its trace takes more than {} bytes", room_bytes)]
    Room {
        /// Index of the TB.
        tb: u32,
        /// Bytes that there are for a part.
        room_bytes: u64,
    },
    /// A part of the trace could not be put away.
    #[error("a part of the trace cannot be put away: {0}")]
    Closed(String),
    /// Who watches asked to stop.
    #[error("stopped after {recorded} of {tbs} TBs")]
    Stopped {
        /// TBs recorded.
        recorded: u32,
        /// TBs of the grid.
        tbs: u32,
    },
}

/// TBs that workers share before they meet again, per batch, at most. Assumption: enough that meeting takes no time, also where a TB is a few
/// instructions.
const BATCH: u32 = 4096;

/// Memory for what a [`Recorder`] records, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Of a part: one that takes so much gets no TB more, unless TBs mostly share what it has.
    pub part_bytes: u64,
    /// Of a part with its last TB.
    pub most_part_bytes: u64,
    /// Of the records of all TBs that are executed at a time. The first of them may take half of it.
    pub record_bytes: u64,
}

impl Room {
    /// One part of any size.
    pub const ANY: Room = Room { part_bytes: u64::MAX, most_part_bytes: u64::MAX, record_bytes: u64::MAX };
}

/// Is handed a part that no longer grows: its first TB, and the trace.
pub type Closed<'a> = dyn FnMut(u32, KernelTrace) -> std::io::Result<()> + Send + 'a;

/// Warp instructions per batch, about, judged by the TBs before. Assumption: a tenth of a second.
const BATCH_WARP_INSTS: u64 = 1 << 20;

/// A lowered instruction and its index in the trace.
type Defined = (u16, StaticInst);

/// What threads printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Calls of `printf`.
    pub calls: u64,
    /// What they printed, TB by TB in grid order; what is beyond [`PRINT_BYTES`] is lost.
    pub text: String,
}

/// Bytes of printed text that are kept until somebody takes them: CUDA C programming guide, section "Formatted Output"; a device
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

/// A TB as it is recorded.
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

/// Executes the TBs of a launch in grid order and records what they do, as far as somebody asks for.
#[derive(Debug)]
pub struct Recorder {
    lowered: Arc<Lowered>,
    builder: TraceBuilder,
    warps: u32,
    tbs: u32,
    /// TBs of the parts that were taken.
    taken: u32,
    /// Bytes of the largest record of a TB so far.
    largest: u64,
    printed: Printed,
}

impl Recorder {
    /// Nothing is executed yet, but the launch is checked.
    ///
    /// # Errors
    /// [`RecordError`] for a launch that cannot be, or has too many different instructions.
    pub fn new(job: Job<'_>, info: KernelInfo) -> Result<Self, RecordError> {
        TbRunner::new(job.program, job.launch, job.device)?;
        let (lowered, warps, tbs) = (Arc::new(Lowered::new(job.program)), info.warps(), job.launch.tbs() as u32);
        let mut recorder =
            Recorder { lowered, builder: TraceBuilder::new(info)?, warps, tbs, taken: 0, largest: 0, printed: Printed::default() };
        // All static instructions are there from the start.
        code(&recorder.lowered, &mut recorder.builder)?;
        Ok(recorder)
    }

    /// Whether every TB is recorded.
    ///
    /// # Errors
    /// [`RecordError::Stopped`] if not.
    pub fn whole(&self) -> Result<(), RecordError> {
        let (recorded, tbs) = (self.recorded(), self.tbs);
        if recorded == tbs { Ok(()) } else { Err(RecordError::Stopped { recorded, tbs }) }
    }

    /// TBs recorded.
    pub fn recorded(&self) -> u32 {
        self.builder.tbs()
    }

    /// Warp instructions recorded.
    pub fn warp_insts(&self) -> u64 {
        self.builder.warp_insts()
    }

    /// TBs of the next batch: few to begin with, and where TBs are long. If their records have room side by side they need not wait for
    /// each other.
    fn batch(&self, room: Room) -> u32 {
        let workers = (rayon::current_num_threads() as u32).min(BATCH);
        let fit = BATCH_WARP_INSTS.saturating_mul(self.recorded().into()).checked_div(self.warp_insts()).unwrap_or(0);
        let side_by_side = (room.record_bytes / 2).checked_div(2 * self.largest).unwrap_or(u64::MAX);
        u32::try_from(fit.min(side_by_side)).unwrap_or(BATCH).clamp(workers, BATCH)
    }

    /// What has been printed since somebody last took it.
    pub fn take_printed(&mut self) -> Printed {
        std::mem::take(&mut self.printed)
    }

    /// Bytes that the TBs since the last part take.
    pub fn memory_bytes(&self) -> u64 {
        self.builder.memory_bytes() as u64
    }

    /// Index of the first TB since the last part.
    pub fn first_tb(&self) -> u32 {
        self.taken
    }

    /// Records TBs, some at least, until all are, or a part is full. `job` must be the same every time. When a TB comes for which a part has
    /// no room left, `closed` is handed that part. After each batch `goes_on` is told how many TBs there are; it says whether to go on. What
    /// is recorded does not depend on the number of worker threads, as long as TBs do not race.
    ///
    /// # Errors
    /// [`RecordError`]; of several failing TBs, the first in grid order within the first batch that has one.
    pub fn advance(
        &mut self,
        job: Job<'_>,
        room: Room,
        closed: &mut Closed<'_>,
        goes_on: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), RecordError> {
        while self.recorded() < self.tbs {
            let done = self.recorded();
            // TBs that wait for each other run at a time.
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

    /// Adds a TB to the growing part, or if that has no room for it to a new one.
    fn add(&mut self, tb: &TbRecorder, room: Room, closed: &mut Closed<'_>) -> Result<(), RecordError> {
        // Parts with the same shapes would take more than one that is larger.
        let full =
            self.memory_bytes() >= room.part_bytes && !self.builder.shares_shapes() || !self.builder.has_room(tb, room.most_part_bytes);
        if full && self.recorded() > self.taken {
            let (first_tb, part) = (self.taken, self.take_part());
            closed(first_tb, part).map_err(|error| RecordError::Closed(error.to_string()))?;
        }
        match self.builder.add_tb_within(tb, room.most_part_bytes) {
            Err(TraceError::Room) => Err(RecordError::Room { tb: self.recorded(), room_bytes: room.most_part_bytes }),
            added => Ok(added?),
        }
    }

    /// The trace of the TBs so far, from the last part taken on.
    pub fn so_far(&self) -> KernelTrace {
        self.builder.so_far()
    }

    /// Takes the TBs since the last part out of the trace.
    pub fn take_part(&mut self) -> KernelTrace {
        self.taken = self.recorded();
        self.builder.take_part()
    }

    /// The trace of the whole grid.
    ///
    /// # Errors
    /// [`TraceError::TbCount`] unless every TB is recorded, and none was taken.
    pub fn finish(self) -> Result<KernelTrace, TraceError> {
        self.builder.finish()
    }
}

/// The lowered instructions with their numbers in the trace; those that it has keep them.
fn code<'l>(lowered: &'l Lowered, builder: &mut TraceBuilder) -> Result<Code<'l, Defined>, TraceError> {
    Code::new(lowered, |_, inst| Ok::<_, TraceError>((builder.define(inst)?, inst)))
}

/// Executes all TBs of a launch and records what they did. `progress` is told the TBs done so far, ascending, after each batch of up to a
/// million warp instructions or so, and says whether to go on. The result does not depend on the number of worker threads, as long as TBs do
/// not race.
///
/// # Errors
/// [`RecordError`]; of several failing TBs, the first in grid order within the first batch that has one. [`RecordError::Stopped`] if
/// `progress` said so before all were done.
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
    recorder.advance(job, Room::ANY, closed, &mut |recorder| progress(recorder.recorded().into()).is_continue())?;
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
        return together::run(program, launch, device, |_| crate::warp::Unobserved).map(|_| ());
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

/// The lowest TB that failed: those above it need not run any more, those below it must, so that the error does not depend on the
/// number of workers.
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
