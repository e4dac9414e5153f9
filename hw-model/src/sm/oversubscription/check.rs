//! Validation of contexts: recomputes all places from the resident warps and TBs. Own.

use super::super::Sm;
use super::plan::{Level, Limit};
use super::tables::{NOWHERE, State};

impl Sm {
    /// Checks that no unit has two contexts, and that a warp can issue only if all of its context
    /// is in place. The tables must contain exactly the resident warps and TBs
    /// (docs/porting/guarantees.md, invariant 37).
    ///
    /// # Panics
    /// If a check fails.
    pub(crate) fn check_oversubscription(&self) {
        let Some(oversubscription) = &self.oversubscription else { return };
        let extras = self.tbs.iter().filter(|tb| tb.live && tb.extra).count();
        assert_eq!(oversubscription.extras as usize, extras, "extra TBs");
        let Some((kernel, plan)) = oversubscription.switched else {
            assert_eq!(extras, 0, "an extra TB, and nothing is switched");
            return;
        };
        // Places overlap neither in units nor in the table, so the number of set bits equals that
        // of allocated units.
        assert_eq!(oversubscription.space.taken(), oversubscription.tables.units(&oversubscription.space), "units taken");
        assert_eq!(oversubscription.tables.away(), oversubscription.tables.of_state(|state| !state.is_present()), "warps that are away");
        let moving = |unit: u8| oversubscription.moving.is_some_and(|moving| moving.out == Some(unit) || moving.into == Some(unit));
        let mut slots = [0u32; super::MAX_SUB_CORES];
        for (tb_slot, tb) in self.tbs.iter().enumerate().filter(|(_, tb)| tb.live && !tb.evicted) {
            assert_eq!(tb.kernel, kernel, "a TB of another kernel");
            let entry = oversubscription.tables.tbs[tb_slot];
            assert!(entry.valid, "TB slot {tb_slot} has an entry");
            for number in tb.first_warp..tb.first_warp + tb.warps {
                let (warp, entry) = (&self.warps[number], oversubscription.tables.warps[usize::from(number)]);
                let holds = oversubscription.holds(tb_slot as u8);
                assert!(warp.live == entry.valid || holds && entry.valid, "the entry of warp {number}");
                if !warp.live {
                    if entry.valid && entry.slot != NOWHERE {
                        slots[self.sub_core(number)] |= 1 << entry.slot;
                    }
                    continue;
                }
                let in_move = moving(if plan.level == Level::Warp { number } else { tb_slot as u8 });
                let present = entry.state.is_present();
                assert_eq!(warp.bit != 0, present, "warp {number} is {:?}", entry.state);
                assert!(
                    present || !warp.issued_all || oversubscription.is_pinned(tb_slot as u8) || warp.wait == crate::sm::warp::Wait::Fetch,
                    "warp {number} ended elsewhere"
                );
                assert!(!present || entry.slot != NOWHERE && entry.registers != NOWHERE, "warp {number} is in its place");
                assert!(present || in_move || entry.slot == NOWHERE, "warp {number} has a slot, and is {:?}", entry.state);
                if plan.limit == Limit::Registers {
                    assert!(in_move || (entry.registers != NOWHERE) == present, "registers of warp {number}");
                    assert!(in_move || (entry.spilled != NOWHERE) != present, "registers of warp {number} elsewhere");
                }
                if plan.limit == Limit::Shared && present {
                    assert!(oversubscription.tables.tbs[tb_slot].shared != NOWHERE, "shared memory of warp {number}");
                }
                let queued = if plan.level == Level::Warp { number } else { tb_slot as u8 };
                assert_eq!(entry.state == State::Stalled, oversubscription.stalled.contains(&queued), "warp {number} is {:?}", entry.state);
                if entry.slot != NOWHERE {
                    let mask = &mut slots[self.sub_core(number)];
                    assert_eq!(*mask >> entry.slot & 1, 0, "slot {} of warp {number}", entry.slot);
                    *mask |= 1 << entry.slot;
                }
            }
        }
        for (used, free) in slots.iter().zip(oversubscription.slots) {
            assert_eq!(used & free, 0, "slots");
            assert_eq!((used | free).count_ones(), oversubscription.slots_per_sub_core, "slots");
        }
        let entries = oversubscription.tables.warps.iter().filter(|entry| entry.valid).count();
        let entries_of = |tb: &super::super::tb::TbSlot| {
            (tb.first_warp..tb.first_warp + tb.warps).filter(|&number| oversubscription.tables.warps[usize::from(number)].valid).count()
        };
        let live = self.tbs.iter().enumerate().filter(|(_, tb)| tb.live && !tb.evicted);
        let live = live
            .map(|(tb_slot, tb)| if oversubscription.holds(tb_slot as u8) { entries_of(tb) } else { usize::from(tb.remaining) })
            .sum::<usize>();
        assert_eq!(entries, live, "entries of warps");
    }
}
