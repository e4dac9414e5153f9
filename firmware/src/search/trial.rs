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
//! TBs that come, and come back, do other things in their first windows than later. So what was found stays for a while, and then others are tried for long, at most for a tenth of that time each
//! (sources.md D213); and then for four times as long.

use super::counts::MOST_CYCLES;
use super::quotient::{MOST, ONE, QUOTIENT_BITS};
use super::{Kernels, Next, Rate, Search, Step};
use crate::configs::{MAX_KERNELS, TbVector};

/// Fraction bits of a product of up to four quotients, each below 2^4: 44 bits in all, and 18 of the next quotient.
const PRODUCT_BITS: u32 = 28;
/// How much better is better, in quarters: what windows of the same kernels differ by, and then some (assumption).
const BETTER_QUARTERS: u64 = 5;
/// What a kernel keeps of its rate with what is known to be good, in thousandths (assumption).
const FLOOR_PERMILLE: u32 = 750;
/// How much better it is, in quarters, if somebody was starved before (assumption: on an H100 these products were 6 and more, docs/hardware-decisions.md), and what a kernel then keeps, in thousandths (assumption).
const FREES_QUARTERS: u64 = 8;
const FLOOR_WHERE_FREED_PERMILLE: u32 = 500;
/// The same with a TB of each, which leaves a part of every SM empty: it has to be good for all of them, but for what windows differ by (assumption).
const FLOOR_OF_ONE_PERMILLE: u32 = 950;
/// How many times longer long trials are (assumption: on kernels that it was made from, on 8 SMs of the machine of Dai et al. 2018, windows of 20,000 cycles said other things than 2,000,000 did, and
/// windows of 100,000 the same in eight of ten pairs).
const LONG: u32 = 5;
/// Windows that what was found stays for before anything is tried for long (assumption: a trial of a kernel takes a tenth of that).
const REST: u32 = 100;
/// How often a trial is measured again that becomes better from one window to the next: TBs are still on their way.
const MOST_AGAIN: u8 = 3;

/// So many cycles in long trials.
const fn long(cycles: u32) -> u32 {
    let long = cycles.saturating_mul(LONG);
    if long == 0 {
        1
    } else if long < MOST_CYCLES {
        long
    } else {
        MOST_CYCLES
    }
}

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
    /// Half of the TBs of a kernel, for long.
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
    /// The kernel that has half, and those that may have, one bit each.
    kernel: u8,
    may: Kernels,
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
        kernel: 0,
        may: 0,
        rests: 0,
    };
}

impl Search {
    /// Cycles of a step that are not measured: a quarter of those of other searches where a TB of each kernel comes to SMs that are empty, or is the only one that stays; half where others
    /// come, and all where some have to go. Five times as many in long ones, and twice that where TBs come back that had to go.
    #[must_use]
    pub fn settles(&self) -> u32 {
        let whole = self.parameters.warm_up;
        match self.trial.tries {
            Tries::One => (whole / 4).max(1),
            Tries::Usual => (whole / 2).max(1),
            Tries::Fewer | Tries::Nothing => whole.max(1),
            Tries::Half | Tries::Sure => long(whole),
            Tries::Best => long(whole.saturating_mul(2)),
        }
    }

