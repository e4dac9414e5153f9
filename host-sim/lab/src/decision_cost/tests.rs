//! Tests of the built-in table, and of the bound in closed form on a table made here.

use super::*;
use crate::experiment::policy::Policy;
use proptest::prelude::*;

const CORES: [MicrocontrollerCore; 3] = [MicrocontrollerCore::CortexM4F, MicrocontrollerCore::CortexM0, MicrocontrollerCore::Rv32Imac];
/// Returns all charges.
fn charges() -> Vec<Charge> {
    let mut charges: Vec<Charge> =
        Policy::ALL.into_iter().flat_map(|policy| [false, true].map(|worst| Charge::of(policy.in_firmware(), worst))).collect();
    charges.sort_by_key(|charge| charge.column());
    charges.dedup();
    charges
}

fn situation(sms: u32, kernels: u32, scored: u32, generated: u32) -> Situation {
    Situation { late: false, sms, kernels, scored, generated }
}

/// Creates a table with 1000 + 10 per SM + 100 per configuration scored, and 5 per configuration in
/// total for a second round; twice that under Linear.
fn linear_table() -> LatencyTable {
    let mut cores = BTreeMap::new();
    let mut entries = Vec::new();
    for sms in [10, 40] {
        for (scored, generated) in [(3, 0), (8, 0), (10, 100), (10, 400)] {
            let cost = 1000 + 10 * u64::from(sms) + 100 * u64::from(scored) + 5 * u64::from(generated);
            let situation = Situation { late: false, sms, kernels: 2, scored, generated };
            entries.push(Entry::new(situation, &[("mias-ipc", cost), ("mias-linear", 2 * cost), ("worst", 2 * cost)]));
        }
    }
    let maestro = Entry::new(situation(10, 2, 2, 1), &[("maestro", 7)]);
    cores.insert("cortex-m4f".to_owned(), BTreeMap::from([("mias".to_owned(), entries), ("maestro".to_owned(), vec![maestro])]));
    LatencyTable { cores }
}

const IPC: Charge = Charge::Metric("mias-ipc");

#[test]
fn entries_are_exact_and_others_take_the_next_larger_one() {
    let table = linear_table();
    let core = MicrocontrollerCore::CortexM4F;
    let ipc = |situation| table.instructions(core, situation, IPC);
    assert_eq!(ipc(situation(10, 2, 3, 0)), 1400);
    assert_eq!(ipc(situation(11, 2, 3, 0)), 1700);
    assert_eq!(ipc(situation(10, 1, 4, 0)), 1900);
    // The worst, for any metric.
    assert_eq!(ipc(situation(1, 2, 10, 100)), 2 * 2600);
    assert_eq!(ipc(situation(1, 2, 10, 101)), 2 * 4100);
    assert_eq!(table.instructions(core, situation(10, 2, 3, 0), Charge::SlowestMetric), 2800);
    assert_eq!(table.most_generated(core, IPC), 400);
    // Another policy has its own entries, also for the step to a further window.
    let maestro = Charge::Policy("maestro");
    assert_eq!((table.instructions(core, situation(10, 2, 2, 1), maestro), table.most_generated(core, maestro)), (7, 1));
}

#[test]
fn beyond_the_table_the_line_goes_on() {
    let table = linear_table();
    let worst = |situation| table.instructions(MicrocontrollerCore::CortexM4F, situation, Charge::SlowestMetric);
    assert_eq!(worst(situation(100, 2, 8, 0)), 2 * (1000 + 10 * 100 + 100 * 8));
    assert_eq!(worst(situation(50, 2, 20, 0)), 2 * (1000 + 10 * 50 + 100 * 20));
    assert_eq!(worst(situation(40, 2, 10, 1000)), 2 * (1000 + 10 * 40 + 100 * 10 + 5 * 1000));
    // The steepest slope counts, that of Linear, so that no metric exceeds the worst.
    let ipc = table.instructions(MicrocontrollerCore::CortexM4F, situation(100, 2, 8, 0), IPC);
    assert_eq!(ipc, 1000 + 10 * 40 + 100 * 8 + 2 * 10 * 60);
}

