//! Builds the firmware's images, for three cores, of two sizes and with preemption, and checks each
//! of them. No panic is reachable, no float is computed, nothing is allocated, and no function
//! recurses. Flash, static memory and stack are within `firmware/budget.toml`.
//!
//! Panics: the image's panic handler calls an undefined function, so that linking fails if one is
//! reachable. To show that the check is effective, the same image with an injected panic must fail
//! to link, for that reason.

mod crash_record;
mod inspect;
mod stack;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail, ensure};

use crate::budget::{BUILDS, Budget, Build, keep};
use crate::cosim;
use crate::setup::{self, llvm_tool};
use crate::targets::{IMAGES, Target};
use crate::test::Scope;
use crate::util::{Report, command, output, run as run_command, stdout, target_dir};

/// Binary of the image.
const BINARY: &str = "mias-firmware-image";
/// Feature that adds a reachable panic to the image.
const INJECT_PANIC: &str = "inject-panic";
/// Undefined function that the panic handler calls.
const PANIC_SYMBOL: &str = "__panic_is_reachable";
/// Function that the reset code calls once memory is set up.
const ROOT: &str = "main";

/// Builds the images, checks them and prints their sizes.
pub(crate) fn run() -> Result<()> {
    let mut report = Report::default();
    if report.step("setup", setup::run) {
        steps(&mut report, Scope::All);
        cosim::build(&mut report);
    }
    report.finish("cargo xtask image")
}

/// Adds the steps to the report of `test`.
pub(crate) fn steps(report: &mut Report, scope: Scope) {
    for target in scope.targets() {
        for kind in BUILDS {
            let name = format!("{} image{}", target.board.core, kind.said());
            let built = report.step(&format!("{name} links: no reachable panic"), || run_command(&mut build(target, kind.feature())));
            if built {
                report.step(&format!("{name}: no float, no allocator, no recursion, within budget"), || check(target, kind));
            }
        }
        if !target.is_riscv() {
            report.step(&format!("{} image leaves its crash record after a fault, in QEMU", target.board.core), || {
                crash_record::check(target, &path(target))
            });
        }
        report.step(&format!("{} image with an injected panic does not link", target.board.core), || injected_panic_is_found(target));
    }
}

fn build(target: &Target, feature: Option<&str>) -> Command {
    target.build(IMAGES, BINARY, feature)
}

fn path(target: &Target) -> PathBuf {
    target.folder(&target_dir()).join(BINARY)
}

fn injected_panic_is_found(target: &Target) -> Result<()> {
    let result = output(&mut build(target, Some(INJECT_PANIC)))?;
    let said = String::from_utf8_lossy(&result.stderr);
    ensure!(!result.status.success(), "the image with feature `{INJECT_PANIC}` links: the check for panics is ineffective");
    if !inspect::names_undefined(&said, PANIC_SYMBOL) {
        bail!("the image with feature `{INJECT_PANIC}` fails to build, but not for an undefined `{PANIC_SYMBOL}`:\n{}", said.trim());
    }
    println!("the link fails as expected: undefined symbol `{PANIC_SYMBOL}`");
    Ok(())
}

fn check(target: &Target, kind: Build) -> Result<()> {
    let image = path(target);
    let symbols = stdout(command(llvm_tool("llvm-nm")?, ["--demangle", "--format=just-symbols"]).arg(&image))?;
    let objdump = ["--disassemble", "--no-show-raw-insn", "--demangle"].iter().chain(target.objdump);
    let code = stdout(command(llvm_tool("llvm-objdump")?, objdump).arg(&image))?;
    no_float_no_allocator(target, &symbols, &code)?;
    reset_clears_variables(&stdout(command(llvm_tool("llvm-nm")?, ["--defined-only"]).arg(&image))?)?;

    let budget = Budget::read()?.image(kind);
    let size = inspect::Size::parse(&stdout(command(llvm_tool("llvm-size")?, ["--format=sysv"]).arg(&image))?)?;
    keep("flash, bytes", size.flash, budget.flash_bytes)?;
    keep("RAM without stack, bytes", size.ram, budget.static_ram_bytes)?;
    let deepest = stack::CallGraph::parse(&code).deepest(ROOT)?;
    for (name, frame) in &deepest.path {
        println!("  {frame:>4} {name}");
    }
    keep("stack, bytes", deepest.bytes, budget.stack_bytes)
}

/// Checks the symbols that bound the region cleared at reset: a linker script can reverse their
/// order.
fn reset_clears_variables(symbols: &str) -> Result<()> {
    let (start, end) = (inspect::address(symbols, "__sbss")?, inspect::address(symbols, "__ebss")?);
    ensure!(start < end, "variables reach from {start:#x} to {end:#x}: the reset code does not clear them");
    Ok(())
}

fn no_float_no_allocator(target: &Target, symbols: &str, code: &str) -> Result<()> {
    let looked_at = inspect::instruction_count(code);
    ensure!(
        looked_at > 0 && !symbols.trim().is_empty(),
        "the image for {} holds no code or no symbols: nothing was checked",
        target.board.target
    );
    let mut found: Vec<String> = inspect::float_instructions(code, target.is_riscv());
    found.extend(symbols.lines().filter(|name| inspect::is_soft_float(name)).map(|name| format!("soft-float symbol {name}")));
    found.extend(symbols.lines().filter(|name| inspect::is_allocator(name)).map(|name| format!("allocator symbol {name}")));
    ensure!(found.is_empty(), "{} findings in the image:\n{}", found.len(), found.join("\n"));
    println!("{looked_at} instructions and {} symbols: no float, no allocator", symbols.lines().count());
    let divides = symbols.lines().any(|name| name.contains("ldivmod"));
    println!("64-bit division helper: {}", if divides { "present" } else { "absent" });
    Ok(())
}
