//! Runs in closed form: formulas give the counts by a cycle and over a window.

use super::*;
use proptest::prelude::*;

const PERCENT: u32 = 10_000;

/// Kernel in closed form: instructions and TBs issued by a cycle, and the TBs of its grid.
struct Kernel<'a> {
    insts: &'a dyn Fn(u64) -> u64,
    tbs: &'a dyn Fn(u64) -> u64,
    grid: u64,
}

fn stats(kernels: &[Kernel<'_>], cycle: u64) -> Stats {
    let launch = |kernel: &Kernel<'_>| LaunchStats {
        start_cycle: Some(0),
        warp_insts: (kernel.insts)(cycle),
        thread_insts: 32 * (kernel.insts)(cycle),
        tbs_issued: (kernel.tbs)(cycle),
        ..LaunchStats::default()
    };
    let counters = kernels.iter().map(|kernel| {
        let mut counters = mias_hw_model::gpu::LaunchCounters::default();
        counters.sm.warp_insts = (kernel.insts)(cycle);
        counters.sm.thread_insts = 32 * (kernel.insts)(cycle);
        counters
    });
    Stats { cycles: cycle, launches: kernels.iter().map(launch).collect(), counters: counters.collect(), ..Stats::default() }
}

/// Checks the run until it is known; returns that cycle.
fn known(stop: &mut Stop, kernels: &[Kernel<'_>], placements: impl Fn(u64) -> u32, out: &[bool]) -> Option<Known> {
    let mut cycle = 0;
    while cycle < stop.window {
        cycle = Stop::next_look(cycle).min(stop.window);
        let progress = Progress { stats: stats(kernels, cycle), settled: true, placements: (placements(cycle), 0), out: out.to_vec() };
        if Stop::looks_at(cycle)
            && let Some(known) = stop.look(progress)
        {
            return Some(known);
        }
    }
    None
}

fn stop(ppm: u32, window: u64, kernels: &[Kernel<'_>]) -> Stop {
    Stop::new(Precision::of_ppm(ppm).unwrap(), window, 0, kernels.iter().map(|kernel| kernel.grid).collect())
}

#[test]
fn a_constant_rate_is_known_after_the_fewest_batches() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }];
    let known = known(&mut stop(PERCENT, 600_000, &kernels), &kernels, |_| 0, &[false]).unwrap();
    let first = LOOK_EVERY_CYCLES;
    let expected = Estimate {
        simulated_cycles: first + LEAST_BATCHES as u64 * LOOK_EVERY_CYCLES,
        steady_from_cycle: first,
        half_widths: vec![HalfWidth::default()],
    };
    assert_eq!(known.estimate, expected);
    let all = stats(&kernels, expected.simulated_cycles).extended(&known.since, 600_000);
    assert_eq!(all.launches[0].warp_insts, 1_800_000);
}

#[test]
fn a_kernel_that_does_not_start_again_is_simulated_in_full() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 60_000 }];
    assert!(known(&mut stop(PERCENT, 5_000_000, &kernels), &kernels, |_| 0, &[false]).is_none());
    // Without a quota it may still have active TBs.
    assert!(known(&mut stop(PERCENT, 5_000_000, &kernels), &kernels, |_| 0, &[true]).is_none());
    let out = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }, Kernel { insts: &|_| 0, tbs: &|_| 0, grid: 10 }];
    assert!(known(&mut stop(PERCENT, 5_000_000, &out), &out, |_| 0, &[false, true]).is_some());
    assert!(known(&mut stop(PERCENT, 5_000_000, &out), &out, |_| 0, &[false, false]).is_none());
}

#[test]
fn what_changes_begins_anew() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }];
    let known = known(&mut stop(PERCENT, 600_000, &kernels), &kernels, |cycle| u32::from(cycle >= 200_000), &[false]).unwrap();
    let Estimate { simulated_cycles, steady_from_cycle, .. } = known.estimate;
    assert!(steady_from_cycle >= 200_000 && simulated_cycles == steady_from_cycle + LEAST_BATCHES as u64 * LOOK_EVERY_CYCLES);
}

