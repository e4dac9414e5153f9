//! Fingerprints for provenance: of GPUs, of the register map, of the running program. Those of
//! traces, and the hash itself, are in [`mias_trace::fingerprint`].

use mias_hw_model::config::GpuConfig;
use mias_trace::fingerprint::{Fnv, hex};
use std::hash::Hasher;

/// Returns the fingerprint of a GPU's values, independent of its file's layout, comments and
/// description.
pub fn gpu(config: &GpuConfig) -> String {
    let undescribed = GpuConfig { description: String::new(), ..config.clone() };
    let mut hasher = Fnv::default();
    hasher.write(serde_json::to_string(&undescribed).unwrap_or_default().as_bytes());
    hex(hasher)
}

/// Returns the fingerprint of the register map: accesses of two programs with the same one have the
/// same meaning.
pub fn register_map() -> u64 {
    let mut hasher = Fnv::default();
    mias_registers::fingerprint(&mut hasher);
    hasher.finish()
}

/// Returns the fingerprint of the running program's file, which every change of its code affects.
///
/// # Errors
/// If its file cannot be found or read.
pub fn program() -> std::io::Result<u64> {
    let mut hasher = Fnv::default();
    hasher.write(&std::fs::read(std::env::current_exe()?)?);
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    #[test]
    fn a_gpu_is_told_by_its_values_and_not_by_its_description() {
        let config = gpus::load("rtx2060").unwrap();
        let described = GpuConfig { description: "another".into(), ..config.clone() };
        let mut other = config.clone();
        other.sm.count += 1;
        assert_eq!(gpu(&described), gpu(&config));
        assert_ne!(gpu(&other), gpu(&config));
    }
}
