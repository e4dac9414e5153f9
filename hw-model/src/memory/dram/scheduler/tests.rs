//! The queue of a channel under FR-FCFS, against a list of what waits.

use super::*;
use crate::hand_made::config;
use proptest::prelude::*;

/// A queue with room for `capacity` requests to `banks` banks, FR-FCFS with a row-hit cap.
fn fr_fcfs(capacity: u32, banks: u32, row_hit_cap: u32) -> RequestQueue {
    let dram = config().dram;
    RequestQueue::new(&DramConfig { queue: capacity, banks, row_hit_cap, ..dram })
}

/// A request that waits, and how often a younger one of its bank was served while it was the bank's oldest.
#[derive(Clone, Copy)]
struct Waiting {
    request: DramRequest,
    passed: u32,
}

proptest! {
    /// The open row's oldest request first, else the oldest of the bank; nothing lost. With a cap, the oldest goes
    /// first once it has been passed so often.
    #[test]
    fn row_hits_go_before_older_misses(
        ops in prop::collection::vec((0u32..4, 0u32..3, any::<bool>()), 1..200),
        cap in prop_oneof![Just(0u32), 1u32..5],
    ) {
        let mut queue = fr_fcfs(16, 4, cap);
        let mut reference: Vec<Waiting> = Vec::new();
        for (i, (bank, row, push)) in ops.into_iter().enumerate() {
            prop_assert_eq!(queue.is_full(), reference.len() == 16);
            if push && !queue.is_full() {
                let request = DramRequest { sector: i as u64, bank, row, ..DramRequest::default() };
                queue.push(request);
                reference.push(Waiting { request, passed: 0 });
            } else {
                let of_bank = |w: &Waiting| w.request.bank == bank;
                let oldest = reference.iter().position(of_bank);
                let hit = reference.iter().position(|w| of_bank(w) && w.request.row == row);
                let may_pass = oldest.is_some_and(|oldest| cap == 0 || reference[oldest].passed < cap);
                let expected = if may_pass { hit.or(oldest) } else { oldest };
                prop_assert_eq!(queue.take(bank as usize, row), expected.map(|at| reference[at].request));
                if let (Some(oldest), Some(taken)) = (oldest, expected) {
                    reference[oldest].passed += u32::from(taken != oldest);
                    reference.remove(taken);
                }
            }
            let banks = reference.iter().fold(0, |m, w| m | 1 << w.request.bank);
            prop_assert_eq!(queue.waiting(), banks);
        }
    }

    /// Bounded wait: with a cap of c, a request with k older ones in its bank is served among the next (k + 1) (c + 1) of it,
    /// whatever keeps arriving.
    #[test]
    fn the_cap_bounds_the_wait(cap in 1u32..6, rows in prop::collection::vec(0u32..2, 50..300)) {
        let mut queue = fr_fcfs(16, 1, cap);
        // Per waiting request: its number, the services so far when it came, and the requests before it.
        let mut waiting: Vec<(u64, u32, u32)> = Vec::new();
        let (mut served, mut row) = (0, 0);
        for (number, next) in rows.into_iter().enumerate() {
            if queue.is_full() {
                let taken = queue.take(0, row).expect("full");
                (row, served) = (taken.row, served + 1);
                let at = waiting.iter().position(|w| w.0 == taken.sector).expect("it waited");
                let (_, since, older) = waiting.remove(at);
                prop_assert!(served - since <= (older + 1) * (cap + 1), "{} services, {older} older", served - since);
            }
            queue.push(DramRequest { sector: number as u64, row: next, ..DramRequest::default() });
            waiting.push((number as u64, served, waiting.len() as u32));
        }
    }
}

/// Without a cap a steady stream of hits keeps an older request waiting for ever; with one it goes after `cap` of them.
#[test]
fn a_stream_of_hits_passes_as_often_as_the_cap_says() {
    for cap in [0, 1, 4] {
        let mut queue = fr_fcfs(8, 1, cap);
        queue.push(DramRequest { row: 7, sector: 999, ..DramRequest::default() });
        let mut hits = 0;
        for sector in 0..100 {
            queue.push(DramRequest { row: 1, sector, ..DramRequest::default() });
            if queue.take(0, 1).map(|taken| taken.sector) == Some(999) {
                break;
            }
            hits += 1;
        }
        assert_eq!(hits, if cap == 0 { 100 } else { cap });
    }
}
