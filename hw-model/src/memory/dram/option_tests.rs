//! Options of the memory controller: refresh, tFAW and the row-hit cap, against the checker and
//! against arithmetic.

use super::checker_tests::{check, run, traffic};
use super::controller::Command;
use crate::config::DramConfig;
use crate::hand_made::config;
use proptest::prelude::*;

/// Reference GPU with options. GDDR6's tREFI is 1.9 us, 6,650 cycles; tests may use a shorter
/// one, so that short runs refresh often.
fn with_options(t_refi: u32, t_rfc: u32, t_faw: u32, row_hit_cap: u32) -> DramConfig {
    let mut dram = config().dram;
    (dram.timing.t_refi, dram.timing.t_rfc, dram.timing.t_faw) = (t_refi, t_rfc, t_faw);
    dram.row_hit_cap = row_hit_cap;
    dram
}

/// Number of cycles from the first command to the last, both included.
fn span(log: &[(u64, Command, u32, u32)]) -> u64 {
    match (log.first(), log.last()) {
        (Some(first), Some(last)) => last.0 - first.0 + 1,
        _ => 0,
    }
}

/// Maximum number of cycles between the due time of a refresh and its command: the longest time to
/// a precharge, then tRP; or tRC.
fn longest_wait(dram: &DramConfig) -> u64 {
    let t = &dram.timing;
    let burst = dram.burst_beats / dram.beats_per_cycle;
    u64::from(t.t_ras.max(t.t_wl + burst + t.t_wr).max(t.t_rtp).max(burst) + t.t_rp).max(t.t_rc.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With any mix of options, no constraint is violated (the checker includes tRFC and tFAW), and
    /// every request is served once. There is one refresh per tREFI, none later than necessary, and
    /// quiet cycles may be skipped.
    #[test]
    fn options_break_no_constraint(
        requests in traffic(),
        refresh in prop_oneof![1 => Just((0u32, 0u32)), 3 => (800u32..3_000, 20u32..120)],
        t_faw in prop_oneof![1 => Just(0u32), 3 => 48u32..200],
        cap in 0u32..4,
    ) {
        let dram = with_options(refresh.0, refresh.1, t_faw, cap);
        prop_assert!(u64::from(refresh.0) >= dram.timing.least_refresh_interval() || refresh.0 == 0);
        let (controller, mut done, atoms) = run(&dram, &requests, 1, false);
        check(&dram, &controller.log).map_err(TestCaseError::fail)?;
        done.sort_unstable();
        prop_assert_eq!(done, (0..requests.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(atoms, requests.iter().map(|r| if r.2 { u64::from(r.3) } else { 1 }).sum::<u64>());
        let refreshes: Vec<u64> = controller.log.iter().filter(|c| c.1 == Command::Refresh).map(|c| c.0).collect();
        for (number, &at) in (1u64..).zip(&refreshes) {
            let due = number * u64::from(refresh.0);
            prop_assert!((due..=due + longest_wait(&dram)).contains(&at), "refresh {number} at {at}, due {due}");
        }
        if refresh.0 > 0 {
            let last = controller.log.last().map_or(0, |c| c.0);
            prop_assert!(refreshes.len() as u64 >= last.saturating_sub(longest_wait(&dram)) / u64::from(refresh.0));
        }
        let (skipped, ..) = run(&dram, &requests, 1, true);
        prop_assert_eq!(&controller.log, &skipped.log);
    }
}

/// A stream of row hits over all banks keeps the bus busy. Refresh takes tRFC of every tREFI, and
/// the time to close and open the rows again. That is at most the time to the precharges and tRP
/// before it; after it tRCD for the first bank, and tRRD for each further one, since one row opens
/// per tRRD.
#[test]
fn refresh_takes_its_share_of_the_bandwidth() {
    let (t_refi, t_rfc) = (6_650, 490);
    let requests: Vec<_> = (0..60_000u32).map(|i| (i % 16, 1, false, 1, 0)).collect();
    let plain = span(&run(&with_options(0, 0, 0, 0), &requests, 1, false).0.log);
    let dram = with_options(t_refi, t_rfc, 0, 0);
    let refreshed = run(&dram, &requests, 1, false).0;
    check(&dram, &refreshed.log).expect("no constraint broken");
    let lost = 1.0 - plain as f64 / span(&refreshed.log) as f64;
    let t = &dram.timing;
    let around = longest_wait(&dram) + u64::from(t.t_rcd + dram.banks * t.t_rrd);
    let share = f64::from(t_rfc) / f64::from(t_refi);
    let most = (f64::from(t_rfc) + around as f64) / f64::from(t_refi);
    // The run does not end on a refresh, so the number of refreshes may be off by one.
    let edge = share / (span(&refreshed.log) / u64::from(t_refi)) as f64;
    assert!((share - edge..=most + edge).contains(&lost), "lost {lost:.4}, tRFC/tREFI {share:.4}, at most {most:.4}");
}

/// Every request opens a row of another bank, so activates are the limit. Four of them take the
/// longer of tFAW and four tRRD.
#[test]
fn the_window_of_four_activates_limits_the_rate_of_rows() {
    let requests: Vec<_> = (0..4_000u32).map(|i| (i % 16, i / 16, false, 1, 0)).collect();
    for (t_faw, per_four) in [(0, 48), (40, 48), (48, 48), (80, 80), (150, 150)] {
        let dram = with_options(0, 0, t_faw, 0);
        let (controller, ..) = run(&dram, &requests, 1, false);
        check(&dram, &controller.log).expect("no constraint broken");
        let activates: Vec<u64> = controller.log.iter().filter(|c| c.1 == Command::Activate).map(|c| c.0).collect();
        assert_eq!(activates.len(), 4_000);
        // The middle of the run, without its edges.
        let four = (activates[3_000] - activates[1_000]) as f64 / 500.0;
        assert!((four - f64::from(per_four)).abs() < 0.5, "tFAW {t_faw}: {four} cycles per four activates");
    }
}

/// One request to another row behind a stream of hits: with a cap it is served after that many hits
/// of its bank, without one when the stream ends.
#[test]
fn the_cap_lets_the_older_row_through() {
    let mut requests = vec![(0u32, 9u32, false, 1u8, 0u8); 3];
    requests.push((0, 5, false, 1, 0));
    requests.extend([(0, 9, false, 1, 0); 400]);
    let hits_before = |cap: u32| {
        let (_, done, _) = run(&with_options(0, 0, 0, cap), &requests, 1, false);
        done.iter().position(|&number| number == 3).expect("served")
    };
    // The first three, and then the number of the cap; one more of the first three may still be
    // queued as the oldest.
    for cap in [1, 4, 16] {
        assert_eq!(hits_before(cap), 3 + cap as usize, "cap {cap}");
    }
    assert_eq!(hits_before(0), 403);
}

/// The checker detects violations of the new constraints too.
#[test]
fn the_checker_sees_violations_of_the_options() {
    use Command::{Activate, Precharge, Read, Refresh};
    let dram = with_options(2_000, 100, 60, 0);
    let rows = |fifth| [(0, Activate, 0, 1), (12, Activate, 1, 1), (24, Activate, 2, 1), (36, Activate, 3, 1), (fifth, Activate, 4, 1)];
    check(&dram, &rows(60)).expect("exactly at the limit");
    assert!(check(&dram, &rows(59)).is_err(), "tFAW");
    let good = [(0, Activate, 0, 1), (24, Read, 0, 1), (55, Precharge, 0, 1), (79, Refresh, 0, 0), (179, Activate, 0, 1)];
    check(&dram, &good).expect("exactly at the limits");
    for early in [3, 4] {
        let mut bad = good;
        bad[early].0 -= 1;
        assert!(check(&dram, &bad).is_err(), "command {early} one cycle early");
    }
    assert!(check(&dram, &[(0, Activate, 0, 1), (200, Refresh, 0, 0)]).is_err(), "an open bank");
}
