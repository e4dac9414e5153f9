//! Every order is executed once, by any thread, and its answer returns; with loom, in the
//! interleavings of two threads.

use super::*;
#[cfg(loom)]
use loom::{sync::Arc, thread};
#[cfg(not(loom))]
use std::{sync::Arc, thread};

/// Runs rounds of `orders` orders on `threads` threads, dealt in turn; each must be answered with
/// its double, once, before the round is over.
fn rounds(threads: usize, rounds: u32, orders: u32, patience: Patience, steal: bool) {
    let queues: Arc<WorkQueues<u32, u32>> = Arc::new(WorkQueues::new(threads, orders as usize));
    let others = (1..threads).map(|other| {
        let queues = queues.clone();
        thread::spawn(move || queues.work(other, patience, |order| 2 * order))
    });
    let others: Vec<_> = others.collect();
    let mut mine = patience;
    for round in 0..rounds {
        (0..orders).for_each(|order| queues.lay(order as usize % threads, orders * round + order));
        (1..threads).for_each(|other| queues.ring(other));
        let mut answers = Vec::new();
        queues.finish(
            steal,
            &mut mine,
            |order| 2 * order,
            |thread, answer| {
                assert!(thread < threads);
                answers.push(answer);
            },
        );
        answers.sort_unstable();
        assert_eq!(answers, (orders * round..orders * (round + 1)).map(|order| 2 * order).collect::<Vec<_>>());
    }
    (1..threads).for_each(|other| queues.dismiss(other));
    others.into_iter().for_each(|other| other.join().expect("no panic"));
}

#[cfg(not(loom))]
mod threads {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn each_order_is_carried_out_once(
            threads in 1usize..5, orders in 0u32..9, looks in 0u32..20, yields in 0u32..20, steal: bool,
        ) {
            rounds(threads, 200, orders, Patience::of(looks, yields), steal);
        }
    }

    /// The owner does not wait for threads that never begin.
    #[test]
    fn nobody_waits_for_who_has_not_begun() {
        let queues: WorkQueues<u32, u32> = WorkQueues::new(3, 6);
        (0..6).for_each(|order| queues.lay(order % 3, order as u32));
        let mut sum = 0;
        queues.finish(true, &mut { Patience::SHORT }, |order| order, |thread, answer| sum += thread as u32 + answer);
        assert_eq!(sum, 15);
    }
}

#[cfg(loom)]
mod model {
    use super::*;

    #[test]
    fn orders_are_answered_and_nobody_sleeps_for_ever() {
        loom::model(|| rounds(2, 1, 2, Patience::of(0, 0), true));
    }

    /// With at most two preemptive thread changes, since two rounds have too many interleavings.
    #[test]
    fn a_thread_that_is_late_takes_what_is_there_then() {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(2);
        model.check(|| rounds(2, 2, 1, Patience::of(0, 0), true));
    }
}
