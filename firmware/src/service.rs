//! What runs around the driver in an image: handling one wake-up, guarded by the watchdog, and the wait for a register block that comes out of reset
//! later than the microcontroller.

use embedded_hal::delay::DelayNs;

use crate::bus::{Bus, read, write};
use crate::driver::{Firmware, Observer};
use crate::policy::Policy;
use crate::regs::global;

/// Handles all that is pending, then prepares for what is to come until there is nothing left to prepare, looking for events in between.
/// All under the watchdog: it is started and fed when the work begins and turned off at its end, so that it guards the work and not the
/// sleep. Firmware that hangs, or a line that never goes low, lets it expire after
/// `period` core cycles.
pub fn serve<P: Policy, const C: usize>(firmware: &mut Firmware<P, C>, bus: &mut impl Bus, observer: &mut impl Observer, period: u32) {
    write(bus, global::WATCHDOG_PERIOD, period);
    loop {
        if read(bus, global::INT_PENDING) != 0 {
            firmware.on_interrupt_watched(bus, observer);
        } else if !firmware.prepare() {
            break;
        }
    }
    write(bus, global::WATCHDOG_PERIOD, 0);
}

/// Waits until the register block answers: its ID is neither 0 nor all ones. Looks `tries` times at most, `pause_ns` nanoseconds
/// apart; false if it never did.
pub fn await_block(bus: &mut impl Bus, delay: &mut impl DelayNs, pause_ns: u32, tries: u32) -> bool {
    for left in (0..tries).rev() {
        if !matches!(read(bus, global::ID), 0 | u32::MAX) {
            return true;
        }
        if left != 0 {
            delay.delay_ns(pause_ns);
        }
    }
    false
}
