//! Tests of instruction buffers that are filled for a few warps in each cycle (sources.md D122).

use super::*;
use crate::config::FetchConfig;

pub(super) fn with_fetch(mut config: GpuConfig, warps_per_cycle: u32, buffer: u32) -> GpuConfig {
    config.sm.fetch = Some(FetchConfig { warps_per_cycle, buffer });
    config.check().expect("a GPU");
    config
}

/// 32 independent warps, 240 more instructions each: issue is limited by fetch, and to four per
/// cycle.
#[test]
fn no_more_issues_than_is_fetched() {
    let mut config = config();
    config.sm.units.uniform.interval = 1;
    let inst = StaticInst::new(0, Class::Uniform);
    for (warps_per_cycle, buffer) in [(1, 1), (2, 1), (1, 2), (1, 3), (1, 4), (4, 2), (32, 32)] {
        let config = with_fetch(config.clone(), warps_per_cycle, buffer);
        let run = |count: usize| cycles(&config, kernel(1, 1024, 16, 0, |_, _| vec![(inst, 0); count]));
        let expected = 32 * 240 / u64::from(warps_per_cycle * buffer).min(4);
        assert_eq!(run(360) - run(120), expected, "{warps_per_cycle} x {buffer}");
    }
}

/// A single warp never waits: instructions fetched in a cycle can issue in the next.
#[test]
fn a_warp_alone_loses_nothing() {
    for class in [Class::Int, Class::Sp, Class::Uniform] {
        let step = (StaticInst::new(0, class).writes(4).reads(&[4, 5]), 0);
        assert_eq!(cost(&with_fetch(config(), 4, 2), step), cost(&config(), step), "{class:?}");
    }
}

/// The first instructions of 32 warps come four per cycle, from the second warp on: the first warp
/// is the last.
#[test]
fn warps_of_a_tb_start_one_after_the_other() {
    let exit = |config: &GpuConfig| cycles(config, kernel(1, 1024, 16, 0, |_, _| vec![]));
    let ideal = exit(&config());
    // One of each four is decoded a cycle later; the last of all is the first warp, 8 cycles after
    // the second.
    assert_eq!(exit(&with_fetch(config(), 32, 2)), ideal);
    assert!((1..=8).contains(&(exit(&with_fetch(config(), 4, 2)) - ideal)));
    assert!((24..=32).contains(&(exit(&with_fetch(config(), 1, 1)) - ideal)));
}

#[test]
fn what_cannot_be_is_refused() {
    for (warps_per_cycle, buffer, message) in
        [(0, 2, "sm.fetch.warps_per_cycle = 0: must be 1 to 32 warps"), (4, 33, "sm.fetch.buffer = 33: must be 1 to 32 instructions")]
    {
        let mut gpu = config();
        gpu.sm.fetch = Some(FetchConfig { warps_per_cycle, buffer });
        let said = gpu.check().expect_err("no GPU").to_string();
        assert!(said.starts_with(message), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Skipped cycles, and cycles slept by SMs, would have changed nothing.
    #[test]
    fn skipping_changes_nothing(recipe in random_kernel(), warps_per_cycle in 1u32..5, buffer in 1u32..4) {
        let mut config = with_fetch(config(), warps_per_cycle, buffer);
        (config.sm.count, config.launch.latency_cycles) = (4, 50);
        prop_assert_eq!(run_of(&config, &recipe, true), run_of(&config, &recipe, false));
    }
}
