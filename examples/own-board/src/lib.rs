#![no_std]
#![forbid(unsafe_code)]
//! Example of a custom board: the scheduler on a microcontroller that accesses its register block
//! over SPI. `docs/porting/boards.md` explains it step by step.
//!
//! [`run`] is the board's whole program. [`demo`] is a board without a GPU: it plays a script until
//! the first decision, and then unplugs the cable.

pub mod demo;
pub mod spi_bus;
pub mod wire;

use core::convert::Infallible;

use embedded_hal::delay::DelayNs;
use mias_firmware::Firmware;
use mias_firmware::crash_record::CrashRecord;
use mias_firmware::driver::{Observer, StartError};
use mias_firmware::limits;
use mias_firmware::policy::ShippedPolicy;
use mias_firmware::service::{await_block, serve};
use mias_registers::bus::{Error, TryBus};

/// Scheduler with the capacity for two rounds of configurations on 32 SMs.
pub type Scheduler = Firmware<ShippedPolicy, (), { limits::CONFIGS }>;

/// Starts the scheduler and serves the block until an error.
///
/// It ends if the firmware does not know the block, or if the bus fails; the crash record then has
/// the register. `sleep` returns when the block's interrupt line is high.
pub fn run<B: TryBus>(
    firmware: &mut Scheduler,
    bus: &mut B,
    crash_record: &mut CrashRecord,
    delay: &mut impl DelayNs,
    sleep: impl FnMut(&mut B, &Scheduler),
) -> StartError<B::Error> {
    let Err(end) = work(firmware, bus, crash_record, delay, sleep);
    if let StartError::Bus(error) = &end {
        crash_record.bus_failed(error.register());
    }
    end
}

fn work<B: TryBus>(
    firmware: &mut Scheduler,
    bus: &mut B,
    crash_record: &mut CrashRecord,
    delay: &mut impl DelayNs,
    mut sleep: impl FnMut(&mut B, &Scheduler),
) -> Result<Infallible, StartError<B::Error>> {
    await_block(bus, delay, limits::BLOCK_PAUSE_NS, limits::BLOCK_TRIES)?;
    firmware.restart(bus, limits::SMS)?;
    loop {
        serve(firmware, bus, crash_record, limits::WATCHDOG_CYCLES)?;
        sleep(bus, firmware);
    }
}

#[cfg(test)]
mod tests;
