//! What it costs to choose victims: from the interrupt that says that SMs want room to the last command.
//!
//! Measured entries are of as many TBs on each SM that wants room; TBs that are not spread so count as the next whole number on each. A scheme
//! that hands whole SMs over has entries of its own, all others have those of Shieh's, which looks at the most.

use super::bound::bound;
use super::{LatencyTable, Situation};
use mias_hw_model::config::MicrocontrollerCore;
use mias_registers::preempt_scheme;

/// SMs of the measured entries, and TBs on each.
const MEASURED_SMS: [u32; 2] = [15, 30];
const MEASURED_TBS: [u32; 3] = [3, 6, 8];

impl LatencyTable {
    /// Instructions that choosing victims by a scheme ([`preempt_scheme`]) takes at most on `sms` SMs that want room and hold `tbs` TBs together.
    pub fn preemption(&self, core: MicrocontrollerCore, scheme: u32, sms: u32, tbs: u32) -> u64 {
        let whole = matches!(scheme, preempt_scheme::CHIMERA | preempt_scheme::CHIMERA_PLUS);
        let column = if whole { "chimera" } else { "shieh" };
        let kernels = tbs.div_ceil(sms.max(1));
        let of = |sms, kernels| bound(self.group(core, column), Situation { late: false, sms, kernels, scored: 0, generated: 0 }, column);
        let [few, more] = MEASURED_SMS;
        if sms >= few {
            return of(sms, kernels);
        }
        let with = |kernels| {
            // Each SM takes as much as the next: fewer than were measured lie on the same line.
            let per_sm = of(more, kernels).saturating_sub(of(few, kernels)) / u64::from(more - few);
            let line = of(few, kernels).saturating_sub(per_sm * u64::from(few - sms));
            // Entries are rounded up: never less than its share.
            line.max(of(few, kernels) * u64::from(sms) / u64::from(few))
        };
        // And fewer TBs take no more than more of them.
        MEASURED_TBS.into_iter().filter(|tbs| *tbs > kernels).map(with).fold(with(kernels), u64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More SMs and more TBs take no less, on any core and by any scheme.
    #[test]
    fn more_takes_longer() {
        for core in [MicrocontrollerCore::CortexM4F, MicrocontrollerCore::CortexM0, MicrocontrollerCore::Rv32Imac] {
            for scheme in [preempt_scheme::SHIEH, preempt_scheme::CHIMERA] {
                let of = |sms, tbs| LatencyTable::measured().preemption(core, scheme, sms, tbs);
                let costs = [of(1, 1), of(1, 8), of(15, 120), of(30, 240), of(132, 4_224)];
                assert!(costs[0] > 0 && costs.is_sorted(), "{core:?} {scheme}: {costs:?}");
                assert!(costs[4] > costs[0] && 10 * of(1, 8) < of(15, 120) * 3, "one SM is no fifteen: {costs:?}");
            }
        }
    }
}