    /// Cycles of a step that are measured: a quarter of those of other searches with one TB each, which is good for little else; five times as many in long ones, and twice that of what is the best,
    /// or seems to be, which costs nothing.
    #[must_use]
    pub fn measures(&self) -> u32 {
        let window = self.parameters.window;
        match self.trial.tries {
            Tries::One => (window / 4).max(1),
            Tries::Usual | Tries::Fewer | Tries::Nothing => window.max(1),
            Tries::Half => long(window),
            Tries::Best | Tries::Sure => long(window.saturating_mul(2)),
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

    /// What was found stays for a while: [`REST`] windows first, then four times as long as the last time; for good if nobody has two TBs.
    pub(crate) fn settle_for_a_while(&mut self) -> Next {
        self.step = Step::Done;
        if (0..self.shares.kernels()).all(|kernel| self.trial.best.get(kernel) < 2) {
            return Next::Done;
        }
        let times = 1_u32.checked_shl(2 * u32::from(self.trial.rests)).unwrap_or(u32::MAX);
        self.trial.rests = self.trial.rests.saturating_add(1);
        Next::Rest(self.parameters.window.saturating_mul(REST).saturating_mul(times))
    }

    /// What was found has stayed for a while: it is measured for long, as what others are held against.
    pub(crate) fn begin_long(&mut self) -> Next {
        (self.step, self.trial.may) = (Step::Trial, self.all());
        self.trial.usual = [Rate::NONE; MAX_KERNELS];
        self.try_best()
    }

    /// The best so far is measured anew, for long.
    pub(crate) fn try_best(&mut self) -> Next {
        self.try_on_all(self.trial.best, Tries::Best)
    }

    /// Notes what kernels do with the best so far; the first time nobody is to give up too much of that.
    pub(crate) fn note_best(&mut self) {
        self.trial.rates = self.rates();
        if self.trial.usual == [Rate::NONE; MAX_KERNELS] {
            self.trial.usual = self.trial.rates;
        }
    }

    /// The best so far.
    pub(crate) fn best_trial(&self) -> TbVector {
        self.trial.best
    }

    /// The first kernel that may have half of its TBs.
    pub(crate) fn who_may_have_half(&self) -> Option<usize> {
        (0..self.shares.kernels()).find(|kernel| self.trial.may >> kernel & 1 != 0 && self.trial.best.get(*kernel) > 1)
    }

    /// Tries a vector with half of the TBs of a kernel.
    pub(crate) fn try_half(&mut self, kernel: usize, vector: TbVector) -> Next {
        // Of four.
        self.trial.kernel = kernel as u8;
        self.try_on_all(vector, Tries::Half)
    }

    /// A kernel has half in vain, or nobody would have the rest.
    pub(crate) fn has_all(&mut self, kernel: usize) {
        self.trial.may &= !1_u8.checked_shl(kernel as u32).unwrap_or(0);
    }

    /// Half of the TBs of a kernel were measured: longer if that was better. None if it was not.
    pub(crate) fn look_longer(&mut self) -> Option<Next> {
        if self.is_kept(&self.rates()) {
            self.trial.tries = Tries::Sure;
            return Some(Next::Measure);
        }
        self.has_all(self.trial.kernel.into());
        None
    }

    /// They were measured longer: they are the best so far if they are still better, and then only the same kernel may have half still. Whether they are.
    pub(crate) fn keep(&mut self) -> bool {
        let rates = self.rates();
        let kept = self.is_kept(&rates);
        if kept {
            self.trial.best = self.together.unwrap_or(self.trial.best);
            (self.trial.rates, self.trial.may) = (rates, 1_u8.checked_shl(self.trial.kernel.into()).unwrap_or(0));
        } else {
            self.has_all(self.trial.kernel.into());
        }
        kept
    }

    /// Whether kernels that are so fast do better than with the best so far, and nobody gives up too much for it.
    fn is_kept(&self, rates: &[Rate; MAX_KERNELS]) -> bool {
        let frees = self.is_better_by(FREES_QUARTERS, rates, &self.trial.rates);
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
        self.is_better_by(BETTER_QUARTERS, rates, than)
    }

    /// Whether the product of their rates over others is more than so many quarters. Somebody who did nothing does better than ever by doing anything.
    fn is_better_by(&self, quarters: u64, rates: &[Rate; MAX_KERNELS], than: &[Rate; MAX_KERNELS]) -> bool {
        let kernels = rates.iter().zip(than).take(self.shares.kernels());
        let product = kernels.fold(1_u64 << PRODUCT_BITS, |product, (rate, than)| {
            let nothing = if rate.instructions() == 0 { ONE } else { MOST };
            product.saturating_mul(rate.over(than).unwrap_or(nothing).into()) >> QUOTIENT_BITS
        });
        product.saturating_mul(4) > quarters << PRODUCT_BITS
    }
}
