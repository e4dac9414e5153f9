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
//! `long.rs` has those that follow after a while, for long, in which 9/8 and a half are enough (sources.md D213).

use super::long::{Exchanges, long};
use crate::search::{MOST_QUOTIENT as MOST, ONE, Parameters, QUOTIENT_BITS, Rate, Search};
use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::policy::Next;

/// Fraction bits of a product of up to four quotients, each below 2^4: 44 bits in all, and 18 of the next quotient.
const PRODUCT_BITS: u32 = 28;
/// How much better is better, in eighths: what windows of the same kernels differ by, and then some (assumption).
const BETTER_EIGHTHS: u64 = 10;
/// The same in trials for long (assumption).
pub(super) const BETTER_FOR_LONG_EIGHTHS: u64 = 9;
/// What a kernel keeps of its rate with what is known to be good, in thousandths (assumption).
const FLOOR_PERMILLE: u32 = 750;
/// How much better it is, in eighths, if somebody was starved before (assumption: on an H100 these products were 6 and more, docs/hardware-decisions.md), and what a kernel then keeps, in thousandths (assumption).
const FREES_EIGHTHS: u64 = 16;
/// No better and no worse.
pub(super) const SAME_EIGHTHS: u64 = 8;
pub(super) const FLOOR_WHERE_FREED_PERMILLE: u32 = 500;
/// The same with a TB of each, which leaves a part of every SM empty: it has to be good for all of them, but for what windows differ by (assumption).
const FLOOR_OF_ONE_PERMILLE: u32 = 950;
/// How often a trial is measured again that becomes better from one window to the next: TBs are still on their way.
const MOST_AGAIN: u8 = 3;

/// What is tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Tries {
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
    /// Nothing, for a while.
    Rests,
}

/// What trials have found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    /// What is tried.
    pub(super) tries: Tries,
    /// The best so far, and how fast kernels were in it.
    pub(super) best: TbVector,
    pub(super) rates: [Rate; MAX_KERNELS],
    /// How fast they were with one TB each, and with what is known to be good.
    one: [Rate; MAX_KERNELS],
    pub(super) usual: [Rate; MAX_KERNELS],
    /// How fast they were in the last window that was not measured.
    before: [Rate; MAX_KERNELS],
    /// How often the trial was measured again.
    again: u8,
    /// Who gives to whom.
    pub(super) exchanges: Exchanges,
    /// How often the search has rested.
    pub(super) rests: u8,
}

impl Trial {
    /// None.
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

    /// Cycles of a step that are not measured: a quarter of those of other searches where a TB of each kernel comes to SMs that are empty, or is the only one that stays; half where others
    /// come, and all where some have to go. Five times as many in the second look of a round for long, and next to none where what was there stays.
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

    /// Cycles of a step that are measured: a quarter of those of other searches with one TB each, which is good for little else; five times as many of what stays,
    /// or seems to be better, in a round for long.
    pub(super) fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        let window = parameters.window;
        match self.tries {
            Tries::One => (window / 4).max(1),
            Tries::Usual | Tries::Fewer | Tries::Half | Tries::Nothing | Tries::Rests => window.max(1),
            Tries::Best | Tries::Sure => long(window),
        }
    }

    /// Begins. If it ends before anything else is known to be better, this stays.
    pub(super) fn begin(&mut self, search: &mut Search, first: TbVector) -> Next {
        self.best = first;
        self.try_on_all(search, first, Tries::One)
    }

    /// Notes what kernels did with one TB each, and tries what is known to be good, which stays if it ends before anything else is known to be better.
    pub(super) fn try_usual(&mut self, search: &mut Search, usual: TbVector) -> Next {
        (self.one, self.best) = (rates(search), usual);
        self.try_on_all(search, usual, Tries::Usual)
    }

    /// Notes what kernels did with what is good without measuring; one TB each is the best if it was better.
    pub(super) fn note_usual(&mut self, search: &Search) {
        self.usual = rates(search);
        let Self { one, usual, .. } = &self;
        if is_better(search, one, usual) && self.is_above(search, FLOOR_OF_ONE_PERMILLE, one) {
            (self.best, self.rates) = (ones(search), self.one);
        } else {
            self.rates = self.usual;
        }
    }

    /// Tries fewer TBs of somebody.
    pub(super) fn try_fewer(&mut self, search: &mut Search, vector: TbVector) -> Next {
        self.try_on_all(search, vector, Tries::Fewer)
    }

    /// What was measured stays if it is better than the best so far, or else is measured again if it becomes better from window to window.
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

    /// Whether kernels that are so fast do better than with the best so far, and nobody gives up too much for it.
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

    /// How many times faster a kernel was with what is good without measuring than with one TB, in parts of 2^14.
    pub(super) fn growth(&self, kernel: usize) -> u32 {
        let (one, usual) = (self.one.get(kernel), self.usual.get(kernel));
        one.zip(usual).and_then(|(one, usual)| usual.over(one)).unwrap_or(MOST)
    }

    /// The window that is not measured is over.
    pub(super) fn settled(&mut self, search: &Search) {
        self.before = rates(search);
    }

    /// The best so far stays, if there are trials.
    pub(super) fn keep_best(&self, search: &mut Search) {
        if self.best.present() != 0 {
            search.on_all = Some(self.best);
        }
    }

    /// Whether everybody keeps so many thousandths of its rate with what is known to be good.
    pub(super) fn is_above(&self, search: &Search, floor_permille: u32, rates: &[Rate; MAX_KERNELS]) -> bool {
        let mut kernels = rates.iter().zip(&self.usual).take(search.shares.kernels());
        kernels.all(|(rate, usual)| rate.is_at_least(floor_permille, usual))
    }
}

/// A TB of each kernel.
pub(super) fn ones(search: &Search) -> TbVector {
    let mut ones = TbVector::default();
    (0..search.shares.kernels()).for_each(|kernel| ones.set(kernel, 1));
    ones
}

/// How fast kernels were in the last window.
pub(super) fn rates(search: &Search) -> [Rate; MAX_KERNELS] {
    let mut rates = [Rate::NONE; MAX_KERNELS];
    rates.iter_mut().zip(&search.counts).for_each(|(rate, counts)| *rate = counts.rate());
    rates
}

/// Whether kernels that are so fast do better than with other rates.
fn is_better(search: &Search, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
    is_better_by(search, BETTER_EIGHTHS, rates, than)
}

/// Whether the product of their rates over others is more than so many eighths. A kernel that did nothing does better than ever by doing anything.
pub(super) fn is_better_by(search: &Search, eighths: u64, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
    let kernels = rates.iter().zip(than).take(search.shares.kernels());
    let product = kernels.fold(1_u64 << PRODUCT_BITS, |product, (rate, than)| {
        let nothing = if rate.instructions() == 0 { ONE } else { MOST };
        product.saturating_mul(rate.over(than).unwrap_or(nothing).into()) >> QUOTIENT_BITS
    });
    product.saturating_mul(8) > eighths << PRODUCT_BITS
}
