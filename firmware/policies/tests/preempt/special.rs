//! What happens between a wish for room and the room: another wish, a victim that ends, a flush that is refused, a kernel that goes.

use super::desk::{FakeRegisterBlock, Tb, four, urgent_beside};
use mias_policies::preempt::Scheme;
use mias_registers::{global, preempt, preempt_reserve, slot, technique};

const FLUSHED: [(usize, u32, u32); 2] = [(2, technique::FLUSH, 0), (3, technique::FLUSH, 0)];

/// Position 1 has been asked for, which is of TBs 2 and 3, within no time.
fn asked_for() -> FakeRegisterBlock {
    let mut desk = urgent_beside(four(Scheme::Shieh, [900, 800, 20, 10]), 1, 0);
    desk.wants(0, 1, 1);
    desk.serve();
    assert_eq!((desk.commands(0), desk.reserved(0)), (FLUSHED.to_vec(), (2, 0b10)));
    desk.writes.clear();
    desk
}

/// The same SM asks again.
fn again(desk: &mut FakeRegisterBlock) -> Vec<(usize, u32, u32)> {
    desk.wants(0, 1, 1);
    desk.serve();
    desk.commands(0)
}

#[test]
fn two_kernels_that_ask_at_once_are_both_served() {
    for order in [[1, 2], [2, 1]] {
        let mut desk = FakeRegisterBlock::new(Scheme::Shieh, 2);
        desk.kernel(0, 0, 50, 1000, 0, 100);
        desk.kernel(1, 1, 50, 2000, 0, 1);
        desk.kernel(2, 1, 50, 1000, 0, 1);
        for (sm, slot) in order.into_iter().enumerate() {
            for place in 0..4 {
                let done = 10 + place as u32;
                desk.tb(
                    sm,
                    place,
                    Tb { slot: 0, insts: done, cycles: done, registers: 1000 * place as u32, flushable: true, ..Tb::default() },
                );
            }
            desk.wants(sm, slot, 1);
        }
        desk.serve();
        for (sm, slot) in order.into_iter().enumerate() {
            // A TB of 2,000 registers takes two of them, one of 1,000 one.
            assert_eq!(desk.commands(sm).len(), if slot == 1 { 2 } else { 1 }, "SM {sm}");
            assert_eq!(desk.reserved(sm), (slot + 1, 0b1), "SM {sm}");
        }
        assert_eq!(desk.get(global::PREEMPT_WANTED), 0);
    }
}

/// Reserved is for the later one, and who leaves already is not told again (sources.md D134).
#[test]
fn a_second_kernel_that_asks_on_the_same_sm_has_its_positions() {
    let mut desk = asked_for();
    desk.kernel(2, 2, 50, 2000, 0, 1);
    desk.wants(0, 2, 1);
    desk.serve();
    assert_eq!((desk.commands(0), desk.reserved(0)), (vec![], (3, 0b10)));
}

#[test]
fn a_wish_that_comes_twice_takes_nobody_more() {
    let mut desk = asked_for();
    assert_eq!((again(&mut desk), desk.reserved(0)), (vec![], (2, 0b10)));
}

/// The commands for them were refused, since nobody is there any more.
#[test]
fn victims_that_have_ended_meanwhile_are_not_looked_for() {
    let mut desk = asked_for();
    for place in [2, 3] {
        desk.set(preempt::at(0, preempt::TB + 4 * place), 0);
    }
    assert_eq!((again(&mut desk), desk.reserved(0)), (vec![], (2, 0b10)));
    // Another TB of the same kernel has come into one of the places: it has to leave as its predecessor had.
    let mut desk = asked_for();
    desk.set(preempt::at(0, preempt::TB + 4 * 2), 0);
    desk.tb(0, 3, Tb { slot: 0, insts: 1, cycles: 1, registers: 3000, flushable: true, ..Tb::default() });
    assert_eq!((again(&mut desk), desk.reserved(0)), (vec![FLUSHED[1]], (2, 0b10)));
}

/// Both have stored to what they loaded since they were chosen: they are not flushed any more, and the other position costs less.
#[test]
fn a_flush_that_is_refused_is_chosen_anew() {
    let mut desk = asked_for();
    for (place, insts) in [(2, 20), (3, 10)] {
        desk.tb(0, place, Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, ..Tb::default() });
    }
    let other = [0, 1].map(|place| (place, technique::FLUSH, 0));
    assert_eq!((again(&mut desk), desk.reserved(0)), (other.to_vec(), (2, 0b01)));
    // One of the two is left, and may be flushed: it alone has to go.
    let mut desk = asked_for();
    desk.tb(0, 3, Tb { slot: 0, insts: 10, cycles: 10, registers: 3000, flushable: true, ..Tb::default() });
    assert_eq!((again(&mut desk), desk.reserved(0)), (vec![FLUSHED[1]], (2, 0b10)));
}

/// The kernel was withdrawn, or has ended, or has issued all it has, and an SM asks for it still.
#[test]
fn nobody_leaves_for_a_kernel_that_needs_no_room_any_more() {
    for scheme in [Scheme::Shieh, Scheme::Chimera, Scheme::Drain] {
        for (register, value) in [(slot::STATUS, 0), (slot::UNISSUED_TBS, 0)] {
            let mut desk = urgent_beside(four(scheme, [900, 800, 20, 10]), 1, 0);
            desk.set(slot::at(1, register), value);
            desk.wants(0, 1, 1);
            desk.serve();
            assert_eq!((desk.commands(0), desk.reserved(0)), (vec![], (0, 0)), "{scheme:?}");
            assert_eq!(desk.get(global::PREEMPT_WANTED), 0);
        }
    }
}

/// Its registers are there, and it needs more threads, shared memory or registers than a whole SM has: no position, nobody leaves.
#[test]
fn nobody_leaves_for_a_tb_that_fits_nowhere() {
    for (threads, registers, shared) in [(1001, 1001, 0), (50, 1000, 4001), (50, 4050, 0)] {
        for scheme in [Scheme::Shieh, Scheme::Chimera] {
            let mut desk = four(scheme, [900, 800, 20, 10]);
            desk.kernel(1, 1, threads, registers, shared, 1);
            desk.wants(0, 1, 1);
            desk.serve();
            assert_eq!((desk.commands(0), desk.reserved(0)), (vec![], (0, 0)), "{threads} {registers} {shared}");
        }
    }
}

/// It needs what only all the TBs together hold.
#[test]
fn a_tb_as_large_as_an_sm_takes_all_of_it() {
    for (scheme, word) in [(Scheme::Shieh, 2), (Scheme::Chimera, 2 | preempt_reserve::WHOLE_SM)] {
        let mut desk = four(scheme, [900, 800, 20, 10]);
        desk.kernel(1, 1, 50, 4000, 0, 1);
        desk.wants(0, 1, 1);
        desk.serve();
        assert_eq!((desk.commands(0).len(), desk.reserved(0)), (4, (word, 0b1)), "{scheme:?}");
    }
}
