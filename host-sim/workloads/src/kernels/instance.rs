//! A launch with its data in memory, and the host's check of its results.

use mias_ptx::{Buffer, DeviceMemory, Launch};

/// A kernel with its data in memory, ready to run.
#[derive(Debug)]
pub struct Instance {
    /// Device memory with the inputs and, after execution, the outputs.
    pub memory: DeviceMemory,
    /// Entry of the PTX module.
    pub entry: String,
    /// Geometry and arguments.
    pub launch: Launch,
    /// Buffers in the order of the description. A buffer without a name is named after its
    /// argument, as in `arg3`.
    pub regions: Vec<Region>,
    /// Reference for [`Instance::check_results`]; `None` for a kernel without one.
    pub expected: Option<Expected>,
}

/// A named part of device memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name of the region.
    pub name: String,
    /// Byte address.
    pub address: u64,
    /// Size in bytes.
    pub bytes: u64,
}

impl Instance {
    /// Compares the results in memory with the host's; `kernel` is the name in the message.
    ///
    /// # Errors
    /// [`Mismatch`] for the first difference.
    pub fn check_results(&self, kernel: &str) -> Result<(), Mismatch> {
        let Some(check) = &self.expected else { return Ok(()) };
        let found = (check.results)(&self.memory);
        let expected = (check.reference)();
        match found.iter().zip(&expected).position(|(&f, &e)| !(check.agrees)(f, e)) {
            None => Ok(()),
            Some(index) => Err(Mismatch { kernel: kernel.into(), index, found: found[index], expected: expected[index] }),
        }
    }

    /// Returns the quality of the results in memory, in words; `None` for kernels whose results are
    /// just right or wrong.
    pub fn quality(&self) -> Option<String> {
        let quality = self.expected.as_ref()?.quality.as_ref()?;
        Some(quality(&self.memory))
    }
}

/// Extracts a kernel's results from memory, as numbers.
pub type Results = Box<dyn Fn(&DeviceMemory) -> Vec<f32> + Send + Sync>;

/// Compares a result (first) with the host's (second), within a tolerance.
pub type Agrees = Box<dyn Fn(f32, f32) -> bool + Send + Sync>;

/// Describes the quality of the results in memory, for kernels whose results are better or worse
/// instead of right or wrong.
pub type Quality = Box<dyn Fn(&DeviceMemory) -> String + Send + Sync>;

/// Results of a kernel and the host reference. Both are expensive and computed only for a check.
pub struct Expected {
    /// Extracts the results from memory.
    pub results: Results,
    /// Computes the expected results, to within `agrees`.
    pub reference: Box<dyn Fn() -> Vec<f32> + Send + Sync>,
    /// Tolerance: [`Expected::equal`], unless the kernel uses approximate instructions, whose last
    /// bits are undefined.
    pub agrees: Agrees,
    /// Quality of the results, where it is meaningful.
    pub quality: Option<Quality>,
}

impl Expected {
    /// Expects the floats of a buffer.
    pub fn floats(
        buffer: Buffer,
        agrees: impl Fn(f32, f32) -> bool + Send + Sync + 'static,
        reference: impl Fn() -> Vec<f32> + Send + Sync + 'static,
    ) -> Self {
        let results = Box::new(move |memory: &DeviceMemory| memory.floats(buffer));
        Expected { results, reference: Box::new(reference), agrees: Box::new(agrees), quality: None }
    }

    /// Returns whether both are equal bit for bit.
    pub fn equal(found: f32, expected: f32) -> bool {
        found.to_bits() == expected.to_bits()
    }
}

impl std::fmt::Debug for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Expected").finish_non_exhaustive()
    }
}

/// First result that differs from the host's.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("kernel `{kernel}`: result {index} is {found}, the host computes {expected}")]
pub struct Mismatch {
    /// Name of the kernel.
    pub kernel: String,
    /// Index of the element.
    pub index: usize,
    /// Value of the kernel.
    pub found: f32,
    /// Value of the reference.
    pub expected: f32,
}
