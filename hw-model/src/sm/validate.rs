//! Validation of an SM: the scheduling masks, recomputed from the state of each warp. Own.

use super::Sm;
use super::sub_core::Readiness;
use super::warp::Wait;

impl Sm {
    /// Checks that the masks of every sub-core contain exactly its warps in their states.
    ///
    /// # Panics
    /// If the check fails.
    pub(crate) fn check_readiness(&self) {
        for sub_core in 0..self.sub_cores_here() {
            let (mut expected, mut places) = (Readiness::default(), 0);
            let residents = &self.sub_cores[sub_core].residents;
            for number in (sub_core as u32..self.warp_slots).step_by(self.sub_cores_here()) {
                let warp = &self.warps[number as u8];
                let local = number >> self.sub_core_shift;
                let bit = residents.bit(local);
                assert_eq!(warp.bit, bit, "the place of warp {number}");
                let only_drains = self.drains_without && warp.live && self.tbs[usize::from(warp.tb_slot)].evicted;
                // A draining warp has no place either if its context was not in place.
                let away = self.oversubscription.as_ref().is_some_and(|oversubscription| {
                    oversubscription.is_away(number as u8) || warp.live && bit == 0 && self.tbs[usize::from(warp.tb_slot)].evicted
                });
                let only_drains = only_drains || away;
                assert_eq!(warp.live && !only_drains, bit.is_power_of_two() && places & bit == 0, "warp {number} has a place of its own");
                places |= bit;
                if !warp.live || warp.issued_all || only_drains {
                    continue;
                }
                if warp.wait == Wait::None && self.lacks_instruction(number as u8) {
                    continue;
                }
                match warp.wait {
                    Wait::None => expected.valid |= bit,
                    Wait::Fence | Wait::Drain | Wait::Atomic => expected.on_memory |= bit,
                    Wait::Barrier | Wait::Fetch => {}
                }
                if warp.wait == Wait::None && !warp.pending.meets(&warp.needs) {
                    expected.set_ready(bit, warp.unit);
                } else if warp.wait == Wait::None {
                    let (through_l1, on_chip) = self.on_chip[number as usize].waits(&warp.loading, &warp.needs);
                    expected.on_memory |= if through_l1 { bit } else { 0 };
                    expected.on_chip |= if on_chip { bit } else { 0 };
                }
            }
            let masks = |r: &Readiness| (r.valid, r.ready, r.on_memory, r.on_chip, r.by_unit);
            assert_eq!(
                masks(&self.sub_cores[sub_core].readiness),
                masks(&expected),
                "valid, ready, on memory, on chip, by unit of sub-core {sub_core}"
            );
            assert_eq!(residents.live(), places, "places taken in sub-core {sub_core}");
        }
    }
    /// Checks that the counts in flight are within their limits, and that no unused slot has
    /// anything.
    ///
    /// # Panics
    /// If the check fails.
    pub(crate) fn check_in_flight(&self) {
        if let Some(gate) = &self.memory_issue {
            gate.check(self.is_empty());
        }
        self.check_active_warps();
    }
}
