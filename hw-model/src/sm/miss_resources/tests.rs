//! Properties of shares of miss resources (sources.md D125).

use super::divided::Divided;
use crate::sm::KERNEL_SLOTS;
use proptest::prelude::*;

proptest! {
    /// Kernels never have more than the total, each may have one, and a single kernel may have all.
    /// Shares match the weights as closely as integers allow.
    #[test]
    fn shares_fit(whole in 8u32..300, weights in prop::collection::vec(1u32..=1_024, 0..9), resident: u8) {
        let mut divided = Divided::new(whole, std::array::from_fn(|slot| weights.get(slot).copied().unwrap_or(1)));
        divided.reside(resident);
        let here: Vec<u8> = (0..KERNEL_SLOTS as u8).filter(|slot| resident >> slot & 1 != 0).collect();
        let weight = |slot: u8| u64::from(weights.get(usize::from(slot)).copied().unwrap_or(1));
        let sum: u64 = here.iter().map(|&slot| weight(slot)).sum();
        for &slot in &here {
            let exact = u64::from(whole) * weight(slot);
            let share = u64::from(divided.share(slot));
            prop_assert!(share >= 1 && (share == 1 || share * sum <= exact) && exact < (share + 1) * sum);
            prop_assert!(here.len() > 1 || share == u64::from(whole));
        }
    }

    /// A kernel may take its share, and one more for each unit that it returns.
    #[test]
    fn what_is_given_back_may_be_taken(whole in 2u32..40) {
        let mut divided = Divided::new(whole, [1; KERNEL_SLOTS]);
        divided.reside(0b101);
        for _ in 0..whole / 2 {
            prop_assert!(divided.has_room(0));
            divided.take(0);
        }
        prop_assert!(!divided.has_room(0) && divided.has_room(2) && divided.has_room(1));
        divided.give_back(0);
        prop_assert!(divided.has_room(0));
        divided.reside(0b100);
        prop_assert!(!divided.has_room(0) || whole / 2 <= 1, "what it has is more than the one that it may have now");
    }
}
