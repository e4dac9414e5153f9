//! Allowed techniques of each scheme, and its estimates (Shieh 2016, sections 2.3, 3.3.2 and 4.2;
//! sources.md D134, D135).

use super::register_block::{CONTEXT, FakeRegisterBlock, Tb};
use mias_policies::preempt::Scheme;
use mias_registers::{preempt_reserve, slot, technique};

#[test]
fn every_scheme_has_its_techniques() {
    let drain = |left| (technique::DRAIN, left);
    let switch = (technique::SWITCH, CONTEXT);
    for (scheme, first, second) in [
        (Scheme::Drain, drain(100), drain(200)),
        (Scheme::Switch, switch, switch),
        (Scheme::Flush, (technique::FLUSH, 0), switch),
        // The limit is the draining time of TB 0. A switch is too slow, and TB 1 may not be
        // flushed.
        (Scheme::Shieh, drain(100), drain(200)),
        (Scheme::Chimera, drain(100), drain(200)),
        (Scheme::ChimeraPlus, drain(100), drain(200)),
        (Scheme::Oracle, drain(100), drain(200)),
    ] {
        let mut register_block = FakeRegisterBlock::new(scheme, 1);
        register_block.kernel(0, 0, 50, 1000, 0, 100);
        register_block.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        for (place, insts) in [900, 800].into_iter().enumerate() {
            register_block.tb(
                0,
                place,
                Tb { slot: 0, insts, cycles: insts, registers: 1000 * place as u32, flushable: place == 0, ..Tb::default() },
            );
        }
        register_block.kernel(1, 1, 50, 2000, 0, 1);
        register_block.set(slot::at(1, slot::LATENCY_LIMIT), 100);
        // The second position is not available, because it is the kernel's own.
        register_block.tb(0, 2, Tb { slot: 1, insts: 5, cycles: 5, registers: 2000, flushable: true, ..Tb::default() });
        register_block.wants(0, 1, 1);
        register_block.serve();
        let expected: Vec<_> = [first, second].into_iter().zip(0..).map(|((how, estimate), place)| (place, how, estimate)).collect();
        if scheme.is_whole() {
            // Whole SMs belong to one kernel. Its own TB does not prevent that.
            assert_eq!(register_block.reserved(0).0, 2 | preempt_reserve::WHOLE_SM, "{scheme:?}");
        }
        assert_eq!(register_block.commands(0), expected, "{scheme:?}");
    }
}

/// Estimates of each scheme if ended TBs vary less than running ones: the ended TBs' rate of 1
/// counts, or the TB's own of 4.
#[test]
fn estimates_are_those_of_the_scheme() {
    for (scheme, known, expected) in [
        (Scheme::Chimera, None, 400),
        (Scheme::ChimeraPlus, None, 100),
        (Scheme::Shieh, None, 100),
        (Scheme::Oracle, None, 100),
        (Scheme::Oracle, Some(77), 77),
        (Scheme::Shieh, Some(77), 100),
    ] {
        let mut register_block = FakeRegisterBlock::new(scheme, 1);
        register_block.kernel(0, 0, 50, 4000, 0, 100);
        register_block.ended(0, 0, &[(1000, 1000), (1000, 1000)]);
        register_block.tb(0, 0, Tb { slot: 0, insts: 900, cycles: 3600, left: known, ..Tb::default() });
        // A TB that is leaving also has a rate.
        register_block.tb(0, 1, Tb { slot: 0, insts: 900, cycles: 900, leaving: technique::DRAIN, ..Tb::default() });
        register_block.kernel(1, 1, 50, 4000, 0, 1);
        register_block.set(slot::at(1, slot::LATENCY_LIMIT), 1000);
        register_block.wants(0, 1, 1);
        register_block.serve();
        assert_eq!(register_block.commands(0), [(0, technique::DRAIN, expected)], "{scheme:?} {known:?}");
    }
}
