//! Trials: configurations of all SMs, one after the other on the whole GPU; the best so far stays
//! (own; sources.md D209).
//!
//! The policy selects the next trial. This file defines the length of trials, and which one is
//! better. A trial is a step of a search: a window to settle, then a measured one. Contention for
//! L2 and DRAM is the real one. With the rates r_k of kernels in one and s_k in another, the first
//! is better if
//!
//! ```text
//! product of r_k / s_k > 5 / 4      and, of the rates u_k with what is known to be good,      r_k >= 3/4 u_k for all k
//! ```
//!
//! The first condition is proportional fairness (Kelly et al. 1998), and Nash's bargaining. A
//! kernel that becomes twice as fast has the same value as any other that does, whatever their
//! isolated rates. No kernel therefore has to run alone as a reference. That would cost more than
//! it gains, because all TBs of all others would have to leave and return.
//!
//! The second condition is a floor. The relative value of kernels' progress is unknown, so no
//! kernel gives up more than a quarter of its rate. For one TB of each kernel, which leaves a part
//! of every SM empty, no kernel gives up anything. A product of more than two means that a kernel
//! was starved. Then no kernel gives up more than a half.
//!
//! `long.rs` has the later, long trials, for which 9/8 and a half suffice (sources.md D213).

use super::long::{Exchanges, long};
use crate::search::{MOST_QUOTIENT as MOST, ONE, Parameters, QUOTIENT_BITS, Rate, Search};
use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::policy::Next;

/// Fraction bits of a product of up to four quotients, each below 2^4: 44 bits in all, and 18 of
/// the next quotient.
const PRODUCT_BITS: u32 = 28;
/// Product of rate ratios that counts as better, in eighths: above the variation between windows of
/// the same kernels (assumption).
const BETTER_EIGHTHS: u64 = 10;
/// Product that counts as better in long trials, in eighths (assumption).
pub(super) const BETTER_FOR_LONG_EIGHTHS: u64 = 9;
/// Part of its rate with the known good configuration that a kernel must keep, in thousandths
/// (assumption).
const FLOOR_PERMILLE: u32 = 750;
/// Product, in eighths, that shows a starved kernel before (assumption: on an H100 these products
/// were 6 and more, docs/results/hardware-decisions.md), and the part that a kernel must then keep,
/// in thousandths (assumption).
const FREES_EIGHTHS: u64 = 16;
/// Product of equal performance, in eighths.
pub(super) const SAME_EIGHTHS: u64 = 8;
pub(super) const FLOOR_WHERE_FREED_PERMILLE: u32 = 500;
/// Part that a kernel must keep with one TB of each, which leaves a part of every SM empty. It must
/// suit all kernels, except for variation between windows (assumption).
const FLOOR_OF_ONE_PERMILLE: u32 = 950;
/// Most repetitions of a trial that improves from one window to the next, because TBs are still in
/// transition.
const MOST_AGAIN: u8 = 3;

/// Trial in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tries {
    /// No trial.
    #[default]
    Nothing,
    /// One TB of each kernel on every SM.
    One,
    /// The configuration that is known to be good without measurement.
    Usual,
    /// Fewer TBs of one kernel.
    Fewer,
    /// The best so far, in a long trial.
    Best,
    /// Half of the TBs of a kernel, with the freed space given to another.
    Half,
    /// Half of the TBs of a kernel, as in `Half`, in a longer trial, because the shorter one was
    /// better.
    Sure,
    /// No trial, during a rest.
    Rests,
}

/// Results of the trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    /// Trial in progress.
    pub(super) tries: Tries,
    /// Best vector so far, and the kernels' rates with it.
    pub(super) best: TbVector,
    pub(super) rates: [Rate; MAX_KERNELS],
    /// Rates with one TB each, and with the known good configuration.
    one: [Rate; MAX_KERNELS],
    pub(super) usual: [Rate; MAX_KERNELS],
    /// Rates in the last settling window.
    before: [Rate; MAX_KERNELS],
    /// Number of repetitions of the current trial.
    again: u8,
    /// State of the exchanges.
    pub(super) exchanges: Exchanges,
    /// Number of rests so far.
    pub(super) rests: u8,
}

impl Trial {
    /// A state before any trial.
    pub(super) const NONE: Self = Self {
        tries: Tries::Nothing,
        best: TbVector([0; MAX_KERNELS]),
        rates: [Rate::NONE; MAX_KERNELS],
        one: [Rate::NONE; MAX_KERNELS],
        usual: [Rate::NONE; MAX_KERNELS],
        before: [Rate::NONE; MAX_KERNELS],
        again: 0,
        exchanges: Exchanges::NONE,
        rests: 0,
    };

    /// Returns the unmeasured cycles of a step, relative to those of other searches.
    ///
    /// They are a quarter if one TB of each kernel arrives at empty SMs, or is the only one that
    /// stays. They are half if other TBs arrive, and all if some must leave. The second window of a
    /// long round takes five times as many. They are nearly none if the configuration does not
    /// change.
    pub(super) fn settle_cycles(&self, parameters: &Parameters) -> u32 {
        let whole = parameters.warm_up;
        match self.tries {
            Tries::One => (whole / 4).max(1),
            Tries::Usual => (whole / 2).max(1),
            Tries::Fewer | Tries::Half | Tries::Nothing | Tries::Rests => whole.max(1),
            Tries::Best => 1,
            Tries::Sure => long(whole),
        }
    }

