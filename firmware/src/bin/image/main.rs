//! The target image: the firmware over memory-mapped registers, on a Cortex-M or a RISC-V core. It handles what is pending,
//! sleeps, and is woken by the register block's interrupt line.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "arm"))]
#[path = "cortex_m.rs"]
mod core_support;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "riscv.rs"]
mod core_support;

#[cfg(target_os = "none")]
#[path = "../common/panic.rs"]
mod panic;

#[cfg(target_os = "none")]
mod target {
    use core::ptr::addr_of_mut;

    use embedded_hal::delay::DelayNs;
    use mias_firmware::Firmware;
    use mias_firmware::bus::MappedBus;
    use mias_firmware::epitaph::Epitaph;
    use mias_firmware::limits;
    use mias_firmware::policy::AnyPolicy;
    use mias_firmware::service::{await_block, serve};

    use super::core_support::{self, REGISTERS};

    /// The scheduler's state, started in place: it is too large for the stack.
    static mut FIRMWARE: Firmware<AnyPolicy, { limits::CONFIGS }> = Firmware::idle();

    /// A pause by counting.
    struct Pause;

    impl DelayNs for Pause {
        fn delay_ns(&mut self, ns: u32) {
            // A cycle of 8 ns: assumption; a slower core waits longer.
            core_support::spin(ns / 8);
        }
    }

    /// What is left after a fault; at the start of RAM, and not cleared at reset.
    #[unsafe(link_section = ".epitaph")]
    static mut EPITAPH: Epitaph = Epitaph::EMPTY;

    /// Writes the epitaph and stops. The watchdog is on and expires: the host hears of it.
    pub(crate) fn bury(cause: u32, address: u32) -> ! {
        // SAFETY: the fault ended whoever else was writing.
        let epitaph = unsafe { &mut *addr_of_mut!(EPITAPH) };
        epitaph.close(cause, address);
        loop {
            core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        }
    }

    /// What the reset code calls once memory is set up.
    pub(crate) fn run() -> ! {
        // SAFETY: the register block is mapped there, and this is the only accessor.
        let mut bus = unsafe { MappedBus::new(REGISTERS) };
        // SAFETY: `run` is called once, by the reset code, and nothing else names the static.
        let firmware = unsafe { &mut *addr_of_mut!(FIRMWARE) };
        // SAFETY: likewise; `bury` runs when this code does no more.
        let epitaph = unsafe { &mut *addr_of_mut!(EPITAPH) };
        epitaph.count = 0;
        // In vain: the start below says why.
        await_block(&mut bus, &mut Pause, limits::BLOCK_PAUSE_NS, limits::BLOCK_TRIES);
        if firmware.restart(&mut bus, limits::SMS).is_err() {
            // The fault register says why.
            loop {
                core_support::sleep();
            }
        }
        core_support::listen();
        loop {
            core_support::forget();
            serve(firmware, &mut bus, epitaph, limits::WATCHDOG_CYCLES);
            #[cfg(feature = "inject-panic")]
            {
                use mias_firmware::bus::Bus;
                use mias_firmware::regs::global;
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
    eprintln!("  cargo build -p mias-firmware --bin mias-firmware-image --target thumbv7em-none-eabihf --profile image");
    std::process::exit(2);
}
