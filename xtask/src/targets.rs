//! The processors that the firmware is built for, and the QEMU boards that stand for them.

/// A processor and its board.
pub(crate) struct Target {
    /// As people call the core.
    pub(crate) core: &'static str,
    /// Rust's name.
    pub(crate) triple: &'static str,
    /// Disassemble as this: for Arm a core with every float instruction of the M profile, so that each is shown as what it is.
    pub(crate) objdump: &'static [&'static str],
    /// The QEMU program.
    pub(crate) qemu: &'static str,
    /// Its arguments for the board. The micro:bit gets more RAM than it has, for the register block of the bench.
    pub(crate) board: &'static [&'static str],
}

/// All of them; the first is the one whose decision latency has a budget.
pub(crate) const TARGETS: [Target; 3] = [
    Target {
        core: "Cortex-M4F",
        triple: "thumbv7em-none-eabihf",
        objdump: &["--mcpu=cortex-m7"],
        qemu: "qemu-system-arm",
        board: &["-M", "mps2-an386"],
    },
    Target {
        core: "Cortex-M0",
        triple: "thumbv6m-none-eabi",
        objdump: &[],
        qemu: "qemu-system-arm",
        board: &["-M", "microbit", "-global", "nrf51-soc.sram-size=524288"],
    },
    Target {
        core: "RV32IMAC",
        triple: "riscv32imac-unknown-none-elf",
        objdump: &[],
        qemu: "qemu-system-riscv32",
        board: &["-M", "virt", "-bios", "none"],
    },
];

impl Target {
    /// The RISC-V one.
    pub(crate) fn is_riscv(&self) -> bool {
        self.triple.starts_with("riscv")
    }
}
