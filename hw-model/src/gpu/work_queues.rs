//! Work queues with stealing: orders for several threads, and their answers.
//!
//! Each thread has a queue. It takes its own orders first, from the front, then those of others, from the back (work stealing, Blumofe and
//! Leiserson 1999): so it mostly gets what is in its core's cache, none waits while there is something to do, and who gives orders never
//! waits for a thread that has not begun. (What follows is own.)
//!
//! Nothing here is unsafe, and nobody waits but at a [`Handover`]. With `--cfg loom` the interleavings of small cases are run (CONTRIBUTING.md).

use super::handover::{Handover, Patience};
#[cfg(loom)]
use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};
use std::collections::VecDeque;
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicUsize, Ordering},
};

/// Alone in its lines of the host's cache: two lines of 64 bytes, as processors fetch pairs of them.
#[derive(Debug)]
#[repr(align(128))]
struct WorkQueue<T>(Mutex<VecDeque<T>>);

impl<T> WorkQueue<T> {
    /// An empty one, with memory for so many.
    fn new(most: usize) -> Self {
        WorkQueue(Mutex::new(VecDeque::with_capacity(most)))
    }

    /// Nothing here panics while it has a lock.
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues of orders, and of their answers.
#[derive(Debug)]
pub(super) struct WorkQueues<T, A> {
    /// Orders at a time, at most.
    most: usize,
    /// By thread; the first is the one that gives orders.
    orders: Vec<WorkQueue<T>>,
    /// By thread that has carried them out.
    answers: Vec<WorkQueue<A>>,
    /// Orders that are not carried out, and one more as long as others may be added.
    unfinished: AtomicUsize,
    /// Tells each of the other threads that there are orders, or that it may go.
    bells: Vec<Handover<bool>>,
    /// Another thread has come.
    arrived: Handover<()>,
    /// The last order was carried out, by one of the others.
    finished: Handover<()>,
}

impl<T, A> WorkQueues<T, A> {
    /// For so many threads, the one that gives orders included. All memory for `most` orders at a time is allocated here.
    pub(super) fn new(threads: usize, most: usize) -> Self {
        WorkQueues {
            most,
            orders: (0..threads).map(|_| WorkQueue::new(most)).collect(),
            answers: (0..threads).map(|_| WorkQueue::new(most)).collect(),
            unfinished: AtomicUsize::new(1),
            bells: (1..threads).map(|_| Handover::new()).collect(),
            arrived: Handover::new(),
            finished: Handover::new(),
        }
    }

    /// Threads, the one that gives orders included.
    pub(super) fn threads(&self) -> usize {
        self.orders.len()
    }

    /// Orders at a time, at most.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Lays an order on a thread's queue.
    pub(super) fn lay(&self, thread: usize, order: T) {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        self.orders[thread].lock().push_back(order);
    }

    /// Another thread is told that there are orders.
    pub(super) fn ring(&self, thread: usize) {
        self.bells[thread - 1].put(true);
    }

    /// Another thread is told to go when it has carried out what lies here.
    pub(super) fn dismiss(&self, thread: usize) {
        self.bells[thread - 1].put(false);
    }

    /// Who has started another thread sleeps until it is there: it may have been put on this core, and has to run to leave it
    /// ([`mias_warp_trace::cores`]).
    pub(super) fn welcome(&self) {
        self.arrived.take(&mut { Patience::NONE });
    }

    /// What another thread does until it is dismissed.
    pub(super) fn work(&self, thread: usize, mut patience: Patience, carry_out: impl Fn(T) -> A) {
        self.arrived.put(());
        while self.bells[thread - 1].take(&mut patience).0 {
            let mut done = 0;
            while let Some(order) = self.claim(thread, true) {
                let answer = carry_out(order);
                self.answers[thread].lock().push_back(answer);
                done += 1;
            }
            if done > 0 && self.unfinished.fetch_sub(done, Ordering::AcqRel) == done {
                self.finished.put(());
            }
        }
    }

    /// Who gives orders carries out what others have not begun, or only its own if it is not to `steal`, waits for the rest, and takes the
    /// answers, each with the thread that gave it. Returns whether it waited for a short time only.
    pub(super) fn finish(&self, steal: bool, patience: &mut Patience, carry_out: impl Fn(T) -> A, mut take: impl FnMut(usize, A)) -> bool {
        let mut done = 1;
        while let Some(order) = self.claim(0, steal) {
            take(0, carry_out(order));
            done += 1;
        }
        let soon = self.unfinished.fetch_sub(done, Ordering::AcqRel) == done || self.finished.take(patience).1;
        self.unfinished.store(1, Ordering::Relaxed);
        for (thread, answers) in self.answers.iter().enumerate() {
            answers.lock().drain(..).for_each(|answer| take(thread, answer));
        }
        soon
    }

    /// An order for `thread`: its own oldest, or the newest of another, if it is to `steal`.
    fn claim(&self, thread: usize, steal: bool) -> Option<T> {
        let own = self.orders[thread].lock().pop_front();
        let threads = self.threads();
        let others = || (1..threads).find_map(|next| self.orders[(thread + next) % threads].lock().pop_back());
        own.or_else(|| if steal { others() } else { None })
    }
}

#[cfg(test)]
#[path = "work_queues_tests.rs"]
mod tests;
