//! The processors that the firmware is built for, on the boards of `mias_lab`, and what only the build needs of them.

use crate::boards::{BOARDS, Board};

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::util::cargo;

/// The package that has the firmware's images: `firmware/images/`.
pub(crate) const IMAGES: &str = "mias-firmware-images";

/// A processor on its board, as the build needs it.
pub(crate) struct Target {
    /// The board, and what is built for it.
    pub(crate) board: Board,
    /// Disassemble as this: for Arm a core with every float instruction of the M profile, so that each is shown as what it is.
    pub(crate) objdump: &'static [&'static str],
    /// More options of QEMU for the bench. The micro:bit gets more RAM than it has, for the register block there.
    pub(crate) bench: &'static [&'static str],
}

/// All of them; the first is the one whose decision latency has a budget.
pub(crate) const TARGETS: [Target; 3] = {
    let [m4, m0, riscv] = BOARDS;
    [
        Target { board: m4, objdump: &["--mcpu=cortex-m7"], bench: &[] },
        Target { board: m0, objdump: &[], bench: &["-global", "nrf51-soc.sram-size=524288"] },
        Target { board: riscv, objdump: &[], bench: &[] },
    ]
};

impl Target {
    /// A build of a binary of the workspace, as an image for this target. Never incremental: that cuts the program into other pieces,
    /// and sizes and counts are not those of a clean build.
    pub(crate) fn build(&self, package: &str, binary: &str, feature: Option<&str>) -> Command {
        let mut build =
            cargo(["build", "--package", package, "--bin", binary, "--target", self.board.target, "--profile", self.board.profile]);
        build.args(feature.into_iter().flat_map(|feature| ["--features", feature])).env("CARGO_INCREMENTAL", "0");
        build
    }

    /// Where cargo puts what it builds for this target with the profile of its images, in a target directory.
    pub(crate) fn folder(&self, target_dir: &Path) -> PathBuf {
        target_dir.join(self.board.target).join(self.board.profile)
    }

    /// Whether its board in QEMU has a watchdog.
    pub(crate) fn has_watchdog(&self) -> bool {
        self.board.options.contains(&"mps2-an386")
    }

    /// The RISC-V one.
    pub(crate) fn is_riscv(&self) -> bool {
        self.board.target.starts_with("riscv")
    }
}
