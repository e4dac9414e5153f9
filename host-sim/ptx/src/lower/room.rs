//! Room in memory for the records of TBs that are executed at a time.
//!
//! TBs begin in grid order and are handed on in grid order. The lowest TB that has not been handed on may take half of the room. Each of
//! the others may take an equal share of the other half; one that needs more waits until it is the lowest. So all together never take more
//! than the room, whether a TB has room does not depend on the number of workers, and nobody waits for ever: the lowest does not wait.

use crate::error::Limit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes for the records of `tbs` TBs.
#[derive(Debug)]
pub(super) struct Room {
    bytes: u64,
    tbs: u32,
    queue: Mutex<Queue>,
    moved: Condvar,
    /// What all take, of a cooperative grid.
    taken: AtomicU64,
}

#[derive(Debug)]
struct Queue {
    lowest: u32,
    /// Somebody failed, or panicked: who waits shall wait no more.
    over: bool,
}

impl Room {
    /// `bytes` for TBs from `first` on, `tbs` of them.
    pub(super) fn new(bytes: u64, first: u32, tbs: u32) -> Self {
        let queue = Mutex::new(Queue { lowest: first, over: false });
        Room { bytes, tbs: tbs.max(1), queue, moved: Condvar::new(), taken: AtomicU64::new(0) }
    }

    /// What the lowest TB may take.
    fn most(&self) -> u64 {
        self.bytes / 2
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// TBs below `lowest` have been handed on.
    pub(super) fn handed_on(&self, lowest: u32) {
        self.queue().lowest = lowest;
        self.moved.notify_all();
    }

    /// Nobody waits any more.
    pub(super) fn over(&self) {
        self.queue().over = true;
        self.moved.notify_all();
    }

    /// Waits until TBs below `tb` have been handed on, or until it is over.
    pub(super) fn wait(&self, tb: u32) {
        let mut queue = self.queue();
        while queue.lowest < tb && !queue.over {
            queue = self.moved.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// One TB's place in a room.
#[derive(Debug)]
pub(super) struct Place<'a> {
    room: &'a Room,
    tb: u32,
    /// It may have so much without asking.
    granted: u64,
    /// TBs that run in turns on one thread, which cannot wait for each other, take from one sum. What this one has taken of it.
    shared: Option<u64>,
}

impl<'a> Place<'a> {
    /// Of TB `tb`, one of those that run side by side.
    pub(super) fn of(room: &'a Room, tb: u32) -> Self {
        Place { room, tb, granted: room.most() / u64::from(room.tbs), shared: None }
    }

    /// Of a TB of a cooperative grid.
    pub(super) fn shared(room: &'a Room, tb: u32) -> Self {
        Place { room, tb, granted: 0, shared: Some(0) }
    }

    /// Asks for room for a record of `bytes`, of which the launch allows `most`; may wait.
    ///
    /// # Errors
    /// [`Limit`] if it cannot be had.
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
        // Of those that stop waiting since it is over nobody reads the result.
        self.room.wait(self.tb);
        self.granted = self.room.most();
        if bytes > self.granted { Err(Limit::Memory(self.granted)) } else { Ok(()) }
    }
}

/// Ends the waiting of others when a panic unwinds.
pub(super) struct OverOnPanic<'a>(pub(super) &'a Room);

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
        let room = Room::new(64 * MIB, 7, 4);
        let mut lowest = Place::of(&room, 7);
        assert_eq!(lowest.ask(32 * MIB, u64::MAX), Ok(()));
        assert_eq!(lowest.ask(32 * MIB + 1, u64::MAX), Err(Limit::Memory(32 * MIB)));
        assert_eq!(lowest.ask(32 * MIB, MIB), Err(Limit::Record(MIB)), "the launch's own limit is below it");
        // 32 MiB for 4: who keeps to its share does not wait.
        assert_eq!(Place::of(&room, 10).ask(8 * MIB, u64::MAX), Ok(()));
    }

    #[test]
    fn who_needs_more_waits_until_it_is_the_lowest() {
        let room = Room::new(64, 0, 2);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| Place::of(&room, 1).ask(32, u64::MAX));
            assert_eq!(Place::of(&room, 0).ask(32, u64::MAX), Ok(()));
            room.handed_on(1);
            assert_eq!(other.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn a_cooperative_grid_takes_from_one_sum() {
        let room = Room::new(100, 0, 2);
        let [mut one, mut two] = [0, 1].map(|tb| Place::shared(&room, tb));
        assert_eq!((one.ask(60, u64::MAX), two.ask(30, u64::MAX), one.ask(70, u64::MAX)), (Ok(()), Ok(()), Ok(())));
        assert_eq!(two.ask(31, u64::MAX), Err(Limit::Grid(100)));
    }
}
