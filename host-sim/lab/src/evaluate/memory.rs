//! Memory pipeline quantities of a run, as in Dai et al. 2018, table 2 and figures 2 and 12
//! (sources.md D129). They are only in the results of experiments that request them.

use super::record::Kept;
use crate::characterise::profile::Profile;
use crate::experiment::gpu_runner::Sample;
use crate::metrics::ratio;
use mias_hw_model::gpu::LaunchStats;
use mias_hw_model::sm::IssueClass;
use mias_warp_trace::KernelTrace;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory pipeline results of a run: over all kernels, and for each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryResult {
    /// L1 misses over accesses; a hit on a pending line is no miss.
    pub l1_miss_rate: Option<f64>,
    /// Attempts that found no line, MSHR or miss-queue entry, over accesses.
    pub fails_per_access: Option<f64>,
    /// Fraction of SM cycles in which the L1 refused a look-up.
    pub lsu_stall_share: Option<f64>,
    /// Fraction of issue slots (scheduler-cycles) in which an instruction was issued.
    pub alu_utilization: Option<f64>,
    /// Results by kernel, in launch order.
    pub kernels: Vec<KernelMemory>,
}

/// Memory pipeline results of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelMemory {
    /// L1 miss rate; see [`MemoryResult::l1_miss_rate`].
    pub l1_miss_rate: Option<f64>,
    /// Failed attempts per access; see [`MemoryResult::fails_per_access`].
    pub fails_per_access: Option<f64>,
    /// Accesses of an SM's L1 per thousand cycles, mean over SMs.
    pub accesses_per_kilocycle: Option<f64>,
}

/// Memory demand of a kernel's instructions, counted in the executed trace (Dai et al. 2018, table
/// 2; sources.md D78).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDemand {
    /// Cinst/Minst: warp instructions without memory access over those with, including shared and
    /// constant memory.
    pub compute_per_memory: Option<f64>,
    /// Req/Minst: L1 lines requested per instruction to global or local memory.
    pub requests_per_memory: Option<f64>,
}

impl MemoryDemand {
    /// Counts the demand of a trace on a GPU with this line size.
    pub fn of(trace: &KernelTrace, line_bytes: u32) -> Self {
        let profile = Profile::of(trace, line_bytes);
        MemoryDemand { compute_per_memory: profile.compute_per_memory(), requests_per_memory: profile.requests_per_memory() }
    }
}

/// Cycles per kilocycle.
const KILO: u64 = 1_000;

impl MemoryResult {
    /// Derives the results of a run.
    pub fn of(kept: &Kept) -> Self {
        let sum = |of: fn(&LaunchStats) -> u64| kept.launches.iter().map(of).sum::<u64>();
        let accesses = sum(|launch| launch.l1.accesses);
        let of_kernel = |launch: &mias_hw_model::gpu::LaunchStats| KernelMemory {
            l1_miss_rate: ratio(launch.l1.misses, launch.l1.accesses),
            fails_per_access: ratio(launch.l1.reservation_fails, launch.l1.accesses),
            accesses_per_kilocycle: ratio(launch.l1.accesses.saturating_mul(KILO), kept.sm_cycles),
        };
        MemoryResult {
            l1_miss_rate: ratio(sum(|launch| launch.l1.misses), accesses),
            fails_per_access: ratio(sum(|launch| launch.l1.reservation_fails), accesses),
            lsu_stall_share: ratio(kept.lsu_stall_cycles, kept.sm_cycles),
            alu_utilization: ratio(kept.issue_slots[IssueClass::Issued as usize], kept.issue_slots.iter().sum()),
            kernels: kept.launches.iter().map(of_kernel).collect(),
        }
    }
}

/// Time series of each kernel of a run, over all SMs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeriesResult {
    /// Core cycles per interval.
    pub every_cycles: u64,
    /// L1 accesses of each kernel, in launch order, per interval.
    pub l1_accesses: Vec<Vec<u64>>,
    /// Warp instructions of each kernel per interval.
    pub warp_insts: Vec<Vec<u64>>,
}

impl SeriesResult {
    /// Derives the series of a run that was sampled at this interval.
    pub fn of(kept: &Kept, every_cycles: u64) -> Self {
        let each = |of: &dyn Fn(&Sample, usize) -> u64| {
            let of_kernel = |kernel: usize| {
                let mut before = 0;
                let stretch = |sample| {
                    let so_far: u64 = of(sample, kernel);
                    so_far - std::mem::replace(&mut before, so_far)
                };
                kept.samples.iter().map(stretch).collect::<Vec<u64>>()
            };
            (0..kept.launches.len()).map(of_kernel).collect::<Vec<_>>()
        };
        SeriesResult {
            every_cycles,
            l1_accesses: each(&|sample, kernel| sample.l1_accesses.get(kernel).copied().unwrap_or_default()),
            warp_insts: each(&|sample, kernel| sample.insts.get(kernel).map_or(0, |insts| insts.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gpu_runner::{Outcome, SmTotals};
    use mias_hw_model::gpu::CacheStats;

    fn kept() -> Kept {
        let launch = |accesses, misses, reservation_fails| LaunchStats {
            l1: CacheStats { accesses, hits: accesses - misses, misses, reservation_fails },
            ..LaunchStats::default()
        };
        let mut sms = SmTotals { cycles: 40_000, lsu_stall_cycles: 10_000, ..SmTotals::default() };
        (sms.issue_slots[IssueClass::Issued as usize], sms.issue_slots[IssueClass::MemoryRaw as usize]) = (120_000, 40_000);
        let sample = |cycle, insts: [u64; 2], l1_accesses: [u64; 2]| Sample {
            cycle,
            insts: insts.map(|insts| (insts, 32 * insts)).to_vec(),
            l1_accesses: l1_accesses.to_vec(),
        };
        let samples = vec![sample(1_000, [0, 10], [0, 7]), sample(2_000, [50, 10], [100, 9]), sample(3_000, [60, 40], [200, 9])];
        Kept::of(&Outcome { launches: vec![launch(4_000, 1_000, 2_000), launch(0, 0, 0)], sms, samples, ..Outcome::default() })
    }

    /// 4 SMs for 10,000 cycles: 40,000 SM cycles with 4,000 accesses are 100 in a thousand.
    #[test]
    fn rates_by_hand() {
        let memory = MemoryResult::of(&kept());
        assert_eq!((memory.l1_miss_rate, memory.fails_per_access), (Some(0.25), Some(0.5)));
        assert_eq!((memory.lsu_stall_share, memory.alu_utilization), (Some(0.25), Some(0.75)));
        let [first, second] = memory.kernels[..] else { panic!("two kernels") };
        assert_eq!((first.l1_miss_rate, first.fails_per_access, first.accesses_per_kilocycle), (Some(0.25), Some(0.5), Some(100.0)));
        assert_eq!((second.l1_miss_rate, second.fails_per_access), (None, None), "it accessed nothing");
    }

    #[test]
    fn a_series_is_what_came_since_the_sample_before() {
        let series = SeriesResult::of(&kept(), 1_000);
        assert_eq!(series.l1_accesses, [[0, 100, 100], [7, 2, 0]]);
        assert_eq!(series.warp_insts, [[0, 50, 10], [10, 0, 30]]);
    }
}
