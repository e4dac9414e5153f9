//! Tests of limits of active warps in the register block (sources.md D159).

use super::{SMS, gpu};
use crate::config::{Unlimited, WarpLimit};
use crate::register_block::{GpuDescription, RegisterBlock};
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, sm};
use proptest::prelude::*;

fn file() -> RegisterBlock {
    RegisterBlock::new(GpuDescription { features: feature::ACTIVE_WARPS, ..gpu() })
}

/// Event that affects limits.
#[derive(Clone, Copy, Debug)]
enum Happens {
    All(usize, u8),
    Word(usize, usize, [u8; 4]),
    Placed(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        (0..KERNEL_SLOTS, 0..64_u8).prop_map(|(slot, limit)| Happens::All(slot, limit)),
        (0..SMS, 0..sm::ACTIVE_WARPS_WORDS, prop::array::uniform4(0..64_u8)).prop_map(|(sm, word, limits)| Happens::Word(sm, word, limits)),
        (0..KERNEL_SLOTS).prop_map(Happens::Placed),
    ]
}

proptest! {
    /// For any writes and any new kernels, the model's limits and the read values equal those of a
    /// plain table. The generation changes exactly when the limits do.
    #[test]
    fn the_model_follows_what_was_written(all in prop::collection::vec(happens(), 1..30), first in 0..64_u8) {
        let reset = [if first == 0 { WarpLimit::Any(Unlimited::Inf) } else { WarpLimit::Most(first) }];
        let mut file = file().with_active_warps(&reset);
        let mut plain = [[0; KERNEL_SLOTS]; SMS];
        plain.iter_mut().for_each(|limits| limits[0] = first);
        for happens in all {
            let (before, generation) = (plain, file.active_warps_generation());
            match happens {
                Happens::All(slot, limit) => {
                    file.write32(global::ACTIVE_WARPS_ALL + 4 * slot as u32, limit.into());
                    plain.iter_mut().for_each(|limits| limits[slot] = limit);
                }
                Happens::Word(sm, word, limits) => {
                    file.write32(sm::at(sm, sm::ACTIVE_WARPS) + 4 * word as u32, u32::from_le_bytes(limits));
                    plain[sm][4 * word..4 * word + 4].copy_from_slice(&limits);
                }
                Happens::Placed(slot) => {
                    file.active_warps_kernel_placed(slot);
                    plain.iter_mut().for_each(|limits| limits[slot] = if slot == 0 { first } else { 0 });
                }
            }
            prop_assert_eq!(file.active_warps_generation() != generation, plain != before);
            for (sm, limits) in plain.iter().enumerate() {
                prop_assert_eq!(&file.active_warps(sm), limits);
                for (word, four) in limits.chunks(4).enumerate() {
                    let read = file.read32(sm::at(sm, sm::ACTIVE_WARPS) + 4 * word as u32);
                    prop_assert_eq!(read, u32::from_le_bytes(four.try_into().expect("four")));
                }
            }
        }
        prop_assert_eq!(file.faults(), 0);
    }
}

#[test]
fn limits_are_clamped_and_said_to_be() {
    let mut file = file();
    file.write32(global::ACTIVE_WARPS_ALL + 4 * 6, 64);
    assert_eq!((file.active_warps(2)[6], file.faults()), (63, fault::VALUE_RANGE));
    file.write32(global::FAULT, u32::MAX);
    file.write32(sm::at(1, sm::ACTIVE_WARPS), 0xFF00_0003);
    assert_eq!((file.active_warps(1)[..4].to_vec(), file.faults()), (vec![3, 0, 0, 63], fault::VALUE_RANGE));
}

#[test]
fn sms_that_cannot_are_not_told() {
    let mut file = RegisterBlock::new(gpu());
    for offset in [global::ACTIVE_WARPS_ALL, sm::at(1, sm::ACTIVE_WARPS) + 4] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 1);
        assert_eq!((file.faults(), file.active_warps_generation()), (fault::UNSUPPORTED, 0), "{offset:#x}");
    }
}
