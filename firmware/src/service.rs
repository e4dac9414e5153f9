//! Main-loop functions of an image: handling one wake-up under the watchdog, and waiting for a
//! register block that leaves reset later than the microcontroller.

use embedded_hal::delay::DelayNs;

use crate::driver::{Attends, Firmware, Observer, Progress};
use crate::policy::Policy;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::global;

/// Handles all pending events, then prepares future work until none is left, and checks for events
/// in between.
///
/// The watchdog covers this work. It is started at the start of the work and turned off at its end,
/// so it does not run during sleep. It is fed by progress: whenever the firmware has finished an
/// event. It expires after `period` core cycles if the firmware hangs, or if the line stays high
/// without an event.
///
/// # Errors
/// The bus failed, now or in an earlier call. The observer was notified of a failure now
/// ([`Observer::bus_failed`]). The watchdog stays on, and expires unless the firmware is restarted,
/// which the host detects.
pub fn serve<P, E, O: Observer, B: TryBus, const C: usize>(
    firmware: &mut Firmware<P, E, C>,
    bus: &mut B,
    observer: &mut O,
    period: u32,
) -> Result<(), B::Error>
where
    P: Policy,
    E: for<'a> Attends<(&'a mut O, Progress)>,
{
    firmware.check_running::<B>()?;
    firmware.note_failure(write(bus, global::WATCHDOG_PERIOD, period), observer)?;
    loop {
        if firmware.note_failure(read(bus, global::INT_PENDING), observer)? != 0 {
            let mut watched = (&mut *observer, Progress::default());
            firmware.on_interrupt_watched(bus, &mut watched)?;
            if watched.1.0 {
                firmware.note_failure(write(bus, global::WATCHDOG_FEED, 1), observer)?;
            }
        } else if !firmware.prepare() {
            break;
        }
    }
    firmware.note_failure(write(bus, global::WATCHDOG_PERIOD, 0), observer)?;
    firmware.note_failure(bus.try_barrier(), observer)
}

/// Waits until the register block answers: its ID is neither 0 nor all ones.
///
/// It polls at most `tries` times, `pause_ns` nanoseconds apart, and returns false if the block
/// never answered.
///
/// # Errors
/// The bus failed. The function does not retry: a bus on which a block in reset is not a failure
/// returns all ones.
pub fn await_block<B: TryBus>(bus: &mut B, delay: &mut impl DelayNs, pause_ns: u32, tries: u32) -> Result<bool, B::Error> {
    for left in (0..tries).rev() {
        if !matches!(read(bus, global::ID)?, 0 | u32::MAX) {
            return Ok(true);
        }
        if left != 0 {
            delay.delay_ns(pause_ns);
        }
    }
    Ok(false)
}
