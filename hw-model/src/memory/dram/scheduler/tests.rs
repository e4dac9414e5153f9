//! Queue of a channel: under FR-FCFS against a list of waiting requests, under all orders against
//! its plain twin.

use super::plain::PlainQueue;
use super::*;
use crate::config::DramSchedulerConfig;
use crate::hand_made::config;
use proptest::prelude::*;

/// Channel for `capacity` requests to `banks` banks, FR-FCFS with a row-hit cap.
fn channel(capacity: u32, banks: u32, row_hit_cap: u32) -> DramConfig {
    DramConfig { queue: capacity, banks, row_hit_cap, ..config().dram }
}

fn fr_fcfs(capacity: u32, banks: u32, row_hit_cap: u32) -> RequestQueue {
    RequestQueue::new(&channel(capacity, banks, row_hit_cap))
}

/// Queue in an order.
pub(super) fn queue(capacity: u32, banks: u32, settings: DramSettings) -> RequestQueue {
    let scheduler = DramSchedulerConfig {
        by: settings.by,
        cap: (settings.cap > 0).then_some(settings.cap.into()),
        shares: settings.shares.map(u32::from).to_vec(),
    };
    RequestQueue::new(&DramConfig { scheduler: Some(scheduler), ..channel(capacity, banks, 0) })
}

/// Order with its numbers, by kernel slot.
pub(super) fn settings(by: DramOrder, cap: u8, shares: &[u16]) -> DramSettings {
    DramSettings { by, cap, shares: std::array::from_fn(|slot| shares.get(slot).copied().unwrap_or(0)) }
}

fn any_settings() -> impl Strategy<Value = DramSettings> {
    let shares = prop::collection::vec(0u16..400, 0..8);
    (prop::sample::select(DramOrder::ALL.to_vec()), 0u8..7, shares).prop_map(|(by, cap, shares)| settings(by, cap, &shares))
}

/// Operation on a queue.
#[derive(Clone, Debug)]
enum Step {
    Push { bank: u32, row: u32, kernel: u8, atoms: u8 },
    Take { bank: u32, row: u32 },
    Set(DramSettings),
}

fn any_step() -> impl Strategy<Value = Step> {
    let push = (0u32..4, 0u32..3, 0u8..4, 1u8..5).prop_map(|(bank, row, kernel, atoms)| Step::Push { bank, row, kernel, atoms });
    prop_oneof![12 => push, 10 => (0u32..4, 0u32..3).prop_map(|(bank, row)| Step::Take { bank, row }), 1 => any_settings().prop_map(Step::Set)]
}

proptest! {
    /// The requests come in the same order as from the plain twin, for any requests and any
    /// settings in between, with correct waiting times.
    #[test]
    fn takes_what_the_plain_queue_does(first in any_settings(), steps in prop::collection::vec(any_step(), 1..400)) {
        let (mut queue, mut plain) = (queue(16, 4, first), PlainQueue::new(first));
        let config = channel(16, 4, 0);
        for (t, step) in (0..).zip(steps) {
            match step {
                Step::Push { bank, row, kernel, atoms } if plain.len() < 16 => {
                    let request = DramRequest { sector: t, bank, row, kernel, atoms, ..DramRequest::default() };
                    queue.push(request, t);
                    plain.push(request);
                }
                Step::Push { .. } => prop_assert!(queue.is_full()),
                Step::Take { bank, row } => {
                    let taken = queue.take(bank as usize, row, t);
                    prop_assert_eq!(taken.map(|(request, _)| request), plain.take(bank, row));
                    prop_assert!(taken.is_none_or(|(request, waited)| waited == t - request.sector));
                }
                Step::Set(settings) => {
                    queue.set(&settings, &config);
                    plain.set(settings);
                }
            }
        }
    }
}

/// Waiting request, with the number of younger ones of its bank served while it was the bank's
/// oldest.
#[derive(Clone, Copy)]
struct Waiting {
    request: DramRequest,
    passed: u32,
}

proptest! {
    /// The open row's oldest request goes first, else the oldest of the bank; none is lost. With a
    /// cap, the oldest goes first once it has been bypassed that often.
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
                queue.push(request, 0);
                reference.push(Waiting { request, passed: 0 });
            } else {
                let of_bank = |w: &Waiting| w.request.bank == bank;
                let oldest = reference.iter().position(of_bank);
                let hit = reference.iter().position(|w| of_bank(w) && w.request.row == row);
                let may_pass = oldest.is_some_and(|oldest| cap == 0 || reference[oldest].passed < cap);
                let expected = if may_pass { hit.or(oldest) } else { oldest };
                let taken = queue.take(bank as usize, row, 0).map(|(request, _)| request);
                prop_assert_eq!(taken, expected.map(|at| reference[at].request));
                if let (Some(oldest), Some(taken)) = (oldest, expected) {
                    reference[oldest].passed += u32::from(taken != oldest);
                    reference.remove(taken);
                }
            }
            let banks = reference.iter().fold(0, |m, w| m | 1 << w.request.bank);
            prop_assert_eq!(queue.waiting(), banks);
        }
    }

    /// Bounded wait: a request with k older ones in its bank is served among the next (k + 1) (c +
    /// 1) of it. The cap is c, and later arrivals are arbitrary.
    #[test]
    fn the_cap_bounds_the_wait(cap in 1u32..6, rows in prop::collection::vec(0u32..2, 50..300)) {
        let mut queue = fr_fcfs(16, 1, cap);
        // Per waiting request: its number, the services so far at its arrival, and the requests
        // before it.
        let mut waiting: Vec<(u64, u32, u32)> = Vec::new();
        let (mut served, mut row) = (0, 0);
        for (number, next) in rows.into_iter().enumerate() {
            if queue.is_full() {
                let (taken, _) = queue.take(0, row, 0).expect("full");
                (row, served) = (taken.row, served + 1);
                let at = waiting.iter().position(|w| w.0 == taken.sector).expect("it waited");
                let (_, since, older) = waiting.remove(at);
                prop_assert!(served - since <= (older + 1) * (cap + 1), "{} services, {older} older", served - since);
            }
            queue.push(DramRequest { sector: number as u64, row: next, ..DramRequest::default() }, 0);
            waiting.push((number as u64, served, waiting.len() as u32));
        }
    }
}

/// Without a cap a steady stream of hits delays an older request forever; with one it is served
/// after `cap` of them.
#[test]
fn a_stream_of_hits_passes_as_often_as_the_cap_says() {
    for cap in [0, 1, 4] {
        let mut queue = fr_fcfs(8, 1, cap);
        queue.push(DramRequest { row: 7, sector: 999, ..DramRequest::default() }, 0);
        let mut hits = 0;
        for sector in 0..100 {
            queue.push(DramRequest { row: 1, sector, ..DramRequest::default() }, 0);
            if queue.take(0, 1, 0).map(|(taken, _)| taken.sector) == Some(999) {
                break;
            }
            hits += 1;
        }
        assert_eq!(hits, if cap == 0 { 100 } else { cap });
    }
}
