//! Storage of a policy or a mechanism in addition to the state that every policy needs (quotas,
//! resident TBs, launches). It is given in bits of each SM and of the chip. The widths are those of
//! register map, firmware and model (sources.md D190). Latch copies, wires and logic are not
//! counted.

use super::preemption_storage;
use crate::experiment::mechanisms::quotas;
use crate::experiment::policy::Policy;
use crate::gpus::fields::changed;
use mias_firmware::configs::{MAX_KERNELS, TbVector};
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::policy::Policy as _;
use mias_hw_model::config::{
    GpuConfig, InFlightLimit, MemoryIssueConfig, MemoryOrder, MissDivision, MissResourcesConfig, OversubscriptionMechanism, Partition,
    PartitionConfig,
};
use mias_hw_model::sm::ContextStorage;
use mias_policies::extra::Extra;
use mias_policies::policy::AnyPolicy;
use mias_registers::PolicyCode;
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_COUNT_BITS, KERNEL_SLOTS};

/// Number of kernels with separate state.
const SLOTS: u64 = KERNEL_SLOTS as u64;

/// Bits of a 32-bit counter.
const WORD: u64 = 32;

/// Bits of a byte address (assumption: as for saved contexts,
/// `hw-model/src/sm/preempt/traffic.rs`).
const ADDRESS: u32 = 47;

/// Bits of memory issue state, per SM and kernel slot (`hw-model/src/sm/memory_issue/mod.rs`; Dai
/// et al. 2018, section 4.4).
const IN_FLIGHT: u64 = 7;
const LIMIT: u64 = 7;
const FAILS: u64 = 12;
const REQUESTS: u64 = 10;
const INSTRUCTIONS: u64 = 10;
const QUOTA: u64 = 16;

/// Bits of a limit of active warps, per SM and kernel slot (`hw-model/src/sm/memory_issue/mod.rs`).
const ACTIVE_WARPS: u64 = 6;

/// Bits of the three states of an SM.
const SM_STATE: u64 = 2;

/// Additional bits of storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    /// Bits in every SM.
    pub sm: u64,
    /// Bits stored once, beyond the SMs.
    pub chip: u64,
}

impl Bits {
    fn plus(self, other: Bits) -> Bits {
        Bits { sm: self.sm + other.sm, chip: self.chip + other.chip }
    }

    fn of_sm(sm: u64) -> Bits {
        Bits { sm, chip: 0 }
    }
}

/// Returns the bits that hold any of `0..=most`.
fn wide(most: u32) -> u64 {
    u64::from(u32::BITS - most.leading_zeros())
}

/// Returns the bits that a policy stores on a GPU; none where they are not known.
pub fn bits(policy: Policy, gpu: &GpuConfig) -> Option<Bits> {
    let fields = policy
        .composed()
        .map(|composed| composed.fields().into_iter().chain(composed.has_quotas().then(|| quotas(vec![1]))).collect::<Vec<_>>());
    let gpu = changed(gpu, fields.iter().flatten()).ok()?;
    let mut all = counters(policy)?;
    if let Some(memory) = &gpu.sm.memory_issue {
        all = all.plus(memory_issue(memory)?);
    }
    if let Some(partition) = &gpu.l1.partition {
        all = all.plus(Bits::of_sm(ways(partition, gpu.l1.sets, gpu.l1.ways, gpu.l1.line_bytes)?));
    }
    if let Some(partition) = &gpu.l2.partition {
        let slices = u64::from(gpu.dram.channels) * u64::from(gpu.l2.slices_per_channel);
        all.chip += slices * ways(partition, gpu.l2.sets, gpu.l2.ways, gpu.l2.line_bytes)?;
    }
    if let Some(division) = &gpu.l1.miss_resources {
        all.sm += miss_resources(division, &gpu)?;
    }
    if let (Some(storage), Some(oversubscription)) = (ContextStorage::of(&gpu), gpu.sm.oversubscription) {
        all.sm += u64::from(if oversubscription.mechanism == OversubscriptionMechanism::Virtual {
            storage.virtual_bits()
        } else {
            storage.duet_bits()
        });
    }
    if gpu.sm.preemption.is_some() {
        all.sm += preemption_storage::hardware_bits();
    }
    Some(all)
}

