//! Installs the requirements of the tests beyond the toolchain of `rust-toolchain.toml`. These are
//! the firmware's targets, to build the images, llvm-tools, to inspect them, and QEMU, to run them.
//! Existing installations are kept.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::targets::TARGETS;
use crate::util::{command, output, stdout};

/// Tools from llvm-tools.
const TOOLS: [&str; 3] = ["llvm-nm", "llvm-objdump", "llvm-size"];

/// Installs missing requirements; if it cannot, fails with the command to run manually.
pub(crate) fn run() -> Result<()> {
    let installed = sysroot()?.join("lib/rustlib");
    for target in TARGETS.iter().filter(|target| !installed.join(target.board.target).is_dir()) {
        rustup(&["target", "add", target.board.target])?;
    }
    if TOOLS.iter().any(|tool| !matches!(llvm_tool(tool), Ok(path) if path.is_file())) {
        rustup(&["component", "add", "llvm-tools"])?;
    }
    if let Some(missing) = missing_qemu() {
        install_qemu(missing)?;
    }
    println!("ready: {}, {}, QEMU", TARGETS.map(|target| target.board.target).join(", "), TOOLS.join(", "));
    Ok(())
}

/// Returns the first QEMU program that does not start.
fn missing_qemu() -> Option<&'static str> {
    let starts = |program: &str| output(&mut command(program, ["--version"])).is_ok_and(|result| result.status.success());
    TARGETS.iter().map(|target| target.board.qemu).find(|program| !starts(program))
}

/// Installs QEMU by apt-get.
fn install_qemu(missing: &str) -> Result<()> {
    let mut packages = TARGETS.map(|target| target.board.package).to_vec();
    packages.dedup();
    let by_hand = format!("Install QEMU 7.2 or later for Arm and RISC-V (on Debian: `apt-get install {}`)", packages.join(" "));
    apt_get(&packages, &format!("the tests run the firmware in QEMU, and `{missing}` is not installed"), &by_hand)?;
    match missing_qemu() {
        None => Ok(()),
        Some(missing) => bail!("apt-get installed QEMU, and `{missing}` still does not start"),
    }
}

/// Installs packages by apt-get, on Debian as root. Otherwise the error states `why` they are
/// needed, and the remedy `by_hand`.
pub(crate) fn apt_get(packages: &[&str], why: &str, by_hand: &str) -> Result<()> {
    for args in [vec!["update"], [&["install", "--yes", "--no-install-recommends"], packages].concat()] {
        eprintln!("$ apt-get {}", args.join(" "));
        let Ok(result) = output(command("apt-get", &args).env("DEBIAN_FRONTEND", "noninteractive")) else {
            bail!("{why}.\n{by_hand} and run the command again.");
        };
        if !result.status.success() {
            bail!(
                "{why}, and `apt-get {}` failed. {by_hand} and run the command again. It said:\n{}",
                args.join(" "),
                String::from_utf8_lossy(&result.stderr).trim()
            );
        }
    }
    Ok(())
}

/// Returns the path of the LLVM tool `name` in the active toolchain, whether or not it is
/// installed.
pub(crate) fn llvm_tool(name: &str) -> Result<PathBuf> {
    let version = stdout(&mut command("rustc", ["-vV"]))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("`rustc -vV` prints no host")?;
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
