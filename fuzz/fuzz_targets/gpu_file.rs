//! Fuzz target for a GPU's TOML file: it is rejected with one message, or the GPU can be built.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mias_hw_model::gpu::Gpu;
use mias_hw_model::register_block::Straps;
use mias_lab::gpus;
use mias_registers::PolicyCode;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match gpus::parse("my.toml", text) {
        Ok(config) => drop(Gpu::new(&config, Straps::new(PolicyCode::LeftOver))),
        Err(error) => assert!(error.to_string().starts_with("my.toml:")),
    }
});
