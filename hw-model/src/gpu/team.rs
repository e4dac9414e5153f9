//! Threads that run groups of SMs, partitions of the memory system and its request subnet, in
//! addition to the thread that owns the GPU. They belong to one call of
//! [`Gpu::run`](super::Gpu::run).
//!
//! All data moves with its order and returns with the answer ([`WorkQueues`]), so that one thread
//! owns it at any time. Only programs are shared, and they do not change meanwhile. A thread starts
//! at its first order. A panic is an answer too. If the owner of the GPU panics, it dismisses the
//! other threads, so that none waits forever.

use super::group::Group;
use super::handover::Patience;
use super::parallel::ALWAYS;
use super::work_queues::WorkQueues;
use crate::memory::{DeferredRequests, Lent};
use crate::sm::Programs;
use mias_warp_trace::cores;
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{Builder, Scope};

/// Order for a thread.
#[derive(Debug)]
pub(super) enum Order {
    /// Run a group for a cycle or a quantum.
    Group { group: Box<Group>, programs: Arc<Programs>, cycles: Cycles },
    /// Run partitions of the memory system for a quantum.
    Memory(Box<Lent>),
    /// Run the deferred cycles of the request subnet.
    Requests(Box<DeferredRequests>),
}

/// Cycles that a group runs.
#[derive(Clone, Debug)]
pub(super) enum Cycles {
    /// One cycle; with `skip`, sleeping SMs do not run.
    One { now: u64, skip: bool },
    /// A quantum of cycles, each SM as far as it can.
    Quantum(Range<u64>),
}

impl Order {
    fn carry_out(&mut self) {
        match self {
            Order::Group { group, programs, cycles: Cycles::One { now, skip } } => group.run(*now, programs, *skip, true),
            Order::Group { group, programs, cycles: Cycles::Quantum(cycles) } => group.run_quantum(cycles.start, cycles.end, programs),
            Order::Memory(lent) => lent.run(),
            Order::Requests(deferred) => deferred.run(),
        }
    }

    /// Group of the order.
    pub(super) fn into_group(self) -> Option<Box<Group>> {
        if let Order::Group { group, .. } = self { Some(group) } else { None }
    }

    /// Partitions of the order.
    pub(super) fn into_lent(self) -> Option<Box<Lent>> {
        if let Order::Memory(lent) = self { Some(lent) } else { None }
    }

    /// Request subnet of the order.
    pub(super) fn into_deferred(self) -> Option<Box<DeferredRequests>> {
        if let Order::Requests(deferred) = self { Some(deferred) } else { None }
    }
}

/// Executed order, or a panic.
type Answer = Result<Order, Box<dyn Any + Send>>;

/// Queues in which threads find orders.
pub(super) type Orders = WorkQueues<Order, Answer>;

fn carried_out(mut order: Order) -> Answer {
    catch_unwind(AssertUnwindSafe(move || {
        order.carry_out();
        order
    }))
}

/// Team of threads.
pub(super) struct Team<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    queues: &'scope Orders,
    /// True for each other thread that has been started.
    started: Vec<bool>,
    /// Polling budget of the owner.
    patience: Patience,
    /// Initial polling budget of the other threads.
    theirs: Patience,
    /// Executed orders, with the thread of each.
    done: Vec<(usize, Answer)>,
}

