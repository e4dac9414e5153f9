//! A kernel ready to run: code, data and resources together.

use super::{Instance, KernelError};
use mias_hw_model::trace::{KernelInfo, KernelTrace, SECTOR_BYTES};
use mias_ptx::Program;
use mias_ptx::lower::record;
use mias_ptx::memory::{heap, local};
use std::ops::Range;

/// A kernel with its data in place. Running it changes the data, so that it can be run once.
#[derive(Debug)]
pub struct Prepared {
    /// The code.
    pub program: Program,
    /// Data, geometry and arguments.
    pub instance: Instance,
    /// Name, geometry, registers and shared memory, as the timing model needs them.
    pub info: KernelInfo,
}

impl Prepared {
    /// Executes all TBs, checks the results against the host's, and gives the warp trace. `progress` is told the TBs done and
    /// their number.
    ///
    /// # Errors
    /// [`KernelError::Record`], [`KernelError::Mismatch`].
    pub fn record(self, progress: &mut dyn FnMut(u64, u64)) -> Result<KernelTrace, KernelError> {
        let Prepared { program, instance, info } = self;
        let (name, tbs) = (info.name.clone(), instance.launch.tbs());
        let trace = record::trace(&program, &instance.launch, &instance.memory, info, &mut |done| progress(done, tbs))?;
        instance.check_results(&name)?;
        Ok(trace)
    }

    /// Where it may touch device memory, local memory included: from its first sector to one past its last.
    pub fn sector_span(&self) -> Range<u64> {
        let bytes = self.instance.memory.allocations().map(|(start, bytes, _)| start..start + bytes);
        let warps = self.instance.launch.tbs().saturating_mul(self.info.warps().into());
        let local = local::device_span(self.program.local_bytes, warps);
        let heap = self.program.allocates().then_some(heap::HEAP_BASE..heap::HEAP_BASE + heap::HEAP_BYTES);
        let spans = bytes.chain(local).chain(heap).filter(|span| !span.is_empty());
        let all = spans.reduce(|all, next| all.start.min(next.start)..all.end.max(next.end)).unwrap_or(0..0);
        all.start / SECTOR_BYTES..all.end.div_ceil(SECTOR_BYTES)
    }

    /// Executes all TBs and checks the results against the host's.
    ///
    /// # Errors
    /// As [`Prepared::record`].
    pub fn execute(self) -> Result<(), KernelError> {
        record::execute(&self.program, &self.instance.launch, &self.instance.memory)?;
        Ok(self.instance.check_results(&self.info.name)?)
    }
}
