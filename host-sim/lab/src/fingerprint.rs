//! Fingerprints for provenance: of machines, of the register map, of the program that runs. Those of traces, and the hash itself, are
//! in [`mias_trace::fingerprint`].

use mias_hw_model::config::GpuConfig;
use mias_trace::fingerprint::{Fnv, hex};
use std::hash::Hasher;

/// Fingerprint of a machine: of its values, not of its file's layout or comments, nor of how it is described.
pub fn gpu(config: &GpuConfig) -> String {
    let undescribed = GpuConfig { description: String::new(), ..config.clone() };
    let mut hasher = Fnv::default();
    hasher.write(serde_json::to_string(&undescribed).unwrap_or_default().as_bytes());
    hex(hasher)
}

/// Fingerprint of the register map: two programs that agree in it mean the same by an access.
pub fn register_map() -> u64 {
    let mut hasher = Fnv::default();
    mias_registers::fingerprint(&mut hasher);
    hasher.finish()
}

/// Fingerprint of the program that runs: of its file, so that every change of its code shows.
///
/// # Errors
/// That its file cannot be found or read.
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
    fn a_machine_is_told_by_its_values_and_not_by_its_description() {
        let config = gpus::load("rtx2060").unwrap();
        let described = GpuConfig { description: "another".into(), ..config.clone() };
        let mut other = config.clone();
        other.sm.count += 1;
        assert_eq!(gpu(&described), gpu(&config));
        assert_ne!(gpu(&other), gpu(&config));
    }
}
