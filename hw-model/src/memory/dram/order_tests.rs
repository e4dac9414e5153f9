//! Orders of requests in the memory controller: timing, conservation, waiting times, and shares of
//! the bus.

use super::DramRequest;
use super::checker_tests::{check, run_kernels, traffic};
use super::controller::Controller;
use crate::config::{DramConfig, DramOrder, DramSchedulerConfig};
use crate::hand_made::config;
use crate::memory::counters::CounterTable;
use proptest::prelude::*;

fn ordered(by: DramOrder, cap: Option<u32>, shares: &[u32]) -> DramConfig {
    let cap = cap.filter(|_| by.usual_cap() > 0);
    let shares = if by == DramOrder::Shares { shares.to_vec() } else { Vec::new() };
    DramConfig { scheduler: Some(DramSchedulerConfig { by, cap, shares }), ..config().dram }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Under every order, no constraint is violated, every request is served once, and quiet cycles
    /// may be skipped. A request waits at least the cycle until its bank accepts it. The sum of the
    /// waits is at most that of all requests waiting during the whole run.
    #[test]
    fn no_order_breaks_a_constraint(
        requests in traffic(),
        by in prop::sample::select(DramOrder::ALL.to_vec()),
        cap in prop::option::of(1u32..8),
        shares in prop::collection::vec(0u32..300, 0..3),
        drain_every in prop_oneof![4 => Just(1u64), 1 => Just(40)],
    ) {
        let mut dram = ordered(by, cap, &shares);
        dram.return_queue = if drain_every > 1 { 4 } else { 192 };
        let kernel = |row: u32| (row % 3) as u8;
        let (controller, mut done, counters) = run_kernels(&dram, &requests, drain_every, false, kernel);
        check(&dram, &controller.log).map_err(TestCaseError::fail)?;
        done.sort_unstable();
        prop_assert_eq!(done, (0..requests.len() as u64).collect::<Vec<_>>());
        let cycles = controller.log.last().map_or(0, |c| c.0);
        for slot in 0..3 {
            let of_kernel = || requests.iter().filter(|made| kernel(made.1) == slot);
            let counted = counters.get(slot);
            let count = of_kernel().count() as u64;
            prop_assert_eq!(counted.dram_row_hits + counted.dram_row_misses, count);
            let atoms = of_kernel().map(|made| if made.2 { u64::from(made.3) } else { 1 }).sum::<u64>();
            prop_assert_eq!(counted.dram_reads + counted.dram_writes, atoms);
            prop_assert!(counted.dram_wait_cycles <= count * cycles);
        }
        let (skipped, ..) = run_kernels(&dram, &requests, drain_every, true, kernel);
        prop_assert_eq!(&controller.log, &skipped.log);
    }

    /// A single kernel: with caps or shares of any size, every command equals that of FR-FCFS.
    #[test]
    fn one_kernel_alone_has_what_it_ever_had(requests in traffic(), cap in prop::option::of(1u32..8), share in 0u32..1_025, slot in 0u8..8) {
        let usual = run_kernels(&config().dram, &requests, 1, true, |_| slot).0;
        for by in [DramOrder::FrFcfs, DramOrder::KernelCap, DramOrder::Shares] {
            let (controller, ..) = run_kernels(&ordered(by, cap, &[share; 8]), &requests, 1, true, |_| slot);
            prop_assert_eq!(&controller.log, &usual.log, "{:?}", by);
        }
    }
}

/// Waiting times by hand: two requests to one bank, the second to another row. The first joins and
/// is accepted in cycle 1. The second joins in the next cycle and waits until the first has been
/// read: tRCD after its row was opened.
#[test]
fn a_request_waits_for_the_one_before_it() {
    let dram = ordered(DramOrder::FrFcfs, None, &[]);
    let (controller, _, counters) = run_kernels(&dram, &[(3, 0, false, 1, 0), (3, 1, false, 1, 0)], 1, false, |row| row as u8);
    let read = controller.log.iter().find(|c| c.1 == super::controller::Command::Read).expect("read").0;
    assert_eq!(read, 1 + u64::from(dram.timing.t_rcd));
    // It joins in cycle 2, and its bank is free in the cycle after the read.
    assert_eq!([0, 1].map(|slot| counters.get(slot).dram_wait_cycles), [0, read + 1 - 2]);
}

/// Two kernels always have requests in the queue of a bank, eight to each of their rows. The
/// service of each matches its share, to within the cap and one request, in its own sectors.
#[test]
fn a_bank_is_shared_as_shares_say() {
    for (shares, cap) in [([512, 512], 16), ([768, 256], 16), ([768, 256], 1), ([1_023, 1], 16)] {
        let dram = ordered(DramOrder::Shares, Some(cap), &shares);
        let (mut controller, mut counters) = (Controller::new(&dram), CounterTable::new(1));
        let cost = shares.map(|share| (1 << 20) / u64::from(share));
        let (mut sent, mut taken) = ([0u64; 2], [0u64; 2]);
        for t in 0..100_000 {
            controller.returned().pop();
            controller.cycle(t, &mut counters);
            taken = [0, 1].map(|slot| counters.get(slot).dram_row_hits + counters.get(slot).dram_row_misses);
            // Both wait from the ninth cycle on.
            if t > 8 {
                assert!((0..2).all(|kernel| sent[kernel] > taken[kernel]), "{taken:?} of {sent:?}");
            }
            let kernel = (0..2).min_by_key(|&kernel| sent[kernel] - taken[kernel]).expect("two");
            if sent[kernel] - taken[kernel] < 4 {
                let row = 2 * (sent[kernel] / 8) as u32 + kernel as u32;
                controller.push(DramRequest { row, atoms: 1, kernel: kernel as u8, ..DramRequest::default() });
                sent[kernel] += 1;
            }
        }
        for (i, j) in [(0, 1), (1, 0)] {
            // This adds the service before both waited.
            let most = taken[j] * cost[j] + u64::from(cap + 1) * cost[i] + 8 * cost[i];
            assert!(taken[i] * cost[i] <= most, "{taken:?} of shares {shares:?} and cap {cap}");
        }
    }
}
