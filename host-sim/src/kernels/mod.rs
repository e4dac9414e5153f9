//! The kernels that come with the simulator, and what each must provide.
//!
//! [`Kernel`] is the counterpart of the thesis' harness functions (seed 000 section 4.1.3): `<kernel>_init`, `_launch`,
//! `_check_results`; `_uninit` is dropping the [`Instance`]. To add a kernel: its folder under `kernels/`, one file here, one
//! line in [`ALL`].

mod bfs;
mod blk;
mod bopt;
mod dxt1;
mod dxtc;
mod fwt;
mod mm;
mod nbdy;
pub mod ptxas;
pub mod random;

use crate::ptx::lower::record::{self, RecordError};
use crate::ptx::{Buffer, DeviceMemory, ExecError, Launch, Program, PtxError};
use mias_hw_model::trace::{KernelInfo, KernelTrace};
use ptxas::{PtxasError, Resources};

/// What bounds a kernel's performance (seed 000 section 4.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelType {
    /// Scales with the number of TBs.
    Compute,
    /// Saturates the memory.
    Memory,
}

/// The compiled form of a kernel, as committed under `kernels/`.
#[derive(Clone, Copy, Debug)]
pub struct Compiled {
    /// Name of the PTX file, for messages.
    pub ptx_file: &'static str,
    /// The PTX text.
    pub ptx: &'static str,
    /// Name of the assembler's report.
    pub report_file: &'static str,
    /// The report: registers and shared memory.
    pub report: &'static str,
}

/// A kernel with its data in place, ready to run.
#[derive(Debug)]
pub struct Instance {
    /// Device memory with inputs, and outputs after execution.
    pub memory: DeviceMemory,
    /// Entry of the PTX module.
    pub entry: &'static str,
    /// Geometry and arguments.
    pub launch: Launch,
    /// What [`Kernel::check_results`] compares.
    pub expected: Expected,
}

/// Takes a kernel's results out of memory, as numbers.
pub type Results = Box<dyn Fn(&DeviceMemory) -> Vec<f32> + Send + Sync>;

/// The kernel's results, and the host reference. Both are costly, so only made when results are checked.
pub struct Expected {
    /// Takes the results out of memory.
    pub results: Results,
    /// Computes what they should be, to within [`Kernel::agrees`].
    pub reference: Box<dyn Fn() -> Vec<f32> + Send + Sync>,
}

impl Expected {
    /// Results that are the floats of a buffer.
    pub fn floats(buffer: Buffer, reference: impl Fn() -> Vec<f32> + Send + Sync + 'static) -> Self {
        Expected { results: Box::new(move |memory| memory.floats(buffer)), reference: Box::new(reference) }
    }
}

impl std::fmt::Debug for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expected").finish_non_exhaustive()
    }
}

/// The first result that is not as the host computes it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("kernel `{kernel}`: result {index} is {found}, the host computes {expected}")]
pub struct Mismatch {
    /// Kernel name.
    pub kernel: &'static str,
    /// Index of the element.
    pub index: usize,
    /// The kernel's value.
    pub found: f32,
    /// The reference's value.
    pub expected: f32,
}

/// Why a kernel gave no trace.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// The problem size is not one that the kernel can do.
    #[error("kernel `{kernel}`: size {size}: {message}")]
    Size {
        /// Kernel name.
        kernel: &'static str,
        /// As asked for.
        size: u64,
        /// Which sizes are possible.
        message: &'static str,
    },
    /// The PTX text cannot be read.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The assembler's report cannot be read.
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
    /// Execution or recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The results are wrong.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

impl From<ExecError> for KernelError {
    fn from(error: ExecError) -> Self {
        KernelError::Record(error.into())
    }
}

/// One kernel of the set.
pub trait Kernel: Sync + std::fmt::Debug {
    /// Short name, as on the command line.
    fn name(&self) -> &'static str;
    /// One line for lists.
    fn description(&self) -> &'static str;
    /// What bounds it.
    fn kernel_type(&self) -> KernelType;
    /// PTX and report.
    fn compiled(&self) -> Compiled;
    /// The problem size used unless another is asked for.
    fn default_size(&self) -> u64;
    /// What a size counts.
    fn size_unit(&self) -> &'static str;
    /// Allocates and fills memory for a problem of `size`, the same for the same `seed`, with arguments, geometry and
    /// the host reference.
    ///
    /// # Errors
    /// [`KernelError::Size`].
    fn init(&self, size: u64, seed: u64) -> Result<Instance, KernelError>;

    /// Whether a result is near enough to the host's: equal bit for bit, unless the kernel uses approximate instructions, whose
    /// last bits are not defined.
    fn agrees(&self, found: f32, expected: f32) -> bool {
        found.to_bits() == expected.to_bits()
    }

    /// Compares the results in memory with the host's.
    ///
    /// # Errors
    /// [`Mismatch`], the first.
    fn check_results(&self, instance: &Instance) -> Result<(), Mismatch> {
        let found = (instance.expected.results)(&instance.memory);
        let expected = (instance.expected.reference)();
        match found.iter().zip(&expected).position(|(&f, &e)| !self.agrees(f, e)) {
            None => Ok(()),
            Some(index) => Err(Mismatch { kernel: self.name(), index, found: found[index], expected: expected[index] }),
        }
    }
}

/// All kernels, in the order of lists.
pub const ALL: &[&dyn Kernel] = &[&mm::Mm, &fwt::Fwt, &nbdy::Nbdy, &blk::Blk, &bopt::Bopt, &bfs::Bfs, &dxtc::Dxtc];

/// The kernel of a name.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    ALL.iter().copied().find(|kernel| kernel.name() == name)
}

/// Registers and shared memory of a kernel's launch, from the assembler's report.
///
/// # Errors
/// [`KernelError::Ptxas`].
pub fn info(kernel: &dyn Kernel, instance: &Instance) -> Result<KernelInfo, KernelError> {
    let compiled = kernel.compiled();
    let Resources { registers, shared_bytes } = ptxas::parse(compiled.report_file, compiled.report, instance.entry)?;
    let Launch { grid, block, .. } = instance.launch;
    Ok(KernelInfo { name: kernel.name().into(), grid, block, registers_per_thread: registers, shared_bytes })
}

/// Executes all TBs of a kernel, checks the results against the host's, and gives the warp trace. `progress` is told the TBs
/// done and their number.
///
/// # Errors
/// [`KernelError`].
pub fn trace(kernel: &dyn Kernel, size: u64, seed: u64, progress: &mut dyn FnMut(u64, u64)) -> Result<KernelTrace, KernelError> {
    let compiled = kernel.compiled();
    let instance = kernel.init(size, seed)?;
    let program = Program::parse(compiled.ptx_file, compiled.ptx, instance.entry)?;
    let info = info(kernel, &instance)?;
    let tbs = instance.launch.tbs();
    let trace = record::trace(&program, &instance.launch, &instance.memory, info, &mut |done| progress(done, tbs))?;
    kernel.check_results(&instance)?;
    Ok(trace)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
