//! Launched kernel in the form that SMs use: its trace, its decoded instructions, and the demand of
//! one TB.

use super::KERNEL_SLOTS;
use super::inflight::Decoded;
use crate::config::SmConfig;
use mias_warp_trace::{KernelTrace, ShapeInst, TracePart, TraceSource};
use std::sync::Arc;

/// Part number of a trace without a source.
pub(crate) const WHOLE: u32 = 0;

/// Kernel that is ready to run on SMs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Trace, if it is whole. Otherwise only its static instructions are used.
    trace: Arc<KernelTrace>,
    /// Parts of a trace that comes from a source.
    growing: Option<Growing>,
    /// Offset added to every sector of the trace.
    pub sector_offset: u64,
    decoded: Vec<Decoded>,
}

/// Trace that comes in parts.
#[derive(Clone, Debug)]
struct Growing {
    source: Arc<dyn TraceSource>,
    /// Parts by number; none for a released part.
    parts: Vec<Option<Arc<KernelTrace>>>,
    /// First TB of each part.
    firsts: Vec<u32>,
}

impl Program {
    /// Creates a program for SMs of `sm`.
    pub(crate) fn new(trace: Arc<KernelTrace>, source: Option<Arc<dyn TraceSource>>, sector_offset: u64, sm: &SmConfig) -> Self {
        let trace = source.as_ref().and_then(|source| source.announced()).unwrap_or(trace);
        let source = source.filter(|_| trace.recorded_tbs() < trace.tbs());
        let banks = sm.register_banks / sm.sub_cores;
        let decoded = trace.statics().iter().map(|inst| Decoded::new(inst, banks)).collect();
        let growing = source.map(|source| Growing { source, parts: vec![Some(trace.clone())], firsts: vec![0] });
        Program { trace, growing, sector_offset, decoded }
    }

    /// Number of the part that contains TB `tb`, loaded from the source if needed. TBs must be
    /// requested in grid order, from any loaded one on. The second value is true if the part was
    /// just loaded, so that others may be released.
    ///
    /// # Errors
    /// Errors of the source.
    pub(crate) fn reach(&mut self, tb: u32) -> Result<(u32, bool), String> {
        self.growing.as_mut().map_or(Ok((WHOLE, false)), |growing| growing.reach(tb))
    }

    /// Releases every part that is unused according to `used`.
    pub(crate) fn release(&mut self, used: impl Fn(u32) -> bool) {
        let parts = self.growing.iter_mut().flat_map(|growing| &mut growing.parts);
        for (number, part) in (0..).zip(parts) {
            if part.is_some() && !used(number) {
                *part = None;
            }
        }
    }

    /// Trace of a part, and the grid index of its first TB.
    pub(crate) fn part(&self, part: u32) -> Option<(&KernelTrace, u32)> {
        let first_tb = self.growing.as_ref().map_or(Some(0), |growing| growing.firsts.get(part as usize).copied())?;
        Some((self.trace(|| part)?, first_tb))
    }

    /// Trace of a part. Most traces are whole: `part` is called only for others.
    #[inline]
    pub(crate) fn trace(&self, part: impl FnOnce() -> u32) -> Option<&KernelTrace> {
        match &self.growing {
            None => Some(&self.trace),
            Some(growing) => growing.parts.get(part() as usize)?.as_deref(),
        }
    }

    /// Executed instruction at a position of a part's shapes.
    #[inline]
    pub(crate) fn executed(&self, part: impl FnOnce() -> u32, position: u32) -> ShapeInst {
        self.trace(part).map_or(ShapeInst::NONE, |trace| trace.shape_insts()[position as usize])
    }

    /// Decoded form of an executed instruction.
    pub(crate) fn decoded(&self, executed: ShapeInst) -> &Decoded {
        &self.decoded[executed.index()]
    }
}

impl Growing {
    fn reach(&mut self, tb: u32) -> Result<(u32, bool), String> {
        let last = self.firsts.partition_point(|&first| first <= tb).saturating_sub(1);
        if self.parts[last].as_ref().is_some_and(|part| tb - self.firsts[last] < part.recorded_tbs()) {
            return Ok((last as u32, false));
        }
        let TracePart { number, first_tb, trace } = self.source.part_with(tb)?;
        let at = number as usize;
        if at == self.parts.len() {
            self.parts.push(None);
            self.firsts.push(first_tb);
        }
        let Some(part) = self.parts.get_mut(at) else { return Err(format!("part {number} of a trace came before the one before it")) };
        Ok((number, part.replace(trace).is_none()))
    }
}

/// Kernels on the GPU, by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs([Option<Program>; KERNEL_SLOTS]);

impl Programs {
    /// Kernel in a slot (less than [`KERNEL_SLOTS`]).
    pub(crate) fn get(&self, slot: u8) -> Option<&Program> {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)].as_ref()
    }

    /// Kernel in a slot, mutably.
    pub(crate) fn get_mut(&mut self, slot: u8) -> Option<&mut Program> {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)].as_mut()
    }

    /// Puts a kernel into a slot.
    pub(crate) fn set(&mut self, slot: u8, program: Program) {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)] = Some(program);
    }
}
