//! Extrapolated statistics of a window, of which only the first part was simulated.
//!
//! The rest is extrapolated from the recent rate of each count. The caller must decide whether that
//! rate is steady.

use super::sm_states::SmStateCycles;
use super::stats::{SmStats, Stats};
use super::transition::InPlace;
use crate::counts::Count;
use std::num::NonZeroU64;

impl Stats {
    /// Statistics at core cycle `until`, extrapolated from the rates since `before`, earlier
    /// statistics of the same GPU.
    ///
    /// Every count grows by its mean rate, rounded to the nearest. Resident TBs, starts and ends of
    /// launches, ownership of ways, limits of memory instructions, and cycles in transition do not
    /// change. Returns the same statistics if `until` has been reached, or if `before` has no
    /// earlier cycle.
    #[must_use]
    pub fn extended(&self, before: &Stats, until: u64) -> Stats {
        let rest = until.saturating_sub(self.cycles);
        let Some(span) = NonZeroU64::new(self.cycles.saturating_sub(before.cycles)) else { return self.clone() };
        let counters: Vec<_> = self.counters.iter().zip(&before.counters).map(|(now, then)| now.extended(then, rest, span)).collect();
        let launches = self.launches.iter().zip(&counters);
        let in_place = self.sms.len() as u64 - u64::from(self.in_place.sms_short_of_it);
        Stats {
            cycles: self.cycles + rest,
            transition_cycles: self.transition_cycles,
            in_place: InPlace { sm_cycles: self.in_place.sm_cycles + in_place * rest, ..self.in_place },
            launches: launches.map(|(launch, counters)| launch.of(counters)).collect(),
            preemptions: self.preemptions.clone(),
            counters,
            sms: self.sms.iter().zip(&before.sms).map(|(now, then)| now.extended(then, rest, span)).collect(),
            l1_ways: self.l1_ways.clone(),
            memory_choices: self.memory_choices,
            memory_limits: self.memory_limits.clone(),
            oversubscription: self.oversubscription.clone(),
            l2_ways: self.l2_ways.clone(),
            sm_states: self.sm_states.map(|now| now.extended(&before.sm_states_or_active(), rest, span)),
        }
    }
}

impl Stats {
    /// States of SMs; always active where they are not recorded.
    fn sm_states_or_active(&self) -> SmStateCycles {
        let active = self.cycles * self.sms.len() as u64;
        self.sm_states.unwrap_or(SmStateCycles { active, ..SmStateCycles::default() })
    }
}

impl SmStats {
    fn extended(&self, before: &SmStats, rest: u64, span: NonZeroU64) -> SmStats {
        SmStats {
            counters: self.counters.extended(&before.counters, rest, span),
            resident: self.resident,
            active_cycles: self.active_cycles.extended(&before.active_cycles, rest, span),
            oversubscription: self.oversubscription,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{LaunchCounters, LaunchStats};
    use proptest::prelude::*;

    /// Statistics of one launch on one SM with these counts.
    fn counted(cycles: u64, insts: u64, active_cycles: u64) -> Stats {
        let mut counters = LaunchCounters::default();
        counters.sm.warp_insts = insts;
        counters.memory.dram_reads = insts / 3;
        let launches = vec![LaunchStats::new(Some(0), None, &counters)];
        let mut sm = SmStats { active_cycles, ..SmStats::default() };
        (sm.counters.cycles, sm.counters.issue_cycles) = (cycles, insts.min(cycles));
        Stats { cycles, counters: vec![counters], launches, sms: vec![sm], ..Stats::default() }
    }

    #[test]
    fn rates_of_late_go_on() {
        // 100 instructions in the first 50 cycles, 30 in the 30 since: another 40 cycles add 40.
        let stats = counted(80, 130, 80).extended(&counted(50, 100, 50), 120);
        assert_eq!((stats.cycles, stats.launches[0].warp_insts, stats.counters[0].sm.warp_insts), (120, 170, 170));
        assert_eq!((stats.launches[0].dram_reads, stats.sms[0].active_cycles, stats.sms[0].counters.cycles), (43 + 13, 120, 120));
        assert_eq!(stats.in_place.sm_cycles, 40);
    }

    #[test]
    fn without_a_rest_or_a_rate_nothing_changes() {
        let (early, late) = (counted(50, 100, 50), counted(80, 130, 80));
        assert_eq!(late.extended(&early, 80), late);
        assert_eq!(late.extended(&early, 10), late);
        assert_eq!(late.extended(&late, 500), late);
    }

    proptest! {
        /// A count with a constant rate is extrapolated exactly, and no SM is active for longer
        /// than the run.
        #[test]
        fn a_constant_rate_is_exact(rate in 0u64..1000, first in 1u64..1 << 40, span in 1u64..1 << 40, rest in 0u64..1 << 40) {
            let at = |cycles: u64| counted(cycles, cycles * rate, cycles);
            let extended = at(first + span).extended(&at(first), first + span + rest);
            prop_assert_eq!(extended.launches[0].warp_insts, at(first + span + rest).launches[0].warp_insts);
            prop_assert_eq!(extended.sms[0].active_cycles, first + span + rest);
        }
    }
}