/// Returns the storage of the counters that its decisions read, and of the registers that searches
/// set.
fn counters(policy: Policy) -> Option<Bits> {
    let named = policy.in_firmware()?;
    if named.code.searches() {
        return Some(search(named.code));
    }
    let decides = AnyPolicy::new(named.code, &GpuProperties::NONE, &Settings::NONE, TbVector([0; MAX_KERNELS]));
    let read = decides.counters();
    let by_slot = SLOTS * u64::from(Counter::ThreadInsts.width());
    let also: &[Counter] = match decides.extra() {
        Some(Extra::L2Misses) => &[Counter::L2Accesses, Counter::L2Hits],
        Some(Extra::Speedup | Extra::WholeProgress) => &[Counter::LoadRequests, Counter::L2Accesses, Counter::L2Hits],
        Some(Extra::Progress) | None => &[],
    };
    let kernels = match decides.extra() {
        Some(Extra::Progress | Extra::Speedup | Extra::WholeProgress) => by_slot,
        Some(Extra::L2Misses) | None => 0,
    };
    let whole = Counter::ALL.into_iter().filter(|counter| read.contains(*counter) || also.contains(counter));
    let whole: u64 = whole.map(|counter| u64::from(counter.width())).sum();
    // A reader of any counter of an SM also reads its instructions, warp or thread.
    let instructions = match whole {
        0 => 0,
        _ if read.contains(Counter::WarpInsts) => 0,
        _ => u64::from(Counter::ThreadInsts.width()),
    };
    Some(Bits::of_sm(whole + instructions + kernels))
}

/// Returns the storage of the chip-wide kernel counters that a search reads
/// (`firmware/policies/src/search/counts.rs`), and of the registers that it sets.
fn search(code: PolicyCode) -> Bits {
    use PolicyCode::{EffectiveBandwidth, EffectiveBandwidthFair, EffectiveBandwidthHarmonic, FairShare, FairShareModel};
    let limits = matches!(code, EffectiveBandwidth | EffectiveBandwidthFair | EffectiveBandwidthHarmonic);
    let rows = matches!(code, FairShare | FairShareModel);
    // Warp instructions, L2 accesses and hits, DRAM reads and writes, completed TBs; row hits; L1
    // accesses and misses.
    let counts = 6 + if rows { 1 } else { 0 } + if limits { 2 } else { 0 };
    // Cycles and thread instructions are words.
    let chip = SLOTS * (counts * u64::from(KERNEL_COUNT_BITS) + 2 * WORD);
    Bits { sm: SM_STATE + if limits { SLOTS * ACTIVE_WARPS } else { 0 }, chip }
}

/// Returns the storage of arbitration among memory instructions.
fn memory_issue(memory: &MemoryIssueConfig) -> Option<Bits> {
    let order = match memory.order {
        MemoryOrder::Scheduler => 0,
        // Pointer to the next kernel in turn.
        MemoryOrder::RoundRobin => wide(KERNEL_SLOTS as u32 - 1),
        MemoryOrder::Quota => SLOTS * (INSTRUCTIONS + QUOTA),
    };
    // Both count requests, and share the counter.
    let counts = memory.order == MemoryOrder::Quota || memory.in_flight == InFlightLimit::Dynamic;
    let requests = if counts { SLOTS * REQUESTS } else { 0 };
    let limits = match memory.in_flight {
        InFlightLimit::None => Bits::default(),
        InFlightLimit::Static => Bits::of_sm(SLOTS * (IN_FLIGHT + LIMIT)),
        InFlightLimit::Dynamic => Bits::of_sm(SLOTS * (IN_FLIGHT + LIMIT + FAILS)),
        // One SM for each kernel finds its limit.
        InFlightLimit::DynamicGlobal => Bits { sm: SLOTS * (IN_FLIGHT + LIMIT), chip: SLOTS * (FAILS + REQUESTS) },
        InFlightLimit::Firmware => return None,
    };
    // A quota and its remainder.
    let warp_quota = if memory.warp_quota.is_empty() { 0 } else { SLOTS * 2 * WORD };
    Some(limits.plus(Bits::of_sm(order + requests + warp_quota)))
}

/// Returns the storage of way ownership, and of the monitors that partition ways
/// (`hw-model/src/cache/ways/owned.rs`, `utility.rs`).
fn ways(partition: &PartitionConfig, sets: u32, ways: u32, line_bytes: u32) -> Option<u64> {
    let watched = u64::from(partition.sampled_sets.min(sets));
    let (all_sets, all_ways) = (u64::from(sets), u64::from(ways));
    let owned = all_sets * all_ways * wide(KERNEL_SLOTS as u32 - 1) + all_sets * SLOTS * wide(ways);
    let tag = u64::from(ADDRESS.saturating_sub(line_bytes.ilog2()).saturating_sub(sets.ilog2()));
    let monitor = watched * all_ways * (tag + wide(ways.saturating_sub(1))) + WORD * (all_ways + 1);
    match partition.by {
        Partition::Shared => Some(0),
        Partition::Fixed => Some(owned + SLOTS * wide(ways)),
        Partition::Ucp | Partition::UcpRate => Some(owned + SLOTS * monitor),
    }
}

