//! Threads that run groups of SMs, partitions of the memory system and its request subnet, beside
//! the one that has the GPU. They belong to one call of [`Gpu::run`](super::Gpu::run).
//!
//! All of these change hands with their order and come back with the answer ([`WorkQueues`]), so
//! that at any time one thread has each: nothing is shared but programs, which nobody changes
//! meanwhile. A thread is started when there is something for it to do for the first time. A panic
//! is an answer, too, and one that has the GPU and panics dismisses the others, so that nobody
//! waits for ever.

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

/// What a thread is to do.
#[derive(Debug)]
pub(super) enum Order {
    /// A group runs a cycle, or a quantum of them.
    Group { group: Box<Group>, programs: Arc<Programs>, cycles: Cycles },
    /// Partitions of the memory system run a quantum of cycles.
    Memory(Box<Lent>),
    /// The request subnet of the memory system catches up.
    Requests(Box<DeferredRequests>),
}

/// Cycles that a group is to run.
#[derive(Clone, Debug)]
pub(super) enum Cycles {
    /// One; SMs that sleep are not run, if these are to be skipped.
    One { now: u64, skip: bool },
    /// All of them, each SM as far as it comes.
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

    /// The group of such an order.
    pub(super) fn into_group(self) -> Option<Box<Group>> {
        if let Order::Group { group, .. } = self { Some(group) } else { None }
    }

    /// The partitions of such an order.
    pub(super) fn into_lent(self) -> Option<Box<Lent>> {
        if let Order::Memory(lent) = self { Some(lent) } else { None }
    }

    /// The request subnet of such an order.
    pub(super) fn into_deferred(self) -> Option<Box<DeferredRequests>> {
        if let Order::Requests(deferred) = self { Some(deferred) } else { None }
    }
}

/// The order, carried out, or a panic.
type Answer = Result<Order, Box<dyn Any + Send>>;

/// Where the threads find orders.
pub(super) type Orders = WorkQueues<Order, Answer>;

fn carried_out(mut order: Order) -> Answer {
    catch_unwind(AssertUnwindSafe(move || {
        order.carry_out();
        order
    }))
}

/// The threads.
pub(super) struct Team<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    queues: &'scope Orders,
    /// Of the others those that have been started.
    started: Vec<bool>,
    /// How long they are waited for.
    patience: Patience,
    /// How long they wait at first.
    theirs: Patience,
    /// Orders that have been carried out, and by which thread.
    done: Vec<(usize, Answer)>,
}

impl<'scope, 'env> Team<'scope, 'env> {
    /// As many threads as `board` is for, none of the others started yet.
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, queues: &'scope Orders, patience: Patience) -> Self {
        let (started, done) = (vec![false; queues.threads() - 1], Vec::with_capacity(queues.most()));
        Team { scope, queues, started, patience, theirs: patience, done }
    }

    /// Threads, this one included.
    pub(super) fn threads(&self) -> usize {
        self.queues.threads()
    }

    /// Lays an order down, best for thread `thread`; this one is 0.
    pub(super) fn lay(&mut self, thread: usize, order: Order) {
        self.queues.lay(thread, order);
    }

    /// The others begin with what has been laid down. Those for which the system has no thread never do.
    pub(super) fn begin(&mut self) {
        (1..self.threads()).for_each(|thread| self.call(thread));
    }

    /// One of the others does.
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

    /// Whether there are as many cores as threads, which others may need.
    pub(super) fn has_cores(&self) -> bool {
        self.theirs.is_long()
    }

    /// All that has been laid down is carried out, here what others have not begun. Returns the orders, in no order, with the thread that had
    /// each, and whether the last was there soon.
    ///
    /// # Panics
    /// If one of the threads did.
    pub(super) fn finish(&mut self) -> (impl Iterator<Item = (usize, Order)> + use<'_, 'scope, 'env>, bool) {
        // Where every cycle is to be handed over, others carry out theirs even if they are late.
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

    /// Has a team of two carry out an order that is best for thread `thread`.
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
        // An SM without TBs does nothing once it has run.
        for thread in [0, 1] {
            assert_eq!(carried_out_by(thread, order(group())).into_group().expect("a group").next(), u64::MAX);
        }
    }

    #[test]
    fn a_panic_of_a_thread_is_the_teams() {
        for thread in [0, 1] {
            let mut group = group();
            // There is no such SM.
            group.reply(7, Reply::default());
            let panic = catch_unwind(AssertUnwindSafe(|| carried_out_by(thread, order(group)))).expect_err("panics");
            let message = panic.downcast_ref::<String>().map_or("", String::as_str);
            assert!(message.contains("index out of bounds"), "{message}");
        }
    }

    /// Who has the team panics while a thread is at work, and while one waits.
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
