//! What binds a kernel: the part of the machine that it uses most, how much of it is left, and what would help (Lin et al. 2018).
//!
//! * The category is that of section 4.2: the component farthest above its line, which is 60 % for
//!   the warp schedulers and for either direction of the crossbar (of the 60 % that it sustains)
//!   and 50 % for DRAM. A kernel that is above none is underutilised.
//! * The level is that of table 3, which looks at both caches, too.
//! * What would help is a reading of ours (sources.md D171): more TBs where the level is not
//!   saturated (sections 4.3 and 5.1) and the last TBs brought something; fewer where they took
//!   something; wider wires where the crossbar binds (figure 5); and a partner that asks for
//!   something else.

use super::alone::Alone;
use mias_hw_model::sm::IssueClass;
use mias_workloads::kernels::KernelType;
use serde::Serialize;

/// The categories of Lin et al. 2018: the component that is used most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Component {
    /// Warp schedulers.
    Scheduler,
    /// Crossbar, replies.
    L2ToSm,
    /// Crossbar, requests.
    SmToL2,
    /// DRAM.
    Dram,
    /// None of them is used enough.
    Underutilised,
}

impl Component {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Component::Scheduler => "scheduler",
            Component::L2ToSm => "L2->SM",
            Component::SmToL2 => "SM->L2",
            Component::Dram => "DRAM",
            Component::Underutilised => "under",
        }
    }

    /// As compute or memory intensive; none if underutilised.
    pub fn kernel_type(self) -> Option<KernelType> {
        match self {
            Component::Scheduler => Some(KernelType::Compute),
            Component::L2ToSm | Component::SmToL2 | Component::Dram => Some(KernelType::Memory),
            Component::Underutilised => None,
        }
    }
}

/// How much of what a kernel uses most is left, table 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Much of everything.
    Underutilised,
    /// Something, of everything.
    Moderate,
    /// Nothing, of one component.
    Saturated,
}

impl Level {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Underutilised => "underutilised",
            Level::Moderate => "moderate",
            Level::Saturated => "saturated",
        }
    }
}

/// What would let a machine get more done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Help {
    /// Of this kernel per SM.
    MoreTbs,
    /// Of this kernel per SM.
    FewerTbs,
    /// Of the crossbar.
    WiderWires,
    /// Beside it, a kernel whose schedulers have something to do.
    ComputingPartner,
    /// Beside it, a kernel that leaves the schedulers alone.
    WaitingPartner,
    /// Beside it, any kernel.
    AnyPartner,
}

impl Help {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Help::MoreTbs => "more TBs",
            Help::FewerTbs => "fewer TBs",
            Help::WiderWires => "wider wires",
            Help::ComputingPartner => "a partner that computes",
            Help::WaitingPartner => "a partner that waits for memory",
            Help::AnyPartner => "any partner",
        }
    }
}

/// Section 4.2: scheduler, crossbar, DRAM.
const UTILISED: [f64; 3] = [0.6, 0.6, 0.5];

/// Table 3: scheduler, crossbar, DRAM, caches. Below all of the first a kernel is underutilised, above one of the second saturated.
const UNDER: [f64; 4] = [0.6, 0.6, 0.5, 0.6];
const SATURATED: [f64; 4] = [0.8, 0.9, 0.7, 0.8];

/// What binds a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The component that is used most.
    pub component: Component,
    /// How much of it is left.
    pub level: Level,
    /// What would help, the most certain first.
    pub helps: Vec<Help>,
}

impl Binding {
    /// Of a kernel that ran alone as `alone` says; `ipc` has that of half of the most TBs per SM, if half is a TB or more, and of the most.
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
            Component::Underutilised => Help::AnyPartner,
        };
        let helps =
            [(level != Level::Saturated && more, Help::MoreTbs), (fewer, Help::FewerTbs), (crossbar, Help::WiderWires), (true, partner)];
        Binding { component, level, helps: helps.into_iter().filter(|(does, _)| *does).map(|(_, help)| help).collect() }
    }
}

/// The component farthest above its line, the first of equals.
pub fn component(alone: &Alone) -> Component {
    let [scheduler, crossbar, dram] = UTILISED;
    let components = [
        (Component::Scheduler, alone.slot(IssueClass::Issued) / scheduler),
        (Component::L2ToSm, alone.reply_utilization.unwrap_or(0.0) / crossbar),
        (Component::SmToL2, alone.request_utilization.unwrap_or(0.0) / crossbar),
        (Component::Dram, alone.dram_utilization.unwrap_or(0.0) / dram),
    ];
    let mut most = (Component::Underutilised, 1.0);
    for component in components {
        if component.1 > most.1 {
            most = component;
        }
    }
    most.0
}

/// How much of the component that is used most is left.
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
        Level::Underutilised
    } else {
        Level::Moderate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scheduler, L1, SM to L2, L2 to SM, L2, DRAM: the order of figure 4.
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
    fn the_most_utilised_component_binds() {
        let of = |issued, reply, request, dram| component(&used([issued, 0.0, request, reply, 0.0, dram]));
        assert_eq!(of(0.6, 0.6, 0.6, 0.5), Component::Underutilised, "over, not at");
        assert_eq!(of(0.61, 0.0, 0.0, 0.0), Component::Scheduler);
        assert_eq!(of(0.0, 0.61, 0.0, 0.0), Component::L2ToSm);
        assert_eq!(of(0.0, 0.0, 0.61, 0.0), Component::SmToL2);
        assert_eq!(of(0.0, 0.0, 0.0, 0.51), Component::Dram);
        assert_eq!(of(0.7, 0.8, 0.75, 0.6), Component::L2ToSm);
        assert_eq!(of(0.1, 0.2, 0.75, 0.6), Component::SmToL2);
        assert_eq!(of(0.7, 0.7, 0.7, 0.6), Component::Dram, "0.6 / 0.5 is farthest");
        assert_eq!(component(&used([0.0, 1.0, 0.0, 0.0, 1.0, 0.0])), Component::Underutilised, "caches are no category");
        assert_eq!(component(&Alone::default()), Component::Underutilised);
        let types = [Component::Scheduler, Component::Dram, Component::Underutilised].map(Component::kernel_type);
        assert_eq!(types, [Some(KernelType::Compute), Some(KernelType::Memory), None]);
    }

    /// At each line of table 3, just below and just above it, everything else idle. Below is strict, and so is above.
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
        assert_eq!(level(&Alone::default()), Level::Underutilised);
    }

    const LEVELS: [Level; 4] = [Level::Underutilised, Level::Moderate, Level::Moderate, Level::Saturated];

    /// As the paper says of KM (saturated, loses by more TBs), SPMV (moderate, loses), SAD_1, LBM and HG.
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
