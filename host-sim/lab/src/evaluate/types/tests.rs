//! Types and classifiers against kernels of which all is known.

use super::*;
use crate::evaluate::off_sm::OffSm;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A kernel alone with this IPC, share of DRAM's bandwidth, and demand over supply.
fn alone(name: &str, ipc: f64, off_sm: Option<(f64, f64)>) -> AloneResult {
    let off_sm =
        off_sm.map(|(share, demand)| OffSm { dram_utilization: Some(share), demand_over_supply: Some(demand), ..OffSm::default() });
    AloneResult {
        name: name.into(),
        trace_hash: String::new(),
        arrival_cycle: 0,
        run: String::new(),
        max_tbs: 1,
        ipc,
        ipc_half_width: None,
        simulated_cycles: None,
        cycles: 1,
        issue_slots: BTreeMap::new(),
        energy_joules: None,
        energy: None,
        curve: Vec::new(),
        scalability: Vec::new(),
        memory: None,
        asks: None,
        off_sm,
        used: None,
        contexts: None,
        series: None,
    }
}

fn typed(kernels: &[AloneResult], ratios: &[f64]) -> Vec<Judged> {
    let typed: Vec<Typed<'_>> = kernels.iter().zip(ratios).map(|(alone, &ratio)| Typed { alone, ratio }).collect();
    judge(&typed)
}

/// Four kernels: two grow with their SMs, two do not. The model has one wrong; utilisation orders them so that no threshold has all.
#[test]
fn a_worked_example() {
    let kernels = [
        alone("a", 1.0, Some((0.1, 0.5))),
        alone("b", 1.0, Some((0.6, 1.2))),
        alone("c", 1.0, Some((0.5, 3.0))),
        alone("d", 1.0, Some((0.9, 9.0))),
    ];
    let judged = typed(&kernels, &[2.0, 1.9, 1.4, 1.0]);
    let of = |name: &str| judged.iter().find(|judged| judged.classifier.starts_with(name)).unwrap();
    let model = of("off-SM bandwidth, all");
    assert_eq!((model.confusion, model.right(), model.pairs()), ([[1, 1], [0, 2]], 3, (6, 3)));
    let half = of("off-SM bandwidth, half");
    assert_eq!((half.confusion, half.pairs()), ([[2, 0], [0, 2]], (6, 0)));
    let hindsight = of("DRAM utilisation, best");
    // Between a and c: b is wrong. Above b: c is. The lower of both.
    assert_eq!((hindsight.right(), hindsight.threshold), (3, Some(0.3)));
}

#[test]
fn a_type_is_at_the_rule() {
    let kernel = alone("a", 1.0, None);
    let memory = |ratio| Typed { alone: &kernel, ratio }.memory();
    assert_eq!([memory(1.499), memory(SATURATED_BELOW), memory(2.0)], [true, false, false]);
    assert_eq!(typed(&[kernel], &[1.0]), Vec::new(), "no counter is known");
}

proptest! {
    /// No threshold on all kernels is right more often than the one in hindsight, and leaving a kernel out never helps.
    #[test]
    fn hindsight_is_best(kernels in prop::collection::vec((0.0..1.0_f64, 1.0..2.0_f64), 2..16), other in 0.0..1.0_f64) {
        let rows: Vec<AloneResult> = kernels.iter().map(|&(share, _)| alone("a", 1.0, Some((share, 1.0)))).collect();
        let ratios: Vec<f64> = kernels.iter().map(|kernel| kernel.1).collect();
        let judged = typed(&rows, &ratios);
        let right = |name: &str| judged.iter().find(|judged| judged.classifier.starts_with(name)).unwrap().right();
        let of_other = kernels.iter().filter(|&&(share, ratio)| (share > other) == (ratio < SATURATED_BELOW)).count();
        prop_assert!(right("DRAM utilisation, best") >= of_other);
        prop_assert!(right("DRAM utilisation, best") >= right("DRAM utilisation, threshold"));
    }
}
