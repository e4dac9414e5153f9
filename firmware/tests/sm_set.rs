//! SM bit sets against a plain list of numbers.

use std::collections::BTreeSet;

use crate::cases::cases;
use mias_firmware::sm_set::{SmSet, SmWord};
use mias_registers::{MAX_SMS, SM_WORDS};
use proptest::prelude::*;

/// Returns the numbers of a word's SMs.
fn numbers(sms: SmWord) -> impl Iterator<Item = u16> {
    (0..32_u16).filter(move |place| sms.bits & 1 << place != 0).map(move |place| 32 * u16::from(sms.word) + place)
}

fn word() -> impl Strategy<Value = SmWord> {
    // Sparse, dense and arbitrary bits; one word beyond the last.
    let bits = prop_oneof![any::<u32>(), Just(0), Just(u32::MAX), (0..32_u32).prop_map(|place| 1 << place)];
    (0..=SM_WORDS as u8, bits).prop_map(|(word, bits)| SmWord { word, bits })
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn it_holds_what_was_inserted(words in prop::collection::vec(word(), 0..20)) {
        let (mut set, mut plain) = (SmSet::EMPTY, BTreeSet::new());
        for sms in words {
            set.insert(sms);
            plain.extend(numbers(sms).filter(|sm| usize::from(*sm) < MAX_SMS));
            prop_assert_eq!(usize::from(set.len()), plain.len());
        }
        prop_assert_eq!(set.is_empty(), plain.is_empty());
        for sm in 0..300 {
            prop_assert_eq!(set.contains(sm), plain.contains(&sm), "SM {}", sm);
        }
    }

    #[test]
    fn a_word_is_cut_at_the_end_of_the_gpu(sms in word(), count in 0_u16..=300) {
        let there: Vec<u16> = numbers(sms).filter(|sm| *sm < count).collect();
        prop_assert_eq!(numbers(sms.among(count)).collect::<Vec<_>>(), there);
    }
}

#[test]
fn one_is_one() {
    for sm in 0..=u8::MAX {
        assert_eq!(numbers(SmWord::one(sm)).collect::<Vec<_>>(), [u16::from(sm)]);
    }
}
