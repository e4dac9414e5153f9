//! Queue of TBs that workers start and complete in grid order.

use super::record_budget::RecordBudget;
use crate::error::ExecError;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// TBs in progress, and the receiver of their results.
pub(super) struct Line<'a, S, F, E> {
    room: &'a RecordBudget,
    end: u32,
    /// Next TB to start.
    next: AtomicU32,
    done: Mutex<Done<S, F, E>>,
}

struct Done<S, F, E> {
    /// First TB whose result has not been delivered.
    lowest: u32,
    /// Results of TBs that completed before lower ones.
    early: BTreeMap<u32, Result<S, ExecError>>,
    take: F,
    result: Result<(), E>,
}

impl<'a, S, E: From<ExecError>, F: FnMut(S) -> Result<(), E>> Line<'a, S, F, E> {
    /// Creates a queue of these TBs; `take` receives their results.
    pub(super) fn new(room: &'a RecordBudget, tbs: Range<u32>, take: F) -> Self {
        let done = Done { lowest: tbs.start, early: BTreeMap::new(), take, result: Ok(()) };
        Line { room, end: tbs.end, next: AtomicU32::new(tbs.start), done: Mutex::new(done) }
    }

    fn done(&self) -> MutexGuard<'_, Done<S, F, E>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs TBs until none is left to start. After a failure no TB starts. Lower TBs have started
    /// and run to their end, so the error does not depend on the number of workers.
    pub(super) fn work(&self, mut run: impl FnMut(u32) -> Result<S, ExecError>) {
        loop {
            let tb = self.next.fetch_add(1, Relaxed);
            // The counter may exceed the end by one for each worker.
            if tb >= self.end {
                self.next.store(self.end, Relaxed);
                return;
            }
            let given = run(tb);
            if given.is_err() {
                self.next.store(self.end, Relaxed);
            }
            self.hand_on(tb, given);
        }
    }

    fn hand_on(&self, tb: u32, given: Result<S, ExecError>) {
        let done = &mut *self.done();
        done.early.insert(tb, given);
        while done.result.is_ok()
            && let Some(given) = done.early.remove(&done.lowest)
        {
            done.result = given.map_err(E::from).and_then(&mut done.take);
            done.lowest += 1;
        }
        if done.result.is_err() {
            done.early.clear();
            self.next.store(self.end, Relaxed);
            self.room.over();
        }
        self.room.handed_on(done.lowest);
    }

    /// Waits until every result has been delivered, or one has failed.
    pub(super) fn wait(&self) {
        self.room.wait(self.end);
    }

    /// Returns the final result of all TBs.
    pub(super) fn result(self) -> Result<(), E> {
        self.done.into_inner().unwrap_or_else(PoisonError::into_inner).result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Workers that start TBs in any interleaving deliver them in order. Of several failures, the
    /// first in grid order is reported.
    #[test]
    fn tbs_are_handed_on_in_order() {
        for fail in [None, Some(40)] {
            let room = RecordBudget::new(0, 10, 90);
            let mut taken = Vec::new();
            let line = Line::new(&room, 10..100, |tb: u32| {
                taken.push(tb);
                Ok::<(), ExecError>(())
            });
            let failure = |tb: u32| ExecError::Module { kernel: tb.to_string(), file: String::new() };
            let run = |tb: u32| if fail.is_some_and(|from| tb >= from) { Err(failure(tb)) } else { Ok(tb) };
            std::thread::scope(|scope| {
                (0..4).for_each(|_| drop(scope.spawn(|| line.work(run))));
            });
            line.wait();
            assert_eq!(line.result(), fail.map_or(Ok(()), |tb| Err(failure(tb))));
            assert_eq!(taken, (10..fail.unwrap_or(100)).collect::<Vec<_>>());
        }
    }
}
