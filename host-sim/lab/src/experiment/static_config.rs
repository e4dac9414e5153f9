//! Static configuration for all SMs, as users type it: `static:2-2`.

use mias_firmware::limits::KERNELS;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

/// TBs of each kernel on every SM, in kernel order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StaticConfig {
    tbs: [u32; KERNELS],
    kernels: u8,
}

/// Names requested so far, each once, so that a policy can be `Copy`.
static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl StaticConfig {
    /// Returns the numbers, one per kernel.
    #[must_use]
    pub fn tbs(&self) -> &[u32] {
        &self.tbs[..usize::from(self.kernels)]
    }

    /// Returns the name that users type.
    pub(super) fn name(self) -> &'static str {
        let name = format!("static:{self}");
        let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.get(name.as_str()) {
            return known;
        }
        let name: &'static str = name.leak();
        names.insert(name);
        name
    }

    /// Checks that it has one number for each of `kernels` kernels.
    ///
    /// # Errors
    /// The problem and a valid form.
    pub fn check(&self, kernels: usize) -> Result<(), String> {
        match self.tbs().len() {
            given if given == kernels => Ok(()),
            given => Err(format!("static:{self} has {given} numbers for {kernels} kernels; use one number per kernel")),
        }
    }
}

impl FromStr for StaticConfig {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` must be TBs per SM for 1 to {KERNELS} kernels, as in `static:2-2`");
        let numbers: Vec<u32> = text.split('-').map(str::parse).collect::<Result<_, _>>().map_err(|_| wrong())?;
        if numbers.len() > KERNELS || numbers.iter().all(|&tbs| tbs == 0) {
            return Err(wrong());
        }
        let mut tbs = [0; KERNELS];
        tbs[..numbers.len()].copy_from_slice(&numbers);
        Ok(StaticConfig { tbs, kernels: numbers.len() as u8 })
    }
}

impl fmt::Display for StaticConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.tbs().iter().map(u32::to_string).collect();
        f.write_str(&numbers.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_is_tbs_of_each_kernel() {
        let config: StaticConfig = "2-0".parse().unwrap();
        assert_eq!((config.tbs(), config.name()), (&[2, 0][..], "static:2-0"));
        assert_eq!(config.check(2), Ok(()));
        assert!(config.check(3).unwrap_err().contains("has 2 numbers for 3 kernels"));
        for wrong in ["", "0-0", "2-x", "2--2", "1-1-1-1-1"] {
            assert!(wrong.parse::<StaticConfig>().is_err(), "{wrong}");
        }
    }
}
