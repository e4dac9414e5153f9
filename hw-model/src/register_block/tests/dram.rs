//! Tests of the order of DRAM requests in the register block (sources.md D187).

use super::gpu;
use crate::config::{DramOrder, DramSchedulerConfig};
use crate::memory::DramSettings;
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::{dram_order, fault, feature, global};
use proptest::prelude::*;

fn file() -> RegisterBlock {
    RegisterBlock::new(gpu()).with_dram_order(None)
}

proptest! {
    /// For any writes in any order, the model takes the settings of a plain copy, once and only if
    /// they differ, and reads show them.
    #[test]
    fn the_model_takes_what_was_written(writes in prop::collection::vec((0usize..10, 0u32..1_025), 1..20)) {
        let (mut file, mut plain, mut taken) = (file(), DramSettings::default(), DramSettings::default());
        for (register, value) in writes {
            let (offset, value) = match register {
                0 => (global::DRAM_ORDER, value % 5),
                1 => (global::DRAM_CAP, value % 256),
                slot => (global::DRAM_SHARE + 4 * (slot as u32 - 2), value),
            };
            file.write32(offset, value);
            prop_assert_eq!(file.read32(offset), value);
            match register {
                0 => plain.by = DramOrder::ALL[value as usize],
                1 => plain.cap = value as u8,
                slot => plain.shares[slot - 2] = value as u16,
            }
            if value % 3 == 0 {
                prop_assert_eq!(file.take_dram_order().is_some(), plain != taken);
                taken = plain;
            }
        }
        prop_assert!(file.take_dram_order().is_none_or(|last| last == plain));
        prop_assert_eq!(file.take_dram_order(), None);
        prop_assert_eq!(file.faults(), 0);
    }
}

#[test]
fn codes_are_those_of_the_map() {
    let mut file = file();
    for (code, by) in [dram_order::FR_FCFS, dram_order::FCFS, dram_order::KERNEL_CAP, dram_order::BATCH, dram_order::SHARES]
        .into_iter()
        .zip(DramOrder::ALL)
    {
        file.write32(global::DRAM_ORDER, code);
        file.write32(global::DRAM_CAP, 1 + code);
        assert_eq!(file.take_dram_order().map(|settings| settings.by), Some(by));
    }
}

#[test]
fn what_is_beyond_is_clamped_and_said_to_be() {
    for (offset, most) in [(global::DRAM_ORDER, dram_order::SHARES), (global::DRAM_CAP, 255), (global::DRAM_SHARE + 28, 1_024)] {
        let mut file = file();
        file.write32(offset, most + 1);
        assert_eq!((file.read32(offset), file.faults()), (most, fault::VALUE_RANGE), "{offset:#x}");
    }
    let mut file = file();
    file.write32(global::DRAM_CAP + 4, 1);
    assert_eq!((file.faults(), file.take_dram_order()), (fault::BAD_ACCESS, None));
}

#[test]
fn a_block_begins_as_the_gpu_says() {
    let config = DramSchedulerConfig { by: DramOrder::Shares, cap: Some(9), shares: vec![768, 256] };
    let mut file = RegisterBlock::new(gpu()).with_dram_order(Some(&config));
    let shares = [0, 1, 2].map(|slot| file.read32(global::DRAM_SHARE + 4 * slot));
    assert_eq!((file.read32(global::DRAM_ORDER), file.read32(global::DRAM_CAP), shares), (dram_order::SHARES, 9, [768, 256, 0]));
    assert_eq!(file.take_dram_order(), None, "the model knows");
}

#[test]
fn channels_that_cannot_be_told_are_not() {
    let mut file = RegisterBlock::new(gpu());
    assert_eq!(file.read32(global::FEATURES) & feature::DRAM_ORDER, 0);
    for offset in [global::DRAM_ORDER, global::DRAM_CAP, global::DRAM_SHARE] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 1);
        assert_eq!((file.faults(), file.take_dram_order()), (fault::UNSUPPORTED, None), "{offset:#x}");
    }
}
