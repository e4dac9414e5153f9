//! Mechanisms that are on in a GPU and off in most, read from the GPU itself. So a report
//! shows them whether a file, a mechanism or an option enabled them.

use mias_hw_model::config::{
    DramOrder, GpuConfig, InFlightLimit, MemoryIssueConfig, MemoryIssueFrom, MemoryOrder, MissDivision, OversubscriptionMechanism,
    Partition, PartitionConfig,
};

/// Formats a line on the GPU's mechanisms; empty if there are none.
pub(super) fn line(gpu: &GpuConfig) -> String {
    let mut on = gpu.sm.memory_issue.as_ref().map_or_else(Vec::new, memory_issue);
    on.extend(ways("L1", gpu.l1.partition.as_ref()));
    on.extend(ways("L2", gpu.l2.partition.as_ref()));
    match gpu.l1.miss_resources.as_ref().map(|resources| resources.by) {
        None | Some(MissDivision::Shared) => {}
        Some(MissDivision::Equal) => on.push("miss resources in equal shares".into()),
        Some(MissDivision::Weights) => on.push("miss resources by weights".into()),
    }
    on.extend(gpu.sm.oversubscription.map(|oversubscription| {
        let name = match oversubscription.mechanism {
            OversubscriptionMechanism::Virtual => "virtual thread",
            OversubscriptionMechanism::Duet => "GPUDuet",
            OversubscriptionMechanism::DuetTb => "GPUDuet, TBs only",
        };
        format!("extra TBs ({name})")
    }));
    match gpu.dram.scheduler.as_ref().map(|scheduler| scheduler.by) {
        None | Some(DramOrder::FrFcfs) => {}
        Some(DramOrder::Fcfs) => on.push("DRAM requests in order".into()),
        Some(DramOrder::KernelCap) => on.push("DRAM row hits capped by kernel".into()),
        Some(DramOrder::Batch) => on.push("DRAM requests in batches (PAR-BS)".into()),
        Some(DramOrder::Shares) => on.push("DRAM bandwidth in shares".into()),
    }
    if on.is_empty() { String::new() } else { format!("with {}\n", on.join(", ")) }
}

/// Describes the arbitration among memory instructions, and the limits in flight.
fn memory_issue(config: &MemoryIssueConfig) -> Vec<String> {
    let order = match config.order {
        MemoryOrder::Scheduler => None,
        MemoryOrder::RoundRobin => Some("memory instructions of kernels in turns (RBMI)"),
        MemoryOrder::Quota => Some("memory instructions by quotas (QBMI)"),
    };
    let limit = match config.in_flight {
        InFlightLimit::None => None,
        InFlightLimit::Static => Some("static limits of memory instructions in flight (SMIL)"),
        InFlightLimit::Dynamic => Some("limits of memory instructions in flight, set by each SM (DMIL)"),
        InFlightLimit::DynamicGlobal => Some("limits of memory instructions in flight, set by one SM for all (global DMIL)"),
        InFlightLimit::Firmware => Some("limits of memory instructions in flight, set by the firmware"),
    };
    let quota = (!config.warp_quota.is_empty()).then_some("shares of warp instructions");
    let mut on: Vec<String> = [order, limit, quota].into_iter().flatten().map(str::to_owned).collect();
    if let (Some(last), MemoryIssueFrom::Decision) = (on.last_mut(), config.from) {
        *last += " from the decision on";
    }
    on
}

/// Describes the partitioning of a cache's ways, if any.
fn ways(cache: &str, config: Option<&PartitionConfig>) -> Option<String> {
    match config?.by {
        Partition::Shared => None,
        Partition::Fixed => Some(format!("{cache} ways, fixed")),
        Partition::Ucp => Some(format!("{cache} ways by utility (UCP)")),
        Partition::UcpRate => Some(format!("{cache} ways by utility and rate (UCP)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_lab::gpus;

    #[test]
    fn what_is_on_is_named_and_nothing_else() {
        let mut gpu = gpus::load("rtx2060").expect("built in");
        assert_eq!(line(&gpu), "");
        gpu.sm.memory_issue = Some(MemoryIssueConfig::default());
        assert_eq!(line(&gpu), "", "there, and off");
        gpu.sm.memory_issue = Some(MemoryIssueConfig {
            order: MemoryOrder::Quota,
            in_flight: InFlightLimit::Dynamic,
            from: MemoryIssueFrom::Decision,
            ..MemoryIssueConfig::default()
        });
        gpu.l2.partition = Some(PartitionConfig { by: Partition::Ucp, ..PartitionConfig::default() });
        assert_eq!(
            line(&gpu),
            "with memory instructions by quotas (QBMI), limits of memory instructions in flight, set by each SM (DMIL) from the decision on, L2 ways by utility (UCP)\n"
        );
    }
}
