//! Trials: what all SMs have, one after the other on the whole GPU, and the best so far that stays (own; sources.md D209). What is tried next is the policy's; here is what
//! all of them have in common: how long they last, and which is better.
//!
//! A trial is a step of a search: a window in which it settles, then one that is measured. Shared L2 and DRAM act in it as they will. With the rates r_k of kernels in one and s_k in another, the
//! first is better if
//!
//! ```text
//! product of r_k / s_k > 5 / 4      and, of the rates u_k with what is known to be good,      r_k >= 3/4 u_k for all k
//! ```
//!
//! The first is proportional fairness (Kelly et al. 1998), and Nash's bargaining: a kernel that becomes twice as fast is worth as much as another that was as fast as it is, whatever each would do alone. So no
//! kernel has to be left alone to be a reference, which would cost more than it brings: all TBs of all others would have to go and come back. The second is a floor: since
//! nobody knows what a kernel's progress is worth beside another's, nobody gives up more than a quarter of it, and nobody anything for a TB of each, which leaves a part of every SM empty. Where the
//! product more than doubles somebody was starved, and then nobody gives up more than a half.
//!
//! `trial/long.rs` has those that follow after a while, for long, in which 9/8 and a half are enough (sources.md D213).

mod long;

use super::quotient::{MOST, ONE, QUOTIENT_BITS};
use super::{Next, Rate, Search, Step};
use crate::configs::{MAX_KERNELS, TbVector};
use long::{Exchanges, long};

/// Fraction bits of a product of up to four quotients, each below 2^4: 44 bits in all, and 18 of the next quotient.
const PRODUCT_BITS: u32 = 28;
/// How much better is better, in eighths: what windows of the same kernels differ by, and then some (assumption).
const BETTER_EIGHTHS: u64 = 10;
/// The same in trials for long (assumption).
const BETTER_FOR_LONG_EIGHTHS: u64 = 9;
/// What a kernel keeps of its rate with what is known to be good, in thousandths (assumption).
const FLOOR_PERMILLE: u32 = 750;
/// How much better it is, in eighths, if somebody was starved before (assumption: on an H100 these products were 6 and more, docs/hardware-decisions.md), and what a kernel then keeps, in thousandths (assumption).
const FREES_EIGHTHS: u64 = 16;
/// No better and no worse.
const SAME_EIGHTHS: u64 = 8;
const FLOOR_WHERE_FREED_PERMILLE: u32 = 500;
/// The same with a TB of each, which leaves a part of every SM empty: it has to be good for all of them, but for what windows differ by (assumption).
const FLOOR_OF_ONE_PERMILLE: u32 = 950;
/// How often a trial is measured again that becomes better from one window to the next: TBs are still on their way.
const MOST_AGAIN: u8 = 3;

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tries {
    /// Nothing.
    #[default]
    Nothing,
    /// A TB of each kernel on every SM.
    One,
    /// What is known to be good without measuring.
    Usual,
    /// Fewer TBs of a kernel.
    Fewer,
    /// The best so far, for long.
    Best,
    /// Half of the TBs of a kernel, whose room is another's.
    Half,
    /// The same for longer, since it was better.
    Sure,
}

/// What trials have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trial {
    /// What is tried.
    pub(crate) tries: Tries,
    /// The best so far, and how fast kernels were in it.
    best: TbVector,
    rates: [Rate; MAX_KERNELS],
    /// How fast they were with one TB each, and with what is known to be good.
    one: [Rate; MAX_KERNELS],
    usual: [Rate; MAX_KERNELS],
    /// How fast they were in the last window that was not measured.
    before: [Rate; MAX_KERNELS],
    /// How often the trial was measured again.
    again: u8,
    /// Who gives to whom.
    exchanges: Exchanges,
    /// How often the search has rested.
    rests: u8,
}

impl Trial {
    /// None.
    pub const NONE: Self = Self {
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
}

impl Search {
    /// Cycles of a step that are not measured: a quarter of those of other searches where a TB of each kernel comes to SMs that are empty, or is the only one that stays; half where others
    /// come, and all where some have to go. Five times as many in the second look of a round for long, and next to none where what was there stays.
    #[must_use]
    pub fn settles(&self) -> u32 {
        let whole = self.parameters.warm_up;
        match self.trial.tries {
            Tries::One => (whole / 4).max(1),
            Tries::Usual => (whole / 2).max(1),
            Tries::Fewer | Tries::Half | Tries::Nothing => whole.max(1),
            Tries::Best => 1,
            Tries::Sure => long(whole),
        }
    }

    /// Cycles of a step that are measured: a quarter of those of other searches with one TB each, which is good for little else; five times as many of what stays,
    /// or seems to be better, in a round for long.
    #[must_use]
    pub fn measures(&self) -> u32 {
        let window = self.parameters.window;
        match self.trial.tries {
            Tries::One => (window / 4).max(1),
            Tries::Usual | Tries::Fewer | Tries::Half | Tries::Nothing => window.max(1),
            Tries::Best | Tries::Sure => long(window),
        }
    }

