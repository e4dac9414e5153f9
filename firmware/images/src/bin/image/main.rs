//! Target image: the firmware over memory-mapped registers, on a Cortex-M or a RISC-V core. It
//! handles pending events, sleeps, and is woken by the register block's interrupt line.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "../common/copy.rs"]
mod copy;
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[path = "cortex_m.rs"]
mod core_support;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "riscv.rs"]
mod core_support;
#[cfg(target_os = "none")]
#[path = "../common/crash_record.rs"]
mod crash_record;
#[cfg(all(target_os = "none", feature = "defmt"))]
#[path = "../common/log.rs"]
mod log;
#[cfg(target_os = "none")]
#[path = "../common/panic.rs"]
mod panic;
#[cfg(target_os = "none")]
#[path = "../common/pause.rs"]
mod pause;

/// Number of the register block's interrupt. Assumption: line 0.
#[cfg(all(target_os = "none", target_arch = "arm"))]
const LINE: u16 = 0;

#[cfg(target_os = "none")]
mod target {
    use core::ptr::addr_of_mut;

    #[cfg(target_arch = "arm")]
    use cortex_m_rt::entry;
    use mias_firmware::limits;
    use mias_firmware::service::{await_block, serve};
    use mias_policies::Firmware;
    use mias_policies::policy::AnyPolicy;
    use mias_registers::bus::{Bus, MappedBus};
    use mias_registers::global;
    #[cfg(target_arch = "riscv32")]
    use riscv_rt::entry;

    use crate::core_support;
    use crate::crash_record;
    use crate::pause::Pause;

    /// Base address of the register block. On Arm it is the start of the vendor's external-device
    /// region of the ARMv7-M memory map. Assumption; a real chip would have its own address.
    const REGISTERS: usize = if cfg!(target_arch = "arm") { 0xA000_0000 } else { 0x5000_0000 };

    /// The scheduler's state, started in place: it is too large for the stack.
    static mut FIRMWARE: Firmware<AnyPolicy, { limits::CONFIGS }> = Firmware::idle();

    /// Entry point that the reset code calls once memory is set up.
    #[entry]
    fn run() -> ! {
        // SAFETY: the register block is mapped there, and this is the only accessor.
        let mut bus = unsafe { MappedBus::new(REGISTERS) };
        // SAFETY: `run` is called once, by the reset code, and nothing else names the static.
        let firmware = unsafe { &mut *addr_of_mut!(FIRMWARE) };
        // SAFETY: as above.
        let crash_record = unsafe { crash_record::open(|_| {}) };
        // If the block never answers, the start below finds no ID, and raises the fault.
        let Ok(_) = await_block(&mut bus, &mut Pause, limits::BLOCK_PAUSE_NS, limits::BLOCK_TRIES);
        // Before the start, which it covers.
        bus.write32(global::WATCHDOG_PERIOD, limits::WATCHDOG_CYCLES);
        if firmware.restart(&mut bus, limits::SMS).is_err() {
            // The fault register has the reason, and a reset would not help.
            bus.write32(global::WATCHDOG_PERIOD, 0);
            loop {
                core_support::sleep();
            }
        }
        #[cfg(feature = "defmt")]
        let crash_record = &mut (crash_record, mias_firmware::log::Log::NEW);
        core_support::listen();
        loop {
            core_support::forget();
            serve(firmware, &mut bus, crash_record, limits::WATCHDOG_CYCLES);
            #[cfg(feature = "inject-panic")]
            {
                let table = [1_u32, 2, 3];
                let index = bus.read32(global::PHASE) as usize;
                bus.write32(global::PHASE, table[index]);
            }
            core_support::sleep();
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this is a target image; `cargo xtask image` builds it for all targets, and this line for one of them:");
    eprintln!("  cargo build -p mias-firmware-images --bin mias-firmware-image --target thumbv7em-none-eabihf --profile image");
    std::process::exit(2);
}
