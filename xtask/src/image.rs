//! Builds the firmware's target image and proves three things of it: no panic is reachable, no float is computed, nothing
//! is allocated. Then prints its size.
//!
//! Panics: the image's panic handler calls a function that exists nowhere, so the link fails as soon as one is reachable.
//! A proof that cannot fail is none: the same image with a panic put in must not link, and for that very reason.

use std::path::PathBuf;

use anyhow::{Result, bail, ensure};

use crate::inspect;
use crate::setup::{self, TARGET, llvm_tool};
use crate::util::{Report, cargo, command, output, run as run_command, stdout, target_dir};

/// The image's binary in `firmware/`.
const BINARY: &str = "mias-firmware-image";
/// The firmware's feature that puts a reachable panic into the image.
const INJECT_PANIC: &str = "inject-panic";
/// What the panic handler calls and nothing defines.
const PANIC_SYMBOL: &str = "__panic_is_reachable";

/// Builds the image, checks it and prints its size.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    if report.step("setup", setup::run) {
        steps(&mut report);
    }
    report.finish("cargo xtask image")
}

/// The steps, for `test` to take them into its own report.
pub(crate) fn steps(report: &mut Report) {
    if report.step("image links: no reachable panic", || run_command(&mut cargo(build_args()))) {
        report.step("image has no float and no allocator", no_float_no_allocator);
        report.step("image size", print_size);
    }
    report.step("image with a panic put in does not link", injected_panic_is_found);
}

fn build_args() -> Vec<&'static str> {
    vec!["build", "--package", "mias-firmware", "--bin", BINARY, "--target", TARGET, "--profile", "image"]
}

fn path() -> PathBuf {
    target_dir().join(TARGET).join("image").join(BINARY)
}

fn injected_panic_is_found() -> Result<()> {
    let mut args = build_args();
    args.extend(["--features", INJECT_PANIC]);
    let result = output(&mut cargo(args))?;
    let said = String::from_utf8_lossy(&result.stderr);
    ensure!(!result.status.success(), "the image with feature `{INJECT_PANIC}` links: the proof of panic-freedom proves nothing");
    if !inspect::names_undefined(&said, PANIC_SYMBOL) {
        bail!("the image with feature `{INJECT_PANIC}` fails to build, but not for an undefined `{PANIC_SYMBOL}`:\n{}", said.trim());
    }
    println!("as it must, the link fails: undefined symbol `{PANIC_SYMBOL}`");
    Ok(())
}

fn no_float_no_allocator() -> Result<()> {
    let image = path();
    let symbols = stdout(command(llvm_tool("llvm-nm")?, ["--demangle", "--format=just-symbols"]).arg(&image))?;
    // A core with every float instruction of the M profile, so that each is shown as what it is.
    let objdump = ["--disassemble", "--no-show-raw-insn", "--demangle", "--mcpu=cortex-m7"];
    let code = stdout(command(llvm_tool("llvm-objdump")?, objdump).arg(&image))?;
    let looked_at = inspect::instruction_count(&code);
    ensure!(looked_at > 0 && !symbols.trim().is_empty(), "{} holds no code or no symbols: nothing was checked", image.display());

    let mut found: Vec<String> = inspect::float_instructions(&code);
    found.extend(symbols.lines().filter(|name| inspect::is_soft_float(name)).map(|name| format!("soft-float symbol {name}")));
    found.extend(symbols.lines().filter(|name| inspect::is_allocator(name)).map(|name| format!("allocator symbol {name}")));
    ensure!(found.is_empty(), "{} findings in the image:\n{}", found.len(), found.join("\n"));
    println!("{looked_at} instructions and {} symbols: no float, no allocator", symbols.lines().count());
    let divides = symbols.lines().any(|name| name.contains("ldivmod"));
    println!("64-bit division helper: {}", if divides { "present" } else { "absent" });
    Ok(())
}

fn print_size() -> Result<()> {
    let size = inspect::Size::parse(&stdout(command(llvm_tool("llvm-size")?, ["--format=berkeley"]).arg(path()))?)?;
    println!("{BINARY} ({TARGET}): text {} B, data {} B, bss {} B", size.text, size.data, size.bss);
    println!("flash {} B, RAM without stack {} B", size.text + size.data, size.data + size.bss);
    Ok(())
}
