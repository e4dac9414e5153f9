//! The performance mode: as few SMs for each memory-intensive kernel as leave it what it had, the others for the rest (Zhao et al. 2018, section
//! 4.2; sources.md D150).
//!
//! The paper ends "when the performance loss is no more than" the threshold, with which no step but the first could follow. Here it ends when
//! the loss exceeds it, and goes one step back.

use super::{Next, Rest, Search, Step};

/// SMs that a step takes from each kernel (Zhao et al. 2018, section 4.2).
const STEP_SMS: u16 = 2;

impl Search {
    /// Takes the first SMs from the memory-intensive kernels.
    pub fn begin_performance(&mut self) -> Next {
        self.shares.set_rest(Rest::Stalled);
        self.step = Step::Shrink;
        self.shrink()
    }

    /// Goes one step back where too much was lost, and one further elsewhere.
    pub fn shrunk(&mut self) -> Next {
        let losers = self.losers() & self.memory & !self.found;
        for kernel in 0..self.shares.kernels() {
            if losers >> kernel & 1 != 0 {
                let taken = self.taken.get(kernel).copied().unwrap_or(0);
                self.shares.keep(kernel, self.shares.kept(kernel).saturating_add(taken.into()));
            }
        }
        self.found |= losers;
        self.shrink()
    }

    fn shrink(&mut self) -> Next {
        let mut any = false;
        for kernel in 0..self.shares.kernels() {
            if self.memory & !self.found & 1 << kernel == 0 {
                continue;
            }
            // Each keeps one.
            let kept = self.shares.kept(kernel);
            let taken = kept.saturating_sub(1).min(STEP_SMS);
            if taken == 0 {
                self.found |= 1 << kernel;
                continue;
            }
            self.shares.keep(kernel, kept.saturating_sub(taken));
            if let Some(entry) = self.taken.get_mut(kernel) {
                *entry = taken as u8;
            }
            any = true;
        }
        if !any || self.parameters.reassigns {
            self.shares.give_to(self.all() & !self.memory);
        }
        if any { Next::Measure } else { self.settle() }
    }
}