#[test]
fn no_more_is_estimated_than_was_seen() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }];
    let known = known(&mut stop(PERCENT, 5_000_000, &kernels), &kernels, |_| 0, &[false]).unwrap();
    let Estimate { simulated_cycles, steady_from_cycle, .. } = known.estimate;
    assert!(5_000_000 - simulated_cycles <= simulated_cycles - steady_from_cycle);
}

#[test]
fn no_run_ends_before_it_may() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }];
    let mut stop = Stop::new(Precision::of_ppm(PERCENT).unwrap(), 5_000_000, 2_000_000, vec![50]);
    assert!(known(&mut stop, &kernels, |_| 0, &[false]).unwrap().estimate.simulated_cycles >= 2_000_000);
}

proptest! {
    /// A rate that swings within its grid is known as precisely as requested, at any phase of the
    /// swing. The exact count of the window is in the interval, and the interval is as narrow as
    /// requested.
    #[test]
    fn a_swing_is_known_as_well_as_it_says(
        period in 10_000u64..400_000, low in 1u64..20, swing in 0u64..20, window in 1_000_000u64..20_000_000, ppm in 5_000u32..50_000,
    ) {
        // Half of each period at the low rate, half at the high one.
        let insts = move |cycle: u64| {
            let (whole, part, half) = (cycle / period, cycle % period, period / 2);
            let of = |part: u64| low * part.min(half) + (low + swing) * part.saturating_sub(half);
            whole * of(period) + of(part)
        };
        let tbs = move |cycle: u64| cycle * 64 / period;
        let kernels = [Kernel { insts: &insts, tbs: &tbs, grid: 64 }];
        if let Some(known) = known(&mut stop(ppm, window, &kernels), &kernels, |_| 0, &[false]) {
            let Estimate { simulated_cycles, ref half_widths, .. } = known.estimate;
            let estimate = stats(&kernels, simulated_cycles).extended(&known.since, window).launches[0].warp_insts;
            let (half, exact) = (half_widths[0].warp_insts, insts(window));
            prop_assert!(half as f64 <= f64::from(ppm) / 1e6 * estimate as f64 + 1.0);
            // Margin for both roundings, and for a period that is not a whole number of batches.
            let error = estimate.abs_diff(exact);
            prop_assert!(error <= half.max(exact / 50), "error {error}, half-width {half}, of {exact}, {simulated_cycles} cycles");
        }
    }
}

/// With first runs counted, no run ends before each first run has ended. Then it ends when it would
/// have been known.
#[test]
fn no_run_ends_before_its_first_runs() {
    let kernels = [Kernel { insts: &|cycle| 3 * cycle, tbs: &|cycle| cycle / 100, grid: 50 }];
    let soon = known(&mut stop(PERCENT, 600_000, &kernels), &kernels, |_| 0, &[false]).unwrap();
    let mut waits = stop(PERCENT, 600_000, &kernels).after_first_runs();
    assert!(known(&mut waits, &kernels, |_| 0, &[false]).is_none(), "no launch says that it has run once");
    let mut waits = stop(PERCENT, 600_000, &kernels).after_first_runs();
    let ran_once = soon.estimate.simulated_cycles + 5 * LOOK_EVERY_CYCLES;
    let mut cycle = 0;
    let late = loop {
        cycle = Stop::next_look(cycle);
        let mut stats = stats(&kernels, cycle);
        stats.launches[0].first_run =
            (cycle >= ran_once).then(|| mias_hw_model::gpu::FirstRun { end_cycle: ran_once, ..Default::default() });
        if let Some(known) = waits.look(Progress { stats, settled: true, placements: (0, 0), out: vec![false] }) {
            break known;
        }
    };
    assert!((ran_once..ran_once + 4 * LOOK_EVERY_CYCLES).contains(&late.estimate.simulated_cycles), "{late:?}");
}
