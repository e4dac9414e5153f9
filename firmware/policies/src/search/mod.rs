//! Search for the number of SMs that each kernel needs, in steps of two windows each (Zhao et al.
//! 2018, section 4; sources.md D148).
//!
//! In the first window caches and queues settle, and the second is measured over the whole chip.
//! This module has the parts that all searching policies share:
//!
//! * the assignment of SMs ([`Shares`])
//! * the kernels' counts in a window ([`KernelCounts`])
//! * their rates relative to the even split ([`Rate`])
//! * the model of off-SM bandwidth that classifies kernels as memory-intensive ([`Supply`])
//!
//! The policy defines the steps and keeps their state. Without the feature `search` an image
//! contains none of it.

mod bandwidth;
mod counts;
mod model;
mod parameters;
mod quotient;
mod searches;
mod shares;

pub use bandwidth::{Supply, utilized};
pub use counts::{Beside, KernelCounts, Rate};
pub use model::Reach;
pub use parameters::Parameters;
pub use quotient::{MOST as MOST_QUOTIENT, ONE, QUOTIENT_BITS, quotient};
pub use searches::{Limits, Searches};
pub use shares::{Holder, Holders, Rest, Shares, SmState};

pub(crate) use counts::MOST_CYCLES;
pub(crate) use quotient::over;

use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::policy::Next;

/// A set of scheduled kernels: bit n for the n-th.
pub type Kernels = u8;

/// Common state of every search, from the even split to the final shares. The policy keeps the
/// state of its own steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// Parameters of the search, and properties of the GPU.
    pub parameters: Parameters,
    /// Assignment of SMs to kernels.
    pub shares: Shares,
    /// Counts of each kernel in the last window.
    pub counts: [KernelCounts; MAX_KERNELS],
    /// Rate of each kernel on its even share.
    pub even: [Rate; MAX_KERNELS],
    /// Number of measured windows.
    pub windows: u16,
    /// Memory-intensive kernels.
    pub memory: Kernels,
    /// Kernels that ended a TB in the first window. Their SMs are reassigned by draining (Zhao et
    /// al. 2018, section 4.1.2).
    pub drains: Kernels,
    /// Configuration of all SMs, instead of the shares.
    pub on_all: Option<TbVector>,
    /// Whether the search has started, and controls the SMs.
    running: bool,
    /// Whether trials are over or paused.
    over: bool,
    /// Cycles of the rest once the result is in effect.
    pub(crate) rest: Option<u32>,
}

impl Search {
    /// A search before its start.
    pub const NONE: Self = Self {
        parameters: Parameters::NONE,
        shares: Shares::NONE,
        counts: [KernelCounts::NONE; MAX_KERNELS],
        even: [Rate::NONE; MAX_KERNELS],
        windows: 0,
        memory: 0,
        drains: 0,
        on_all: None,
        running: false,
        over: false,
        rest: None,
    };

    /// Restarts with the even split of `sms` SMs among `kernels` kernels. It assigns all fields in
    /// place, because a value assembled from parts would need a copy in the image.
    pub fn begin(&mut self, sms: u16, kernels: usize) {
        let parameters = self.parameters;
        *self = Self::NONE;
        (self.parameters, self.shares, self.running) = (parameters, Shares::even(sms, kernels), true);
    }

    /// Aborts the search. Stalled kernels get their SMs back, and the placement stays.
    pub fn give_up(&mut self) {
        self.rest = None;
        self.shares.resume();
        self.over = true;
    }

    /// Ends the search, because another mechanism places TBs from now on.
    pub fn leave(&mut self) {
        self.running = false;
    }

    /// Returns whether the search controls the SMs.
    #[must_use]
    pub fn running(&self) -> bool {
        self.running
    }

    /// Continues the search after a rest.
    pub fn go_on(&mut self) {
        (self.over, self.running) = (false, true);
    }

    /// Returns whether the search controls the SMs and is not over.
    #[must_use]
    pub fn measuring(&self) -> bool {
        self.running && !self.over
    }

    /// Returns the kernels that ended a TB in the last window.
    #[must_use]
    pub fn ended_tbs(&self) -> Kernels {
        self.those(|counts, _| counts.ended_tbs != 0)
    }

    /// Records the window as that of the even split, and classifies the kernels.
    pub fn classify(&mut self) {
        for (even, counts) in self.even.iter_mut().zip(&self.counts) {
            *even = counts.rate();
        }
        let parameters = self.parameters;
        let shares = self.shares;
        self.memory = self.those(|counts, kernel| match parameters.utilization_permille {
            Some(threshold) => utilized(counts, parameters.supply.dram, threshold),
            None if parameters.by_share => Supply { sms: shares.share(kernel), ..parameters.supply }.falls_short(counts),
            None => parameters.supply.falls_short(counts),
        });
    }

    /// Ends the search with the current placement.
    pub fn settle(&mut self) -> Next {
        self.over = true;
        Next::Done
    }

    /// Keeps the current placement for `cycles`.
    pub fn settle_for(&mut self, cycles: u32) -> Next {
        self.over = true;
        Next::Rest(cycles)
    }

    /// Returns all kernels of the search.
    #[must_use]
    pub fn all(&self) -> Kernels {
        // At most four kernels.
        (1 << self.shares.kernels().min(MAX_KERNELS)) - 1
    }

    /// Returns the kernels for which a condition on their counts and number holds.
    fn those(&self, mut holds: impl FnMut(&KernelCounts, usize) -> bool) -> Kernels {
        let kernels = self.shares.kernels();
        self.counts
            .iter()
            .enumerate()
            .take(kernels)
            .fold(0, |set, (kernel, counts)| if holds(counts, kernel) { set | 1 << kernel } else { set })
    }

    /// Returns the kernels that lost more than allowed, relative to their even share.
    pub(crate) fn losers(&self) -> Kernels {
        let least = 1000_u32.saturating_sub(self.parameters.loss_permille);
        self.those(|counts, kernel| self.even.get(kernel).is_some_and(|even| !counts.rate().is_at_least(least, even)))
    }
}
