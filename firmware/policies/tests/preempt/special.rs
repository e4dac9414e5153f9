//! Events between a request for space and its fulfillment: another request, a victim that ends, a
//! refused flush, and a kernel that leaves.

use super::register_block::{FakeRegisterBlock, Tb, four, urgent_beside};
use mias_policies::preempt::Scheme;
use mias_registers::{global, preempt, preempt_reserve, slot, technique};

const FLUSHED: [(usize, u32, u32); 2] = [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)];

/// Creates a block in which position 1, which TBs 2 and 3 block, was requested with a limit of 0.
fn asked_for() -> FakeRegisterBlock {
    let mut register_block = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, 0);
    register_block.wants(0, 1, 1);
    register_block.serve();
    assert_eq!((register_block.commands(0), register_block.reserved(0)), (FLUSHED.to_vec(), (2, 0b10)));
    register_block.writes.clear();
    register_block
}

/// Repeats the request of the same SM.
fn again(register_block: &mut FakeRegisterBlock) -> Vec<(usize, u32, u32)> {
    register_block.wants(0, 1, 1);
    register_block.serve();
    register_block.commands(0)
}

#[test]
fn two_kernels_that_ask_at_once_are_both_served() {
    for order in [[1, 2], [2, 1]] {
        let mut register_block = FakeRegisterBlock::new(Scheme::Shieh, 2);
        register_block.kernel(0, 0, 50, 1000, 0, 100);
        register_block.kernel(1, 1, 50, 2000, 0, 1);
        register_block.kernel(2, 1, 50, 1000, 0, 1);
        for (sm, slot) in order.into_iter().enumerate() {
            for place in 0..4 {
                let done = 10 + place as u32;
                register_block.tb(
                    sm,
                    place,
                    Tb { slot: 0, insts: done, cycles: done, registers: 1000 * place as u32, flushable: true, ..Tb::default() },
                );
            }
            register_block.wants(sm, slot, 1);
        }
        register_block.serve();
        for (sm, slot) in order.into_iter().enumerate() {
            // A TB of 2,000 registers displaces two of them, one of 1,000 displaces one.
            assert_eq!(register_block.commands(sm).len(), if slot == 1 { 2 } else { 1 }, "SM {sm}");
            assert_eq!(register_block.reserved(sm), (slot + 1, 0b1), "SM {sm}");
        }
        assert_eq!(register_block.get(global::PREEMPT_WANTED), 0);
    }
}

/// The later request holds the reservation, and a leaving TB gets no second command (sources.md
/// D134).
#[test]
fn a_second_kernel_that_asks_on_the_same_sm_has_its_positions() {
    let mut register_block = asked_for();
    register_block.kernel(2, 2, 50, 2000, 0, 1);
    register_block.wants(0, 2, 1);
    register_block.serve();
    assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![], (3, 0b10)));
}

#[test]
fn a_wish_that_comes_twice_takes_nobody_more() {
    let mut register_block = asked_for();
    assert_eq!((again(&mut register_block), register_block.reserved(0)), (vec![], (2, 0b10)));
}

/// Commands for victims that have ended meanwhile were refused.
#[test]
fn victims_that_have_ended_meanwhile_are_not_looked_for() {
    let mut register_block = asked_for();
    for place in [2, 3] {
        register_block.set(preempt::at(0, preempt::TB + 4 * place), 0);
    }
    assert_eq!((again(&mut register_block), register_block.reserved(0)), (vec![], (2, 0b10)));
    // Another TB of the same kernel has entered one of the places. It must leave as its predecessor
    // had to.
    let mut register_block = asked_for();
    register_block.set(preempt::at(0, preempt::TB + 4 * 2), 0);
    register_block.tb(0, 3, Tb { slot: 0, insts: 1, cycles: 1, registers: 3000, flushable: true, ..Tb::default() });
    assert_eq!((again(&mut register_block), register_block.reserved(0)), (vec![FLUSHED[1]], (2, 0b10)));
}

/// Both victims have stored to data that they had loaded, after they were chosen. They may no
/// longer be flushed, and the other position costs less.
#[test]
fn a_flush_that_is_refused_is_chosen_anew() {
    let mut register_block = asked_for();
    for (place, insts) in [(2, 20), (3, 10)] {
        register_block.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, ..Tb::default() });
    }
    let other = [0, 1].map(|place| (place, technique::FLUSH, 0));
    assert_eq!((again(&mut register_block), register_block.reserved(0)), (other.to_vec(), (2, 0b01)));
    // One of the two is left, and may be flushed: only this TB must leave.
    let mut register_block = asked_for();
    register_block.tb(0, 3, Tb { slot: 0, insts: 10, cycles: 10, registers: 3000, flushable: true, ..Tb::default() });
    assert_eq!((again(&mut register_block), register_block.reserved(0)), (vec![FLUSHED[1]], (2, 0b10)));
}

/// A kernel was withdrawn, has ended, or has issued all its TBs, and an SM still requests space for
/// it.
#[test]
fn nobody_leaves_for_a_kernel_that_needs_no_room_any_more() {
    for scheme in [Scheme::Shieh, Scheme::Chimera, Scheme::Drain] {
        for (register, value) in [(slot::STATUS, 0), (slot::UNISSUED_TBS, 0)] {
            let mut register_block = urgent_beside(four(scheme, [900, 800, 20, 10]), 1, 0);
            register_block.set(slot::at(1, register), value);
            register_block.wants(0, 1, 1);
            register_block.serve();
            assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![], (0, 0)), "{scheme:?}");
            assert_eq!(register_block.get(global::PREEMPT_WANTED), 0);
        }
    }
}

/// The registers of a TB fit, but it needs more threads, shared memory or registers than a whole SM
/// has: no position, no victims.
#[test]
fn nobody_leaves_for_a_tb_that_fits_nowhere() {
    for (threads, registers, shared) in [(1001, 1001, 0), (50, 1000, 4001), (50, 4050, 0)] {
        for scheme in [Scheme::Shieh, Scheme::Chimera] {
            let mut register_block = four(scheme, [900, 800, 20, 10]);
            register_block.kernel(1, 1, threads, registers, shared, 1);
            register_block.wants(0, 1, 1);
            register_block.serve();
            assert_eq!((register_block.commands(0), register_block.reserved(0)), (vec![], (0, 0)), "{threads} {registers} {shared}");
        }
    }
}

/// A TB as large as an SM needs the space of all the TBs together.
#[test]
fn a_tb_as_large_as_an_sm_takes_all_of_it() {
    for (scheme, word) in [(Scheme::Shieh, 2), (Scheme::Chimera, 2 | preempt_reserve::WHOLE_SM)] {
        let mut register_block = four(scheme, [900, 800, 20, 10]);
        register_block.kernel(1, 1, 50, 4000, 0, 1);
        register_block.wants(0, 1, 1);
        register_block.serve();
        assert_eq!((register_block.commands(0).len(), register_block.reserved(0)), (4, (word, 0b1)), "{scheme:?}");
    }
}
