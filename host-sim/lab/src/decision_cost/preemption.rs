//! What it costs to choose victims: from the interrupt that says that SMs want room to the last command.
//!
//! Measured entries are of as many TBs on each SM that wants room; TBs that are not spread so count as the next whole number on each. A scheme
//! that hands whole SMs over has entries of its own, all others have those of Shieh's, which looks at the most.
//!
//! A table without entries (it has none before the image that preempts was counted) leaves an estimate from the accesses, four instructions to
//! each (assumption).

use super::bound::bound;
use super::{LatencyTable, Situation};
use mias_firmware::regs::preempt_scheme;
use mias_hw_model::config::MicrocontrollerCore;

/// Estimated instructions of an interrupt, of an SM that wants room, and of a TB there.
const INTERRUPT: u64 = 200;
const PER_SM: u64 = 400;
const PER_TB: u64 = 150;

impl LatencyTable {
    /// Instructions that choosing victims by a scheme ([`preempt_scheme`]) takes at most on `sms` SMs that want room and hold `tbs` TBs together.
    pub fn preemption(&self, core: MicrocontrollerCore, scheme: u32, sms: u32, tbs: u32) -> u64 {
        let whole = matches!(scheme, preempt_scheme::CHIMERA | preempt_scheme::CHIMERA_PLUS);
        let column = if whole { "chimera" } else { "shieh" };
        match self.group(core, column) {
            [] => INTERRUPT + PER_SM * u64::from(sms) + PER_TB * u64::from(tbs),
            group => {
                let situation = Situation { late: false, sms, kernels: tbs.div_ceil(sms.max(1)), scored: 0, generated: 0 };
                bound(group, situation, column)
            }
        }
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
                assert!(costs[4] > costs[0]);
            }
        }
    }
}
