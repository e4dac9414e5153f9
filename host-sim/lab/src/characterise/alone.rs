//! Behavior of a kernel alone on the GPU, from one run: fractions of issue slots, cache rates,
//! bandwidths.
//!
//! Utilizations cover the cycles after the launch latency. That of the crossbar is relative to 60 %
//! of the peak, the sustained rate of a crossbar with input queues (Lin et al. 2018, section 4.1).

use crate::bandwidth;
use crate::experiment::gpu_runner::Outcome;
use crate::metrics::ratio;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::{ISSUE_CLASSES, IssueClass};

/// Sustained fraction of a crossbar's peak (Lin et al. 2018, sections 2.2 and 4.1).
const SUSTAINED: f64 = 0.6;

/// Behavior of one kernel alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alone {
    /// Issue slots of its SMs by class, as fractions with sum 1; `None` if it had none.
    pub issue_slots: Option<[f64; ISSUE_CLASSES]>,
    /// L1 misses over accesses, stores included.
    pub l1_miss_rate: Option<f64>,
    /// L1 reservation failures over accesses.
    pub l1_fails_per_access: Option<f64>,
    /// L2 hits over accesses.
    pub l2_hit_rate: Option<f64>,
    /// L2 accesses, in sectors, per thousand warp instructions.
    pub l2_accesses_per_1000_insts: Option<f64>,
    /// Mean cycles from an L1 load miss to its data (Little's law over MSHR entries).
    pub miss_latency: Option<f64>,
    /// Fraction of SM cycles in which the L1 refused a look-up.
    pub lsu_stall: Option<f64>,
    /// Utilization of L1 bandwidth by hits.
    pub l1_utilization: Option<f64>,
    /// Utilization of the crossbar's sustained rate towards the L2.
    pub request_utilization: Option<f64>,
    /// Utilization of the crossbar's sustained rate towards the SMs.
    pub reply_utilization: Option<f64>,
    /// Utilization of L2 bandwidth by hits.
    pub l2_utilization: Option<f64>,
    /// Utilization of DRAM bandwidth.
    pub dram_utilization: Option<f64>,
}

impl Alone {
    /// Derives the behavior of the first launch of an isolated run.
    pub fn of(outcome: &Outcome, gpu: &GpuConfig) -> Self {
        let Some(launch) = outcome.launches.first() else { return Alone::default() };
        let cycles = outcome.cycles.saturating_sub(u64::from(gpu.launch.latency_cycles));
        let charged: u64 = launch.issue_slots.iter().sum();
        let sms = u64::from(gpu.sm.count);
        let carried = |packets: u64| bandwidth::crossbar(gpu, packets, cycles).map(|share| share / SUSTAINED);
        Alone {
            issue_slots: (charged > 0).then(|| launch.issue_slots.map(|slots| slots as f64 / charged as f64)),
            l1_miss_rate: ratio(launch.l1.misses, launch.l1.accesses),
            l1_fails_per_access: ratio(launch.l1.reservation_fails, launch.l1.accesses),
            l2_hit_rate: ratio(launch.l2.hits, launch.l2.accesses),
            l2_accesses_per_1000_insts: ratio(1000 * launch.l2.accesses, launch.warp_insts),
            miss_latency: miss_latency(outcome),
            lsu_stall: ratio(outcome.sms.lsu_stall_cycles, sms * cycles),
            l1_utilization: ratio(launch.l1.hits, sms * cycles * u64::from(gpu.l1.banks)),
            request_utilization: carried(launch.request_packets),
            reply_utilization: carried(launch.reply_packets),
            l2_utilization: bandwidth::l2_share(gpu, launch.l2.hits, cycles),
            dram_utilization: bandwidth::dram(gpu, launch, cycles),
        }
    }

    /// Returns the fraction of issue slots of one class, 0 to 1; 0 if there were none.
    pub fn slot(&self, class: IssueClass) -> f64 {
        self.issue_slots.map_or(0.0, |slots| slots[class as usize])
    }

    /// Returns the fraction of issue slots lost, 0 to 1.
    pub fn stalled(&self) -> f64 {
        self.issue_slots.map_or(0.0, |_| 1.0 - self.slot(IssueClass::Issued))
    }
}

/// Returns the mean cycles from an L1 load miss to its data, over all SMs; `None` without a miss.
/// Entries in use at the end of the run count with their time so far.
pub fn miss_latency(outcome: &Outcome) -> Option<f64> {
    ratio(outcome.sms.outstanding_cycles, outcome.launches.first()?.l1_load_misses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gpu_runner::SmTotals;
    use crate::gpus;
    use mias_hw_model::gpu::{CacheStats, LaunchStats};

    /// 30 SMs, 24 slices, one clock for all but DRAM; 105,000 cycles of which 5,000 are the launch.
    #[test]
    fn full_use_of_every_part_is_one() {
        let gpu = gpus::load("rtx2060").unwrap();
        let full = LaunchStats {
            warp_insts: 1_000_000,
            l1: CacheStats { accesses: 24_000_000, hits: 12_000_000, misses: 6_000_000, reservation_fails: 48_000_000 },
            l2: CacheStats { accesses: 4_800_000, hits: 2_400_000, misses: 0, reservation_fails: 0 },
            l1_load_misses: 4_000,
            request_packets: 1_440_000,
            reply_packets: 720_000,
            issue_slots: [60, 0, 30, 0, 0, 10, 0, 0, 0, 0],
            ..LaunchStats::default()
        };
        let sms = SmTotals { cycles: 30 * 105_000, lsu_stall_cycles: 750_000, outstanding_cycles: 1_000_000, ..SmTotals::default() };
        let alone = Alone::of(&Outcome { cycles: 105_000, launches: vec![full], sms, ..Outcome::default() }, &gpu);
        assert_eq!(alone.l1_utilization, Some(1.0), "a sector per bank and cycle: 30 x 4 x 100,000");
        assert_eq!(alone.request_utilization, Some(1.0), "0.6 x 24 x 100,000");
        assert_eq!(alone.reply_utilization, Some(0.5));
        assert_eq!(alone.l2_utilization, Some(1.0));
        assert_eq!((alone.lsu_stall, alone.miss_latency), (Some(0.25), Some(250.0)));
        assert_eq!((alone.l1_miss_rate, alone.l1_fails_per_access, alone.l2_hit_rate), (Some(0.25), Some(2.0), Some(0.5)));
        assert_eq!(alone.l2_accesses_per_1000_insts, Some(4800.0));
        assert_eq!((alone.slot(IssueClass::MemoryRaw), alone.slot(IssueClass::ComputeRaw)), (0.3, 0.1));
        assert!((alone.stalled() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn what_did_not_run_has_no_rates() {
        let gpu = gpus::load("rtx2060").unwrap();
        assert_eq!(Alone::of(&Outcome::default(), &gpu), Alone::default());
        let nothing = Alone::of(&Outcome { launches: vec![LaunchStats::default()], ..Outcome::default() }, &gpu);
        assert_eq!((nothing.issue_slots, nothing.dram_utilization, nothing.l1_utilization), (None, None, None));
        assert_eq!(nothing.stalled(), 0.0);
    }
}
