//! What the example does on a board without a GPU: two kernels are launched on three SMs, profiled, and placed. Then somebody pulls the cable.

use core::fmt::{self, Write};

use embedded_hal::delay::DelayNs;
use mias_firmware::epitaph::{BUS_FAILED, Epitaph, MAGIC};
use mias_firmware_images::rehearsal::Rehearsal;
use mias_registers::PhaseCode;

use crate::spi_bus::SpiBus;
use crate::wire::Wire;
use crate::{Scheduler, run};

/// No time passes: the script's block is there from the start.
struct NoDelay;

impl DelayNs for NoDelay {
    fn delay_ns(&mut self, _: u32) {}
}

/// Runs the board until its bus fails, and says what happens.
///
/// # Errors
/// Those of `out`.
pub fn demo(firmware: &mut Scheduler, epitaph: &mut Epitaph, out: &mut impl Write) -> fmt::Result {
    let mut bus = SpiBus::new(Wire { block: Rehearsal::new(), plugged: true });
    let mut written = Ok(());
    // In place of sleep: the next thing happens, as long as there is no decision.
    let end = run(firmware, &mut bus, epitaph, &mut NoDelay, |bus, firmware| {
        let phase = firmware.scheduler().phase().code();
        written = written.and_then(|()| writeln!(out, "{}", phase.name()));
        if phase == PhaseCode::Steady {
            written = written.and_then(|()| decision(firmware, out));
            bus.device().plugged = false;
        }
        bus.device().block.play();
    });
    written?;
    writeln!(out, "the end: {end:?}")?;
    match *epitaph {
        Epitaph { magic: MAGIC, cause: BUS_FAILED, address, count, .. } => {
            writeln!(out, "epitaph: the bus failed at register {address:#05x}, after {count} events")
        }
        _ => writeln!(out, "no epitaph"),
    }
}

/// What was chosen: TBs per SM of each kernel.
fn decision(firmware: &Scheduler, out: &mut impl Write) -> fmt::Result {
    match firmware.report().winner() {
        Some(vector) => writeln!(out, "first decision: {:?} TBs per SM", vector.0),
        None => writeln!(out, "no decision"),
    }
}
