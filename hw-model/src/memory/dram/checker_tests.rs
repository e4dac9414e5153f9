//! Checker that sees only the issued commands: it verifies every distance between them against the
//! constraints of the configuration (sources.md D106).

use super::DramRequest;
use super::controller::{Command, Controller};
use crate::config::DramConfig;
use crate::hand_made::config;
use crate::memory::counters::CounterTable;
use proptest::prelude::*;

#[derive(Clone, Copy, Default)]
struct BankLog {
    open: Option<u32>,
    activate: Option<u64>,
    precharge: Option<u64>,
    read: Option<u64>,
    write: Option<u64>,
}

pub(super) fn check(config: &DramConfig, log: &[(u64, Command, u32, u32)]) -> Result<(), String> {
    let t = &config.timing;
    let burst = u64::from(config.burst_beats / config.beats_per_cycle);
    let mut banks = vec![BankLog::default(); config.banks as usize];
    let mut activates: Vec<u64> = Vec::new();
    let mut refreshed: Option<u64> = None;
    let (mut last_read, mut last_write): (Option<u64>, Option<u64>) = (None, None);
    let mut group_column: Vec<Option<u64>> = vec![None; config.bank_groups as usize];
    let mut group_read = group_column.clone();
    for &(now, command, bank, row) in log {
        let group = (bank % config.bank_groups) as usize;
        let at_least = |what: &str, since: Option<u64>, distance: u64| match since {
            Some(since) if now < since + distance => Err(format!("{what}: {command:?} at {now}, {} after", now - since)),
            _ => Ok(()),
        };
        if t.t_refi > 0 {
            at_least("tRFC", refreshed, t.t_rfc.into())?;
        }
        if command == Command::Refresh {
            for (number, b) in banks.iter().enumerate() {
                if b.open.is_some() {
                    return Err(format!("refresh at {now} with bank {number} open"));
                }
                at_least("tRP before a refresh", b.precharge, t.t_rp.into())?;
                at_least("tRC before a refresh", b.activate, t.t_rc.into())?;
            }
            refreshed = Some(now);
            continue;
        }
        let b = &mut banks[bank as usize];
        match command {
            Command::Refresh => {}
            Command::Activate => {
                if b.open.is_some() {
                    return Err(format!("activate of an open bank at {now}"));
                }
                at_least("tRP", b.precharge, t.t_rp.into())?;
                at_least("tRC", b.activate, t.t_rc.into())?;
                at_least("tRRD", activates.last().copied(), t.t_rrd.into())?;
                if activates.len() >= 4 {
                    at_least("tFAW", activates.get(activates.len() - 4).copied(), t.t_faw.into())?;
                }
                activates.push(now);
                (b.open, b.activate) = (Some(row), Some(now));
            }
            Command::Precharge => {
                if b.open.take().is_none() {
                    return Err(format!("precharge of a closed bank at {now}"));
                }
                at_least("tRAS", b.activate, t.t_ras.into())?;
                at_least("tWR", b.write, u64::from(t.t_wl + t.t_wr) + burst)?;
                at_least("tRTP", group_read[group], t.t_rtp.into())?;
                at_least("read burst before precharge", b.read, burst)?;
                b.precharge = Some(now);
            }
            Command::Read | Command::Write => {
                if b.open != Some(row) {
                    return Err(format!("{command:?} of row {row} at {now}, open is {:?}", b.open));
                }
                at_least("tCCD after read", last_read, t.t_ccd.into())?;
                at_least("tCCD after write", last_write, t.t_ccd.into())?;
                at_least("tCCDL", group_column[group], t.t_ccdl.into())?;
                group_column[group] = Some(now);
                if command == Command::Read {
                    at_least("tRCD", b.activate, t.t_rcd.into())?;
                    at_least("tWTR (CDLR)", last_write, u64::from(t.t_wl + t.t_cdlr) + burst)?;
                    (b.read, last_read, group_read[group]) = (Some(now), Some(now), Some(now));
                } else {
                    // Data arrive WL after the command: they must not be earlier than RCD - 1 after
                    // the activation.
                    at_least("tRCD for writes", b.activate, (t.t_rcd - t.t_wl - 1).into())?;
                    at_least("read data before write data", last_read, u64::from(t.t_cl + 2 - t.t_wl) + burst)?;
                    (b.write, last_write) = (Some(now), Some(now));
                }
            }
        }
    }
    Ok(())
}

/// Request of a test: bank, row, whether it writes, atoms if it does, cycles to wait before it.
pub(super) type Made = (u32, u32, bool, u8, u8);

/// Runs requests through a controller whose return queue is drained each cycle or periodically.
/// Returns it at the end.
pub(super) fn run(config: &DramConfig, requests: &[Made], drain_every: u64, skip: bool) -> (Controller, Vec<u64>, u64) {
    let (controller, done, counters) = run_kernels(config, requests, drain_every, skip, |_| 0);
    let counters = counters.get(0);
    assert_eq!(counters.dram_row_hits + counters.dram_row_misses, requests.len() as u64);
    (controller, done, counters.dram_reads + counters.dram_writes)
}

