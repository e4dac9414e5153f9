//! Cost of choosing preemption victims: from the interrupt that requests capacity on SMs to the
//! last command.
//!
//! Measured entries have the same number of TBs on each of these SMs; other distributions count as
//! the next whole number on each. A scheme that preempts whole SMs has its own entries. All others
//! use those of Shieh's, which examines the most.

use super::bound::bound;
use super::{LatencyTable, Situation};
use mias_hw_model::config::MicrocontrollerCore;
use mias_registers::preempt_scheme;

/// SMs of the measured entries.
const MEASURED_SMS: [u32; 2] = [15, 30];
const MEASURED_TBS: [u32; 3] = [3, 6, 8];

impl LatencyTable {
    /// Returns an upper bound of the instructions for choosing victims by a scheme
    /// ([`preempt_scheme`]), on `sms` SMs that need capacity and hold `tbs` TBs together.
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
            // The cost per SM is constant, so fewer SMs than measured lie on the same line.
            let per_sm = of(more, kernels).saturating_sub(of(few, kernels)) / u64::from(more - few);
            let line = of(few, kernels).saturating_sub(per_sm * u64::from(few - sms));
            // Entries are rounded up, so the bound is never below their proportional part.
            line.max(of(few, kernels) * u64::from(sms) / u64::from(few))
        };
        // Fewer TBs cost no more than more of them.
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
