//! Cost of a placement: from the end of a batch of launches to the first quotas in effect.
//!
//! Every policy that profiles is charged the counts of MIAS by IPC with as many configurations
//! (assumption: generating and dealing configurations takes most of it). The firmware generates
//! configurations ahead while launches are collected, and the rest during placement. The placement
//! then takes no longer than without work ahead.

use super::bound::bound;
use super::{LatencyTable, Situation};
use mias_hw_model::config::MicrocontrollerCore;

/// Column of the first trial.
const FIRST_TRIAL: &str = "first-trial";

/// Batch of launches to be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Number of SMs of the GPU.
    pub sms: u32,
    /// Number of kernels scheduled together.
    pub kernels: u32,
    /// Total number of configurations.
    pub configs: u32,
    /// Number of instructions available to the microcontroller while launches were collected.
    pub time_ahead: u64,
}

impl LatencyTable {
    /// Returns an upper bound of a placement's instructions, under a policy that profiles.
    pub fn placement(&self, core: MicrocontrollerCore, batch: Batch) -> u64 {
        let Batch { sms, kernels, configs, time_ahead } = batch;
        let situation = Situation { late: false, sms, kernels, scored: 0, generated: configs.max(1) };
        let of = |column: &str| bound(self.group(core, column), situation, column);
        of("prepared").saturating_add(of("ahead").saturating_sub(time_ahead)).min(of("at-once"))
    }

    /// Returns an upper bound of the instructions for placing the first trial on the whole GPU.
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

    /// Figures of the page for two kernels on 30 SMs and the Cortex-M4F
    /// (docs/porting/decision-latency.md), rounded up by less than a sixteenth.
    #[test]
    fn the_pages_figures_come_back() {
        for (configs, page) in [(3, 3_700), (7, 5_456)] {
            let batch = Batch { sms: 30, kernels: 2, configs, time_ahead: 0 };
            let charged = LatencyTable::measured().placement(MicrocontrollerCore::CortexM4F, batch);
            assert!(charged >= page && 16 * (charged - page) <= page, "{configs}: {charged}");
        }
    }

    /// More time ahead never delays the placement. With all of it, only the prepared placement
    /// remains; with none, all work remains.
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
