//! Chimera takes whole SMs (Park et al. 2015, as described in Shieh 2016, sections 2.3, 4.2 and
//! 4.3).

use super::register_block::{FakeRegisterBlock, Tb};
use mias_firmware::driver::Observer;
use mias_policies::extras::WatchesPreemption;
use mias_policies::preempt::{Scheme, Selection};
use mias_registers::{preempt_reserve, slot};

/// SM 0 loses 40 and 50 instructions, SM 1 10 and 20, and SM 2 has a TB that need not yield. Two
/// TBs of the kernel fill an SM.
#[test]
fn chimera_takes_whole_sms_the_cheapest_first() {
    for (unissued, expected) in [(1, [0, 2, 0]), (2, [0, 2, 0]), (3, [2, 2, 0]), (9, [2, 2, 0])] {
        let mut register_block = FakeRegisterBlock::new(Scheme::Chimera, 3);
        register_block.kernel(0, 0, 50, 2000, 0, 100);
        register_block.kernel(1, 1, 50, 2000, 0, unissued);
        register_block.kernel(2, 7, 50, 2000, 0, 0);
        for (sm, [first, second]) in [[40, 50], [10, 20], [1, 1]].into_iter().enumerate() {
            register_block.tb(sm, 0, Tb { slot: 0, insts: first, cycles: first, flushable: true, ..Tb::default() });
            let slot = if sm == 2 { 2 } else { 0 };
            register_block.tb(sm, 1, Tb { slot, insts: second, cycles: second, registers: 2000, flushable: true, ..Tb::default() });
            register_block.wants(sm, 1, 2);
        }
        register_block.serve();
        assert_eq!([0, 1, 2].map(|sm| register_block.commands(sm).len()), expected, "{unissued} to come");
        for (sm, commands) in expected.into_iter().enumerate() {
            let reserved = if commands == 0 { (0, 0) } else { (2 | preempt_reserve::WHOLE_SM, 0b11) };
            assert_eq!(register_block.reserved(sm), reserved, "SM {sm}");
        }
    }
}

/// Two TBs that drain in 100 and 300 cycles at one instruction per cycle: the first one's slots
/// idle for 200. A switch of one would lose twice `CONTEXT`.
#[test]
fn chimera_counts_what_idles_until_the_last_has_left() {
    #[derive(Default)]
    struct Watch(Vec<(usize, u32)>);
    impl Observer for Watch {}

    impl WatchesPreemption for Watch {
        fn preemption(&mut self, selection: &Selection<'_>) {
            self.0.extend(selection.victims().map(|(place, _, choice)| (place, choice.cost.overhead)));
        }
    }
    for (scheme, limit, expected) in [
        (Scheme::Chimera, 300, vec![(0, 200), (1, 0)]),
        // Draining the second exceeds the limit. It is flushed, and no idle slots count.
        (Scheme::Chimera, 299, vec![(0, 0), (1, 700)]),
        (Scheme::Shieh, 300, vec![(0, 0)]),
    ] {
        let mut register_block = FakeRegisterBlock::new(scheme, 1);
        register_block.kernel(0, 0, 50, 2000, 0, 100);
        register_block.kernel(1, 1, 50, 2000, 0, 1);
        register_block.set(slot::at(1, slot::LATENCY_LIMIT), limit);
        register_block.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        for (place, insts) in [900, 700].into_iter().enumerate() {
            register_block.tb(
                0,
                place,
                Tb { slot: 0, insts, cycles: insts, registers: 2000 * place as u32, flushable: true, ..Tb::default() },
            );
        }
        register_block.wants(0, 1, 2);
        let mut watch = Watch::default();
        register_block.serve_watched(&mut watch);
        assert_eq!(watch.0, expected, "{scheme:?} {limit}");
    }
}
