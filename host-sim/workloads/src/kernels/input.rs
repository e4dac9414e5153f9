//! A kernel's input as it is asked for.

use std::collections::BTreeMap;

/// Seed of input data unless another is asked for (assumption: any will do; equal runs must use the same).
pub(super) const DEFAULT_SEED: u64 = 1;

/// A kernel's input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Problem size; none: the kernel's default, or what an input file has.
    pub size: Option<u64>,
    /// Seed of random data.
    pub seed: u64,
    /// Registers per thread; none: those that the kernel's file states, or its report.
    pub registers: Option<u64>,
    settings: BTreeMap<String, String>,
}

impl Default for Input {
    fn default() -> Self {
        Input { size: None, seed: DEFAULT_SEED, registers: None, settings: BTreeMap::new() }
    }
}

impl Input {
    /// Of `size`, random by `seed`.
    pub fn sized(size: u64, seed: u64) -> Self {
        Input { size: Some(size), seed, ..Input::default() }
    }

    /// With one of the kernel's own settings.
    #[must_use]
    pub fn with(mut self, key: &str, value: &str) -> Self {
        self.settings.insert(key.into(), value.into());
        self
    }

    /// The value of one of the kernel's own settings, if it was set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.settings.get(key).map(String::as_str)
    }
}
