//! From executed PTX to the warp trace: an [`Observer`] that records lowered instructions in scheduled order, and a loop over
//! all TBs of a launch.

use super::Lowered;
use crate::ptx::error::ExecError;
use crate::ptx::launch::{Launch, TbRunner};
use crate::ptx::memory::DeviceMemory;
use crate::ptx::memory::local::DEVICE_BASE;
use crate::ptx::memory::window::{self, Named};
use crate::ptx::program::Program;
use crate::ptx::warp::{Event, Observer};
use mias_hw_model::isa::{Class, Space, StaticInst};
use mias_hw_model::trace::{KernelInfo, KernelTrace, TbRecorder, TraceBuilder, TraceError};
use rayon::prelude::*;
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
}

/// TBs that are recorded before they are added to the trace, per batch. Assumption: enough to keep any number of workers
/// busy, few enough that a batch stays small in memory.
const BATCH: u32 = 128;

/// A lowered instruction and its index in the trace.
#[derive(Clone, Copy, Debug)]
struct Defined {
    index: u16,
    inst: StaticInst,
    /// For an exit: the same as a branch, for when other lanes of the warp go on.
    partial: Option<(u16, StaticInst)>,
    /// For a generic access: the same in shared and local memory, and of parameters.
    elsewhere: Option<[(u16, StaticInst); 3]>,
}

/// All instructions of a program, known to a trace.
struct Definitions<'a> {
    lowered: &'a Lowered,
    insts: Vec<Option<Defined>>,
    /// Segment of each instruction.
    segment: Vec<u32>,
    /// Per segment: no sorting needed.
    in_order: Vec<bool>,
}

impl<'a> Definitions<'a> {
    fn new(lowered: &'a Lowered, builder: &mut TraceBuilder) -> Result<Self, TraceError> {
        let mut insts = Vec::with_capacity(lowered.statics.len());
        for (inst, generic) in lowered.statics.iter().zip(&lowered.generic) {
            insts.push(match *inst {
                None => None,
                Some(inst) => {
                    let partial = match inst.class {
                        Class::Exit => {
                            let branch = StaticInst { class: Class::Branch, ..inst };
                            Some((builder.define(branch)?, branch))
                        }
                        _ => None,
                    };
                    let elsewhere = if *generic {
                        let mut define = |space| -> Result<_, TraceError> {
                            let inst = moved(inst, space);
                            Ok((builder.define(inst)?, inst))
                        };
                        Some([define(Space::Shared)?, define(Space::Local)?, define(Space::Constant)?])
                    } else {
                        None
                    };
                    Some(Defined { index: builder.define(inst)?, inst, partial, elsewhere })
                }
            });
        }
        let segment = (0u32..).zip(&lowered.segments).flat_map(|(i, s)| (s.start..s.end).map(move |_| i)).collect();
        let in_order = lowered.segments.iter().map(|s| s.in_program_order()).collect();
        Ok(Definitions { lowered, insts, segment, in_order })
    }
}

/// The same access in another memory.
fn moved(inst: StaticInst, space: Space) -> StaticInst {
    let class = match inst.class {
        Class::Load(_) => Class::Load(space),
        Class::Store(_) => Class::Store(space),
        Class::Atomic(_) => Class::Atomic(space),
        other => other,
    };
    StaticInst { class, bypass_l1: false, ..inst }
}

/// An event of the current segment, waiting for its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Pending {
    lanes: u32,
    first_address: u32,
    addresses: u32,
}

/// Records one TB.
struct Recorder<'a> {
    definitions: &'a Definitions<'a>,
    tb: TbRecorder,
    pending: Vec<Pending>,
    addresses: Vec<u64>,
}

impl<'a> Recorder<'a> {
    fn new(definitions: &'a Definitions<'a>, warps: u32) -> Self {
        let mut tb = TbRecorder::new();
        (0..warps).for_each(|_| tb.warp());
        Recorder { definitions, tb, pending: Vec::new(), addresses: Vec::new() }
    }

