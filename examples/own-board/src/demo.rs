//! Demo of the example on a board without a GPU: two kernels are launched on three SMs, profiled,
//! and placed. Then the cable is unplugged.

use core::fmt::{self, Write};

use embedded_hal::delay::DelayNs;
use mias_firmware::crash_record::{BUS_FAILED, CrashRecord, MAGIC};
use mias_firmware_images::rehearsal::Rehearsal;
use mias_registers::PhaseCode;

use crate::spi_bus::SpiBus;
use crate::wire::Wire;
use crate::{Scheduler, run};

/// No delay, because the script's block answers from the start.
struct NoDelay;

impl DelayNs for NoDelay {
    fn delay_ns(&mut self, _: u32) {}
}

/// Runs the board until its bus fails, and prints each step.
///
/// # Errors
/// Those of `out`.
pub fn demo(firmware: &mut Scheduler, crash_record: &mut CrashRecord, out: &mut impl Write) -> fmt::Result {
    let mut bus = SpiBus::new(Wire { block: Rehearsal::new(), plugged: true });
    let mut written = Ok(());
    // Replaces sleep: the next event occurs, until there is a decision.
    let end = run(firmware, &mut bus, crash_record, &mut NoDelay, |bus, firmware| {
        let phase = firmware.scheduler().phase().code();
        written = written.and_then(|()| writeln!(out, "{}", phase.name()));
        if phase == PhaseCode::Steady {
            written = written.and_then(|()| decision(firmware, out));
            bus.device().plugged = false;
        }
        bus.device().block.play();
    });
    written?;
    writeln!(out, "the end: {end}")?;
    match *crash_record {
        CrashRecord { magic: MAGIC, cause: BUS_FAILED, address, count, .. } => {
            writeln!(out, "crash record: the bus failed at register {address:#05x}, after {count} events")
        }
        _ => writeln!(out, "no crash record"),
    }
}

/// Prints the choice: TBs per SM of each kernel.
fn decision(firmware: &Scheduler, out: &mut impl Write) -> fmt::Result {
    match firmware.report().winner() {
        Some(vector) => writeln!(out, "first decision: {:?} TBs per SM", vector.0),
        None => writeln!(out, "no decision"),
    }
}
