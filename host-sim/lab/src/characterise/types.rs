//! Compute or memory intensive by the rule of every paper, each on the same run. The rules disagree
//! (sources.md D77).
//!
//! | paper | rule | M if |
//! |---|---|---|
//! | Nasef 2023, section 4.1.2 | limited by memory bandwidth, saturating early as TBs are added | a memory bandwidth is at least half used, and from half of the TBs to all IPC rises by less than half as much as the TBs; both numbers are assumptions |
//! | Dai et al. 2018, section 2.4 | share of cycles in which the load/store unit stalls | more than 20 % |
//! | Lin et al. 2018, section 4.2 | the most utilized component | it is the crossbar (over 60 % of its sustained rate) or the DRAM (over 50 %); C if it is the warp scheduler (over 60 %); else underutilized, which is neither ([`binding`]) |
//! | Shieh 2016, section 4.1 | has no such rule: its kernels are idempotent or not | |
//! | Zhao et al. 2018, section 4.1.2 | off-SM bandwidth model: demand at full speed against supply | demand exceeds supply |

use super::alone::Alone;
use super::binding::{self, Component};
use crate::bandwidth::demand_over_supply;
use mias_hw_model::config::GpuConfig;
use mias_workloads::kernels::KernelType;

/// Types of a kernel by the papers' rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Types {
    /// Type by Nasef 2023; `None` if only one TB fits, so that the effect of more is unknown.
    pub nasef2023: Option<KernelType>,
    /// Type by Dai et al. 2018; `None` if the kernel did not run.
    pub dai2018: Option<KernelType>,
    /// Category by Lin et al. 2018.
    pub lin2018: Component,
    /// Type by Zhao et al. 2018; `None` if the kernel did not run.
    pub zhao2018: Option<KernelType>,
}

/// Nasef 2023: utilization from which a memory bandwidth limits (assumption; that of Lin et al.
/// 2018 for DRAM).
const BANDWIDTH_LIMITS: f64 = 0.5;

/// Nasef 2023: fraction of the IPC gain of doubled TBs below which a kernel saturates (assumption).
const SATURATES: f64 = 0.5;

/// Threshold of Dai et al. 2018, section 2.4.
const LSU_STALL: f64 = 0.2;

fn memory_if(memory: bool) -> KernelType {
    if memory { KernelType::Memory } else { KernelType::Compute }
}

impl Types {
    /// Classifies a kernel with the isolated behavior `alone`. `curve` has TBs per SM and IPC at
    /// half of the maximum TBs and at the maximum.
    pub fn of(alone: &Alone, curve: Option<[(u32, f64); 2]>, gpu: &GpuConfig) -> Self {
        Types {
            nasef2023: curve.and_then(|curve| nasef2023(alone, curve)),
            dai2018: alone.lsu_stall.map(|share| memory_if(share > LSU_STALL)),
            lin2018: binding::component(alone),
            zhao2018: zhao2018(alone, gpu),
        }
    }
}

fn nasef2023(alone: &Alone, [half, all]: [(u32, f64); 2]) -> Option<KernelType> {
    if half.0 == 0 || half.0 >= all.0 || half.1 <= 0.0 {
        return None;
    }
    let possible = f64::from(all.0) / f64::from(half.0) - 1.0;
    let gained = (all.1 / half.1 - 1.0) / possible;
    let used = [alone.reply_utilization, alone.request_utilization, alone.l2_utilization, alone.dram_utilization];
    let limited = used.into_iter().flatten().any(|share| share >= BANDWIDTH_LIMITS);
    Some(memory_if(limited && gained < SATURATES))
}

/// Applies equations 1 and 2: whether the demand of all SMs exceeds the supply.
fn zhao2018(alone: &Alone, gpu: &GpuConfig) -> Option<KernelType> {
    let accesses = alone.l2_accesses_per_1000_insts? / 1000.0;
    Some(memory_if(demand_over_supply(gpu, accesses, alone.l2_hit_rate)? > 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;

    const C: Option<KernelType> = Some(KernelType::Compute);
    const M: Option<KernelType> = Some(KernelType::Memory);

    fn alone() -> Alone {
        Alone {
            issue_slots: Some([0.5, 0.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            lsu_stall: Some(0.0),
            l2_accesses_per_1000_insts: Some(0.0),
            ..Alone::default()
        }
    }

    fn types(alone: &Alone, curve: [(u32, f64); 2]) -> Types {
        Types::of(alone, Some(curve), &gpus::load("rtx2060").unwrap())
    }

    #[test]
    fn the_thesis_asks_for_both_bandwidth_and_saturation() {
        let busy = Alone { dram_utilization: Some(0.5), ..alone() };
        let (flat, steep) = ([(4, 100.0), (8, 149.0)], [(4, 100.0), (8, 150.0)]);
        assert_eq!(types(&busy, flat).nasef2023, M);
        assert_eq!(types(&busy, steep).nasef2023, C, "half of what the TBs could give");
        assert_eq!(types(&alone(), flat).nasef2023, C, "what saturates is not memory");
        assert_eq!(types(&busy, [(1, 100.0), (3, 190.0)]).nasef2023, M, "three times the TBs could add 200");
        assert_eq!(types(&busy, [(1, 100.0), (1, 100.0)]).nasef2023, None);
        assert_eq!(types(&busy, [(0, 0.0), (1, 100.0)]).nasef2023, None);
    }

    #[test]
    fn dai_counts_stalls_of_the_load_store_unit() {
        let of = |share| types(&Alone { lsu_stall: share, ..alone() }, [(1, 1.0), (2, 2.0)]).dai2018;
        assert_eq!((of(Some(0.2)), of(Some(0.21)), of(None)), (C, M, None));
    }

    /// Demand is 4 x 30 x 32 x APKI / 1000 = 3.84 APKI bytes per cycle. Supply is 24 x 32 = 768 if
    /// all hit. If none does it is half of 12 x 2 x 4 x 3,500 / 1,365 = 246.15. So the limits are
    /// at APKI 200 and 32.05.
    #[test]
    fn zhao_weighs_demand_against_supply() {
        let of = |apki, hits| {
            types(&Alone { l2_accesses_per_1000_insts: Some(apki), l2_hit_rate: Some(hits), ..alone() }, [(1, 1.0), (2, 2.0)]).zhao2018
        };
        assert_eq!((of(200.0, 1.0), of(200.1, 1.0)), (C, M));
        assert_eq!((of(32.0, 0.0), of(32.1, 0.0)), (C, M));
        assert_eq!(types(&Alone { l2_accesses_per_1000_insts: None, ..alone() }, [(1, 1.0), (2, 2.0)]).zhao2018, None);
    }
}
