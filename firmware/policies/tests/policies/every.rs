//! Properties of every policy under any counters.

use super::world::{SM, World};
use crate::cases::cases;
use mias_firmware::configs::TbVector;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::resources::TbShape;
use mias_policies::policy::AnyPolicy;
use mias_registers::{PhaseCode, PolicyCode, global};
use proptest::prelude::*;
use proptest::test_runner::TestRng;

/// A code without an arm in `AnyPolicy` would become Left-over silently.
#[test]
fn every_code_has_its_policy() {
    for code in PolicyCode::ALL {
        let policy = AnyPolicy::new(code, &GpuProperties::NONE, &Settings::default(), TbVector::default());
        let is_left_over = matches!(policy, AnyPolicy::LeftOver(_));
        assert_eq!(is_left_over, code == PolicyCode::LeftOver, "{code:?}");
    }
}

fn kernels() -> impl Strategy<Value = Vec<TbShape>> {
    let threads = prop_oneof![Just(32_u32), Just(64), Just(128), Just(256), 1..1024_u32];
    let shape = (threads, 1..65_u32, prop_oneof![Just(0_u32), 0..30_000_u32]);
    prop::collection::vec(
        shape.prop_map(|(threads, thread_registers, shared_bytes)| TbShape { threads, thread_registers, shared_bytes }),
        1..5,
    )
}

/// Generates register values: all bits, counters in range, few different ones, or 0.
fn number(rng: &mut TestRng, kind: u8) -> u32 {
    match kind {
        0 => rng.next_u32(),
        1 => rng.next_u32() >> 15,
        2 => rng.next_u32() % 3,
        _ => 0,
    }
}

proptest! {
    #![proptest_config(cases(1500))]

    /// Every policy has three properties under arbitrary counters. There is no panic, and shared
    /// SMs have quotas that fit. Steady is reached in at most two rounds, and four of trials.
    /// Quotas depend only on the counters of the SMs that are done.
    #[test]
    fn arbitrary_counters(
        policy in prop::sample::select(PolicyCode::ALL.to_vec()),
        kernels in kernels(),
        sms in prop_oneof![1..6_usize, Just(30_usize), Just(32), 33..133_usize],
        (options, threshold) in (0..128_u32, prop_oneof![Just(1200_u32), any::<u32>()]),
        (kind, done) in (0..4_u8, prop_oneof![Just(u64::MAX), any::<u64>()]),
        (seed, noise) in any::<([u8; 32], u32)>(),
    ) {
        let is_done = |sm: usize| done >> (sm % 64) & 1 != 0;
        let run = |noise: u32| {
            let mut rng = TestRng::from_seed(proptest::test_runner::RngAlgorithm::ChaCha, &seed);
            let straps = [(global::STRAP_OPTIONS, options), (global::STRAP_LOSS_THRESHOLD, threshold)];
            let mut world = World::new(policy, sms, &kernels, &straps);
            let mut rounds = 0;
            while world.phase() == PhaseCode::Transition {
                world.profile_anything(is_done, |sm| number(&mut rng, kind) ^ if is_done(sm) { 0 } else { noise });
                rounds += 1;
                assert!(rounds <= if policy == PolicyCode::MiasDuel { 6 } else { 2 }, "{policy:?}");
            }
            assert_eq!(world.phase(), PhaseCode::Steady, "{policy:?}");
            let quotas: Vec<Vec<u32>> = (0..sms).map(|sm| world.quotas(sm)).collect();
            (quotas, world.kernels().to_vec())
        };
        let (quotas, launched) = run(0);
        for tbs in &quotas {
            let rest = launched.iter().zip(tbs).try_fold(SM, |rest, (kernel, tbs)| rest.minus(&kernel.demand, *tbs));
            prop_assert!(rest.is_some(), "{:?} over-commits: {:?}", policy, tbs);
        }
        // A fixed configuration without TBs fills the SMs with the first kernel. MIAS may leave a
        // kernel out, others do not.
        let shares = [
            PolicyCode::Smk,
            PolicyCode::WarpedSlicer,
            PolicyCode::WarpedSlicerSum,
            PolicyCode::Maestro,
            PolicyCode::Coordinated,
        ];
        if shares.contains(&policy) && sms >= launched.len() && done == u64::MAX {
            for kernel in 0..launched.len() {
                prop_assert!(quotas.iter().any(|tbs| tbs[kernel] != 0), "{:?} starves kernel {}: {:?}", policy, kernel, quotas);
            }
        }
        prop_assert_eq!(&run(0).0, &quotas, "deterministic");
        prop_assert_eq!(&run(noise).0, &quotas, "SMs that are not done have a say");
    }
}