    fn record(&mut self, event: Event<'_>) {
        let Some(defined) = &self.definitions.insts[event.pc as usize] else { return };
        let (index, inst) = match &defined.partial {
            Some((index, inst)) if !event.last => (*index, inst),
            _ => (defined.index, &defined.inst),
        };
        if let Some(elsewhere) = &defined.elsewhere
            && self.split(defined, elsewhere, event.addresses)
        {
            return;
        }
        self.tb.inst(index, inst, event.mask.count_ones(), event.addresses);
    }
}

impl Recorder<'_> {
    /// Records a generic access as one instruction per memory, if any lane is in another than device memory.
    fn split(&mut self, defined: &Defined, elsewhere: &[(u16, StaticInst); 3], addresses: &[u64]) -> bool {
        let place = |address: u64| match window::named(address) {
            Named::Shared(offset) => (1, offset),
            Named::Device(address) if address >= DEVICE_BASE => (2, address),
            Named::Param(offset) => (3, offset),
            _ => (0, address),
        };
        if addresses.iter().all(|&address| place(address).0 == 0) {
            return false;
        }
        for (number, (index, inst)) in std::iter::once(&(defined.index, defined.inst)).chain(elsewhere).enumerate() {
            let part: Vec<u64> = addresses.iter().map(|&a| place(a)).filter(|p| p.0 == number).map(|p| p.1).collect();
            if !part.is_empty() {
                self.tb.inst(*index, inst, part.len() as u32, &part);
            }
        }
        true
    }
}

impl Observer for Recorder<'_> {
    fn executed(&mut self, event: Event<'_>) {
        let number = self.definitions.segment[event.pc as usize] as usize;
        let segment = &self.definitions.lowered.segments[number];
        if event.pc == segment.start {
            self.tb.resume(event.warp as usize);
            self.pending.clear();
            self.addresses.clear();
        }
        if self.definitions.in_order[number] {
            self.record(event);
            return;
        }
        let first_address = self.addresses.len() as u32;
        self.addresses.extend_from_slice(event.addresses);
        self.pending.push(Pending { lanes: event.mask, first_address, addresses: event.addresses.len() as u32 });
        if event.pc + 1 == segment.end {
            let addresses = std::mem::take(&mut self.addresses);
            for &pc in &segment.order {
                let pending = self.pending[(pc - segment.start) as usize];
                let first = pending.first_address as usize;
                let addresses = &addresses[first..first + pending.addresses as usize];
                self.record(Event { pc, mask: pending.lanes, addresses, ..event });
            }
            self.addresses = addresses;
        }
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
    let definitions = Definitions::new(&lowered, &mut builder)?;
    let tbs = launch.tbs() as u32;
    // What an atomic reads, and a sum of floats, depends on who came first: then one TB after the other.
    let together = if program.depends_on_order() { BATCH as usize } else { 1 };
    let first_failure = FirstFailure::default();
    let mut done = 0;
    while done < tbs {
        let batch = done..tbs.min(done + BATCH);
        let recorded: Vec<Option<Result<TbRecorder, ExecError>>> = batch
            .clone()
            .into_par_iter()
            .with_min_len(together)
            .map_init(
                || TbRunner::new(program, launch, device),
                |runner, tb| {
                    first_failure.run(tb, || {
                        let mut recorder = Recorder::new(&definitions, warps);
                        runner.as_mut().map_err(|e| e.clone())?.run(tb, &mut recorder)?;
                        Ok(recorder.tb)
                    })
                },
            )
            .collect();
        // None stands behind a failure only.
        for tb in recorded.into_iter().flatten() {
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
            |runner, tb| first_failure.run(tb, || runner.as_mut().map_err(|e| e.clone())?.run(tb, &mut crate::ptx::warp::Unobserved)),
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
