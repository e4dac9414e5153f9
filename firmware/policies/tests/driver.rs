//! The driver over a bus that answers anything at all: it must come back from every interrupt. And how large its state is.

use crate::bodies::block::{answer, driver_survives};
use crate::cases::cases;
use mias_policies::levels::KernelScheduler;
use mias_policies::policy::Searching;
use mias_policies::{AnyPolicy, Firmware};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn survives_any_answers(any in proptest::collection::vec(any::<u32>(), 1..80), policy: u32, interrupts in 1..40_u32) {
        let answers: Vec<u32> = any.into_iter().map(answer).collect();
        driver_survives(&answers, policy, interrupts);
    }
}

/// The image's memory: the firmware's state, with room for 64 configurations, whatever the number of SMs. On the 32-bit
/// target it is smaller. A search is state of its own, in images that have it: fair share's too, which remembers the fairest shares and each kernel's
/// progress (38 bytes), that of limits of active warps, with what the L1s counted (82 bytes), and trials, with what four kernels did in four windows,
/// who may have half, and how long what they found stays (148 bytes), and which policy it is (2 bytes). So is the scheduler of kernels.
#[test]
fn state_fits_four_kibibytes() {
    let (all, search) = (size_of::<Firmware<AnyPolicy, 64>>(), size_of::<Searching>());
    let levels = size_of::<KernelScheduler>();
    assert!(all - search - levels <= 4096, "{all} bytes, {search} of a search, {levels} of levels");
    assert!(search <= 624, "{search} bytes");
    // Sixteen kernels of three words, a count, and what was asked for.
    assert!(levels <= 16 * 12 + 12, "{levels} bytes");
}
