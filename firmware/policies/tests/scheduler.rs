//! State machine under every policy and any events.

use crate::bodies::scheduling::{Input, always_comes_to_rest, preparing_changes_nothing};
use crate::cases::cases;
use proptest::prelude::*;

fn input() -> impl Strategy<Value = Input> {
    let threads = prop_oneof![Just(64_u32), Just(256), Just(1024), Just(2048), any::<u32>()];
    let registers = prop_oneof![Just(16_u32), any::<u32>()];
    let shared = prop_oneof![Just(0_u32), any::<u32>()];
    (any::<u8>(), 0..8_u8, threads, registers, shared, 0..3000_u16).prop_map(|(kind, place, a, b, c, later)| Input {
        kind,
        place,
        numbers: [a, b, c],
        later,
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    /// Invariants 18, 19 and 26, and the return to rest: `bodies/scheduling.rs`.
    #[test]
    fn never_stuck(policy: u32, inputs in proptest::collection::vec(input(), 0..60)) {
        always_comes_to_rest(policy, inputs);
    }

    /// Preparation of any amount at any time changes no decision: `bodies/scheduling.rs`.
    #[test]
    fn preparing_is_seen_by_nobody(policy: u32, inputs in proptest::collection::vec(input(), 0..60)) {
        preparing_changes_nothing(policy, inputs);
    }
}
