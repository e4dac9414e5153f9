//! The driver over a bus with arbitrary answers, which must return from every interrupt; and the
//! size of its state.

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

/// Size of the firmware's state with a capacity of 64 configurations, for any number of SMs. On the
/// 32-bit target it is smaller.
///
/// A search has its own state, in images with searches. It includes fair share's, which stores the
/// fairest shares and each kernel's progress (38 bytes). It includes limits of active warps, with
/// L1 counts (82 bytes). It includes trials, with the counts of four kernels in four windows, the
/// exchanges, and the rest period (148 bytes), and the policy's tag (2 bytes). The scheduler of
/// kernels also has its own state.
#[test]
fn state_fits_four_kibibytes() {
    let (all, search) = (size_of::<Firmware<AnyPolicy, 64>>(), size_of::<Searching>());
    let levels = size_of::<KernelScheduler>();
    assert!(all - search - levels <= 4096, "{all} bytes, {search} of a search, {levels} of levels");
    assert!(search <= 624, "{search} bytes");
    // Sixteen kernels of three words, a count, and the options.
    assert!(levels <= 16 * 12 + 12, "{levels} bytes");
}
