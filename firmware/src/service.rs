//! What runs around the driver in an image: handling one wake-up, guarded by the watchdog, and the wait for a register block that comes out of reset
//! later than the microcontroller.

use embedded_hal::delay::DelayNs;

use crate::driver::{Attends, Firmware, Observer};
use crate::policy::Policy;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::global;

/// Handles all that is pending, then prepares for what is to come until there is nothing left to prepare, looking for events in between.
/// All under the watchdog: it is started and fed when the work begins and turned off at its end, so that it guards the work and not the
/// sleep. Firmware that hangs, or a line that never goes low, lets it expire after
/// `period` core cycles.
///
/// # Errors
/// The bus failed. The observer has been told ([`Observer::bus_failed`]). The watchdog is left on, and expires unless the firmware is started
/// again: the host hears of it.
pub fn serve<P: Policy, E: Attends<O>, O: Observer, B: TryBus, const C: usize>(
    firmware: &mut Firmware<P, E, C>,
    bus: &mut B,
    observer: &mut O,
    period: u32,
) -> Result<(), B::Error> {
    firmware.mind(write(bus, global::WATCHDOG_PERIOD, period), observer)?;
    loop {
        if firmware.mind(read(bus, global::INT_PENDING), observer)? != 0 {
            firmware.on_interrupt_watched(bus, observer)?;
        } else if !firmware.prepare() {
            break;
        }
    }
    firmware.mind(write(bus, global::WATCHDOG_PERIOD, 0), observer)
}

/// Waits until the register block answers: its ID is neither 0 nor all ones. Looks `tries` times at most, `pause_ns` nanoseconds
/// apart; false if it never did.
///
/// # Errors
/// The bus failed. That is no answer to wait for: a bus on which a block in reset is no failure answers all ones for it.
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
