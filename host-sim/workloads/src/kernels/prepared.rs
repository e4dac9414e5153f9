//! A kernel ready to run: code, data and resources.

use super::{Instance, KernelError, Region, variable};
use crate::input::suggest;
use mias_ptx::Program;
use mias_ptx::lower::record;
use mias_ptx::memory::{heap, local};
use mias_ptx::names;
use mias_warp_trace::{KernelInfo, KernelTrace, SECTOR_BYTES};
use std::ops::{ControlFlow, Range};

/// Callback that receives the number of executed TBs and their total, and decides whether to
/// continue.
pub type Progress<'w> = dyn FnMut(u64, u64) -> ControlFlow<()> + 'w;

/// Returns a [`Progress`] that ignores the numbers.
pub fn unwatched(_: u64, _: u64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// A kernel with its data in memory. Execution changes the data, so it can run only once.
#[derive(Debug)]
pub struct Prepared {
    /// Decoded code.
    pub program: Program,
    /// Data, geometry and arguments.
    pub instance: Instance,
    /// Name, geometry, registers and shared memory, as the timing model needs them.
    pub info: KernelInfo,
}

impl Prepared {
    /// Executes all TBs, checks the results against the host's, and returns the warp trace.
    ///
    /// # Errors
    /// [`KernelError::Record`], [`KernelError::Mismatch`].
    pub fn record(self) -> Result<KernelTrace, KernelError> {
        self.record_once(&mut unwatched)
    }

    /// Executes as [`Prepared::record`] does, with progress reports. Memory then holds the results,
    /// and a second execution would use them as inputs.
    ///
    /// # Errors
    /// As [`Prepared::record`], and if `progress` stopped the execution.
    pub fn record_once(&self, progress: &mut Progress<'_>) -> Result<KernelTrace, KernelError> {
        let Prepared { program, instance, info } = self;
        let tbs = instance.launch.tbs();
        let trace = record::trace(program, &instance.launch, &instance.memory, info.clone(), &mut |done| progress(done, tbs))?;
        instance.check_results(&info.name)?;
        Ok(trace)
    }

    /// Returns the range of device sectors that the kernel may access, including local memory: from
    /// its first sector to one past its last.
    pub fn sector_span(&self) -> Range<u64> {
        let bytes = self.instance.memory.allocations().map(|(start, bytes, _)| start..start + bytes);
        let warps = self.instance.launch.tbs().saturating_mul(self.info.warps().into());
        let local = local::device_span(self.program.local_with(self.instance.launch.limits.stack_bytes), warps);
        let heap = self.program.allocates().then_some(heap::HEAP_BASE..heap::HEAP_BASE + heap::HEAP_BYTES);
        let spans = bytes.chain(local).chain(heap).filter(|span| !span.is_empty());
        let all = spans.reduce(|all, next| all.start.min(next.start)..all.end.max(next.end)).unwrap_or(0..0);
        all.start / SECTOR_BYTES..all.end.div_ceil(SECTOR_BYTES)
    }

    /// Finds a buffer or a variable of the module.
    ///
    /// # Errors
    /// A sentence with the existing names.
    pub fn region(&self, name: &str) -> Result<Region, String> {
        if let Some(region) = self.instance.regions.iter().find(|region| region.name == name) {
            return Ok(region.clone());
        }
        let image = &self.program.image;
        if let Ok(variable) = variable::find(image, name) {
            return Ok(Region { name: variable.name.clone(), address: variable.address, bytes: variable.bytes });
        }
        let buffers = self.instance.regions.iter().map(|region| region.name.clone());
        let known: Vec<String> = buffers.chain(image.variables.iter().map(|variable| names::shown(&variable.name))).collect();
        match known.as_slice() {
            [] => Err(format!("unknown buffer `{name}`; the kernel has none")),
            known => Err(suggest::unknown("buffer", name, &known.iter().map(String::as_str).collect::<Vec<_>>())),
        }
    }

    /// Returns the current contents of a region.
    ///
    /// # Errors
    /// A sentence if it is not in memory: a variable before the kernel ran.
    pub fn contents(&self, region: &Region) -> Result<Vec<u8>, String> {
        let contents = self.instance.memory.read(region.address, region.bytes as usize);
        contents.map_err(|fault| format!("`{}` cannot be read: {fault}", region.name))
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
