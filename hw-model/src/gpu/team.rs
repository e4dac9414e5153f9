//! Threads that run groups of SMs, and partitions of the memory system, beside the one that has the GPU. They belong to one call of [`Gpu::run`](super::Gpu::run).
//!
//! Both change hands with their order and come back with the answer, so that at any time one thread has each: nothing is shared but
//! programs, which nobody changes meanwhile. A thread is started when there is something for it to do for the first time. One that panics
//! sends its panic as the answer, and one that has the GPU and panics dismisses the others, so that nobody waits for ever.

use super::group::Group;
use super::handover::{Handover, Patience};
use crate::memory::Lent;
use crate::sm::Programs;
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread::{Builder, Scope};

/// What a thread is to do.
#[derive(Debug)]
pub(super) enum Order {
    /// A group runs a cycle, or a stretch of them.
    Group { group: Box<Group>, programs: Arc<Programs>, cycles: Cycles },
    /// Partitions of the memory system run a stretch of cycles.
    Memory(Box<Lent>),
}

/// Cycles that a group is to run.
#[derive(Clone, Debug)]
pub(super) enum Cycles {
    /// One; SMs that sleep are not run, if these are to be skipped.
    One { now: u64, skip: bool },
    /// All of them, each SM as far as it comes.
    Stretch(Range<u64>),
}

impl Order {
    fn carry_out(&mut self) {
        match self {
            Order::Group { group, programs, cycles: Cycles::One { now, skip } } => group.run(*now, programs, *skip, true),
            Order::Group { group, programs, cycles: Cycles::Stretch(cycles) } => group.run_stretch(cycles.start, cycles.end, programs),
            Order::Memory(lent) => lent.run(),
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
}

/// The order, carried out, or a panic.
type Answer = Result<Order, Box<dyn Any + Send>>;

/// Where one of the threads gets its orders, and lays its answers down.
#[derive(Debug)]
pub(super) struct Desk {
    /// None: there is nothing more to do.
    orders: Handover<Option<Order>>,
    answers: Handover<Answer>,
}

impl Desk {
    pub(super) fn new() -> Self {
        Desk { orders: Handover::new(), answers: Handover::new() }
    }

    fn work(&self, mut patience: Patience) {
        while let Some(mut order) = self.orders.take(&mut patience).0 {
            let answer = catch_unwind(AssertUnwindSafe(move || {
                order.carry_out();
                order
            }));
            self.answers.put(answer);
        }
    }
}

/// The threads.
pub(super) struct Team<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    /// One per thread.
    desks: &'scope [Desk],
    /// Threads that have been started.
    started: Vec<bool>,
    /// How long each is waited for.
    patience: Vec<Patience>,
    /// How long they wait at first.
    theirs: Patience,
}

impl<'scope, 'env> Team<'scope, 'env> {
    /// As many threads as desks, none of them started yet.
    pub(super) fn new(scope: &'scope Scope<'scope, 'env>, desks: &'scope [Desk], patience: Patience) -> Self {
        Team { scope, desks, started: vec![false; desks.len()], patience: vec![patience; desks.len()], theirs: patience }
    }

    /// Gives thread `worker` an order, or the order back if the system has no thread for it.
    pub(super) fn post(&mut self, worker: usize, order: Order) -> Result<(), Order> {
        let (desk, patience) = (&self.desks[worker], self.theirs);
        if !self.started[worker] {
            let name = Builder::new().name(format!("SMs {}", worker + 1));
            if name.spawn_scoped(self.scope, move || desk.work(patience)).is_err() {
                return Err(order);
            }
            self.started[worker] = true;
        }
        desk.orders.put(Some(order));
        Ok(())
    }

    /// Whether thread `worker` has carried its order out.
    pub(super) fn has_answered(&self, worker: usize) -> bool {
        self.desks[worker].answers.is_full()
    }

    /// Whether there are as many cores as threads, which others may need.
    pub(super) fn has_cores(&self) -> bool {
        self.theirs.is_long()
    }

    /// Waits until thread `worker` has carried its order out. Second, whether that was soon.
    ///
    /// # Panics
    /// If the thread did.
    pub(super) fn collect(&mut self, worker: usize) -> (Order, bool) {
        match self.desks[worker].answers.take(&mut self.patience[worker]) {
            (Ok(order), soon) => (order, soon),
            (Err(panic), _) => resume_unwind(panic),
        }
    }
}

impl Drop for Team<'_, '_> {
    fn drop(&mut self) {
        for (desk, _) in self.desks.iter().zip(&self.started).filter(|(_, started)| **started) {
            desk.orders.put(None);
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
        Box::new(Group::new(0, vec![Sm::new(&config, 0)], vec![0], 0))
    }

    fn order(group: Box<Group>) -> Order {
        Order::Group { group, programs: Arc::default(), cycles: Cycles::One { now: 0, skip: true } }
    }

    /// Gives the order to the only thread of a team, and waits for the answer.
    fn carried_out(order: Order) -> Order {
        let desks = [Desk::new()];
        std::thread::scope(|scope| {
            let mut team = Team::new(scope, &desks, Patience::LONG);
            team.post(0, order).expect("a thread");
            team.collect(0).0
        })
    }

    #[test]
    fn a_group_comes_back_when_it_has_run() {
        // An SM without TBs does nothing once it has run.
        assert_eq!(carried_out(order(group())).into_group().expect("a group").next(), u64::MAX);
    }

    #[test]
    fn a_panic_of_a_thread_is_the_teams() {
        let mut group = group();
        // There is no such SM.
        group.reply(7, Reply::default());
        let panic = catch_unwind(AssertUnwindSafe(|| carried_out(order(group)))).expect_err("panics");
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(message.contains("index out of bounds"), "{message}");
    }

    /// Who has the team panics while a thread is at work, and while one waits.
    #[test]
    fn a_panic_beside_the_team_dismisses_it() {
        for posted in [false, true] {
            let desks = [Desk::new()];
            let panic = catch_unwind(AssertUnwindSafe(|| {
                std::thread::scope(|scope| {
                    let mut team = Team::new(scope, &desks, Patience::SHORT);
                    team.post(0, order(group())).expect("a thread");
                    if !posted {
                        team.collect(0);
                    }
                    panic!("of the microcontroller");
                });
            }));
            assert_eq!(*panic.expect_err("panics").downcast_ref::<&str>().expect("a text"), "of the microcontroller");
        }
    }
}
