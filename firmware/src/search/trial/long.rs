//! Trials for long (own; sources.md D213): TBs that come, and come back, do other things in their first windows than later. So what was found stays for a while, then half of the TBs of one kernel after
//! the other are tried for long, and what was found then stays for longer. What is better is said in `trial.rs`.

use super::super::counts::MOST_CYCLES;
use super::super::{Next, Rate, Search, Step};
use super::Tries;
use crate::configs::{MAX_KERNELS, TbVector};

/// How many times longer long trials are (assumption: on kernels that it was made from, on 8 SMs of the machine of Dai et al. 2018, windows of 20,000 cycles said other things than 2,000,000 did, and
/// windows of 100,000 the same in eight of ten pairs).
const LONG: u32 = 5;
/// Windows that what was found stays for before anything is tried for long (assumption: a trial of a kernel takes a tenth of that).
const REST: u32 = 100;

/// So many cycles in long trials.
pub(super) const fn long(cycles: u32) -> u32 {
    let long = cycles.saturating_mul(LONG);
    if long == 0 {
        1
    } else if long < MOST_CYCLES {
        long
    } else {
        MOST_CYCLES
    }
}

impl Search {
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
}
