//! Tests of shares of an SM in the register block (sources.md D176).

use super::{SMS, gpu};
use crate::config::MemoryIssueConfig;
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, memory};
use proptest::prelude::*;

/// Block with SMs that have quotas of the first slots from reset.
fn file(warp_quota: &[u32]) -> RegisterBlock {
    let config = MemoryIssueConfig { warp_quota: warp_quota.to_vec(), ..MemoryIssueConfig::default() };
    RegisterBlock::new(gpu()).with_memory_issue(Some(&config)).with_miss_shares(true)
}

fn quota_of(slot: usize) -> u32 {
    global::WARP_QUOTA + 4 * slot as u32
}

fn weight_of(slot: usize) -> u32 {
    global::MISS_WEIGHT + 4 * slot as u32
}

/// Event that affects shares.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Quota(usize, u32),
    Weight(usize, u16),
    Placed(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (0..KERNEL_SLOTS, 0..=memory::MOST_WARP_QUOTA).prop_map(|(slot, quota)| Happens::Quota(slot, quota)),
        (0..KERNEL_SLOTS, 0..=memory::MOST_MISS_WEIGHT as u16).prop_map(|(slot, weight)| Happens::Weight(slot, weight)),
        (0..KERNEL_SLOTS).prop_map(Happens::Placed),
    ]
}

proptest! {
    /// For any writes and any new kernels, the model's shares on every SM and the read values equal
    /// those of a plain table.
    #[test]
    fn the_model_follows_what_was_written(all in prop::collection::vec(happens(), 1..30), first in 1..=memory::MOST_WARP_QUOTA) {
        let mut file = file(&[first]);
        let (mut quotas, mut weights) = ([0; KERNEL_SLOTS], [0; KERNEL_SLOTS]);
        quotas[0] = first;
        for happens in all {
            let generation = file.memory_generation();
            match happens {
                Happens::Quota(slot, quota) => {
                    file.write32(quota_of(slot), quota);
                    quotas[slot] = quota;
                    prop_assert_ne!(file.memory_generation(), generation);
                }
                Happens::Weight(slot, weight) => {
                    file.write32(weight_of(slot), weight.into());
                    weights[slot] = weight;
                    let expected = (weights != [0; KERNEL_SLOTS]).then(|| weights.map(|weight| weight.max(1)));
                    prop_assert_eq!(file.take_miss_weights(), Some(expected));
                }
                // Weights stay with their slot.
                Happens::Placed(slot) => {
                    file.memory_kernel_placed(slot);
                    quotas[slot] = if slot == 0 { first } else { 0 };
                }
            }
            prop_assert_eq!(file.take_miss_weights(), None);
            for slot in 0..KERNEL_SLOTS {
                prop_assert_eq!((file.read32(quota_of(slot)), file.read32(weight_of(slot))), (quotas[slot], weights[slot].into()));
            }
            prop_assert!((0..SMS).all(|sm| file.memory_settings(sm).warp_quotas == quotas));
        }
        prop_assert_eq!(file.faults(), 0);
    }
}

#[test]
fn quotas_and_weights_are_clamped_and_said_to_be() {
    let mut file = file(&[]);
    file.write32(quota_of(5), u32::MAX);
    assert_eq!((file.read32(quota_of(5)), file.faults()), (u32::MAX - 1, fault::VALUE_RANGE));
    file.write32(global::FAULT, u32::MAX);
    file.write32(weight_of(7), 1025);
    assert_eq!((file.read32(weight_of(7)), file.faults()), (1024, fault::VALUE_RANGE));
}

#[test]
fn sms_that_cannot_are_not_told() {
    let mut file = RegisterBlock::new(gpu());
    for offset in [quota_of(0), weight_of(3)] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 9);
        assert_eq!((file.faults(), file.read32(offset)), (fault::UNSUPPORTED, 0), "{offset:#x}");
    }
    assert_eq!((file.memory_generation(), file.take_miss_weights()), (0, None));
    let features = file.read32(global::FEATURES);
    assert_eq!(features & (feature::MEMORY_ISSUE | feature::MISS_SHARES), 0);
    let mut file = self::file(&[]);
    let both = feature::MEMORY_ISSUE | feature::MISS_SHARES;
    assert_eq!(file.read32(global::FEATURES) & both, both);
}
