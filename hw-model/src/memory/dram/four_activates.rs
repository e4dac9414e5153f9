//! Four-activate window, tFAW: within any window of `t_faw` cycles a channel issues at most four
//! activates (JEDEC JESD232 and JESD250, four bank activate window). Off with `t_faw = 0`, as in
//! GPGPU-Sim, which has no such constraint.

/// Last four activates of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct FourActivates {
    window: u64,
    /// Ends of the windows of the last four activates.
    ends: [u64; 4],
    oldest: usize,
}

impl FourActivates {
    /// Creates a window of `window` command cycles; 0: no constraint.
    pub(super) fn new(window: u32) -> Self {
        FourActivates { window: window.into(), ends: [0; 4], oldest: 0 }
    }

    /// Records an activate in cycle `t`. Returns the first cycle in which the next may issue.
    #[inline]
    pub(super) fn record(&mut self, t: u64) -> u64 {
        self.ends[self.oldest] = t + self.window;
        self.oldest = (self.oldest + 1) % self.ends.len();
        self.ends[self.oldest]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Comparison with the definition: for activates issued as early as allowed, at least `gap`
        /// apart, the fifth is at the later of gap after the fourth and window after the first.
        #[test]
        fn the_fifth_waits_for_the_window_of_the_first(window in 0u32..200, gaps in prop::collection::vec(1u64..60, 5..60)) {
            let mut four = FourActivates::new(window);
            let mut issued: Vec<u64> = Vec::new();
            let mut allowed = 0;
            for gap in gaps {
                let t = issued.last().map_or(0, |last| last + gap).max(allowed);
                let expected = match issued.len() {
                    0 => 0,
                    n if n < 4 => issued[n - 1] + gap,
                    n => (issued[n - 1] + gap).max(issued[n - 4] + u64::from(window)),
                };
                prop_assert_eq!(t, expected);
                issued.push(t);
                allowed = four.record(t);
            }
        }
    }
}
