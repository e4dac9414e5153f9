//! Replicas: several SMs run each configuration, and their order does not matter, because their
//! counts are summed (sources.md D22).

use super::world::{Counts, World, shape};
use mias_registers::{PolicyCode, global};
use proptest::prelude::*;

/// SMs: three for each of the three configurations of two kernels with four TBs per SM.
const SMS: usize = 9;

/// Generates the counts of an SM with two kernels.
fn counts() -> impl Strategy<Value = Counts> {
    (1..100_000_u32, 1..100_000_u32, 0..500_u32, 0..1_000_u32, 0..200_000_u32).prop_map(
        |(one, other, stalls, load_requests, outstanding_misses)| Counts {
            instructions: [one, other, 0, 0],
            stalls,
            load_requests,
            outstanding_misses,
            ..Counts::default()
        },
    )
}

/// Returns the chosen quotas, and the score of each configuration, if SM `i` counts `counts[order[i
/// / 3]][i % 3]`.
fn chosen(policy: PolicyCode, counts: &[[Counts; 3]], order: &[usize]) -> (Vec<u32>, Vec<Option<(u128, u128)>>) {
    let mut world = World::new(policy, SMS, &[shape(256), shape(256)], &[(global::LINEAR_COEFFICIENT, 233)]);
    // SM i runs configuration i mod 3.
    world.profile(|sm, _| counts[order[sm / 3]][sm % 3]);
    let report = world.firmware.report();
    let scores = report.tried().map(|tried| tried.score.map(|score| (score.numerator.to_u128(), score.denominator.to_u128()))).collect();
    (world.shared(), scores)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replicas_commute(
        counts in proptest::collection::vec([counts(), counts(), counts()], 3),
        order in Just(vec![0, 1, 2]).prop_shuffle(),
    ) {
        for policy in [PolicyCode::MiasIpc, PolicyCode::MiasIpmIpc, PolicyCode::MiasFactor, PolicyCode::MiasLinear] {
            let given = chosen(policy, &counts, &[0, 1, 2]);
            prop_assert_eq!(given.1.len(), 3);
            prop_assert_eq!(&given, &chosen(policy, &counts, &order), "{:?}", policy);
        }
    }
}
