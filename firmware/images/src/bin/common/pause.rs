//! A pause by counting.

use embedded_hal::delay::DelayNs;

use crate::core_support;

/// Counts.
pub(crate) struct Pause;

impl DelayNs for Pause {
    fn delay_ns(&mut self, ns: u32) {
        // A cycle of 8 ns: assumption; a slower core waits longer.
        core_support::spin(ns / 8);
    }
}
