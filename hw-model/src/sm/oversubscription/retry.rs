//! Repeated examination of an SM for a TB: a context place or a warp slot that becomes free while
//! its TB stays may be what another TB lacked (sources.md D199). Capacity that becomes free at the
//! end of a TB is noticed without this.

use super::super::Sm;

impl Sm {
    /// Handles a context place or a warp slot that has become free: TB issue examines this SM again
    /// if a TB lacked a place.
    pub(super) fn retry_extra_tb(&mut self) {
        let Some(oversubscription) = &self.oversubscription else { return };
        let (kernel, native) = match oversubscription.switched {
            Some((kernel, plan)) => (usize::from(kernel), plan.native),
            // The kernel that has the SM alone, if any.
            None if self.resident_kernels.is_power_of_two() => (self.resident_kernels.trailing_zeros() as usize, 0),
            None => return,
        };
        self.drained |= oversubscription.extras < oversubscription.most_extra[kernel] || self.resident[kernel] < native;
    }
}
