//! A launched kernel as the SMs see it: its trace, its decoded instructions, and what one TB of it needs.

use super::KERNEL_SLOTS;
use super::inflight::Decoded;
use crate::config::SmConfig;
use crate::trace::{KernelTrace, ShapeInst, TraceSource};
use std::sync::Arc;

/// A kernel that is ready to run on SMs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub trace: Arc<KernelTrace>,
    /// Where the TBs come from that the trace has not.
    source: Option<Arc<dyn TraceSource>>,
    /// Added to every sector of the trace.
    pub sector_offset: u64,
    decoded: Vec<Decoded>,
}

impl Program {
    /// For SMs of `sm`.
    pub(crate) fn new(trace: Arc<KernelTrace>, source: Option<Arc<dyn TraceSource>>, sector_offset: u64, sm: &SmConfig) -> Self {
        let banks = sm.register_banks / sm.sub_cores;
        let decoded = trace.statics().iter().map(|inst| Decoded::new(inst, banks)).collect();
        Program { trace, source, sector_offset, decoded }
    }

    /// Has TB `tb` traced, unless it is.
    ///
    /// # Errors
    /// Those of the source.
    pub(crate) fn reach(&mut self, tb: u32) -> Result<(), String> {
        if let Some(source) = &self.source
            && tb >= self.trace.recorded_tbs()
        {
            self.trace = source.up_to(tb)?;
        }
        Ok(())
    }

    /// The instruction at a position of the shapes, as executed.
    pub(crate) fn executed(&self, position: u32) -> ShapeInst {
        self.trace.shape_insts()[position as usize]
    }

    /// What an executed instruction is.
    pub(crate) fn decoded(&self, executed: ShapeInst) -> &Decoded {
        &self.decoded[executed.index()]
    }
}

/// The kernels on the GPU, by slot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs([Option<Program>; KERNEL_SLOTS]);

impl Programs {
    /// The kernel in a slot (less than [`KERNEL_SLOTS`]).
    pub(crate) fn get(&self, slot: u8) -> Option<&Program> {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)].as_ref()
    }

    /// The same, to change it.
    pub(crate) fn get_mut(&mut self, slot: u8) -> Option<&mut Program> {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)].as_mut()
    }

    /// Puts a kernel into a slot.
    pub(crate) fn set(&mut self, slot: u8, program: Program) {
        self.0[usize::from(slot) & (KERNEL_SLOTS - 1)] = Some(program);
    }
}
