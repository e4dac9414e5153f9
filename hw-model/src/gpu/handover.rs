//! A place where one thread lays an item down for another, which waits for it.
//!
//! A quantum of the GPU's cycles lasts some ten or hundred microseconds, and threads meet three
//! times in it. So who waits looks again and again for about as long, then lets other threads run
//! in between, then sleeps until it is woken: cores are shared, and a thread that was put aside
//! must not cost a time slice per cycle. (Own; the numbers are assumptions.)
//!
//! There is nothing unsafe here. `cargo test` checks it as any other code; with `--cfg loom` every interleaving is run
//! (<https://docs.rs/loom>, CONTRIBUTING.md).

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

/// Nothing lies there.
const EMPTY: u32 = 0;
/// Something does.
const FULL: u32 = 1;
/// Nothing does, and who waits for it sleeps.
const ASLEEP: u32 = 2;

/// Longer than a look at what others have to do takes, far shorter than a time slice.
const LONG_YIELD: Duration = Duration::from_micros(50);

/// How long one thread that waits looks before it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Looks one right after the other; some 40 ns each. Fewer after each time that this was in vain, more after each that was not: the
    /// thread that is waited for may wait for this one's core.
    looks: u32,
    /// At most.
    most_looks: u32,
    /// Looks between which other threads may run; 0.5 microseconds each if there are none.
    yields: u32,
}

impl Patience {
    /// Where every thread has a core: some 20 microseconds, then a millisecond.
    pub(super) const LONG: Patience = Patience::of(500, 2_000);
    /// Asleep at once.
    pub(super) const NONE: Patience = Patience::of(0, 0);
    /// Where threads share cores.
    pub(super) const SHORT: Patience = Patience::of(0, 50);
    /// Where there are looks at all, at least.
    const LEAST_LOOKS: u32 = 8;

    /// So many looks at most, then so many with others in between.
    pub(super) const fn of(most_looks: u32, yields: u32) -> Self {
        Patience { looks: most_looks, most_looks, yields }
    }

    /// Whether every thread is taken to have a core.
    pub(super) fn is_long(self) -> bool {
        self.most_looks > 0
    }

    /// Looks; whether something was there.
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

/// The place. One thread takes; others put, in its turn or in place of what it has not taken. Alone
/// in its lines of the host's cache, so that nobody else's work disturbs who looks: two lines of 64
/// bytes, as processors fetch pairs of them.
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

    /// Lays `item` down, in place of what may lie there.
    pub(super) fn put(&self, item: T) {
        *lock(&self.item) = Some(item);
        if self.state.swap(FULL, Ordering::AcqRel) == ASLEEP
            && let Some(sleeper) = &*lock(&self.sleeper)
        {
            sleeper.unpark();
        }
    }

    /// Whether something lies there.
    fn is_full(&self) -> bool {
        self.state.load(Ordering::Acquire) == FULL
    }

    /// Waits for something and takes it. Second, whether it came while looking, without letting other threads run.
    pub(super) fn take(&self, patience: &mut Patience) -> (T, bool) {
        loop {
            let soon = patience.look(|| self.is_full());
            if !soon {
                self.wait(patience.yields);
            }
            // Before the item: once that is gone, the other may put the next. Not a plain store: with an item that was replaced, nothing else would
            // say which came later.
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
        // Fails if something was put meanwhile.
        let _ = self.state.compare_exchange(EMPTY, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        while !self.is_full() {
            thread::park();
        }
    }
}

/// Lets other threads run on this core. Whether one did for long: then it is better to sleep, since
/// others need the core, and who is woken may be given one that is free.
fn let_others_run() -> bool {
    // loom has no time.
    let since = (!cfg!(loom)).then(Instant::now);
    thread::yield_now();
    since.is_some_and(|since| since.elapsed() > LONG_YIELD)
}

/// Nothing here panics while it has a lock.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[path = "handover_tests.rs"]
mod tests;
