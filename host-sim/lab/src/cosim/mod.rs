//! Co-simulation: the cross-compiled firmware image in QEMU makes the decisions, and the GPU model
//! runs in this process. The image reaches the register block through [`mias_registers::remote`];
//! this side serves only register accesses and interrupts.

pub mod boards;
mod line;
mod native;
mod parts;
mod processor;
mod recorded_bus;
pub mod recording;
mod remote;
pub mod replay;

pub use native::Native;
pub use parts::Parts;
pub use processor::Processor;
pub use recorded_bus::{Parting, Replay};
pub use remote::RemoteFirmware;

use boards::Board;
use std::io::Read;
use std::path::{Path, PathBuf};

/// File name of the image, as `cargo xtask image` builds it.
pub const IMAGE: &str = "mias-firmware-remote";

/// Processor supported by QEMU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Core {
    /// Cortex-M4F.
    CortexM4,
    /// Cortex-M0.
    CortexM0,
    /// 32-bit RISC-V.
    RiscV,
}

/// Image with the processor that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Processor of the image.
    pub core: Core,
    /// Path of the ELF file.
    pub file: PathBuf,
}

/// Reason why co-simulation failed, with the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CosimError(pub String);

impl Core {
    /// Returns the board of the processor.
    pub fn board(self) -> Board {
        match self {
            Core::CortexM4 => boards::CORTEX_M4F,
            Core::CortexM0 => boards::CORTEX_M0,
            Core::RiscV => boards::RV32IMAC,
        }
    }

    /// Returns the processor's number in the header of an ELF file (`e_machine`; System V ABI,
    /// processor supplements: `EM_ARM`, `EM_RISCV`).
    fn elf_machine(self) -> u16 {
        match self {
            Core::CortexM4 | Core::CortexM0 => 40,
            Core::RiscV => 243,
        }
    }

    /// Returns the command that builds the processor's image with these features, separated by
    /// commas.
    fn build(self, features: &str) -> String {
        let Board { target, profile, .. } = self.board();
        let build = format!("cargo build -p mias-firmware-images --bin {IMAGE} --target {target} --profile {profile}");
        if features.is_empty() { build } else { format!("{build} --features {features}") }
    }
}

impl Image {
    /// Finds the image built for `core` with these parts: next to this program in cargo's target
    /// directory, else in `target/` of the working directory.
    ///
    /// # Errors
    /// [`CosimError`] if it has not been built.
    pub fn built_for(core: Core, parts: Parts) -> Result<Self, CosimError> {
        let place = Path::new(parts.folder()).join(core.board().target).join(core.board().profile).join(IMAGE);
        let program = std::env::current_exe().unwrap_or_default();
        // The program is target/release/mias, or target/release/deps/a-test.
        let beside = program.ancestors().skip(2).take(2).map(|folder| folder.join(&place));
        let here = Path::new("target").join(&place);
        let found = beside.chain([here.clone()]).find(|file| file.is_file());
        let missing = || {
            CosimError(format!(
                "no image{} found for {}: build it with `cargo xtask image`, or name one, as in qemu:FILE",
                parts.that_can(),
                core.board().target
            ))
        };
        found.map(|file| Image { core, file }).ok_or_else(missing)
    }

    /// Checks that the file is a program for this kind of processor.
    ///
    /// # Errors
    /// [`CosimError`] if not: QEMU might run it without a message.
    fn check(&self) -> Result<(), CosimError> {
        let (file, core) = (self.file.display(), self.core.board().core);
        let mut header = [0; 20];
        let read = std::fs::File::open(&self.file).and_then(|mut opened| opened.read_exact(&mut header));
        let is_elf = read.is_ok() && header.starts_with(b"\x7fELF");
        let problem = if !is_elf {
            "is not an ELF file".to_owned()
        } else if u16::from_le_bytes([header[18], header[19]]) != self.core.elf_machine() {
            format!("is not for the {core}")
        } else {
            return Ok(());
        };
        Err(CosimError(format!("{file} {problem}: `{}` builds an image for it", self.core.build(""))))
    }
}
