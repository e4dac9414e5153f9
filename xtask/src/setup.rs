//! Installs what the tests need beyond the toolchain of `rust-toolchain.toml`: the firmware's target, to build the image,
//! and llvm-tools, to look into it. What is there is left alone.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::util::{command, output, stdout};

/// The microcontroller that the image is built for: Cortex-M4F/M7 with a hardware FPU, so that any float would show as a
/// float instruction.
pub(crate) const TARGET: &str = "thumbv7em-none-eabihf";

/// The tools taken from llvm-tools.
const TOOLS: [&str; 3] = ["llvm-nm", "llvm-objdump", "llvm-size"];

/// Installs what is missing; fails with the command to run by hand where it cannot.
pub(crate) fn run() -> Result<()> {
    if !sysroot()?.join("lib/rustlib").join(TARGET).is_dir() {
        rustup(&["target", "add", TARGET])?;
    }
    if TOOLS.iter().any(|tool| !matches!(llvm_tool(tool), Ok(path) if path.is_file())) {
        rustup(&["component", "add", "llvm-tools"])?;
    }
    println!("ready: target {TARGET}, {}", TOOLS.join(", "));
    Ok(())
}

/// Where the active toolchain keeps the LLVM tool `name`, whether or not it is installed.
pub(crate) fn llvm_tool(name: &str) -> Result<PathBuf> {
    let version = stdout(&mut command("rustc", ["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` does not name its host")?;
    let folder = sysroot()?.join("lib/rustlib").join(host).join("bin");
    Ok(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
}

fn sysroot() -> Result<PathBuf> {
    Ok(stdout(&mut command("rustc", ["--print", "sysroot"]))?.trim().into())
}

fn rustup(args: &[&str]) -> Result<()> {
    let line = format!("rustup {}", args.join(" "));
    eprintln!("$ {line}");
    let Ok(result) = output(&mut command("rustup", args)) else {
        bail!(
            "the tests need `{line}`, and rustup is not installed.\n\
             Install rustup (https://rustup.rs) and run the command again, or add the same component to the toolchain in use by hand."
        );
    };
    if !result.status.success() {
        bail!(
            "`{line}` failed; with a network, run it by hand in this folder and try again. It said:\n{}",
            String::from_utf8_lossy(&result.stderr).trim()
        );
    }
    Ok(())
}