#[test]
fn every_policy_that_measures_is_charged_what_was_counted_of_it() {
    for policy in Policy::ALL.into_iter().filter(|policy| policy.measures()) {
        let counted = match policy {
            Policy::WarpedSlicerUnscaled => "warped-slicer",
            Policy::MiasTrial => "trial",
            // A step costs the same for all other searching policies.
            searching if searching.searches() => "search",
            other => other.name(),
        };
        assert_eq!(Charge::of(policy.in_firmware(), false).column(), counted);
        let metric = [Policy::MiasIpc, Policy::MiasIpmIpc, Policy::MiasFactor, Policy::MiasLinear].contains(&policy);
        assert_eq!(Charge::of(policy.in_firmware(), true).column(), if metric { "worst" } else { counted });
    }
    // Each charge is in one group per core, alone or with others.
    for (core, charge) in CORES.into_iter().flat_map(|core| charges().into_iter().map(move |charge| (core, charge))) {
        let holders = LatencyTable::measured().cores[core.name()].values().filter(|group| group[0].counts(charge.column()));
        assert_eq!(holders.count(), 1, "{charge:?}");
        let entries = LatencyTable::measured().entries(core, charge);
        assert!(entries.iter().all(|entry| entry.counts(charge.column())), "{charge:?}");
    }
}

/// Returns whether policies of this column measure in one round only.
fn has_one_round(charge: Charge) -> bool {
    charge == Charge::of(Policy::Coordinated.in_firmware(), false)
}

/// Among comparable entries, one is at least as large as all others in every dimension, so that
/// extrapolation starts from a measurement.
#[test]
fn the_measured_table_reaches_the_limits() {
    // The largest sum has too many combinations to be measured at the maximum of points. A search
    // step scores nothing: it is looked up by SMs and kernels alone.
    let others = [Charge::of(Policy::WarpedSlicerSum.in_firmware(), false), Charge::Search, Charge::Trial];
    let charges = charges().into_iter().filter(|charge| !others.contains(charge));
    for (core, charge) in CORES.into_iter().flat_map(|core| charges.clone().map(move |charge| (core, charge))) {
        let entries = LatencyTable::measured().entries(core, charge);
        for (late, generates) in [(false, false), (false, true), (true, false), (true, true)] {
            let like = || entries.iter().filter(|entry| (entry.situation().late, entry.generated() != 0) == (late, generates));
            if generates && has_one_round(charge) {
                assert_eq!(like().count(), 0);
                continue;
            }
            let largest = like().find(|largest| like().all(|entry| largest.covers(entry)));
            let Situation { sms, kernels, scored, .. } = largest.unwrap_or_else(|| panic!("{charge:?} {late} {generates}")).situation();
            // Maximum scored after the last and after the first of two rounds, on 132 SMs.
            let [last, first] = match charge {
                // Capacity of the image.
                Charge::SlowestMetric | Charge::Metric(_) => [264..=264, 132..=132],
                // Four kernels alone with up to 64 TBs.
                Charge::Policy("warped-slicer") => [256..=256, 128..=128],
                Charge::Policy("coordinated") => [4..=4, 0..=0],
                // Isolated kernels, then the shared run.
                Charge::Policy("maestro") => [5..=5, 4..=4],
                // No measured launch has more than 165 configurations with TBs of every kernel.
                // Four more are profiled alone, and every round except the last leads to another,
                // including those of trials. Beyond that, values are extrapolated.
                Charge::Policy("mias-duel") => [133..=264, 133..=264],
                // Neighbors of the best do not fill the second round, since isolated kernels are
                // not neighbors.
                Charge::Policy(_) | Charge::Search | Charge::Trial => [133..=264, 132..=132],
            };
            assert_eq!((sms, kernels), (132, 4));
            assert!(if generates { first } else { last }.contains(&scored), "{scored} of {charge:?} on {}", core.name());
        }
    }
    for core in CORES {
        for entry in LatencyTable::measured().entries(core, Charge::SlowestMetric) {
            let metrics = charges.clone().filter(|charge| matches!(charge, Charge::Metric(_)));
            assert_eq!(entry.count("worst"), metrics.map(|metric| entry.count(metric.column())).max().unwrap());
        }
    }
}

