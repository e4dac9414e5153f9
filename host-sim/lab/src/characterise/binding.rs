//! Bottleneck of a kernel: its most utilized component, the remaining capacity, and remedies (Lin
//! et al. 2018).
//!
//! * The category is that of section 4.2: the component farthest above its threshold. The threshold
//!   is 60 % for the warp schedulers and 50 % for DRAM. For either direction of the crossbar it is
//!   60 % of its sustained 60 %. A kernel above none is underutilized.
//! * The level is that of table 3, which also considers both caches.
//! * Remedies are our interpretation (sources.md D171). More TBs help if the level is not saturated
//!   (sections 4.3 and 5.1) and the last TBs increased IPC. Fewer help if the last TBs decreased
//!   it. Wider wires help if the crossbar is the bottleneck (figure 5). A partner helps if its
//!   demand differs.

use super::alone::Alone;
use mias_hw_model::sm::IssueClass;
use mias_workloads::kernels::KernelType;
use serde::Serialize;

/// Categories of Lin et al. 2018: the most utilized component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// Warp schedulers.
    Scheduler,
    /// Crossbar towards the SMs: replies.
    L2ToSm,
    /// Crossbar towards the L2: requests.
    SmToL2,
    /// DRAM data buses.
    Dram,
    /// No component above its threshold.
    Underutilized,
}

impl Component {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Component::Scheduler => "scheduler",
            Component::L2ToSm => "L2->SM",
            Component::SmToL2 => "SM->L2",
            Component::Dram => "DRAM",
            Component::Underutilized => "under",
        }
    }

    /// Returns compute or memory intensive; `None` if underutilized.
    pub fn kernel_type(self) -> Option<KernelType> {
        match self {
            Component::Scheduler => Some(KernelType::Compute),
            Component::L2ToSm | Component::SmToL2 | Component::Dram => Some(KernelType::Memory),
            Component::Underutilized => None,
        }
    }
}

/// Remaining capacity of the most utilized component, by table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Much capacity in every component.
    Underutilized,
    /// Some capacity in every component.
    Moderate,
    /// No capacity in one component.
    Saturated,
}

impl Level {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Underutilized => "underutilized",
            Level::Moderate => "moderate",
            Level::Saturated => "saturated",
        }
    }
}

/// Remedy that would increase throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Help {
    /// More TBs of this kernel per SM.
    MoreTbs,
    /// Fewer TBs of this kernel per SM.
    FewerTbs,
    /// Wider wires of the crossbar.
    WiderWires,
    /// A co-runner that uses the warp schedulers.
    ComputingPartner,
    /// A co-runner that rarely uses the warp schedulers.
    WaitingPartner,
    /// Any co-runner.
    AnyPartner,
}

impl Help {
    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Help::MoreTbs => "more TBs",
            Help::FewerTbs => "fewer TBs",
            Help::WiderWires => "wider wires",
            Help::ComputingPartner => "a compute-intensive partner",
            Help::WaitingPartner => "a memory-bound partner",
            Help::AnyPartner => "any partner",
        }
    }
}

/// Thresholds of section 4.2: scheduler, crossbar, DRAM.
const UTILIZED: [f64; 3] = [0.6, 0.6, 0.5];

/// Thresholds of table 3: scheduler, crossbar, DRAM, caches. A kernel below all of the first is
/// underutilized, above one of the second saturated.
const UNDER: [f64; 4] = [0.6, 0.6, 0.5, 0.6];
const SATURATED: [f64; 4] = [0.8, 0.9, 0.7, 0.8];

/// Bottleneck of a kernel with remedies.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Most utilized component.
    pub component: Component,
    /// Remaining capacity of that component.
    pub level: Level,
    /// Remedies, the most certain first.
    pub helps: Vec<Help>,
}

impl Binding {
    /// Classifies a kernel with the isolated behavior `alone`. `ipc` has the IPC at half of the
    /// maximum TBs per SM, if that is at least one TB, and at the maximum.
    pub fn of(alone: &Alone, ipc: (Option<f64>, f64)) -> Self {
        let (component, level) = (component(alone), level(alone));
        let (more, fewer) = match ipc {
            (Some(half), all) => (all > half, all < half),
            (None, _) => (true, false),
        };
        let crossbar = matches!(component, Component::L2ToSm | Component::SmToL2);
        let partner = match component {
            Component::Scheduler => Help::WaitingPartner,
            Component::L2ToSm | Component::SmToL2 | Component::Dram => Help::ComputingPartner,
            Component::Underutilized => Help::AnyPartner,
        };
        let helps =
            [(level != Level::Saturated && more, Help::MoreTbs), (fewer, Help::FewerTbs), (crossbar, Help::WiderWires), (true, partner)];
        Binding { component, level, helps: helps.into_iter().filter(|(does, _)| *does).map(|(_, help)| help).collect() }
    }
}

/// Returns the component farthest above its threshold, the first of equals.
pub fn component(alone: &Alone) -> Component {
    let [scheduler, crossbar, dram] = UTILIZED;
    let components = [
        (Component::Scheduler, alone.slot(IssueClass::Issued) / scheduler),
        (Component::L2ToSm, alone.reply_utilization.unwrap_or(0.0) / crossbar),
        (Component::SmToL2, alone.request_utilization.unwrap_or(0.0) / crossbar),
        (Component::Dram, alone.dram_utilization.unwrap_or(0.0) / dram),
    ];
    let mut most = (Component::Underutilized, 1.0);
    for component in components {
        if component.1 > most.1 {
            most = component;
        }
    }
    most.0
}

