//! The boards of QEMU that stand for a microcontroller beside a GPU: one list for what builds, measures and runs the images.
//! Their devices and their memory are in the images' package, `firmware/images/src/bin/` and `firmware/images/memory/`.

/// A processor, and the board that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// As people call the core.
    pub core: &'static str,
    /// Rust's name of the target.
    pub target: &'static str,
    /// The profile of its images in the workspace's `Cargo.toml`: optimised for time, or for size.
    pub profile: &'static str,
    /// QEMU's program.
    pub qemu: &'static str,
    /// Its options for the board.
    pub options: &'static [&'static str],
    /// Debian's package of the program.
    pub package: &'static str,
}

/// Cortex-M4F: Arm's FPGA image AN386.
pub const CORTEX_M4F: Board = Board {
    core: "Cortex-M4F",
    target: "thumbv7em-none-eabihf",
    profile: "image",
    qemu: "qemu-system-arm",
    options: &["-machine", "mps2-an386"],
    package: "qemu-system-arm",
};

/// Cortex-M0, without a divider or a wide multiply: the BBC micro:bit.
pub const CORTEX_M0: Board = Board {
    core: "Cortex-M0",
    target: "thumbv6m-none-eabi",
    profile: "image-small",
    qemu: "qemu-system-arm",
    options: &["-machine", "microbit"],
    package: "qemu-system-arm",
};

/// 32-bit RISC-V with multiplication, atomics and compressed instructions: QEMU's own board.
pub const RV32IMAC: Board = Board {
    core: "RV32IMAC",
    target: "riscv32imac-unknown-none-elf",
    profile: "image-small",
    qemu: "qemu-system-riscv32",
    options: &["-machine", "virt", "-bios", "none"],
    package: "qemu-system-misc",
};

/// All of them; the first is the one whose decision latency has a budget.
pub const BOARDS: [Board; 3] = [CORTEX_M4F, CORTEX_M0, RV32IMAC];