proptest! {
    /// Larger dimensions never cost less, and no metric costs more than the worst.
    #[test]
    fn the_bound_is_monotone(
        sms in 1..300_u32, kernels in 1..5_u32, scored in 1..400_u32, generated in prop_oneof![Just(0_u32), 1..2000_u32],
        more in (0..100_u32, 0..2_u32, 0..100_u32, 0..500_u32), core in 0..3_usize, charge: proptest::sample::Index, late: bool,
    ) {
        let table = LatencyTable::measured();
        let charge = *charge.get(&charges());
        let generated = if has_one_round(charge) { 0 } else { generated };
        let cost = |situation, charge| table.instructions(CORES[core], situation, charge);
        let small = Situation { late, ..situation(sms, kernels, scored, generated) };
        let generated_more = if generated == 0 { 0 } else { generated + more.3 };
        let large = Situation { late, ..situation(sms + more.0, kernels + more.1, scored + more.2, generated_more) };
        prop_assert!(cost(small, charge) <= cost(large, charge), "{small:?} {large:?}");
        if let Charge::Metric(_) = charge {
            prop_assert!(cost(small, charge) <= cost(small, Charge::SlowestMetric));
        }
        prop_assert!(cost(small, charge) > 0);
    }

    /// The worst case never costs less than the policy's own charge.
    #[test]
    fn the_worst_is_no_less_than_the_policys_own(
        sms in 1..300_u32, kernels in 1..5_u32, scored in 1..400_u32, generated in prop_oneof![Just(0_u32), 1..2000_u32],
        core in 0..3_usize, policy: proptest::sample::Index, late: bool,
    ) {
        let situation = Situation { late, ..situation(sms, kernels, scored, generated) };
        let policy = *policy.get(&Policy::ALL);
        let [own, worst] = [false, true].map(|worst| LatencyTable::measured().instructions(CORES[core], situation, Charge::of(policy.in_firmware(), worst)));
        prop_assert!(own <= worst, "{policy:?}");
    }
}

/// More SMs and kernels never cost less. No kernels still cost something. All kernels on 30 SMs
/// cost no more than the budget (firmware/budget.toml).
#[test]
fn limits_of_memory_instructions_cost_what_was_counted() {
    for core in CORES {
        let of = |sms, kernels| LatencyTable::measured().memory_limits(core, sms, kernels);
        assert!(of(0, 0) > 0 && of(0, 0) < of(1, 1));
        for (sms, kernels) in (1..140).flat_map(|sms| (1..5).map(move |kernels| (sms, kernels))) {
            assert!(of(sms, kernels) <= of(sms + 1, kernels) && of(sms, kernels) <= of(sms, kernels + 1), "{sms} {kernels}");
        }
    }
    for kernels in [2, 3] {
        let of = LatencyTable::measured().memory_limits(MicrocontrollerCore::CortexM4F, 30, kernels);
        // Rounded up by less than a sixteenth.
        assert!(16 * of <= 17 * 30 * u64::from(kernels) * 100, "{of}");
    }
}

/// More kernels cost more, no kernels still cost something, and the cost is within the budget
/// (firmware/budget.toml).
#[test]
fn control_of_extra_tbs_costs_what_was_counted() {
    for core in CORES {
        let of = |kernels| LatencyTable::measured().context_control(core, kernels);
        assert!(of(0) > 0 && (0..10).all(|kernels| of(kernels) < of(kernels + 1)), "{core:?}");
    }
    for kernels in [2, 3] {
        let of = LatencyTable::measured().context_control(MicrocontrollerCore::CortexM4F, kernels);
        // Rounded up by less than a sixteenth.
        assert!(16 * of <= 17 * (200 + 150 * u64::from(kernels)), "{of}");
    }
}

/// No measurement is above the bound of its own situation.
#[test]
fn no_measurement_is_above_the_bound() {
    let table = LatencyTable::measured();
    for (core, charge) in CORES.into_iter().flat_map(|core| charges().into_iter().map(move |charge| (core, charge))) {
        for entry in table.entries(core, charge) {
            assert!(entry.count(charge.column()) <= table.instructions(core, entry.situation(), charge), "{charge:?} {entry:?}");
        }
    }
}
