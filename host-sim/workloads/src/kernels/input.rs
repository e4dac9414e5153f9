//! Requested input of a kernel.

use std::collections::BTreeMap;

/// Default seed of input data (assumption: any value will do; equal runs must use the same).
pub(super) const DEFAULT_SEED: u64 = 1;

/// Input of a kernel: size, seed and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Problem size; `None` selects the kernel's default or the size of an input file.
    pub size: Option<u64>,
    /// Seed of random data.
    pub seed: u64,
    /// Registers per thread; `None` selects those of the kernel's file or report.
    pub registers: Option<u64>,
    settings: BTreeMap<String, String>,
}

impl Default for Input {
    fn default() -> Self {
        Input { size: None, seed: DEFAULT_SEED, registers: None, settings: BTreeMap::new() }
    }
}

impl Input {
    /// Creates an input with `size`, and random data from `seed`.
    pub fn sized(size: u64, seed: u64) -> Self {
        Input { size: Some(size), seed, ..Input::default() }
    }

    /// Sets one of the kernel's own settings.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.settings.insert(key.into(), value.into());
        self
    }

    /// Returns the value of one of the kernel's own settings, if set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }
}
