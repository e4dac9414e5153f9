//! The image's main loop on a QEMU board: scheduler, logs, sleep, watchdog and crash record, with a
//! register block that plays a script. `cargo xtask rehearse` steps it over the serial port, and
//! checks its behavior.
//!
//! Processor support, crash record and logs are the image's own files. The block's interrupt line
//! is that of the serial port.
//!
//! | command | answer |
//! |---|---|
//! | `ACT`: the block plays its next act | phase (1 byte), turns of the main loop so far (4) |
//! | `LOG` | bytes of logs so far (4), the ring |
//! | `HANG`: the interrupt line never goes low again | none |
//!
//! After a reset it sends `FRESH`, or `CRASHED` and the crash record. Words are little-endian.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(all(target_os = "none", target_arch = "arm", not(microbit)))]
#[path = "../remote/mps2_an386.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "arm", microbit))]
#[path = "../remote/microbit.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "../remote/virt.rs"]
mod board;
#[cfg(all(target_os = "none", target_arch = "arm"))]
#[path = "../image/cortex_m.rs"]
mod core_support;
#[cfg(all(target_os = "none", target_arch = "riscv32"))]
#[path = "../image/riscv.rs"]
mod core_support;
#[cfg(target_os = "none")]
#[path = "../common/crash_record.rs"]
mod crash_record;
#[cfg(target_os = "none")]
#[path = "../common/log.rs"]
mod log;
#[cfg(target_os = "none")]
#[path = "../remote/mmio.rs"]
mod mmio;
#[cfg(target_os = "none")]
#[path = "../common/panic.rs"]
mod panic;
#[cfg(target_os = "none")]
#[path = "../common/pause.rs"]
mod pause;
#[cfg(target_os = "none")]
mod watchdog;

/// Number of the serial port's interrupt: AN386, table 3-5; nRF51, the UART's peripheral number.
#[cfg(all(target_os = "none", target_arch = "arm"))]
const LINE: u16 = if cfg!(microbit) { 2 } else { 0 };

#[cfg(target_os = "none")]
mod target {
    use core::ptr::{addr_of, addr_of_mut};

    #[cfg(target_arch = "arm")]
    use cortex_m_rt::entry;
    use mias_firmware::crash_record::{CrashRecord, MAGIC};
    use mias_firmware::limits;
    use mias_firmware::log::Log;
    use mias_firmware::service::{await_block, serve};
    use mias_firmware_images::rehearsal::{ACT, CRASHED, FRESH, HANG, LOG, Rehearsal};
    use mias_policies::Firmware;
    use mias_policies::policy::AnyPolicy;
    use mias_registers::bus::Bus;
    use mias_registers::global;
    use mias_registers::remote::Line;
    #[cfg(target_arch = "riscv32")]
    use riscv_rt::entry;

    use crate::board::SerialPort;
    use crate::pause::Pause;
    use crate::{core_support, crash_record, log, watchdog};

    /// The scheduler's state, started in place: it is too large for the stack.
    static mut FIRMWARE: Firmware<AnyPolicy, { limits::CONFIGS }> = Firmware::idle();

    /// Scripted block, with the board's watchdog as its own.
    struct Block {
        script: Rehearsal,
        hangs: bool,
    }

    impl Bus for Block {
        fn read32(&mut self, offset: u32) -> u32 {
            if self.hangs && offset == global::INT_PENDING { 1 } else { self.script.read32(offset) }
        }

        fn write32(&mut self, offset: u32, value: u32) {
            match offset {
                global::WATCHDOG_PERIOD => watchdog::set(value),
                _ => self.script.write32(offset, value),
            }
        }
    }

    #[entry]
    fn run() -> ! {
        let mut port = SerialPort::open();
        let mut block = Block { script: Rehearsal::new(), hangs: false };
        // SAFETY: `run` is called once, by the reset code, and nothing else names the static.
        let firmware = unsafe { &mut *addr_of_mut!(FIRMWARE) };
        // SAFETY: as above.
        let crash_record = unsafe {
            crash_record::open(|last| {
                // SAFETY: as in `open`.
                announce(&mut port, &last.read_volatile());
            })
        };
        let Ok(found) = await_block(&mut block, &mut Pause, limits::BLOCK_PAUSE_NS, limits::BLOCK_TRIES);
        if !found || firmware.restart(&mut block, limits::SMS).is_err() {
            loop {
                core_support::sleep();
            }
        }
        let observer = &mut (crash_record, Log::NEW);
        let mut turns = 0_u32;
        let mut command = None;
        core_support::listen();
        loop {
            core_support::forget();
            turns = turns.wrapping_add(1);
            serve(firmware, &mut block, observer, watchdog::PERIOD);
            match command.take() {
                Some(ACT) => {
                    port.send(firmware.scheduler().phase().code() as u8);
                    say(&mut port, turns);
                }
                Some(LOG) => tell_log(&mut port),
                _ => {}
            }
            core_support::sleep();
            if SerialPort::waiting() {
                let byte = port.receive();
                match byte {
                    ACT => block.script.play(),
                    HANG => block.hangs = true,
                    _ => {}
                }
                command = Some(byte);
            }
        }
    }

    fn say(port: &mut SerialPort, word: u32) {
        word.to_le_bytes().into_iter().for_each(|byte| port.send(byte));
    }

    /// Sends the crash record of the last run.
    fn announce(port: &mut SerialPort, crash_record: &CrashRecord) {
        if crash_record.magic != MAGIC {
            port.send(FRESH);
            return;
        }
        port.send(CRASHED);
        for word in
            [crash_record.magic, crash_record.cause, crash_record.address, crash_record.count].into_iter().chain(crash_record.events)
        {
            say(port, word);
        }
    }

    fn tell_log(port: &mut SerialPort) {
        // SAFETY: no code logs meanwhile.
        let ring = unsafe { &*addr_of!(log::MIAS_LOG) };
        say(port, ring.written);
        ring.bytes.iter().for_each(|byte| port.send(*byte));
    }
}

#[cfg(not(target_os = "none"))]
fn main() {
    eprintln!("this is a target image; `cargo xtask rehearse` builds and runs it");
    std::process::exit(2);
}