/// Returns the remaining capacity of the most utilized component.
pub fn level(alone: &Alone) -> Level {
    let most = |[a, b]: [Option<f64>; 2]| a.unwrap_or(0.0).max(b.unwrap_or(0.0));
    let used = [
        alone.slot(IssueClass::Issued),
        most([alone.request_utilization, alone.reply_utilization]),
        alone.dram_utilization.unwrap_or(0.0),
        most([alone.l1_utilization, alone.l2_utilization]),
    ];
    if used.iter().zip(SATURATED).any(|(&used, line)| used > line) {
        Level::Saturated
    } else if used.iter().zip(UNDER).all(|(&used, line)| used < line) {
        Level::Underutilized
    } else {
        Level::Moderate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an isolated behavior from utilizations in the order of figure 4: scheduler, L1, SM
    /// to L2, L2 to SM, L2, DRAM.
    fn used([issued, l1, request, reply, l2, dram]: [f64; 6]) -> Alone {
        Alone {
            issue_slots: Some([issued, 1.0 - issued, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            l1_utilization: Some(l1),
            request_utilization: Some(request),
            reply_utilization: Some(reply),
            l2_utilization: Some(l2),
            dram_utilization: Some(dram),
            ..Alone::default()
        }
    }

    #[test]
    fn the_most_utilized_component_binds() {
        let of = |issued, reply, request, dram| component(&used([issued, 0.0, request, reply, 0.0, dram]));
        assert_eq!(of(0.6, 0.6, 0.6, 0.5), Component::Underutilized, "over, not at");
        assert_eq!(of(0.61, 0.0, 0.0, 0.0), Component::Scheduler);
        assert_eq!(of(0.0, 0.61, 0.0, 0.0), Component::L2ToSm);
        assert_eq!(of(0.0, 0.0, 0.61, 0.0), Component::SmToL2);
        assert_eq!(of(0.0, 0.0, 0.0, 0.51), Component::Dram);
        assert_eq!(of(0.7, 0.8, 0.75, 0.6), Component::L2ToSm);
        assert_eq!(of(0.1, 0.2, 0.75, 0.6), Component::SmToL2);
        assert_eq!(of(0.7, 0.7, 0.7, 0.6), Component::Dram, "0.6 / 0.5 is farthest");
        assert_eq!(component(&used([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])), Component::Underutilized, "caches are no category");
        assert_eq!(component(&Alone::default()), Component::Underutilized);
        let types = [Component::Scheduler, Component::Dram, Component::Underutilized].map(Component::kernel_type);
        assert_eq!(types, [Some(KernelType::Compute), Some(KernelType::Memory), None]);
    }

    /// At each threshold of table 3, just below and just above it, with all else idle. Both
    /// comparisons are strict.
    #[test]
    fn levels_have_the_lines_of_table_3() {
        for (part, [under, saturated]) in [[0.6, 0.8], [0.6, 0.8], [0.6, 0.9], [0.6, 0.9], [0.6, 0.8], [0.5, 0.7]].into_iter().enumerate() {
            let of = |share: f64| {
                let mut shares = [0.0; 6];
                shares[part] = share;
                level(&used(shares))
            };
            assert_eq!([of(under - 0.001), of(under), of(saturated), of(saturated + 0.001)], LEVELS, "part {part}");
        }
        assert_eq!(level(&Alone::default()), Level::Underutilized);
    }

    const LEVELS: [Level; 4] = [Level::Underutilized, Level::Moderate, Level::Moderate, Level::Saturated];

    /// Remedies equal those that the paper states for KM (saturated, slower with more TBs), SPMV
    /// (moderate, slower), SAD_1, LBM and HG.
    #[test]
    fn what_helps_follows_from_both_and_from_the_last_tbs() {
        let of = |shares, half, all| Binding::of(&used(shares), (half, all)).helps;
        let replies = |share| [0.1, 0.0, 0.1, share, 0.0, 0.1];
        assert_eq!(of(replies(0.95), Some(100.0), 90.0), [Help::FewerTbs, Help::WiderWires, Help::ComputingPartner]);
        assert_eq!(of(replies(0.8), Some(100.0), 90.0), [Help::FewerTbs, Help::WiderWires, Help::ComputingPartner]);
        assert_eq!(of(replies(0.8), Some(100.0), 110.0), [Help::MoreTbs, Help::WiderWires, Help::ComputingPartner]);
        assert_eq!(of(replies(0.8), Some(100.0), 100.0), [Help::WiderWires, Help::ComputingPartner]);
        assert_eq!(of([0.9, 0.0, 0.0, 0.0, 0.0, 0.0], Some(100.0), 110.0), [Help::WaitingPartner]);
        assert_eq!(of([0.1, 0.0, 0.0, 0.0, 0.0, 0.8], Some(100.0), 110.0), [Help::ComputingPartner]);
        assert_eq!(of([0.3; 6], Some(100.0), 150.0), [Help::MoreTbs, Help::AnyPartner]);
        assert_eq!(
            of([0.3; 6], None, 150.0),
            [Help::MoreTbs, Help::AnyPartner],
            "one TB alone: nothing says that a second takes something"
        );
    }
}