impl<'scope, 'env> Team<'scope, 'env> {
    /// Creates a team for as many threads as `queues` has, without starting them.
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, queues: &'scope Orders, patience: Patience) -> Self {
        let (started, done) = (vec![false; queues.threads() - 1], Vec::with_capacity(queues.most()));
        Team { scope, queues, started, patience, theirs: patience, done }
    }

    /// Number of threads, including this one.
    pub(super) fn threads(&self) -> usize {
        self.queues.threads()
    }

    /// Queues an order, preferably for thread `thread`; this one is 0.
    pub(super) fn lay(&mut self, thread: usize, order: Order) {
        self.queues.lay(thread, order);
    }

    /// Makes the other threads start on the queued orders. Threads that the system cannot create
    /// never start.
    pub(super) fn begin(&mut self) {
        (1..self.threads()).for_each(|thread| self.call(thread));
    }

    /// Makes one other thread start.
    pub(super) fn call(&mut self, thread: usize) {
        let (queues, patience, started) = (self.queues, self.theirs, &mut self.started[thread - 1]);
        if !*started {
            let core = if patience.is_long() { cores::current() } else { None };
            let work = move || {
                cores::begin_apart(core, thread);
                queues.work(thread, patience, carried_out);
            };
            *started = Builder::new().name(format!("SMs {thread}")).spawn_scoped(self.scope, work).is_ok();
            if *started && patience.is_long() {
                queues.welcome();
            }
        }
        queues.ring(thread);
    }

    /// True if there are as many cores as threads, though other programs may use them.
    pub(super) fn has_cores(&self) -> bool {
        self.theirs.is_long()
    }

    /// Completes all queued orders; this thread executes those that others have not begun.
    ///
    /// Returns the orders, in no order, with the thread of each, and whether the last one was done
    /// soon.
    ///
    /// # Panics
    /// If one of the threads panicked.
    pub(super) fn finish(&mut self) -> (impl Iterator<Item = (usize, Order)> + use<'_, 'scope, 'env>, bool) {
        // If every cycle must be handed over, other threads execute their orders even if they are
        // late.
        let steal = !ALWAYS || self.started.contains(&false);
        let done = &mut self.done;
        let soon = self.queues.finish(steal, &mut self.patience, carried_out, |thread, answer| done.push((thread, answer)));
        let orders = done.drain(..).map(|(thread, answer)| match answer {
            Ok(order) => (thread, order),
            Err(panic) => resume_unwind(panic),
        });
        (orders, soon)
    }
}

impl Drop for Team<'_, '_> {
    fn drop(&mut self) {
        for (other, _) in self.started.iter().enumerate().filter(|(_, started)| **started) {
            self.queues.dismiss(other + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::config;
    use crate::memory::Reply;
    use crate::sm::Sm;

    fn group() -> Box<Group> {
        let config = config();
        Box::new(Group::new(0, vec![Sm::new(&config, 0)], vec![0], 0, 0))
    }

    fn order(group: Box<Group>) -> Order {
        Order::Group { group, programs: Arc::default(), cycles: Cycles::One { now: 0, skip: true } }
    }

    /// Lets a team of two execute an order that is best for thread `thread`.
    fn carried_out_by(thread: usize, order: Order) -> Order {
        let queues = WorkQueues::new(2, 1);
        std::thread::scope(|scope| {
            let mut team = Team::new(scope, &queues, Patience::LONG);
            team.lay(thread, order);
            team.begin();
            let (mut orders, _) = team.finish();
            orders.next().expect("one was laid down").1
        })
    }

    #[test]
    fn a_group_comes_back_when_it_has_run() {
        // An SM without TBs does nothing after its first cycle.
        for thread in [0, 1] {
            assert_eq!(carried_out_by(thread, order(group())).into_group().expect("a group").next(), u64::MAX);
        }
    }

    #[test]
    fn a_panic_of_a_thread_is_the_teams() {
        for thread in [0, 1] {
            let mut group = group();
            // This SM does not exist.
            group.reply(7, Reply::default());
            let panic = catch_unwind(AssertUnwindSafe(|| carried_out_by(thread, order(group)))).expect_err("panics");
            let message = panic.downcast_ref::<String>().map_or("", String::as_str);
            assert!(message.contains("index out of bounds"), "{message}");
        }
    }

    /// The owner of the team panics while one thread works and one waits.
    #[test]
    fn a_panic_beside_the_team_dismisses_it() {
        for finished in [false, true] {
            let queues = WorkQueues::new(2, 1);
            let panic = catch_unwind(AssertUnwindSafe(|| {
                std::thread::scope(|scope| {
                    let mut team = Team::new(scope, &queues, Patience::SHORT);
                    team.lay(1, order(group()));
                    team.begin();
                    if finished {
                        assert_eq!(team.finish().0.count(), 1);
                    }
                    panic!("of the microcontroller");
                });
            }));
            assert_eq!(*panic.expect_err("panics").downcast_ref::<&str>().expect("a text"), "of the microcontroller");
        }
    }
}
