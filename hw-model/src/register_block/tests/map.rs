//! Tests of the register map: no register overlaps another, each honors its access rule, unmapped
//! offsets are refused.

use super::{SMS, gpu};
use crate::register_block::RegisterBlock;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, MAP_END, MAX_SMS, Register, fault, global, memory, preempt, queue, slot, sm};

/// Every mapped word of the block, with its register.
fn mapped() -> Vec<(u32, &'static Register)> {
    let expand = |base: u32, table: &'static [Register]| {
        table.iter().flat_map(move |register| (0..register.count).map(move |n| (base + register.offset + 4 * n, register)))
    };
    let mut words: Vec<_> = expand(global::BASE, global::REGISTERS).collect();
    (0..KERNEL_SLOTS).for_each(|index| words.extend(expand(slot::at(index, 0), slot::REGISTERS)));
    (0..SMS).for_each(|index| words.extend(expand(sm::at(index, 0), sm::REGISTERS)));
    (0..SMS).for_each(|index| words.extend(expand(memory::at(index, 0), memory::REGISTERS)));
    (0..SMS).for_each(|index| words.extend(expand(preempt::at(index, 0), preempt::REGISTERS)));
    (0..queue::ENTRIES).for_each(|index| words.extend(expand(queue::at(index, 0), queue::REGISTERS)));
    words
}

#[test]
fn map_has_no_overlap_and_fits_its_regions() {
    let mut words = mapped();
    words.sort_by_key(|(offset, _)| *offset);
    assert!(words.windows(2).all(|pair| pair[0].0 + 4 <= pair[1].0), "two registers share an offset");
    assert!(global::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= slot::BASE));
    assert!(slot::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= slot::STRIDE));
    assert!(sm::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= sm::STRIDE));
    assert!(memory::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= memory::STRIDE));
    assert!(preempt::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= preempt::STRIDE));
    assert!(queue::REGISTERS.iter().all(|register| register.offset + 4 * register.count <= queue::STRIDE));
    assert!(sm::BASE + MAX_SMS as u32 * sm::STRIDE <= preempt::BASE);
    assert!(slot::BASE + KERNEL_SLOTS as u32 * slot::STRIDE <= queue::BASE && memory::BASE + MAX_SMS as u32 * memory::STRIDE <= sm::BASE);
    assert!(queue::BASE + queue::ENTRIES as u32 * queue::STRIDE <= memory::BASE);
}

#[test]
fn every_register_honors_its_access_rule() {
    for (offset, register) in mapped() {
        let mut file = RegisterBlock::new(gpu());
        file.read32(offset);
        let refused = file.faults() & fault::BAD_ACCESS != 0;
        assert_eq!(refused, !register.access.readable(), "read of {} at {offset:#x}", register.name);

        let mut file = RegisterBlock::new(gpu());
        file.write32(offset, 1);
        let refused = file.faults() & fault::BAD_ACCESS != 0;
        assert_eq!(refused, !register.access.writable(), "write of {} at {offset:#x}", register.name);
    }
}

#[test]
fn unmapped_offsets_read_zero_and_raise_a_fault() {
    let words: Vec<u32> = mapped().into_iter().map(|(offset, _)| offset).collect();
    for offset in (0..MAP_END + 64).step_by(4).filter(|offset| words.binary_search(offset).is_err() && !words.contains(offset)) {
        let mut file = RegisterBlock::new(gpu());
        assert_eq!(file.read32(offset), 0, "{offset:#x}");
        assert_eq!(file.faults(), fault::BAD_ACCESS, "{offset:#x}");
    }
    let mut file = RegisterBlock::new(gpu());
    assert_eq!(file.read32(global::ID + 1), 0);
    assert_eq!(file.faults(), fault::BAD_ACCESS);
}
