//! Threads shared by simulations: one for each run first, and the rest for parallelism within runs.
//!
//! One thread per run is best, since parallel runs do not wait for each other. Threads left over
//! are divided evenly among runs. Runs update their share every few thousand cycles, so that the
//! last runs use the threads of finished ones.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of threads shared by all clones.
#[derive(Clone, Debug)]
pub struct Threads {
    all: usize,
    /// Number of active runs.
    runs: Arc<AtomicUsize>,
}

/// Guard of an active run, which ends when dropped.
#[derive(Debug)]
pub(super) struct Going<'a>(&'a Threads);

impl Threads {
    /// Creates one thread for each run, without a limit.
    pub fn one() -> Self {
        Threads::new(1)
    }

    /// Creates a pool of `all` threads, at least 1.
    pub fn new(all: usize) -> Self {
        Threads { all: all.max(1), runs: Arc::default() }
    }

    /// Registers an active run.
    pub(super) fn begin(&self) -> Going<'_> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        Going(self)
    }
}

impl Going<'_> {
    /// Returns the number of threads of this run now, including its own.
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
