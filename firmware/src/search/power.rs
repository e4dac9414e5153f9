//! The power mode: as few SMs for each memory-intensive kernel as leave it what it had, and no power for the others (Zhao et al. 2018, section
//! 4.3; sources.md D151).
//!
//! One SM of each kernel says how many it may need, which is measured, and then one SM more at a time until nobody has lost more than allowed.
//! Kernels that had enough are looked at again in every step, since those beside them get more: when it ends, each has what it had, or all of
//! its even share.

use super::{Next, Rest, Search, Step};

impl Search {
    /// Leaves the memory-intensive kernels one SM each.
    pub fn begin_power(&mut self) -> Next {
        self.shares.set_rest(Rest::Stalled);
        for kernel in 0..self.shares.kernels() {
            if self.memory >> kernel & 1 != 0 {
                self.shares.keep(kernel, 1);
            }
        }
        self.step = Step::One;
        Next::Measure
    }

    /// As many as would be as fast as the even share if each were as fast as the one.
    pub fn estimate(&mut self) -> Next {
        for kernel in 0..self.shares.kernels() {
            if self.memory >> kernel & 1 != 0
                && let (Some(even), Some(counts)) = (self.even.get(kernel), self.counts.get(kernel))
            {
                let wanted = even.multiple_of(&counts.rate(), self.shares.share(kernel));
                self.shares.keep(kernel, wanted);
            }
        }
        self.step = Step::Verify;
        Next::Measure
    }

    /// One more for those who lost too much; if there is none, the rest sleeps.
    pub fn verify(&mut self) -> Next {
        let losers = self.losers() & self.memory;
        let mut any = false;
        for kernel in 0..self.shares.kernels() {
            let kept = self.shares.kept(kernel);
            if losers >> kernel & 1 != 0 && kept < self.shares.share(kernel) {
                self.shares.keep(kernel, kept.saturating_add(1));
                any = true;
            }
        }
        if any {
            return Next::Measure;
        }
        self.shares.set_rest(if self.parameters.gates { Rest::Gated } else { Rest::Idle });
        self.settle()
    }
}
