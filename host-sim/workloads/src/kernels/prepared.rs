//! A kernel ready to run: code, data and resources together. What ours and a user's own have in common from here on.

use super::ptxas::{self, Resources};
use super::{Instance, KernelError, Spec};
use mias_hw_model::trace::{KernelInfo, KernelTrace};
use mias_ptx::lower::record;
use mias_ptx::{Launch, Program};

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

/// Allocates and fills memory, reads PTX and the assembler's report.
///
/// # Errors
/// [`KernelError`].
pub fn prepare(spec: &Spec) -> Result<Prepared, KernelError> {
    let (kernel, compiled) = (spec.kernel, spec.kernel.compiled());
    let instance = kernel.init(&spec.input)?;
    let program = Program::parse(compiled.ptx_file, compiled.ptx, &instance.entry)?;
    let Resources { registers, shared_bytes } = ptxas::parse(compiled.report_file, compiled.report, &instance.entry)?;
    let Launch { grid, block, shared_bytes: dynamic, .. } = instance.launch;
    let info =
        KernelInfo { name: kernel.name().into(), grid, block, registers_per_thread: registers, shared_bytes: shared_bytes + dynamic };
    Ok(Prepared { program, instance, info })
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

    /// Executes all TBs and checks the results against the host's.
    ///
    /// # Errors
    /// As [`Prepared::record`].
    pub fn execute(self) -> Result<(), KernelError> {
        record::execute(&self.program, &self.instance.launch, &self.instance.memory)?;
        Ok(self.instance.check_results(&self.info.name)?)
    }
}