    /// Returns the measured cycles of a step, relative to those of other searches.
    ///
    /// They are a quarter with one TB each, which serves only as a reference. In a long round they
    /// are five times as many for the current result, or for one that seems better.
    pub(super) fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        let window = parameters.window;
        match self.tries {
            Tries::One => (window / 4).max(1),
            Tries::Usual | Tries::Fewer | Tries::Half | Tries::Nothing | Tries::Rests => window.max(1),
            Tries::Best | Tries::Sure => long(window),
        }
    }

    /// Starts with `first`, which stays if the search ends before a better one is known.
    pub(super) fn begin(&mut self, search: &mut Search, first: TbVector) -> Next {
        self.best = first;
        self.try_on_all(search, first, Tries::One)
    }

    /// Records the rates with one TB each, and tries the known good vector, which stays if the
    /// search ends before a better one is known.
    pub(super) fn try_usual(&mut self, search: &mut Search, usual: TbVector) -> Next {
        (self.one, self.best) = (rates(search), usual);
        self.try_on_all(search, usual, Tries::Usual)
    }

    /// Records the rates with the known good vector. One TB each becomes the best if it was better.
    pub(super) fn note_usual(&mut self, search: &Search) {
        self.usual = rates(search);
        let Self { one, usual, .. } = &self;
        if is_better(search, one, usual) && self.is_above(search, FLOOR_OF_ONE_PERMILLE, one) {
            (self.best, self.rates) = (ones(search), self.one);
        } else {
            self.rates = self.usual;
        }
    }

    /// Tries fewer TBs of one kernel.
    pub(super) fn try_fewer(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.try_on_all(search, vector, Tries::Fewer)
    }

    /// Keeps the last trial if it is better than the best so far, or repeats it if it improves from
    /// window to window.
    pub(super) fn keep_or_look_again(&mut self, search: &mut Search) -> Next {
        let rates = rates(search);
        if self.is_kept(search, &rates) {
            self.best = search.on_all.unwrap_or(self.best);
        } else if self.again < MOST_AGAIN && is_better(search, &rates, &self.before) {
            self.again = self.again.saturating_add(1);
            return Next::Measure;
        }
        self.settle_for_a_while(search)
    }

    /// Returns whether these rates are better than the best so far, and no kernel gives up too
    /// much.
    fn is_kept(&self, search: &Search, rates: &[Rate; MAX_KERNELS]) -> bool {
        let frees = is_better_by(search, FREES_EIGHTHS, rates, &self.rates);
        let floor = if frees { FLOOR_WHERE_FREED_PERMILLE } else { FLOOR_PERMILLE };
        is_better(search, rates, &self.rates) && self.is_above(search, floor, rates)
    }

    pub(super) fn try_on_all(&mut self, search: &mut Search, vector: TbVector, tries: Tries) -> Next {
        self.tries = tries;
        search.on_all = Some(vector);
        Next::Measure
    }

    /// Returns a kernel's speedup with the known good vector over one TB, in parts of 2^14.
    pub(super) fn growth(&self, kernel: usize) -> u32 {
        let (one, usual) = (self.one.get(kernel), self.usual.get(kernel));
        one.zip(usual).and_then(|(one, usual)| usual.over(one)).unwrap_or(MOST)
    }

    /// Records the rates at the end of the settling window.
    pub(super) fn settled(&mut self, search: &Search) {
        self.before = rates(search);
    }

    /// Restores the best so far, if there were trials.
    pub(super) fn keep_best(&self, search: &mut Search) {
        if self.best.present() != 0 {
            search.on_all = Some(self.best);
        }
    }

    /// Returns whether every kernel keeps `floor_permille` thousandths of its rate with the known
    /// good vector.
    pub(super) fn is_above(&self, search: &Search, floor_permille: u32, rates: &[Rate; MAX_KERNELS]) -> bool {
        let mut kernels = rates.iter().zip(&self.usual).take(search.shares.kernels());
        kernels.all(|(rate, usual)| rate.is_at_least(floor_permille, usual))
    }
}

/// Returns the vector of one TB per kernel.
pub(super) fn ones(search: &Search) -> TbVector {
    let mut ones = TbVector::default();
    (0..search.shares.kernels()).for_each(|kernel| ones.set(kernel, 1));
    ones
}

/// Returns the kernels' rates in the last window.
pub(super) fn rates(search: &Search) -> [Rate; MAX_KERNELS] {
    let mut rates = [Rate::NONE; MAX_KERNELS];
    rates.iter_mut().zip(&search.counts).for_each(|(rate, counts)| *rate = counts.rate());
    rates
}

/// Returns whether these rates are better than others.
fn is_better(search: &Search, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
    is_better_by(search, BETTER_EIGHTHS, rates, than)
}

/// Returns whether the product of the rate ratios is above `eighths` eighths.
///
/// A kernel without progress before improves by any progress.
pub(super) fn is_better_by(search: &Search, eighths: u64, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
    let kernels = rates.iter().zip(than).take(search.shares.kernels());
    let product = kernels.fold(1_u64 << PRODUCT_BITS, |product, (rate, than)| {
        let nothing = if rate.instructions() == 0 { ONE } else { MOST };
        product.saturating_mul(rate.over(than).unwrap_or(nothing).into()) >> QUOTIENT_BITS
    });
    product.saturating_mul(8) > eighths << PRODUCT_BITS
}
