//! Tests of cache ways in the register block (sources.md D138): writes, settings of the model, and
//! monitors.

use super::{SMS, gpu};
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, fault, feature, global, memory, monitor};
use proptest::prelude::*;

fn file() -> RegisterBlock {
    RegisterBlock::new(gpu()).with_ways()
}

/// Register word of two slots.
fn word(even: u32, odd: u32) -> u32 {
    even | odd << 16
}

proptest! {
    /// The writes go to one SM, all SMs or the L2, in any order. The model takes the values of a
    /// plain table once, and reads show them.
    #[test]
    fn the_model_takes_what_was_written(
        writes in prop::collection::vec((0..3_usize, 0..SMS, 0..4_usize, 0..1_025_u32, 0..1_025_u32), 1..20),
    ) {
        let mut file = file();
        let (mut l1, mut l2) = ([[0_u16; KERNEL_SLOTS]; SMS], [0_u16; KERNEL_SLOTS]);
        let (mut l1_told, mut l2_told) = ([false; SMS], false);
        for (whose, sm, at, even, odd) in writes {
            let (offset, tables, told): (u32, &mut [[u16; KERNEL_SLOTS]], &mut [bool]) = match whose {
                0 => (memory::at(sm, memory::L1_WAYS), &mut l1[sm..=sm], &mut l1_told[sm..=sm]),
                1 => (global::L1_WAYS_ALL, &mut l1[..], &mut l1_told[..]),
                _ => (global::L2_WAYS, std::slice::from_mut(&mut l2), std::slice::from_mut(&mut l2_told)),
            };
            file.write32(offset + 4 * at as u32, word(even, odd));
            tables.iter_mut().for_each(|table| table[2 * at..2 * at + 2].copy_from_slice(&[even as u16, odd as u16]));
            told.fill(true);
        }
        prop_assert!(file.take_ways_written());
        let as_given = |table: [u16; KERNEL_SLOTS]| table.iter().any(|ways| *ways > 0).then_some(table);
        for sm in 0..SMS {
            for (at, pair) in l1[sm].chunks(2).enumerate() {
                let read = file.read32(memory::at(sm, memory::L1_WAYS + 4 * at as u32));
                prop_assert_eq!(read, word(pair[0].into(), pair[1].into()));
            }
            prop_assert_eq!(file.take_l1_ways(sm), l1_told[sm].then(|| as_given(l1[sm])));
            prop_assert_eq!(file.take_l1_ways(sm), None);
        }
        prop_assert_eq!(file.take_l2_ways(), l2_told.then(|| as_given(l2)));
        prop_assert!(!file.take_ways_written());
        prop_assert_eq!(file.faults(), 0);
    }
}

#[test]
fn ways_are_clamped_and_said_to_be() {
    let mut file = file();
    file.write32(global::L2_WAYS + 12, word(1_025, 7));
    assert_eq!((file.read32(global::L2_WAYS + 12), file.faults()), (word(1_024, 7), fault::VALUE_RANGE));
}

#[test]
fn caches_that_cannot_be_told_are_not() {
    let mut file = RegisterBlock::new(gpu());
    assert_eq!(file.read32(global::FEATURES) & feature::WAYS, 0);
    for offset in [global::L1_WAYS_ALL, global::L2_WAYS + 4, memory::at(1, memory::L1_WAYS)] {
        file.write32(global::FAULT, u32::MAX);
        file.write32(offset, 1);
        assert_eq!((file.faults(), file.take_ways_written()), (fault::UNSUPPORTED, false), "{offset:#x}");
    }
}

/// Each cache shows the selected one of the counts that the model last reported, and 0 where none
/// exists.
#[test]
fn monitors_show_the_count_that_is_asked_for() {
    let mut file = file();
    file.load_l1_monitor(2, 5, &[9, 4, 1]);
    file.load_l1_monitor(2, 5, &[10, 5]);
    file.load_l2_monitor(0, &[70, 7]);
    let mut shown = |select: u32, hits: u32, slot: u32, position: u32| {
        file.write32(select, slot << monitor::SLOT_SHIFT | position);
        file.read32(hits)
    };
    let (of_l1, hits) = (memory::at(2, memory::L1_MONITOR), memory::at(2, memory::L1_MONITOR_HITS));
    assert_eq!([0, 1, 2].map(|position| shown(of_l1, hits, 5, position)), [10, 5, 0]);
    assert_eq!(shown(of_l1, hits, 4, 0), 0);
    assert_eq!([0, 1, 1_023].map(|position| shown(global::L2_MONITOR, global::L2_MONITOR_HITS, 0, position)), [70, 7, 0]);
    // Undefined bits are not stored.
    file.write32(of_l1, u32::MAX);
    assert_eq!((file.read32(of_l1), file.faults()), (7 << monitor::SLOT_SHIFT | 0x3FF, 0));
}
