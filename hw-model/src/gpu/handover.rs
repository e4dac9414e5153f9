//! Slot for one item that a thread passes to another, which waits for it.
//!
//! A quantum of the GPU's cycles takes about ten to a hundred microseconds, and threads synchronize
//! three times in it. So a waiter spins for about that long, then yields, then parks until it is
//! woken. Cores are shared, and a preempted thread must not cost a time slice per cycle. (Own; the
//! numbers are assumptions.)
//!
//! The code is safe Rust. `cargo test` checks it as any other code; with `--cfg loom` every
//! interleaving is run (<https://docs.rs/loom>, CONTRIBUTING.md).

#[cfg(loom)]
use loom::{
    hint,
    sync::atomic::{AtomicU32, Ordering},
    sync::{Mutex, MutexGuard},
    thread,
};
use std::sync::PoisonError;
use std::time::{Duration, Instant};
#[cfg(not(loom))]
use std::{
    hint,
    sync::atomic::{AtomicU32, Ordering},
    sync::{Mutex, MutexGuard},
    thread,
};

/// State of an empty slot.
const EMPTY: u32 = 0;
/// State of a slot with an item.
const FULL: u32 = 1;
/// State of an empty slot with a parked waiter.
const ASLEEP: u32 = 2;

/// Duration of a yield that shows that another thread needs the core: longer than a poll of other
/// threads, far shorter than a time slice.
const LONG_YIELD: Duration = Duration::from_micros(50);

/// Polling budget of a waiting thread before it parks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Consecutive polls of about 40 ns each. The number falls after each unsuccessful wait and
    /// rises after each successful one, since the awaited thread may need this core.
    looks: u32,
    /// Upper limit of the polls.
    most_looks: u32,
    /// Polls with a yield in between, 0.5 microseconds each if no other thread runs.
    yields: u32,
}

impl Patience {
    /// Budget if every thread has a core: about 20 microseconds of polls, then a millisecond of
    /// yields.
    pub(super) const LONG: Patience = Patience::of(500, 2_000);
    /// Budget of zero: park at once.
    pub(super) const NONE: Patience = Patience::of(0, 0);
    /// Budget if threads share cores.
    pub(super) const SHORT: Patience = Patience::of(0, 50);
    /// Lower limit of the polls, if there are any.
    const LEAST_LOOKS: u32 = 8;

    /// Creates a budget of at most `most_looks` polls, then `yields` polls with a yield in between.
    pub(super) const fn of(most_looks: u32, yields: u32) -> Self {
        Patience { looks: most_looks, most_looks, yields }
    }

    /// True for the budget that assumes a core per thread.
    pub(super) fn is_long(self) -> bool {
        self.most_looks > 0
    }

    /// Polls; returns true if an item arrived.
    fn look(&mut self, is_full: impl Fn() -> bool) -> bool {
        for _ in 0..self.looks {
            if is_full() {
                self.looks = (2 * self.looks).min(self.most_looks);
                return true;
            }
            hint::spin_loop();
        }
        self.looks = (self.looks / 2).max(Self::LEAST_LOOKS.min(self.most_looks));
        false
    }
}

/// Slot for one item. One thread takes; others put, after the take or in place of the previous
/// item.
///
/// It has its own cache lines, so that other threads' writes do not disturb the poll: two lines of
/// 64 bytes, since processors fetch pairs.
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct Handover<T> {
    state: AtomicU32,
    item: Mutex<Option<T>>,
    sleeper: Mutex<Option<thread::Thread>>,
}

impl<T> Handover<T> {
    pub(super) fn new() -> Self {
        Handover { state: AtomicU32::new(EMPTY), item: Mutex::new(None), sleeper: Mutex::new(None) }
    }

    /// Stores `item`, in place of a previous one.
    pub(super) fn put(&self, item: T) {
        *lock(&self.item) = Some(item);
        if self.state.swap(FULL, Ordering::AcqRel) == ASLEEP
            && let Some(sleeper) = &*lock(&self.sleeper)
        {
            sleeper.unpark();
        }
    }

    /// True if the slot has an item.
    fn is_full(&self) -> bool {
        self.state.load(Ordering::Acquire) == FULL
    }

    /// Waits for an item and takes it. The second value is true if it arrived during the polls,
    /// before any yield.
    pub(super) fn take(&self, patience: &mut Patience) -> (T, bool) {
        loop {
            let soon = patience.look(|| self.is_full());
            if !soon {
                self.wait(patience.yields);
            }
            // The state is reset before the item is taken, since another item may be put once it is
            // gone. A plain store is not enough: after a replacement, nothing else orders the two
            // items.
            self.state.swap(EMPTY, Ordering::AcqRel);
            if let Some(item) = lock(&self.item).take() {
                return (item, soon);
            }
        }
    }

    fn wait(&self, yields: u32) {
        for _ in 0..yields {
            if self.is_full() {
                return;
            }
            if let_others_run() {
                break;
            }
        }
        *lock(&self.sleeper) = Some(thread::current());
        // Fails if an item was put meanwhile.
        let _ = self.state.compare_exchange(EMPTY, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        while !self.is_full() {
            thread::park();
        }
    }
}

/// Yields the core. Returns true if another thread ran for long. Then it is better to park, since
/// other threads need the core and a woken thread may get a free one.
fn let_others_run() -> bool {
    // loom has no time.
    let since = (!cfg!(loom)).then(Instant::now);
    thread::yield_now();
    since.is_some_and(|since| since.elapsed() > LONG_YIELD)
}

/// Locks a mutex, regardless of poison, since no code panics while it holds a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "handover_tests.rs"]
mod tests;
