//! Choice of the candidate of an SM and of its techniques (Shieh 2016, sections 3.2 and 3.3, figure
//! 3.9).

use super::register_block::{FakeRegisterBlock, Tb, four, urgent_beside};
use mias_policies::preempt::Scheme;
use mias_registers::{global, preempt, slot, technique};

/// Position 0 belongs to TBs with 100 and 200 instructions left, position 1 to TBs that have
/// executed 20 and 10.
#[test]
fn the_candidate_that_loses_least_within_the_limit_is_taken() {
    for (limit, position, how) in [
        // Both drain, without loss.
        (200, 0, [(0, technique::DRAIN, 100), (1, technique::DRAIN, 200)]),
        // One must be flushed, which loses 800. At position 1 the loss is only 30.
        (199, 1, [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)]),
        (0, 1, [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)]),
    ] {
        let mut register_block = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, limit);
        register_block.wants(0, 1, 2);
        register_block.serve();
        assert_eq!(register_block.commands(0), how, "limit {limit}");
        assert_eq!(register_block.reserved(0), (2, 1 << position), "limit {limit}");
        assert_eq!(register_block.get(global::PREEMPT_WANTED), 0);
    }
}

#[test]
fn positions_are_reserved_before_the_first_command() {
    let mut register_block = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 2, 0);
    register_block.wants(0, 1, 2);
    register_block.serve();
    let of_sm: Vec<u32> = register_block.writes.iter().map(|(offset, _)| *offset).filter(|offset| *offset >= preempt::BASE).collect();
    let commands = [2, 3, 0, 1].map(|place| preempt::at(0, preempt::COMMAND + 4 * place));
    assert_eq!(
        of_sm[..3],
        [preempt::RESERVED_LOW, preempt::RESERVED_HIGH, preempt::RESERVED_SLOT].map(|register| preempt::at(0, register))
    );
    let mut after = of_sm[3..].to_vec();
    after.sort_unstable();
    let mut commands = commands.to_vec();
    commands.sort_unstable();
    assert_eq!(after, commands, "both positions, each TB once");
    assert_eq!(register_block.reserved(0), (2, 0b11));
}

/// Shieh 2016, figure 3.9: TB 1 blocks both positions of 1,500 registers. Removed for one, it no
/// longer blocks the other.
#[test]
fn a_victim_of_two_candidates_leaves_once() {
    let mut register_block = four(Scheme::Shieh, [40, 30, 20, 10]);
    register_block.kernel(1, 1, 50, 1500, 0, 2);
    register_block.wants(0, 1, 2);
    register_block.serve();
    assert_eq!(register_block.commands(0), [0, 1, 2].map(|place| (place, technique::FLUSH, 0)));
    assert_eq!(register_block.reserved(0), (2, 0b11));
}

#[test]
fn a_tb_that_is_leaving_counts_as_gone_and_is_not_commanded_again() {
    let mut register_block = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, 0);
    for place in [0, 1] {
        register_block.tb(
            0,
            place,
            Tb { slot: 0, insts: 900, cycles: 900, registers: 1000 * place as u32, leaving: technique::SWITCH, ..Tb::default() },
        );
    }
    register_block.wants(0, 1, 2);
    register_block.serve();
    assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![], (2, 0b01)), "a position that is free costs nothing");
}

/// Four TBs of 250 threads fill 1,000. Only one TB blocks position 0 of a TB of 500 threads and
/// 1,000 registers.
#[test]
fn threads_and_a_tb_slot_become_free_too() {
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
    register_block.kernel(0, 0, 250, 1000, 0, 100);
    register_block.kernel(1, 1, 500, 1000, 0, 1);
    for place in 0..4 {
        register_block.tb(
            0,
            place,
            Tb { slot: 0, insts: 10, cycles: 10, registers: 1000 * place as u32, flushable: true, ..Tb::default() },
        );
    }
    register_block.wants(0, 1, 2);
    register_block.serve();
    assert_eq!(register_block.commands(0), [(0, technique::FLUSH, 0), (1, technique::FLUSH, 0)]);
    // All registers except the last 2,000 are free, but no TB slot: the first TB must leave.
    let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
    register_block.set(global::SM_TBS, 2);
    register_block.kernel(0, 0, 50, 1000, 0, 100);
    register_block.kernel(1, 1, 50, 1000, 0, 1);
    for place in 0..2 {
        register_block.tb(
            0,
            place,
            Tb { slot: 0, insts: 10, cycles: 10, registers: 2000 + 1000 * place as u32, flushable: true, ..Tb::default() },
        );
    }
    register_block.wants(0, 1, 1);
    register_block.serve();
    assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![(0, technique::FLUSH, 0)], (2, 0b1)));
}

#[test]
fn the_limit_is_the_launch_s_or_the_straps() {
    for (own, strap, how) in
        [(200, 0, technique::DRAIN), (0, 200, technique::DRAIN), (100, 200, technique::FLUSH), (0, 0, technique::FLUSH)]
    {
        let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 1);
        register_block.kernel(0, 0, 50, 4000, 0, 100);
        register_block.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        register_block.tb(0, 0, Tb { slot: 0, insts: 800, cycles: 800, flushable: true, ..Tb::default() });
        register_block.kernel(1, 1, 50, 4000, 0, 1);
        register_block.set(slot::at(1, slot::LATENCY_LIMIT), own);
        register_block.set(global::STRAP_PREEMPT_LIMIT, strap);
        register_block.wants(0, 1, 1);
        register_block.serve();
        assert_eq!(register_block.commands(0)[0].1, how, "{own} {strap}");
    }
}
