//! The threads that simulations share: to runs first, one each, and to the inside of runs when fewer runs than threads are left.
//!
//! Every run has its own thread, which is best: two runs side by side wait for nothing. Only what is left over goes into runs, evenly. Runs
//! ask anew every few thousand cycles, so that the last ones get what others leave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A number of threads that all clones share.
#[derive(Clone, Debug)]
pub struct Threads {
    all: usize,
    /// Runs that go on now.
    runs: Arc<AtomicUsize>,
}

/// A run that goes on, until it is dropped.
#[derive(Debug)]
pub(super) struct Going<'a>(&'a Threads);

impl Threads {
    /// One thread for each run, however many there are.
    pub fn one() -> Self {
        Threads::new(1)
    }

    /// `all` threads, at least 1.
    pub fn new(all: usize) -> Self {
        Threads { all: all.max(1), runs: Arc::default() }
    }

    /// A run begins or goes on.
    pub(super) fn begin(&self) -> Going<'_> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Going(self)
    }
}

impl Going<'_> {
    /// Threads for this run now, its own included.
    pub(super) fn share(&self) -> usize {
        (self.0.all / self.0.runs.load(Ordering::Relaxed).max(1)).max(1)
    }
}

impl Drop for Going<'_> {
    fn drop(&mut self) {
        self.0.runs.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_come_first_and_what_is_left_goes_into_them() {
        let threads = Threads::new(8);
        let first = threads.begin();
        assert_eq!(first.share(), 8);
        let others: Vec<Going> = (0..2).map(|_| threads.begin()).collect();
        assert_eq!(first.share(), 2, "8 / 3");
        let more: Vec<Going> = (0..9).map(|_| threads.begin()).collect();
        assert_eq!(first.share(), 1, "12 runs");
        drop((others, more));
        assert_eq!(first.share(), 8);
        assert_eq!(Threads::one().begin().share(), 1);
    }

    #[test]
    fn clones_share() {
        let threads = Threads::new(4);
        let other = threads.clone();
        let (one, _another) = (threads.begin(), other.begin());
        assert_eq!(one.share(), 2);
    }
}
