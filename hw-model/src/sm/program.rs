//! A launched kernel as the SMs see it: its trace, its decoded instructions, and what one TB of it needs.

use super::inflight::Decoded;
use crate::isa::StaticInst;
use crate::trace::{KernelTrace, ShapeInst};
use std::sync::Arc;

/// A kernel that is ready to run on SMs.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub trace: Arc<KernelTrace>,
    /// Added to every sector of the trace.
    pub sector_offset: u64,
    decoded: Vec<Decoded>,
}

impl Program {
    pub(crate) fn new(trace: Arc<KernelTrace>, sector_offset: u64) -> Self {
        let decoded = trace.statics().iter().map(|inst: &StaticInst| Decoded::new(inst)).collect();
        Program { trace, sector_offset, decoded }
    }

    /// The instruction at a position of the shapes, as executed and as decoded.
    pub(crate) fn at(&self, position: u32) -> (ShapeInst, &Decoded) {
        let executed = self.trace.shape_insts()[position as usize];
        (executed, &self.decoded[executed.index()])
    }
}
