//! Work queues with stealing: orders for several threads, and their answers.
//!
//! Each thread has a queue. It takes its own orders first, from the front, then those of other
//! threads, from the back (work stealing, Blumofe and Leiserson 1999). So it mostly gets data in
//! its core's cache, and no thread waits while there is work. The owner never waits for a thread
//! that has not begun. (The rest is own.)
//!
//! The code is safe Rust, and threads wait only at a [`Handover`]. With `--cfg loom` the
//! interleavings of small cases are run (CONTRIBUTING.md).

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

/// Queue with its own cache lines: two lines of 64 bytes, since processors fetch pairs.
#[derive(Debug)]
#[repr(align(128))]
struct WorkQueue<T>(Mutex<VecDeque<T>>);

impl<T> WorkQueue<T> {
    /// Creates an empty queue with memory for `most` items.
    fn new(most: usize) -> Self {
        WorkQueue(Mutex::new(VecDeque::with_capacity(most)))
    }

    /// Locks the queue, regardless of poison, since no code panics while it holds a lock.
    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queues of orders, and of their answers.
#[derive(Debug)]
pub(super) struct WorkQueues<T, A> {
    /// Maximum number of orders at a time.
    most: usize,
    /// Orders by thread; the first is the owner, which gives orders.
    orders: Vec<WorkQueue<T>>,
    /// Answers by the thread that executed the orders.
    answers: Vec<WorkQueue<A>>,
    /// Number of orders in progress, plus one while further orders may be added.
    unfinished: AtomicUsize,
    /// Signals to each other thread that there are orders, or that it is dismissed.
    bells: Vec<Handover<bool>>,
    /// Signal that another thread has started.
    arrived: Handover<()>,
    /// Signal that one of the other threads has executed the last order.
    finished: Handover<()>,
}

impl<T, A> WorkQueues<T, A> {
    /// Creates queues for `threads` threads, including the owner. All memory for `most` orders at a
    /// time is allocated here.
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

    /// Number of threads, including the owner.
    pub(super) fn threads(&self) -> usize {
        self.orders.len()
    }

    /// Maximum number of orders at a time.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Appends an order to a thread's queue.
    pub(super) fn lay(&self, thread: usize, order: T) {
        self.unfinished.fetch_add(1, Ordering::Relaxed);
        self.orders[thread].lock().push_back(order);
    }

    /// Signals another thread that there are orders.
    pub(super) fn ring(&self, thread: usize) {
        self.bells[thread - 1].put(true);
    }

    /// Dismisses another thread once it has executed the queued orders.
    pub(super) fn dismiss(&self, thread: usize) {
        self.bells[thread - 1].put(false);
    }

    /// Waits until a started thread runs. The owner sleeps meanwhile, since the new thread may be
    /// on this core and must run to leave it ([`mias_warp_trace::cores`]).
    pub(super) fn welcome(&self) {
        self.arrived.take(&mut { Patience::NONE });
    }

    /// Runs the orders of another thread until it is dismissed.
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

    /// Completes all orders on the owner's thread and takes the answers, each with its thread.
    ///
    /// The owner executes orders that others have not begun, or only its own unless it may `steal`,
    /// and waits for the rest. Returns true if the wait was short.
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

    /// Takes an order for `thread`: its own oldest, or the newest of another thread, if it may
    /// `steal`.
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
