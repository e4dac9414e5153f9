//! When an SM is looked at again for a TB: a place of a context or a warp slot that is given up,
//! while its TB stays, may be what another TB found missing (sources.md D199). Room that a TB
//! leaves behind when it ends is seen without this.

use super::super::Sm;

impl Sm {
    /// A place of a context or a warp slot has become free: TB issue looks at this SM again if a TB could come that found no place.
    pub(super) fn retry_extra_tb(&mut self) {
        let Some(contexts) = &self.oversubscription else { return };
        let (kernel, native) = match contexts.switched {
            Some((kernel, plan)) => (usize::from(kernel), plan.native),
            // Who has the SM alone, if somebody has.
            None if self.resident_kernels.is_power_of_two() => (self.resident_kernels.trailing_zeros() as usize, 0),
            None => return,
        };
        self.drained |= contexts.extras < contexts.most_extra[kernel] || self.resident[kernel] < native;
    }
}
