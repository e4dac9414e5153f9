//! The kernels that come with the simulator, and what each must provide.
//!
//! [`Kernel`] is the counterpart of the thesis' harness functions (Nasef 2023, section 4.1.3): `<kernel>_init`, `_launch`,
//! `_check_results` ([`Instance::check_results`]); `_uninit` is dropping the [`Instance`]. To add a kernel: its folder under `kernels/`, one file here, one
//! line in [`ALL`].

mod bfs;
mod blk;
mod bopt;
mod dxt1;
mod dxtc;
mod fwt;
mod mm;
mod nbdy;
mod prepared;
pub mod ptxas;
mod request;
mod spec;
pub mod user;

pub use prepared::{Prepared, prepare};
pub use request::Request;
pub use spec::{Input, Setting, Spec, SpecError};

use crate::input::file::InputFileError;
use mias_hw_model::trace::KernelTrace;
use mias_ptx::lower::record::RecordError;
use mias_ptx::{Buffer, DeviceMemory, ExecError, Launch, PtxError};
use ptxas::PtxasError;

/// What bounds a kernel's performance (Nasef 2023, section 4.1.2).
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
    pub entry: String,
    /// Geometry and arguments.
    pub launch: Launch,
    /// What [`Instance::check_results`] compares; none for a kernel without a host reference.
    pub expected: Option<Expected>,
}

impl Instance {
    /// Compares the results in memory with the host's; `kernel` is the name in the message.
    ///
    /// # Errors
    /// [`Mismatch`], the first.
    pub fn check_results(&self, kernel: &str) -> Result<(), Mismatch> {
        let Some(check) = &self.expected else { return Ok(()) };
        let found = (check.results)(&self.memory);
        let expected = (check.reference)();
        match found.iter().zip(&expected).position(|(&f, &e)| !(check.agrees)(f, e)) {
            None => Ok(()),
            Some(index) => Err(Mismatch { kernel: kernel.into(), index, found: found[index], expected: expected[index] }),
        }
    }

    /// How good the results in memory are, in words; none for kernels whose results are right or wrong.
    pub fn quality(&self) -> Option<String> {
        let quality = self.expected.as_ref()?.quality.as_ref()?;
        Some(quality(&self.memory))
    }
}

/// Takes a kernel's results out of memory, as numbers.
pub type Results = Box<dyn Fn(&DeviceMemory) -> Vec<f32> + Send + Sync>;

/// Whether a result (first) is near enough to the host's (second).
pub type Agrees = Box<dyn Fn(f32, f32) -> bool + Send + Sync>;

/// How good the results in memory are, in words: for kernels whose results are not right or wrong but better or worse.
pub type Quality = Box<dyn Fn(&DeviceMemory) -> String + Send + Sync>;

/// The kernel's results, and the host reference. Both are costly, so only made when results are checked.
pub struct Expected {
    /// Takes the results out of memory.
    pub results: Results,
    /// Computes what they should be, to within `agrees`.
    pub reference: Box<dyn Fn() -> Vec<f32> + Send + Sync>,
    /// How near is near enough: [`Expected::equal`], unless the kernel uses approximate instructions, whose last bits are not
    /// defined.
    pub agrees: Agrees,
    /// How good the results are, where that is a question.
    pub quality: Option<Quality>,
}

impl Expected {
    /// Results that are the floats of a buffer.
    pub fn floats(
        buffer: Buffer,
        agrees: impl Fn(f32, f32) -> bool + Send + Sync + 'static,
        reference: impl Fn() -> Vec<f32> + Send + Sync + 'static,
    ) -> Self {
        let results = Box::new(move |memory: &DeviceMemory| memory.floats(buffer));
        Expected { results, reference: Box::new(reference), agrees: Box::new(agrees), quality: None }
    }

    /// Equal bit for bit.
    pub fn equal(found: f32, expected: f32) -> bool {
        found.to_bits() == expected.to_bits()
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
    pub kernel: String,
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
    /// A setting has a value that the kernel cannot use.
    #[error("kernel `{kernel}`: {setting} `{value}`: {message}")]
    Setting {
        /// Kernel name.
        kernel: &'static str,
        /// The setting.
        setting: &'static str,
        /// As asked for.
        value: String,
        /// What is wrong with it.
        message: String,
    },
    /// A file with input data cannot be used.
    #[error(transparent)]
    InputFile(#[from] InputFileError),
    /// The PTX text cannot be read.
    #[error(transparent)]
    Ptx(#[from] PtxError),
    /// The assembler's report cannot be read.
    #[error(transparent)]
    Ptxas(#[from] PtxasError),
    /// Execution or recording failed.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A user's kernel is not described as it must be.
    #[error(transparent)]
    User(#[from] user::UserError),
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
    /// What can be set besides size and seed.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Allocates and fills memory for a problem, the same for the same `input`, with arguments, geometry and the host
    /// reference.
    ///
    /// # Errors
    /// [`KernelError::Size`], [`KernelError::Setting`].
    fn init(&self, input: &Input) -> Result<Instance, KernelError>;
}

/// All kernels, in the order of lists.
pub const ALL: &[&dyn Kernel] = &[&mm::Mm, &fwt::Fwt, &nbdy::Nbdy, &blk::Blk, &bopt::Bopt, &bfs::Bfs, &dxtc::Dxtc];

/// The kernel of a name.
pub fn find(name: &str) -> Option<&'static dyn Kernel> {
    ALL.iter().copied().find(|kernel| kernel.name() == name)
}

/// Executes all TBs of a kernel of `size`, checks the results against the host's, and gives the warp trace. `progress` is told
/// the TBs done and their number.
///
/// # Errors
/// [`KernelError`].
pub fn trace(kernel: &'static dyn Kernel, size: u64, seed: u64, progress: &mut dyn FnMut(u64, u64)) -> Result<KernelTrace, KernelError> {
    prepare(&Spec::sized(kernel, size, seed))?.record(progress)
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
