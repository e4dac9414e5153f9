//! What a placement costs: from the end of a batch of launches to the first quotas in effect.
//!
//! Every policy that profiles is charged what was counted of MIAS by IPC with as many configurations (assumption: finding and dealing
//! configurations takes most of it). The firmware finds configurations ahead while launches are collected; what it had no time for is
//! left for the placement, which then takes no longer than if nothing had been done ahead.

use super::bound::bound;
use super::{LatencyTable, Situation};
use mias_hw_model::config::MicrocontrollerCore;

/// The column of the first of trials.
const FIRST_TRIAL: &str = "first-trial";

/// What is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// SMs of the machine.
    pub sms: u32,
    /// Kernels scheduled together.
    pub kernels: u32,
    /// Configurations that there are.
    pub configs: u32,
    /// Instructions for which the microcontroller had time while launches were collected.
    pub time_ahead: u64,
}

impl LatencyTable {
    /// Instructions that a placement takes at most, under a policy that profiles.
    pub fn placement(&self, core: MicrocontrollerCore, batch: Batch) -> u64 {
        let Batch { sms, kernels, configs, time_ahead } = batch;
        let situation = Situation { late: false, sms, kernels, scored: 0, generated: configs.max(1) };
        let of = |column: &str| bound(self.group(core, column), situation, column);
        of("prepared").saturating_add(of("ahead").saturating_sub(time_ahead)).min(of("at-once"))
    }

    /// Instructions that the placement of the first of trials on the whole GPU takes at most.
    pub fn first_trial(&self, core: MicrocontrollerCore, batch: Batch) -> u64 {
        let Batch { sms, kernels, .. } = batch;
        let situation = Situation { late: false, sms, kernels, scored: 0, generated: 0 };
        bound(self.group(core, FIRST_TRIAL), situation, FIRST_TRIAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CORES: [MicrocontrollerCore; 3] = [MicrocontrollerCore::CortexM4F, MicrocontrollerCore::CortexM0, MicrocontrollerCore::Rv32Imac];

    /// The page's figures for two kernels on 30 SMs and the Cortex-M4F (docs/decision-latency.md), rounded up by less than a sixteenth.
    #[test]
    fn the_pages_figures_come_back() {
        for (configs, page) in [(3, 3_700), (7, 5_456)] {
            let batch = Batch { sms: 30, kernels: 2, configs, time_ahead: 0 };
            let charged = LatencyTable::measured().placement(MicrocontrollerCore::CortexM4F, batch);
            assert!(charged >= page && 16 * (charged - page) <= page, "{configs}: {charged}");
        }
    }

    /// More time ahead is never later, all of it leaves the prepared placement, and none leaves what is done at once.
    #[test]
    fn time_ahead_shortens_the_placement() {
        for core in CORES {
            for (sms, kernels, configs) in [(16, 2, 3), (30, 3, 36), (80, 4, 84), (132, 4, 84), (256, 4, 84)] {
                let of = |time_ahead| LatencyTable::measured().placement(core, Batch { sms, kernels, configs, time_ahead });
                let times: Vec<u64> = (0..40).map(|step| of(step * 16_000)).collect();
                assert!(times.is_sorted_by(|more, less| more >= less), "{times:?}");
                assert!(times[0] > times[39] && times[39] == of(u64::MAX));
            }
        }
    }
}
