//! Passes the board's memory layout to the linker.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=memory.x");
    if env::var("CARGO_CFG_TARGET_OS")? == "none" {
        let out = PathBuf::from(env::var("OUT_DIR")?);
        fs::copy("memory.x", out.join("memory.x"))?;
        println!("cargo:rustc-link-search={}", out.display());
        println!("cargo:rustc-link-arg-bins=-Tlink.x");
        println!("cargo:rustc-link-arg-bins=--nmagic");
    }
    Ok(())
}
