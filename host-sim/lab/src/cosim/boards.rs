//! QEMU boards that represent a microcontroller next to a GPU: one list for building, measuring and
//! running the images. Their devices and memory are in the images' package,
//! `firmware/images/src/bin/` and `firmware/images/memory/`.

/// Processor with its QEMU board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Common name of the core.
    pub core: &'static str,
    /// Rust target triple.
    pub target: &'static str,
    /// Profile of its images in the workspace's `Cargo.toml`: optimized for time, or for size.
    pub profile: &'static str,
    /// Program of QEMU.
    pub qemu: &'static str,
    /// Options of QEMU for the board.
    pub options: &'static [&'static str],
    /// Debian package of the program.
    pub package: &'static str,
}

/// Cortex-M4F on Arm's FPGA image AN386.
pub const CORTEX_M4F: Board = Board {
    core: "Cortex-M4F",
    target: "thumbv7em-none-eabihf",
    profile: "image",
    qemu: "qemu-system-arm",
    options: &["-machine", "mps2-an386"],
    package: "qemu-system-arm",
};

/// Cortex-M0, without a divider or a wide multiply, on the BBC micro:bit.
pub const CORTEX_M0: Board = Board {
    core: "Cortex-M0",
    target: "thumbv6m-none-eabi",
    profile: "image-small",
    qemu: "qemu-system-arm",
    options: &["-machine", "microbit"],
    package: "qemu-system-arm",
};

/// 32-bit RISC-V with multiplication, atomics and compressed instructions, on QEMU's own board.
pub const RV32IMAC: Board = Board {
    core: "RV32IMAC",
    target: "riscv32imac-unknown-none-elf",
    profile: "image-small",
    qemu: "qemu-system-riscv32",
    options: &["-machine", "virt", "-bios", "none"],
    package: "qemu-system-misc",
};

/// All boards; the first is the one with a budget for decision latency.
pub const BOARDS: [Board; 3] = [CORTEX_M4F, CORTEX_M0, RV32IMAC];
