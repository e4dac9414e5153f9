//! All SMs free space in turn until the kernel's need is covered (Shieh 2016, section 3.1;
//! sources.md D134).

use super::register_block::{FakeRegisterBlock, Tb};
use mias_policies::preempt::Scheme;

/// Three SMs request space for 3, 1 and 2 TBs, and 4 TBs remain: turns give 2, 1 and 1.
#[test]
fn the_need_is_covered_by_all_sms_in_turn() {
    for (unissued, expected) in [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [1, 1, 0]), (4, [2, 1, 1]), (5, [2, 1, 2]), (100, [3, 1, 2])] {
        let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 3);
        register_block.kernel(0, 0, 50, 1000, 0, 100);
        register_block.kernel(1, 1, 50, 1000, 0, unissued);
        for sm in 0..3 {
            (0..4).for_each(|place| {
                register_block.tb(
                    sm,
                    place,
                    Tb { slot: 0, insts: 10, cycles: 10, registers: 1000 * place as u32, flushable: true, ..Tb::default() },
                )
            });
        }
        (0..).zip([3, 1, 2]).for_each(|(sm, count)| register_block.wants(sm, 1, count));
        register_block.serve();
        assert_eq!([0, 1, 2].map(|sm| register_block.commands(sm).len()), expected, "{unissued} to come");
        assert_eq!([0, 1, 2].map(|sm| register_block.reserved(sm).1.count_ones() as usize), expected);
        // A repeated request makes no further TB leave for existing reservations.
        register_block.writes.clear();
        (0..).zip([3, 1, 2]).for_each(|(sm, count)| register_block.wants(sm, 1, count));
        register_block.serve();
        assert!((0..3).all(|sm| register_block.commands(sm).is_empty()), "{unissued} to come");
    }
}

#[test]
fn an_sm_that_cannot_give_its_part_is_made_up_for_by_others() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 2);
    register_block.kernel(0, 0, 50, 1000, 0, 100);
    register_block.kernel(1, 1, 50, 1000, 0, 4);
    register_block.kernel(2, 5, 50, 1000, 0, 0);
    for place in 0..4 {
        // All but one TB of SM 0 belong to a kernel of higher priority.
        let slot = if place == 0 { 0 } else { 2 };
        register_block.tb(0, place, Tb { slot, registers: 1000 * place as u32, cycles: 5, ..Tb::default() });
        register_block.tb(1, place, Tb { slot: 0, registers: 1000 * place as u32, cycles: 5, ..Tb::default() });
    }
    register_block.wants(0, 1, 4);
    register_block.wants(1, 1, 4);
    register_block.serve();
    assert_eq!([0, 1].map(|sm| register_block.commands(sm).len()), [1, 3]);
}
