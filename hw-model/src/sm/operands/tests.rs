//! Comparison of the stage with its plain twin: every instruction leaves in the same round for the
//! same latch.

use super::super::QUICK;
use super::plain::{Moving, Place, PlainStage};
use super::*;
use crate::config::UnitTiming;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Events of a cycle: before it, results are written and the load/store unit takes instructions;
/// after it, instructions issue.
#[derive(Clone, Debug)]
struct Step {
    writes: Vec<(usize, u8, u16)>,
    takes: Vec<usize>,
    issues: Vec<(usize, usize, u8, Vec<u8>)>,
}

fn step() -> impl Strategy<Value = Step> {
    let issue = (0..MAX_SUB_CORES, 0..4usize, any::<u8>(), prop::collection::vec(0u8..16, 0..=4));
    let parts = (
        prop::collection::vec((0..MAX_SUB_CORES, any::<u8>(), 0u16..16), 0..4),
        prop::collection::vec(0..MAX_SUB_CORES, 0..4),
        prop::collection::vec(issue, 0..6),
    );
    parts.prop_map(|(writes, takes, issues)| Step { writes, takes, issues })
}

const SOME_UNITS: [Unit; 4] = [Unit::Sp, Unit::Mem, Unit::Int, Unit::Sfu];

proptest! {
    #[test]
    fn behaves_as_the_plain_stage(
        shape in (0u32..4, 1u32..=4, 0u32..4, 1u32..=3),
        (latency, interval) in (1u32..6, 1u32..6),
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let (sub_cores, collectors, banks, rounds) = (1usize << shape.0, shape.1, 1u32 << shape.2, shape.3);
        let mut stage = OperandStage::new(sub_cores as u32, collectors, banks, rounds);
        let mut plain = PlainStage::new(collectors as usize, banks as usize, rounds);
        let timing = UnitTiming { latency, interval };
        let mut timings = [QUICK; UNITS];
        SOME_UNITS.iter().for_each(|unit| timings[unit.index()] = timing);
        let mut execution = Execution::new(timings, sub_cores as u32, 0);
        let mut seq = 0;
        // Occupied issue latches, tracked from the calls of `unlatched`.
        let mut latched = BTreeSet::new();
        for (now, Step { writes, takes, issues }) in (0u64..).zip(steps) {
            while let Some(result) = execution.take_result(now) {
                let at = plain.results.iter().position(|&(at, seq)| at == now && seq == u32::from(result.dst));
                prop_assert!(at.is_some(), "cycle {now}: {result:?}");
                plain.results.remove(at.unwrap());
            }
            prop_assert!(plain.results.iter().all(|&(at, _)| at > now));
            plain.execute(now, timing);
            if execution.begin(now) {
                stage.latches_emptied();
            }
            for (sub_core, warp, reg) in writes {
                let place = (sub_core % sub_cores, (usize::from(reg) + usize::from(warp)) % banks as usize);
                prop_assert_eq!(stage.write(place.0, warp, reg), !plain.written.contains(&place));
                plain.written.push(place);
            }
            for sub_core in takes {
                let (sub_core, unit) = (sub_core % sub_cores, Unit::Mem.index());
                let at = plain.moving.iter().position(|m| m.place == Place::Complete && m.sub_core == sub_core && m.unit == unit);
                if let Some(at) = at {
                    prop_assert_eq!(stage.take_mem(sub_core).seq, plain.moving.remove(at).seq);
                }
            }
            stage.cycle(now, &mut execution, |sub_core, unit| assert!(latched.remove(&(sub_core, unit))));
            plain.cycle(sub_cores);
            for (sub_core, unit, warp, sources) in issues {
                let (sub_core, unit) = (sub_core % sub_cores, SOME_UNITS[unit]);
                let full = plain.latch_is_full(Place::Issued, sub_core, unit.index());
                prop_assert_eq!(latched.contains(&(sub_core, unit.index())), full);
                if full {
                    continue;
                }
                let mut reads = vec![0; banks as usize];
                sources.iter().for_each(|&reg| reads[(usize::from(reg) + usize::from(warp)) % banks as usize] += 1);
                let turned = bank_reads(&sources, banks).rotate_left(4 * u32::from(warp)) & (u32::MAX >> (32 - 4 * banks));
                latched.insert((sub_core, unit.index()));
                stage.issue(sub_core, unit, Inflight { seq, warp, dst: seq as u16, ..Inflight::EMPTY }, turned);
                plain.moving.push(Moving { seq, sub_core, unit: unit.index(), reads, place: Place::Issued });
                seq += 1;
            }
            let moves = |m: &Moving| m.place != Place::Complete || m.unit == Unit::Mem.index();
            prop_assert_eq!(stage.is_empty(), !plain.moving.iter().any(moves));
            for sub_core in 0..sub_cores {
                for unit in SOME_UNITS {
                    let complete = plain.latch_is_full(Place::Complete, sub_core, unit.index());
                    let full = if unit == Unit::Mem { stage.mem_full() >> sub_core & 1 != 0 } else { execution.is_full(sub_core, PLACE[unit.index()]) };
                    prop_assert_eq!(full, complete, "cycle {}, {:?} of {}", now, unit, sub_core);
                }
            }
        }
    }
}