/// Returns the storage of shares of the L1's miss resources, and of the kernels' occupancy of miss
/// queue and MSHRs (`hw-model/src/sm/miss_resources/divided.rs`); cache sets already track lines.
fn miss_resources(division: &MissResourcesConfig, gpu: &GpuConfig) -> Option<u64> {
    match division.by {
        MissDivision::Shared => Some(0),
        MissDivision::Equal => Some(SLOTS * (wide(gpu.l1.ways) + 2 * wide(gpu.l1.miss_queue) + 2 * wide(gpu.l1.mshrs))),
        MissDivision::Weights => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::policies::Policies;
    use crate::gpus;
    use crate::gpus::fields::Field;

    fn of(policy: &str, fields: &str) -> Bits {
        let gpu = changed(&gpus::load("field").unwrap(), &Field::of_text(fields).unwrap()).unwrap();
        bits(Policies::default().find(policy).unwrap(), &gpu).unwrap()
    }

    fn sm(sm: u64) -> Bits {
        Bits { sm, chip: 0 }
    }

    /// Policies that divide without measuring store nothing. Metrics read three, four and five
    /// counters (docs/porting/decision-latency.md) of 17, 17 and 24 bits and 17 or 17 and 25.
    #[test]
    fn counters_are_those_that_are_read() {
        assert_eq!([of("left-over", ""), of("spatial", ""), of("smk", "")], [Bits::default(); 3]);
        assert_eq!([of("mias-ipc", ""), of("mias-ipm-ipc", "")], [sm(17 + 17 + 24), sm(17 + 17 + 17 + 24)]);
        assert_eq!([of("mias-factor", ""), of("mias-linear", "")], [sm(17 + 17 + 17 + 25 + 24); 2]);
        assert_eq!(of("warped-slicer", ""), sm(17 + 17 + 24));
        assert_eq!(of("maestro", ""), sm(8 * 24), "the kernels' instructions");
    }

    /// Dai et al. 2018, section 4.4: 7, 12 and 10 bits of a kernel's MILG, and 10 of its memory
    /// instructions; here also a limit of 7 and a quota of 16, in each of 8 slots.
    #[test]
    fn memory_issue_has_the_papers_widths() {
        let ws = of("warped-slicer", "").sm;
        assert_eq!(of("warped-slicer+dmil", "").sm - ws, 8 * (7 + 12 + 10 + 7));
        assert_eq!(of("warped-slicer+qbmi", "").sm - ws, 8 * (10 + 10 + 16));
        assert_eq!(of("warped-slicer+qbmi+dmil", "").sm - ws, 8 * (7 + 12 + 10 + 7 + 10 + 16), "requests are counted once");
        assert_eq!(of("warped-slicer+rbmi", "").sm - ws, 3);
        assert_eq!(of("warped-slicer", "sm.memory_issue.in_flight = 'dynamic'"), of("warped-slicer+dmil", ""));
        assert_eq!(of("smk+warp-quota", ""), sm(8 * 64));
    }

    /// Lin et al. 2018, table 4 and section 6.8: 1,034 and 84 bytes.
    #[test]
    fn contexts_have_the_papers_bytes() {
        assert_eq!(of("spatial", "sm.oversubscription.mechanism = 'duet'"), sm(8 * 1_034));
        assert_eq!(of("spatial", "sm.oversubscription.mechanism = 'virtual'"), sm(8 * 84));
    }

    /// Additional hardware adds bits.
    #[test]
    fn more_is_more() {
        let ucp = of("warped-slicer+l1-ucp", "");
        // 32 sets of 8 ways: owners of 256 lines and counts of up to 8 lines. 8 monitors have 256
        // tags of 47 minus 7 minus 5 bits with 3 bits of their order, and 9 words.
        assert_eq!(ucp.sm - of("warped-slicer", "").sm, 256 * 3 + 32 * 8 * 4 + 8 * (256 * (35 + 3) + 9 * 32));
        let l2 = of("warped-slicer", "l2.partition.by = 'ucp'");
        assert!(l2.chip > 0 && l2.sm == of("warped-slicer", "").sm);
        let search = of("cd-search", "");
        assert_eq!(search, Bits { sm: 2, chip: 8 * (6 * 27 + 64) });
        assert!(of("effective-bandwidth", "").sm > search.sm && of("fair-share", "").chip > search.chip);
        assert!(of("mias-ipm-ipc", "sm.preemption.switch = 'stall'").sm > of("mias-ipm-ipc", "").sm);
        assert_eq!(of("warped-slicer+equal-misses", "").sm - of("warped-slicer", "").sm, 8 * (4 + 2 * 4 + 2 * 9));
    }
}
