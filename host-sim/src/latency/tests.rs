//! The table that is built in, and the bound's closed forms on a table made here.

use super::*;
use proptest::prelude::*;

const CORES: [MicrocontrollerCore; 3] = [MicrocontrollerCore::CortexM4F, MicrocontrollerCore::CortexM0, MicrocontrollerCore::Rv32Imac];
const METRICS: [Option<Metric>; 5] = [None, Some(Metric::Ipc), Some(Metric::IpmIpc), Some(Metric::Factor), Some(Metric::Linear)];

fn situation(sms: u32, kernels: u32, scored: u32, generated: u32) -> Situation {
    Situation { late: false, sms, kernels, scored, generated }
}

/// 1000 + 10 per SM + 100 per configuration scored, and 5 per configuration there is for a second round; twice that under Linear.
fn linear_table() -> LatencyTable {
    let mut cores = BTreeMap::new();
    let mut entries = Vec::new();
    for sms in [10, 40] {
        for (scored, generated) in [(3, 0), (8, 0), (10, 100), (10, 400)] {
            let cost = 1000 + 10 * u64::from(sms) + 100 * u64::from(scored) + 5 * u64::from(generated);
            let [ipc, ipm_ipc, factor, linear] = [cost, cost, cost, 2 * cost];
            entries.push(Entry { late: false, sms, kernels: 2, scored, generated, ipc, ipm_ipc, factor, linear, worst: 2 * cost });
        }
    }
    cores.insert("cortex-m4f".to_owned(), entries);
    LatencyTable { cores }
}

#[test]
fn entries_are_exact_and_others_take_the_next_larger_one() {
    let table = linear_table();
    let ipc = |situation| table.instructions(MicrocontrollerCore::CortexM4F, situation, Some(Metric::Ipc));
    assert_eq!(ipc(situation(10, 2, 3, 0)), 1400);
    assert_eq!(ipc(situation(11, 2, 3, 0)), 1700);
    assert_eq!(ipc(situation(10, 1, 4, 0)), 1900);
    // The worst, whatever the metric.
    assert_eq!(ipc(situation(1, 2, 10, 100)), 2 * 2600);
    assert_eq!(ipc(situation(1, 2, 10, 101)), 2 * 4100);
    assert_eq!(table.instructions(MicrocontrollerCore::CortexM4F, situation(10, 2, 3, 0), None), 2800);
    assert_eq!(table.most_generated(MicrocontrollerCore::CortexM4F), 400);
}

#[test]
fn beyond_the_table_the_line_goes_on() {
    let table = linear_table();
    let worst = |situation| table.instructions(MicrocontrollerCore::CortexM4F, situation, None);
    assert_eq!(worst(situation(100, 2, 8, 0)), 2 * (1000 + 10 * 100 + 100 * 8));
    assert_eq!(worst(situation(50, 2, 20, 0)), 2 * (1000 + 10 * 50 + 100 * 20));
    assert_eq!(worst(situation(40, 2, 10, 1000)), 2 * (1000 + 10 * 40 + 100 * 10 + 5 * 1000));
    // The steepest slope counts, that of Linear, so that no metric overtakes the worst.
    let ipc = table.instructions(MicrocontrollerCore::CortexM4F, situation(100, 2, 8, 0), Some(Metric::Ipc));
    assert_eq!(ipc, 1000 + 10 * 40 + 100 * 8 + 2 * 10 * 60);
}

/// Of the like entries one is at least as large as all others in every dimension, so that extrapolation starts from a measurement.
#[test]
fn the_measured_table_reaches_the_limits_of_the_images() {
    for core in CORES {
        let entries = LatencyTable::measured().entries(core);
        for late in [false, true] {
            for (scored, generates) in [(264, false), (132, true)] {
                let like = || entries.iter().filter(|entry| entry.late == late && (entry.generated != 0) == generates);
                let largest = like().max_by_key(|entry| (entry.sms, entry.scored, entry.generated)).unwrap();
                assert_eq!((largest.sms, largest.kernels, largest.scored), (132, 4, scored), "{}", core.name());
                assert!(like().all(|entry| covers(largest.dimensions(), entry.dimensions())), "{}", core.name());
            }
            for scored in [32, 60, 160, 264] {
                assert!(entries.iter().any(|entry| (entry.late, entry.scored) == (late, scored)), "{scored} on {}", core.name());
            }
        }
        assert!(
            entries.iter().all(|entry| entry.worst == [entry.ipc, entry.ipm_ipc, entry.factor, entry.linear].into_iter().max().unwrap())
        );
    }
}

proptest! {
    /// More of anything never takes less, and no metric takes more than the worst.
    #[test]
    fn the_bound_is_monotone(
        sms in 1..300_u32, kernels in 1..5_u32, scored in 1..400_u32, generated in prop_oneof![Just(0_u32), 1..2000_u32],
        more in (0..100_u32, 0..2_u32, 0..100_u32, 0..500_u32), core in 0..3_usize, metric in 0..5_usize, late: bool,
    ) {
        let table = LatencyTable::measured();
        let cost = |situation, metric| table.instructions(CORES[core], situation, metric);
        let small = Situation { late, ..situation(sms, kernels, scored, generated) };
        let generated_more = if generated == 0 { 0 } else { generated + more.3 };
        let large = Situation { late, ..situation(sms + more.0, kernels + more.1, scored + more.2, generated_more) };
        prop_assert!(cost(small, METRICS[metric]) <= cost(large, METRICS[metric]), "{small:?} {large:?}");
        prop_assert!(cost(small, METRICS[metric]) <= cost(small, None));
        prop_assert!(cost(small, METRICS[metric]) > 0);
    }

    /// No measurement is above the bound of its own situation.
    #[test]
    fn no_measurement_is_above_the_bound(core in 0..3_usize, metric in 0..5_usize) {
        let table = LatencyTable::measured();
        for entry in table.entries(CORES[core]) {
            prop_assert!(entry.count(METRICS[metric]) <= table.instructions(CORES[core], entry.situation(), METRICS[metric]));
        }
    }
}
