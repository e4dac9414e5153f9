//! Quota bus: a commit transfers the staged quotas to the SMs one after the other, in SM order.
//!
//! Assumption: one bus as wide as the quotas of one SM (8 slots of 8 bits). The GPU file gives its
//! core cycles per SM. SM n has its quotas n + 1 times that number after the commit.
//!
//! The commit copies the staged quotas, so the firmware may stage again at once. A commit while the
//! bus is busy restarts with the first SM. If the number is 0, all SMs have their quotas in the
//! cycle of the commit. TB issue resumes when the last SM has its quotas (own). Otherwise the first
//! SMs would take all TBs of a small grid.

use super::RegisterBlock;

/// Quota bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QuotaBus {
    /// Core cycles per SM of a commit; 0: none.
    cycles_per_sm: u32,
    /// SM that is updated next.
    next: usize,
    /// Cycle in which the next SM has its quotas; none while the bus is idle.
    pub(super) at: Option<u64>,
}

impl RegisterBlock {
    /// Sets the core cycles per SM of a commit. After [`RegisterBlock::new`] they are 0.
    #[must_use]
    pub fn with_commit_cycles_per_sm(mut self, cycles: u32) -> Self {
        self.quota_bus.cycles_per_sm = cycles;
        self
    }

    /// Quota of the kernel in `slot` on `sm` as of the last commit, in effect or on the bus; 0 for
    /// SMs and slots that do not exist.
    #[must_use]
    pub fn committed_quota(&self, sm: usize, slot: usize) -> u32 {
        self.sms.get(sm).and_then(|sm| sm.committed.get(slot)).copied().map_or(0, u32::from)
    }

    /// Commits the staged quotas.
    pub(super) fn commit(&mut self) {
        for sm in &mut self.sms {
            sm.committed = sm.staged;
        }
        if self.quota_bus.cycles_per_sm == 0 {
            self.quota_bus.at = None;
            for (number, sm) in self.sms.iter_mut().enumerate() {
                sm.active = sm.committed;
                if !sm.armed {
                    self.memory.decided(number);
                }
            }
        } else {
            self.quota_bus.next = 0;
            self.quota_bus.at = Some(self.now.saturating_add(self.quota_bus.cycles_per_sm.into()));
        }
        self.changed();
        self.update_deadline();
    }

    /// True while quotas are on the bus, so that no TB is issued.
    #[must_use]
    pub fn quota_bus_is_busy(&self) -> bool {
        self.quota_bus.at.is_some()
    }

    /// Applies the quotas of the SMs whose cycle has come.
    pub(super) fn advance_quota_bus(&mut self) {
        while let Some(at) = self.quota_bus.at.filter(|at| *at <= self.now) {
            let Some(sm) = self.sms.get_mut(self.quota_bus.next) else {
                self.quota_bus.at = None;
                return;
            };
            sm.active = sm.committed;
            if !sm.armed {
                self.memory.decided(self.quota_bus.next);
            }
            self.quota_bus.next += 1;
            let more = self.quota_bus.next < self.sms.len();
            self.quota_bus.at = more.then(|| at.saturating_add(self.quota_bus.cycles_per_sm.into()));
            self.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SMS, gpu};
    use super::super::{KernelDescriptor, RawCounters};
    use super::*;
    use mias_registers::bus::Bus;
    use mias_registers::{global, mode, sm};
    use proptest::prelude::*;

    fn file(cycles_per_sm: u32) -> RegisterBlock {
        let mut file = RegisterBlock::new(gpu()).with_commit_cycles_per_sm(cycles_per_sm);
        file.post_launch(KernelDescriptor { grid_tbs: 99, ..KernelDescriptor::default() });
        file
    }

    fn commit(file: &mut RegisterBlock, now: u64, quota: u32) {
        file.set_now(now);
        file.write32(global::QUOTA_ALL, quota);
        file.write32(global::COMMIT, 1);
    }

    fn tick(file: &mut RegisterBlock, now: u64) {
        file.tick(now, |_| RawCounters::default());
    }

    proptest! {
        /// Comparison with the closed form, cycle by cycle or from deadline to deadline; a second
        /// commit restarts the bus.
        #[test]
        fn sm_n_has_its_quotas_after_n_plus_one_turns(cycles in 1..9_u32, second in 1..60_u64, skip: bool) {
            let mut file = file(cycles);
            commit(&mut file, 100, 2);
            tick(&mut file, 100);
            // This quota is staged but not committed, so it is not on the bus.
            file.write32(global::QUOTA_ALL, 7);
            let has = |sm: usize, of: u64, now: u64| now >= of + (sm as u64 + 1) * u64::from(cycles);
            for now in 101..220 {
                if !skip || file.needs_tick(now) {
                    tick(&mut file, now);
                }
                for sm in 0..SMS {
                    let first = if has(sm, 100, now.min(100 + second)) { 2 } else { 0 };
                    let expected = if has(sm, 100 + second, now) { 3 } else { first };
                    prop_assert_eq!(file.quota(sm, 0), expected, "SM {} in cycle {}", sm, now);
                    prop_assert_eq!(file.read32(sm::at(sm, sm::ACTIVE_QUOTA)), expected);
                    prop_assert_eq!(file.committed_quota(sm, 0), if now > 100 + second { 3 } else { 2 });
                }
                if now == 100 + second {
                    commit(&mut file, now, 3);
                    tick(&mut file, now);
                }
            }
            prop_assert_eq!(file.next_deadline(), None);
        }
    }

    /// An SM with unchanged TBs has not reached its new partition before it has its quotas.
    #[test]
    fn a_window_begins_with_the_sms_own_quotas() {
        let mut file = file(3);
        (0..SMS).for_each(|sm| file.set_resident(sm, 0, 2));
        file.write32(global::PROFILE_WINDOW, 1_000);
        commit(&mut file, 0, 0);
        (0..=20).for_each(|now| tick(&mut file, now));
        commit(&mut file, 50, 2);
        file.write32(global::ARM, 0x1F);
        for now in 50..70 {
            tick(&mut file, now);
            let turns = (now - 50) / 3;
            assert_eq!(file.read32(global::PARTITION), (1 << turns.min(5)) - 1, "cycle {now}");
        }
        // Quotas on the bus do not bring back a kernel that was released.
        commit(&mut file, 100, 2);
        file.write32(mias_registers::slot::at(0, mias_registers::slot::CONTROL), 1);
        (100..130).for_each(|now| tick(&mut file, now));
        assert!((0..SMS).all(|sm| file.quota(sm, 0) == 0 && file.committed_quota(sm, 0) == 0));
    }

    #[test]
    fn no_cycles_are_at_once_and_ideal_transitions_take_the_bus() {
        for (cycles, mode) in [(0, mode::DRAIN), (0, mode::IDEAL), (4, mode::IDEAL)] {
            let mut file = file(cycles);
            file.write32(global::MODE, mode);
            commit(&mut file, 10, 2);
            assert_eq!(file.quota_bus_is_busy(), cycles != 0);
            assert!((0..SMS).all(|sm| file.quota(sm, 0) == if cycles == 0 { 2 } else { 0 }));
            (10..=10 + SMS as u64 * u64::from(cycles)).for_each(|now| tick(&mut file, now));
            assert!((0..SMS).all(|sm| file.quota(sm, 0) == 2));
            assert_eq!((file.next_deadline(), file.quota_bus_is_busy()), (None, false));
        }
    }
}
