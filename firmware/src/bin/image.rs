//! The target image: the firmware over memory-mapped registers on a Cortex-M.
//!
//! The panic handler calls a symbol that does not exist, so the image links only if no panic is reachable.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod target {
    use core::panic::PanicInfo;

    use cortex_m::{asm, interrupt::InterruptNumber, peripheral::NVIC};
    use cortex_m_rt::entry;
    use mias_firmware::Firmware;
    use mias_firmware::bus::{Bus, MappedBus};
    use mias_firmware::driver::DEFAULT_CONFIGS;
    use mias_firmware::policy::AnyPolicy;
    use mias_firmware::regs::global;

    /// Where the register block is mapped: the start of the vendor's external-device region of the ARMv7-M memory map.
    /// Assumption; a real chip would have its own address.
    const REGISTERS: usize = 0xA000_0000;

    /// SEVONPEND in the system control register (ARMv7-M, B3.2.7): a pending interrupt wakes WFE even when disabled.
    const SEVONPEND: u32 = 1 << 4;

    /// The register block's interrupt line. Assumption: line 0.
    #[derive(Clone, Copy)]
    struct Line;

    // SAFETY: the number is a constant that the processor has.
    unsafe impl InterruptNumber for Line {
        fn number(self) -> u16 {
            0
        }
    }

    #[entry]
    fn main() -> ! {
        // SAFETY: the register block is mapped there, and this is the only accessor.
        let mut bus = unsafe { MappedBus::new(REGISTERS) };
        let Ok(mut firmware) = Firmware::<AnyPolicy, DEFAULT_CONFIGS>::from_straps(&mut bus) else {
            // The fault register says why.
            loop {
                asm::wfe();
            }
        };
        if let Some(peripherals) = cortex_m::Peripherals::take() {
            // SAFETY: sets one bit that changes nothing but what wakes the processor.
            unsafe { peripherals.SCB.scr.modify(|bits| bits | SEVONPEND) };
        }
        loop {
            NVIC::unpend(Line);
            while bus.read32(global::INT_PENDING) != 0 {
                firmware.on_interrupt(&mut bus);
            }
            #[cfg(feature = "inject-panic")]
            {
                let table = [1_u32, 2, 3];
                let index = bus.read32(global::PHASE) as usize;
                bus.write32(global::PHASE, table[index]);
            }
            asm::wfe();
        }
    }

    unsafe extern "C" {
        /// Deliberately undefined.
        fn __panic_is_reachable() -> !;
    }

    #[panic_handler]
    fn panic(_: &PanicInfo<'_>) -> ! {
        // SAFETY: never runs: an image that refers to this symbol does not link.
        unsafe { __panic_is_reachable() }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this is a target image; build it with:");
    eprintln!("  cargo build -p mias-firmware --bin mias-firmware-image --target thumbv7em-none-eabihf --profile image");
    std::process::exit(2);
}