    /// Begins. If it ends before anything else is known to be better, this stays.
    pub(crate) fn begin_trials(&mut self, first: TbVector) -> Next {
        self.step = Step::Trial;
        self.trial = Trial { best: first, ..Trial::NONE };
        self.try_on_all(first, Tries::One)
    }

    /// Notes what kernels did with one TB each, and tries what is known to be good, which stays if it ends before anything else is known to be better.
    pub(crate) fn try_usual(&mut self, usual: TbVector) -> Next {
        (self.trial.one, self.trial.best) = (self.rates(), usual);
        self.try_on_all(usual, Tries::Usual)
    }

    /// Notes what kernels did with what is good without measuring; one TB each is the best if it was better.
    pub(crate) fn note_usual(&mut self) {
        self.trial.usual = self.rates();
        let Trial { one, usual, .. } = &self.trial;
        if self.is_better(one, usual) && self.is_above(FLOOR_OF_ONE_PERMILLE, one) {
            (self.trial.best, self.trial.rates) = (self.ones(), self.trial.one);
        } else {
            self.trial.rates = self.trial.usual;
        }
    }

    /// Tries fewer TBs of somebody.
    pub(crate) fn try_fewer(&mut self, vector: TbVector) -> Next {
        self.try_on_all(vector, Tries::Fewer)
    }

    /// What was measured stays if it is better than the best so far, or else is measured again if it becomes better from window to window.
    pub(crate) fn keep_or_look_again(&mut self) -> Next {
        let rates = self.rates();
        if self.is_kept(&rates) {
            self.trial.best = self.together.unwrap_or(self.trial.best);
        } else if self.trial.again < MOST_AGAIN && self.is_better(&rates, &self.trial.before) {
            self.trial.again = self.trial.again.saturating_add(1);
            return Next::Measure;
        }
        self.settle_for_a_while()
    }

    /// Whether kernels that are so fast do better than with the best so far, and nobody gives up too much for it.
    fn is_kept(&self, rates: &[Rate; MAX_KERNELS]) -> bool {
        let frees = self.is_better_by(FREES_EIGHTHS, rates, &self.trial.rates);
        let floor = if frees { FLOOR_WHERE_FREED_PERMILLE } else { FLOOR_PERMILLE };
        self.is_better(rates, &self.trial.rates) && self.is_above(floor, rates)
    }

    fn try_on_all(&mut self, vector: TbVector, tries: Tries) -> Next {
        self.trial.tries = tries;
        self.together = Some(vector);
        Next::Measure
    }

    /// A TB of each kernel.
    pub(crate) fn ones(&self) -> TbVector {
        let mut ones = TbVector::default();
        (0..self.shares.kernels()).for_each(|kernel| ones.set(kernel, 1));
        ones
    }

    /// How many times faster a kernel was with what is good without measuring than with one TB, in parts of 2^14.
    pub(crate) fn growth(&self, kernel: usize) -> u32 {
        let (one, usual) = (self.trial.one.get(kernel), self.trial.usual.get(kernel));
        one.zip(usual).and_then(|(one, usual)| usual.over(one)).unwrap_or(MOST)
    }

    /// The window that is not measured is over.
    pub(super) fn trial_settled(&mut self) {
        if self.step == Step::Trial {
            self.trial.before = self.rates();
        }
    }

    /// The best so far stays, if there are trials.
    pub(super) fn keep_best_trial(&mut self) {
        if self.trial.best.present() != 0 {
            let best = self.trial.best;
            self.together = Some(best);
        }
    }

    /// How fast kernels were in the last window.
    fn rates(&self) -> [Rate; MAX_KERNELS] {
        let mut rates = [Rate::NONE; MAX_KERNELS];
        rates.iter_mut().zip(&self.counts).for_each(|(rate, counts)| *rate = counts.rate());
        rates
    }

    /// Whether everybody keeps so many thousandths of its rate with what is known to be good.
    fn is_above(&self, floor_permille: u32, rates: &[Rate; MAX_KERNELS]) -> bool {
        let mut kernels = rates.iter().zip(&self.trial.usual).take(self.shares.kernels());
        kernels.all(|(rate, usual)| rate.is_at_least(floor_permille, usual))
    }

    /// Whether kernels that are so fast do better than with other rates.
    fn is_better(&self, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
        self.is_better_by(BETTER_EIGHTHS, rates, than)
    }

    /// Whether the product of their rates over others is more than so many eighths. Somebody who did nothing does better than ever by doing anything.
    fn is_better_by(&self, eighths: u64, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
        let kernels = rates.iter().zip(than).take(self.shares.kernels());
        let product = kernels.fold(1_u64 << PRODUCT_BITS, |product, (rate, than)| {
            let nothing = if rate.instructions() == 0 { ONE } else { MOST };
            product.saturating_mul(rate.over(than).unwrap_or(nothing).into()) >> QUOTIENT_BITS
        });
        product.saturating_mul(8) > eighths << PRODUCT_BITS
    }
}