/// Runs requests of several kernels, identified by the row. Also returns the counters.
pub(super) fn run_kernels(
    config: &DramConfig,
    requests: &[Made],
    drain_every: u64,
    skip: bool,
    kernel: impl Fn(u32) -> u8,
) -> (Controller, Vec<u64>, CounterTable) {
    let mut controller = Controller::new(config);
    let mut counters = CounterTable::new(1);
    let (mut done, mut next, mut wait, mut wake, mut t) = (Vec::new(), 0, 0, 0u64, 0u64);
    while next < requests.len() || !controller.is_idle() {
        assert!(t < 10_000_000, "no progress");
        if t % drain_every == 0 {
            done.extend(controller.returned().pop().map(|r| r.sector));
        }
        if !skip || wake <= t {
            done.extend(controller.cycle(t, &mut counters).map(|r| r.sector));
        }
        if let Some(&(bank, row, is_write, atoms, gap)) = requests.get(next) {
            if wait < gap {
                wait += 1;
            } else if !controller.is_full() {
                controller.push(DramRequest {
                    sector: next as u64,
                    bank,
                    row,
                    is_write,
                    atoms: if is_write { atoms } else { 1 },
                    kernel: kernel(row),
                    ..DramRequest::default()
                });
                (next, wait) = (next + 1, 0);
            }
        }
        wake = controller.next_event(t);
        t += 1;
    }
    (controller, done, counters)
}

pub(super) fn traffic() -> impl Strategy<Value = Vec<Made>> {
    let gap = prop_oneof![8 => Just(0u8), 1 => 1u8..60];
    prop::collection::vec((0u32..16, 0u32..3, prop::bool::weighted(0.3), 1u8..5, gap), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No constraint is ever violated, and every request is served exactly once.
    #[test]
    fn no_constraint_is_broken(requests in traffic(), drain_every in prop_oneof![4 => Just(1u64), 1 => Just(40)]) {
        let mut config = config().dram;
        config.return_queue = if drain_every > 1 { 4 } else { 192 };
        let (controller, mut done, atoms) = run(&config, &requests, drain_every, false);
        check(&config, &controller.log).map_err(TestCaseError::fail)?;
        done.sort_unstable();
        prop_assert_eq!(done, (0..requests.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(atoms, requests.iter().map(|r| if r.2 { u64::from(r.3) } else { 1 }).sum::<u64>());
    }

    /// Cycles that the controller reports as quiet may be skipped.
    #[test]
    fn quiet_cycles_change_nothing(requests in traffic()) {
        let config = config().dram;
        let (full, done, _) = run(&config, &requests, 1, false);
        let (skipped, done_skipped, _) = run(&config, &requests, 1, true);
        prop_assert_eq!(&full.log, &skipped.log);
        prop_assert_eq!(done, done_skipped);
    }
}

/// The checker detects each violated constraint: a command one cycle too early.
#[test]
fn the_checker_sees_violations() {
    let config = config().dram;
    use Command::{Activate, Precharge, Read, Write};
    let good = [(0, Activate, 0, 1), (24, Read, 0, 1), (46, Write, 0, 1), (68, Read, 0, 1), (82, Precharge, 0, 1), (106, Activate, 0, 2)];
    check(&config, &good).expect("exactly at the limits");
    for early in 1..good.len() {
        let mut bad = good;
        bad[early].0 -= 1;
        assert!(check(&config, &bad).is_err(), "command {early} one cycle early");
    }
    assert!(check(&config, &[(0, Activate, 0, 1), (11, Activate, 1, 1)]).is_err(), "tRRD");
    assert!(check(&config, &[(0, Activate, 0, 1), (12, Activate, 4, 1), (36, Read, 0, 1), (41, Read, 4, 1)]).is_err(), "tCCDL");
    assert!(check(&config, &[(0, Activate, 0, 1), (12, Activate, 1, 1), (36, Read, 0, 1), (39, Read, 1, 1)]).is_err(), "tCCD");
}

/// Unloaded latencies in command cycles: a closed bank costs RCD + CL, an open row CL, another row
/// RP more (and RAS).
#[test]
fn unloaded_latency_is_the_sum_of_its_parts() {
    let config = config().dram;
    let (controller, ..) = run(&config, &[(3, 7, false, 1, 0), (3, 7, false, 1, 200), (3, 8, false, 1, 200)], 1, false);
    let commands: Vec<_> = controller.log.iter().map(|&(t, command, ..)| (command, t)).collect();
    let t = &config.timing;
    // A request pushed in cycle 0 is in the queue and at the bank in 1.
    let first = 1;
    let second = first + 201;
    let third = second + 201;
    assert_eq!(
        commands,
        [
            (Command::Activate, first),
            (Command::Read, first + u64::from(t.t_rcd)),
            (Command::Read, second),
            (Command::Precharge, third),
            (Command::Activate, third + u64::from(t.t_rp)),
            (Command::Read, third + u64::from(t.t_rp + t.t_rcd)),
        ]
    );
}

/// Row hits at the peak of one atom per tCCD while they change bank group, and one per tCCDL within
/// a group: exactly.
#[test]
fn row_hits_stream_at_the_peak() {
    let config = config().dram;
    for (groups, distance) in [(4, config.timing.t_ccd), (1, config.timing.t_ccdl)] {
        // The first request of each bank opens its row; all later ones are hits.
        let requests: Vec<Made> = (0..4_000u32).map(|i| (i % groups, 1, false, 1, 0)).collect();
        let (controller, ..) = run(&config, &requests, 1, false);
        let reads: Vec<u64> = controller.log.iter().filter(|c| c.1 == Command::Read).map(|c| c.0).collect();
        assert_eq!(reads[3_900] - reads[100], 3_800 * u64::from(distance), "{groups} groups");
    }
}
