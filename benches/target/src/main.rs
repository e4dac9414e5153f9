//! Cost of the firmware's decisions on its processors, counted in instructions by QEMU (`-icount
//! shift=8`).
//!
//! The references are a floor that only reads the counters, and a plain port of the thesis. `cargo
//! xtask latency` builds the program, runs it on the three boards and writes
//! docs/porting/decision-latency.md from its output: one line per measurement, `key value value
//! ...`.
//!
//! The firmware is built as in its image: same profile, same code. The register block is plain
//! memory here, so a register access is one load or store, as on a chip.
#![cfg_attr(target_os = "none", no_std, no_main)]
// The builds that preempt, search and control extra TBs measure only that.
#![cfg_attr(any(feature = "preempt", feature = "search", feature = "oversubscription"), allow(dead_code, unused_imports))]

#[cfg(target_os = "none")]
extern crate alloc;

#[cfg(target_os = "none")]
mod block;
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[path = "cortex_m.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "riscv.rs"]
mod board;
#[cfg(target_os = "none")]
mod commit;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "../../../firmware/images/src/bin/common/copy.rs"]
mod copy;
#[cfg(target_os = "none")]
mod floor;
#[cfg(target_os = "none")]
mod generation;
#[cfg(target_os = "none")]
mod heap;
#[cfg(target_os = "none")]
mod launches;
#[cfg(target_os = "none")]
mod measure;
#[cfg(target_os = "none")]
mod memory;
#[cfg(all(target_os = "none", feature = "oversubscription"))]
mod oversubscription;
#[cfg(target_os = "none")]
mod scenario;
#[cfg(all(target_os = "none", feature = "search"))]
mod search;
#[cfg(target_os = "none")]
mod stack;
#[cfg(target_os = "none")]
mod thesis;
#[cfg(target_os = "none")]
#[path = "../../../firmware/tests/tree/mod.rs"]
mod tree;
#[cfg(all(target_os = "none", feature = "preempt"))]
mod victims;

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this is a program for the target; `cargo xtask latency` builds it and runs it in QEMU");
    std::process::exit(2);
}
