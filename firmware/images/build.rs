//! Link arguments of the images, and of the benchmark on the target (`benches/target`), by board.
//! They are here and not in the cargo configuration, where an outer RUSTFLAGS would replace them.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=memory");
    println!("cargo:rustc-check-cfg=cfg(microbit)");
    if env::var("CARGO_CFG_TARGET_OS")? == "none" {
        let board = match env::var("TARGET")?.as_str() {
            "thumbv6m-none-eabi" => "microbit",
            "riscv32imac-unknown-none-elf" => "virt",
            _ => "mps2-an386",
        };
        if board == "microbit" {
            println!("cargo:rustc-cfg=microbit");
        }
        let out = PathBuf::from(env::var("OUT_DIR")?);
        fs::copy(format!("memory/{board}.x"), out.join("memory.x"))?;
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
        if env::var_os("CARGO_FEATURE_DEFMT").is_some() {
            println!("cargo:rustc-link-arg-bins=-Tdefmt.x");
        }
    }
    Ok(())
}
