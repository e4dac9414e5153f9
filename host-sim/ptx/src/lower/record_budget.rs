//! Memory limit for the records of concurrent TBs.
//!
//! TBs start and are delivered in grid order. The lowest TB that has not been delivered may take
//! half of the memory. Each of the others may take an equal share of the other half; one that needs
//! more waits until it is the lowest. All records together therefore never exceed the limit, and
//! the outcome for a TB does not depend on the number of workers. No TB waits forever, since the
//! lowest does not wait.

use crate::error::Limit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Memory limit for the records of `tbs` TBs.
#[derive(Debug)]
pub(super) struct RecordBudget {
    bytes: u64,
    tbs: u32,
    queue: Mutex<Queue>,
    moved: Condvar,
    /// Bytes taken by all TBs of a cooperative grid.
    taken: AtomicU64,
}

#[derive(Debug)]
struct Queue {
    lowest: u32,
    /// True after a failure or panic, which ends all waiting.
    over: bool,
}

impl RecordBudget {
    /// Creates a limit of `bytes` for `tbs` TBs from `first` on.
    pub(super) fn new(bytes: u64, first: u32, tbs: u32) -> Self {
        let queue = Mutex::new(Queue { lowest: first, over: false });
        RecordBudget { bytes, tbs: tbs.max(1), queue, moved: Condvar::new(), taken: AtomicU64::new(0) }
    }

    /// Returns the maximum bytes of the lowest TB.
    fn most(&self) -> u64 {
        self.bytes / 2
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that TBs below `lowest` have been delivered.
    pub(super) fn handed_on(&self, lowest: u32) {
        self.queue().lowest = lowest;
        self.moved.notify_all();
    }

    /// Ends all waiting.
    pub(super) fn over(&self) {
        self.queue().over = true;
        self.moved.notify_all();
    }

    /// Waits until TBs below `tb` have been delivered, or until all waiting ends.
    pub(super) fn wait(&self, tb: u32) {
        let mut queue = self.queue();
        while queue.lowest < tb && !queue.over {
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Share of one TB in the memory limit.
#[derive(Debug)]
pub(super) struct Place<'a> {
    room: &'a RecordBudget,
    tb: u32,
    /// Bytes that the TB may take without waiting.
    granted: u64,
    /// Bytes that this TB has taken from the common sum. Only for TBs that alternate on one thread
    /// and cannot wait for each other.
    shared: Option<u64>,
}

impl<'a> Place<'a> {
    /// Creates the share of TB `tb`, which runs concurrently with others.
    pub(super) fn of(room: &'a RecordBudget, tb: u32) -> Self {
        Place { room, tb, granted: room.most() / u64::from(room.tbs), shared: None }
    }

    /// Creates the share of a TB of a cooperative grid.
    pub(super) fn shared(room: &'a RecordBudget, tb: u32) -> Self {
        Place { room, tb, granted: 0, shared: Some(0) }
    }

    /// Requests memory for a record of `bytes`, of which the launch permits `most`; may wait.
    ///
    /// # Errors
    /// [`Limit`] if the request is refused.
    #[inline]
    pub(super) fn ask(&mut self, bytes: u64, most: u64) -> Result<(), Limit> {
        if bytes <= self.granted.min(most) { Ok(()) } else { self.more(bytes, most) }
    }

    fn more(&mut self, bytes: u64, most: u64) -> Result<(), Limit> {
        if bytes > most {
            return Err(Limit::Record(most));
        }
        if let Some(counted) = &mut self.shared {
            let new = bytes - *counted;
            *counted = bytes;
            self.granted = bytes;
            let all = self.room.taken.fetch_add(new, Relaxed) + new;
            return if all > self.room.bytes { Err(Limit::Grid(self.room.bytes)) } else { Ok(()) };
        }
        // The results of TBs that stop waiting after a failure are not used.
        self.room.wait(self.tb);
        self.granted = self.room.most();
        if bytes > self.granted { Err(Limit::Memory(self.granted)) } else { Ok(()) }
    }
}

/// Guard that ends the waiting of others when a panic unwinds.
pub(super) struct OverOnPanic<'a>(pub(super) &'a RecordBudget);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.over();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_lowest_may_take_half_and_the_others_their_share() {
        let room = RecordBudget::new(64 * MIB, 7, 4);
        let mut lowest = Place::of(&room, 7);
        assert_eq!(lowest.ask(32 * MIB, u64::MAX), Ok(()));
        assert_eq!(lowest.ask(32 * MIB + 1, u64::MAX), Err(Limit::Memory(32 * MIB)));
        assert_eq!(lowest.ask(32 * MIB, MIB), Err(Limit::Record(MIB)), "the launch's own limit is below it");
        // With 32 MiB for 4 TBs, a TB within its share does not wait.
        assert_eq!(Place::of(&room, 10).ask(8 * MIB, u64::MAX), Ok(()));
    }

    #[test]
    fn who_needs_more_waits_until_it_is_the_lowest() {
        let room = RecordBudget::new(64, 0, 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| Place::of(&room, 1).ask(32, u64::MAX));
            assert_eq!(Place::of(&room, 0).ask(32, u64::MAX), Ok(()));
            room.handed_on(1);
            assert_eq!(other.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn a_cooperative_grid_takes_from_one_sum() {
        let room = RecordBudget::new(100, 0, 2);
        let [mut one, mut two] = [0, 1].map(|tb| Place::shared(&room, tb));
        assert_eq!((one.ask(60, u64::MAX), two.ask(30, u64::MAX), one.ask(70, u64::MAX)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(two.ask(31, u64::MAX), Err(Limit::Grid(100)));
    }
}
