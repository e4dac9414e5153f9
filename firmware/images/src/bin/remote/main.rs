//! Image with its register block at the other end of a serial port: the scheduler in QEMU, under
//! the GPU model on the host (`mias compare --firmware qemu`), or under a recording (`mias firmware
//! replay`).
//!
//! Scheduler, driver and limits are those of the target image; only the bus differs. The driver
//! runs once per wake-up: the host wakes it again while the interrupt line is high.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "arm", not(microbit)))]
#[path = "mps2_an386.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "arm", microbit))]
#[path = "microbit.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "virt.rs"]
mod board;
#[cfg(target_os = "none")]
mod mmio;

#[cfg(target_os = "none")]
#[path = "../common/panic.rs"]
mod panic;

#[cfg(target_os = "none")]
mod target {
    use core::ptr::addr_of_mut;

    #[cfg(target_arch = "arm")]
    use cortex_m_rt::entry;
    use mias_firmware::limits;
    use mias_policies::Firmware;
    use mias_policies::policy::AnyPolicy;
    use mias_registers::VERSION_VALUE;
    use mias_registers::remote::{CONTROLS, LEVELS, PREEMPTS, RemoteBus, Request, SEARCHES, Wake};
    #[cfg(target_arch = "riscv32")]
    use riscv_rt::entry;

    use super::board::SerialPort;

    /// The scheduler's state, started in place: it is too large for the stack.
    static mut FIRMWARE: Firmware<AnyPolicy, { limits::CONFIGS }> = Firmware::idle();

    /// Greeting of this image.
    const HELLO: Request = Request::Hello {
        version: VERSION_VALUE,
        sms: limits::SMS as u32,
        kernels: limits::KERNELS as u32,
        configs: limits::CONFIGS as u32,
        features: if cfg!(feature = "preempt") { PREEMPTS } else { 0 }
            | if cfg!(feature = "search") { SEARCHES } else { 0 }
            | if cfg!(feature = "oversubscription") { CONTROLS } else { 0 }
            | if cfg!(feature = "levels") { LEVELS } else { 0 },
    };

    /// Entry point that the reset code calls once memory is set up.
    #[entry]
    fn run() -> ! {
        let mut bus = RemoteBus::connect(SerialPort::open(), HELLO);
        // SAFETY: `run` is called once, by the reset code, and nothing else names the static.
        let firmware = unsafe { &mut *addr_of_mut!(FIRMWARE) };
        let (mut wake, mut started) = (Wake::Reset, false);
        loop {
            match wake {
                Wake::Reset => started = firmware.restart(&mut bus, limits::SMS).is_ok(),
                Wake::Interrupt if started => {
                    let Ok(()) = firmware.on_interrupt(&mut bus);
                }
                Wake::Interrupt => {}
            }
            wake = bus.sleep();
        }
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this is a target image; `cargo xtask image` builds it, and `mias run --firmware qemu` runs it");
    std::process::exit(2);
}
