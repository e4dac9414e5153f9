//! Co-simulation: the cross-compiled firmware image in QEMU makes the decisions, the GPU model runs here. The image reaches the
//! register block through [`mias_firmware::remote`]; this side serves register accesses and interrupts, nothing else.

mod line;
mod remote;
mod replay;

pub use remote::RemoteFirmware;

use std::path::{Path, PathBuf};

/// Name of the image's file, as `cargo xtask image` builds it.
pub const IMAGE: &str = "mias-firmware-remote";

/// A processor that QEMU has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Core {
    /// Cortex-M4F, on the board mps2-an386.
    CortexM4,
    /// Cortex-M0, on the board microbit: no divider, no wide multiply.
    CortexM0,
    /// 32-bit RISC-V with multiplication, atomics and compressed instructions, on the board virt.
    RiscV,
}

/// An image and the processor that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The processor.
    pub core: Core,
    /// The ELF file.
    pub file: PathBuf,
}

/// Why co-simulation did not go on; says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CosimError(pub String);

impl Core {
    /// Rust's name of its target.
    pub fn target(self) -> &'static str {
        match self {
            Core::CortexM4 => "thumbv7em-none-eabihf",
            Core::CortexM0 => "thumbv6m-none-eabi",
            Core::RiscV => "riscv32imac-unknown-none-elf",
        }
    }

    /// The profile of its images in the workspace's `Cargo.toml`: for time, or for size.
    fn profile(self) -> &'static str {
        match self {
            Core::CortexM0 => "image-small",
            Core::CortexM4 | Core::RiscV => "image",
        }
    }

    /// QEMU's program, and its options for the board. Time stands still while the processor waits, so that no real time gets in.
    fn qemu(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Core::CortexM4 => ("qemu-system-arm", &["-machine", "mps2-an386"]),
            Core::CortexM0 => ("qemu-system-arm", &["-machine", "microbit"]),
            Core::RiscV => ("qemu-system-riscv32", &["-machine", "virt", "-bios", "none"]),
        }
    }

    /// Debian's package of QEMU's program.
    fn package(self) -> &'static str {
        match self {
            Core::CortexM4 | Core::CortexM0 => "qemu-system-arm",
            Core::RiscV => "qemu-system-misc",
        }
    }
}

impl Image {
    /// The image that was built for `core`: beside this program in cargo's target directory, else in `target/` here.
    ///
    /// # Errors
    /// [`CosimError`] if it has not been built.
    pub fn built_for(core: Core) -> Result<Self, CosimError> {
        let place = Path::new(core.target()).join(core.profile()).join(IMAGE);
        let program = std::env::current_exe().unwrap_or_default();
        // target/release/mias, or target/release/deps/a-test.
        let beside = program.ancestors().skip(2).take(2).map(|folder| folder.join(&place));
        let here = Path::new("target").join(&place);
        let found = beside.chain([here.clone()]).find(|file| file.is_file());
        let missing =
            || CosimError(format!("there is no image for {}: build it with `cargo xtask image`, or name one with --image", core.target()));
        found.map(|file| Image { core, file }).ok_or_else(missing)
    }
}
