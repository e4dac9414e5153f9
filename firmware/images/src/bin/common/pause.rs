//! Delay by a counting loop.

use embedded_hal::delay::DelayNs;

use crate::core_support;

/// Delay that spins.
pub(crate) struct Pause;

impl DelayNs for Pause {
    fn delay_ns(&mut self, ns: u32) {
        // A cycle of 8 ns: assumption. A slower core waits longer.
        core_support::spin(ns / 8);
    }
}
