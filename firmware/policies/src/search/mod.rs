//! Searching for how many SMs each kernel needs, in steps of two windows each: the first for caches and queues to settle, the second
//! measured over the whole chip (Zhao et al. 2018, section 4; sources.md D148).
//!
//! What is the same for every policy that searches: which kernel has which SM ([`Shares`]), what kernels did in a window
//! ([`KernelCounts`]), how fast that is beside the even split ([`Rate`]), and when the model of off-SM bandwidth calls a kernel
//! memory-intensive ([`Supply`]). What a step does with it, and what it keeps from step to step, is the policy's.
//!
//! Without the feature `search` nothing of it is in an image.

mod bandwidth;
mod counts;
mod model;
mod parameters;
mod quotient;
mod searches;
mod shares;

pub use bandwidth::{Supply, utilised};
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

/// What every search has, from the even split to the shares that stay. What only its own steps need is the policy's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What it was asked for, and what the machine has.
    pub parameters: Parameters,
    /// Who has which SM.
    pub shares: Shares,
    /// What each kernel did in the last window.
    pub counts: [KernelCounts; MAX_KERNELS],
    /// How fast each was on its even share.
    pub even: [Rate; MAX_KERNELS],
    /// Windows measured.
    pub windows: u16,
    /// Kernels that ask for more than the chip beyond the SMs gives.
    pub memory: Kernels,
    /// Kernels that ended a TB in the first window: their SMs are moved by draining (Zhao et al. 2018, section 4.1.2).
    pub drains: Kernels,
    /// What all SMs have, in place of the shares.
    pub on_all: Option<TbVector>,
    /// It has begun, and says what SMs have.
    running: bool,
    /// Nothing is tried any more, or for a while.
    over: bool,
    /// Cycles until it goes on, once what it has found is in effect.
    pub(crate) rest: Option<u32>,
}

impl Search {
    /// None.
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

    /// Begins anew with the even split of `sms` SMs among so many kernels. In place, and all of it at once: of what is put together from parts an
    /// image has a copy.
    pub fn begin(&mut self, sms: u16, kernels: usize) {
        let parameters = self.parameters;
        *self = Self::NONE;
        (self.parameters, self.shares, self.running) = (parameters, Shares::even(sms, kernels), true);
    }

    /// Gives up: kernels that are stalled somewhere get their SMs back, and what is placed stays.
    pub fn give_up(&mut self) {
        self.rest = None;
        self.shares.resume();
        self.over = true;
    }

    /// Something else places TBs from here on.
    pub fn leave(&mut self) {
        self.running = false;
    }

    /// Whether it says what SMs have.
    #[must_use]
    pub fn running(&self) -> bool {
        self.running
    }

    /// It has rested and goes on.
    pub fn go_on(&mut self) {
        (self.over, self.running) = (false, true);
    }

    /// Whether it is running and not over.
    #[must_use]
    pub fn measuring(&self) -> bool {
        self.running && !self.over
    }

    /// Kernels that have ended a TB in the last window.
    #[must_use]
    pub fn ended_tbs(&self) -> Kernels {
        self.those(|counts, _| counts.ended_tbs != 0)
    }

    /// Takes the window as that of the even split, and tells the kernels that ask for more than there is.
    pub fn classify(&mut self) {
        for (even, counts) in self.even.iter_mut().zip(&self.counts) {
            *even = counts.rate();
        }
        let parameters = self.parameters;
        let shares = self.shares;
        self.memory = self.those(|counts, kernel| match parameters.utilisation_permille {
            Some(threshold) => utilised(counts, parameters.supply.dram, threshold),
            None if parameters.by_share => Supply { sms: shares.share(kernel), ..parameters.supply }.falls_short(counts),
            None => parameters.supply.falls_short(counts),
        });
    }

    /// What is placed stays.
    pub fn settle(&mut self) -> Next {
        self.over = true;
        Next::Done
    }

    /// It stays for so many cycles.
    pub fn settle_for(&mut self, cycles: u32) -> Next {
        self.over = true;
        Next::Rest(cycles)
    }

    /// All kernels of the search.
    #[must_use]
    pub fn all(&self) -> Kernels {
        // At most four.
        (1 << self.shares.kernels().min(MAX_KERNELS)) - 1
    }

    /// The kernels of which this holds, by their counts and their number.
    fn those(&self, mut holds: impl FnMut(&KernelCounts, usize) -> bool) -> Kernels {
        let kernels = self.shares.kernels();
        self.counts
            .iter()
            .enumerate()
            .take(kernels)
            .fold(0, |set, (kernel, counts)| if holds(counts, kernel) { set | 1 << kernel } else { set })
    }

    /// Kernels that lost more than they may, beside their even share.
    pub(crate) fn losers(&self) -> Kernels {
        let least = 1000_u32.saturating_sub(self.parameters.loss_permille);
        self.those(|counts, kernel| self.even.get(kernel).is_some_and(|even| !counts.rate().is_at_least(least, even)))
    }
}
