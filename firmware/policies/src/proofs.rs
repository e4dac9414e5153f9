//! Properties of the whole firmware, as in [`mias_firmware`]'s proofs.
//!
//! Unit tests call them with edge cases. Under `cfg(kani)`, Kani proves them for all inputs.
//! Proptest and the fuzzer run them in `tests/bodies`, too. Here they see few events, so that a
//! proof terminates.

use crate::bodies::block::{answer, driver_survives};
use crate::bodies::scheduling::{Input, always_comes_to_rest};

#[cfg(test)]
mod tests {
    use super::*;

    use mias_registers::PolicyCode;

    const EDGES: [u32; 6] = [0, 1, 2, 0x8000_0000, u32::MAX - 1, u32::MAX];

    #[test]
    fn whole() {
        for policy in 0..PolicyCode::ALL.len() as u32 {
            let inputs = (0..240).map(|kind| Input { kind, place: kind / 24, numbers: [256, 16, 0], later: 500 });
            always_comes_to_rest(policy, inputs);
            driver_survives(&EDGES.map(answer), policy, 5);
        }
    }
}

#[cfg(kani)]
mod harnesses {
    use super::*;

    fn input() -> Input {
        Input { kind: kani::any(), place: kani::any(), numbers: kani::any(), later: kani::any() }
    }

    #[kani::proof]
    #[kani::unwind(65)]
    fn rest() {
        always_comes_to_rest(kani::any(), [input(), input(), input()]);
    }

    #[kani::proof]
    #[kani::unwind(257)]
    fn any_block() {
        let any: [u32; 4] = kani::any();
        driver_survives(&any.map(answer), kani::any(), 1);
    }
}
