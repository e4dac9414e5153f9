//! Processors that the firmware is built for, on the boards of `mias_lab`, with additional data for
//! the build.

use crate::boards::{BOARDS, Board};

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::util::cargo;

/// Package of the firmware's images: `firmware/images/`.
pub(crate) const IMAGES: &str = "mias-firmware-images";

/// Processor on its board, with build data.
pub(crate) struct Target {
    /// Board with its build settings.
    pub(crate) board: Board,
    /// Options of objdump: for Arm a core with every float instruction of the M profile, so that
    /// each is disassembled.
    pub(crate) objdump: &'static [&'static str],
    /// Additional options of QEMU for the bench. The micro:bit gets more RAM than the real one, for
    /// the register block.
    pub(crate) bench: &'static [&'static str],
}

/// All targets; the first is the one with a budget for decision latency.
pub(crate) const TARGETS: [Target; 3] = {
    let [m4, m0, riscv] = BOARDS;
    [
        Target { board: m4, objdump: &["--mcpu=cortex-m7"], bench: &[] },
        Target { board: m0, objdump: &[], bench: &["-global", "nrf51-soc.sram-size=524288"] },
        Target { board: riscv, objdump: &[], bench: &[] },
    ]
};

impl Target {
    /// Returns the build command of a workspace binary as an image for this target. It is never
    /// incremental, since that partitions the program differently and changes sizes and counts.
    pub(crate) fn build(&self, package: &str, binary: &str, feature: Option<&str>) -> Command {
        let mut build =
            cargo(["build", "--package", package, "--bin", binary, "--target", self.board.target, "--profile", self.board.profile]);
        build.args(feature.into_iter().flat_map(|feature| ["--features", feature])).env("CARGO_INCREMENTAL", "0");
        build
    }

    /// Returns cargo's output folder for this target with the profile of its images, in a target
    /// directory.
    pub(crate) fn folder(&self, target_dir: &Path) -> PathBuf {
        target_dir.join(self.board.target).join(self.board.profile)
    }

    /// Returns whether the target's board in QEMU has a watchdog.
    pub(crate) fn has_watchdog(&self) -> bool {
        self.board.options.contains(&"mps2-an386")
    }

    /// Returns whether the target is the RISC-V target.
    pub(crate) fn is_riscv(&self) -> bool {
        self.board.target.starts_with("riscv")
    }
}
