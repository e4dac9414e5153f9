//! A launch with its data in memory, and what the host makes of its results.

use mias_ptx::{Buffer, DeviceMemory, Launch};

/// A kernel with its data in place, ready to run.
#[derive(Debug)]
pub struct Instance {
    /// Device memory with inputs, and outputs after execution.
    pub memory: DeviceMemory,
    /// Entry of the PTX module.
    pub entry: String,
    /// Geometry and arguments.
    pub launch: Launch,
    /// Where buffers are, in the order of the description; one without a name is called by its argument, `arg3`.
    pub regions: Vec<Region>,
    /// What [`Instance::check_results`] compares; none for a kernel without a host reference.
    pub expected: Option<Expected>,
}

/// A named part of device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What it is called.
    pub name: String,
    /// Byte address.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
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
