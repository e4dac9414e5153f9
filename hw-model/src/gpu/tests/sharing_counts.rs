//! Counter operations for the energy of mechanisms that divide an SM among kernels (sources.md
//! D175), in closed form.

use super::lines::whole_lines;
use super::memory_issue::with;
use super::*;
use crate::config::{
    InFlightLimit, L1Lookup, MemoryIssueConfig, MemoryOrder, MissDivision, MissResourcesConfig, Partition, PartitionConfig, StaticLimit,
    Unlimited,
};
use crate::memory::MemoryCounters;
use crate::sm::KernelCounters;

fn one_sm() -> GpuConfig {
    let mut config = config();
    (config.sm.count, config.launch.latency_cycles) = (1, 50);
    config
}

/// Kernel of accesses of one sector each, independent of the 15 before, and an exit.
fn accesses(class: Class, number: u64, line: impl Fn(u64) -> u64) -> Arc<KernelTrace> {
    let access = |i: u64| {
        let inst = StaticInst::new(16 * (i % 16) as u32, class).reads(&[5]).width(1);
        if matches!(class, Class::Load(_)) { inst.writes(8 + (i % 16) as u8) } else { inst }
    };
    kernel(1, 32, 64, 0, |_, _| (0..number).map(|i| (access(i), 128 * line(i))).collect())
}

const LOAD: Class = Class::Load(Space::Global);

/// Counts of one warp of this kernel; the firmware reads the counters every `interval_cycles`, 0:
/// never.
fn counted_watched(config: &GpuConfig, trace: Arc<KernelTrace>, interval_cycles: u32) -> (KernelCounters, MemoryCounters) {
    let mut gpu = gpu(config);
    gpu.launch(once(trace)).expect("fits");
    gpu.registers_mut().write32(global::MEMORY_INTERVAL, interval_cycles);
    assert_eq!(gpu.run(&mut Table::fixed(&[1]), 1_000_000), RunEnd::AllComplete);
    let LaunchCounters { sm, memory } = gpu.stats().counters[0];
    (sm, memory)
}

fn counted(config: &GpuConfig, trace: Arc<KernelTrace>) -> (KernelCounters, MemoryCounters) {
    counted_watched(config, trace, 0)
}

/// Number of loads of one warp, of eight lines: as many are misses, all others hit or wait for
/// them.
const LOADS: u64 = 2_100;

fn of_loads(mechanism: MemoryIssueConfig) -> KernelCounters {
    counted(&with(one_sm(), mechanism), accesses(LOAD, LOADS, |i| i % 8)).0
}

fn off() -> MemoryIssueConfig {
    MemoryIssueConfig::default()
}

fn limited(limit: StaticLimit) -> MemoryIssueConfig {
    MemoryIssueConfig { in_flight: InFlightLimit::Static, limits: vec![limit], ..off() }
}

#[test]
fn what_is_off_counts_nothing() {
    assert_eq!(counted(&one_sm(), accesses(LOAD, LOADS, |i| i % 8)).0.sharing_counts, 0);
    assert_eq!(of_loads(off()).sharing_counts, 0);
    assert_eq!(of_loads(limited(StaticLimit::Any(Unlimited::Inf))).sharing_counts, 0);
    let others = MemoryIssueConfig {
        in_flight: InFlightLimit::Static,
        limits: vec![StaticLimit::Any(Unlimited::Inf), StaticLimit::Most(2)],
        ..off()
    };
    assert_eq!(of_loads(others).sharing_counts, 0, "the limit of a slot that is empty");
}

/// One operation for each instruction issued, including the exit; a new set adds one for each
/// kernel with a quota.
#[test]
fn warp_quotas_count_instructions() {
    let of = |warp_quota: &[u32]| of_loads(MemoryIssueConfig { warp_quota: warp_quota.to_vec(), ..off() }).sharing_counts;
    let issued = LOADS + 1;
    assert_eq!(of(&[10_000]), issued);
    assert_eq!(of(&[10]), issued + issued / 10);
    assert_eq!(of(&[10, 7, 3]), issued + 3 * (issued / 10));
}

#[test]
fn turns_count_memory_instructions() {
    assert_eq!(of_loads(MemoryIssueConfig { order: MemoryOrder::RoundRobin, ..off() }).sharing_counts, LOADS);
}

/// Two operations for each instruction, one for each request. A single kernel with one request each
/// has a set of one instruction, and one count. Every 1,024 requests a rate of six, and a set of
/// 32.
#[test]
fn quotas_count_instructions_requests_and_sets() {
    let counted = of_loads(MemoryIssueConfig { order: MemoryOrder::Quota, ..off() });
    assert_eq!(counted.requests(), LOADS);
    assert_eq!(counted.sharing_counts, 2 * LOADS + LOADS + LOADS + 2 * (6 + 32));
}

/// A limit counts up and down. A dynamic one also has a peak for each instruction, a request, a
/// fail, and every 1,024 requests a quotient of seven bits. With quotas in addition, a request is
/// still counted once.
#[test]
fn limits_count_what_is_in_flight() {
    assert_eq!(of_loads(limited(StaticLimit::Most(5))).sharing_counts, 2 * LOADS);
    let found = of_loads(MemoryIssueConfig { in_flight: InFlightLimit::Dynamic, ..off() });
    let of_found = |counted: &KernelCounters| 3 * LOADS + LOADS + counted.reservation_fails() + 2 * 7;
    assert_eq!(found.sharing_counts, of_found(&found));
    let both = of_loads(MemoryIssueConfig { in_flight: InFlightLimit::Dynamic, order: MemoryOrder::Quota, ..off() });
    assert_eq!(both.sharing_counts, of_found(&both) + 2 * LOADS + LOADS + 2 * (6 + 32));
}

/// Global limits: the monitored SM counts like one with its own limits, the others count
/// instructions in flight, and each counts an arriving limit.
#[test]
fn limits_for_all_are_found_once() {
    let load = |i: u64| StaticInst::new(16 * (i % 16) as u32, LOAD).reads(&[5]).width(1).writes(8 + (i % 16) as u8);
    let trace = || kernel(3, 32, 64, 0, |_, _| (0..LOADS).map(|i| (load(i), 128 * (i % 8))).collect());
    let mut gpu = one_sm();
    gpu.sm.count = 3;
    let counted = counted(&with(gpu, MemoryIssueConfig { in_flight: InFlightLimit::DynamicGlobal, ..off() }), trace()).0;
    // Without fails, no limit changes, so nothing is broadcast.
    assert_eq!(counted.reservation_fails(), 0);
    let monitored = 4 * LOADS + 2 * 7;
    // When the monitored SM has ended, another one is monitored for the rest of its time.
    let difference = counted.sharing_counts.abs_diff(monitored + 2 * 2 * LOADS);
    assert!(difference <= 64, "{} of {monitored}", counted.sharing_counts);
}

/// Firmware limits need the operations of hardware limits except for the quotient, and only if it
/// reads the counters.
#[test]
fn limits_of_the_firmware_need_counters() {
    let gpu = with(one_sm(), MemoryIssueConfig { in_flight: InFlightLimit::Firmware, ..off() });
    let trace = || accesses(LOAD, LOADS, |i| i % 8);
    let (unwatched, watched) = (counted(&gpu, trace()).0, counted_watched(&gpu, trace(), 100_000).0);
    assert_eq!(unwatched.sharing_counts, 2 * LOADS);
    assert_eq!(watched.sharing_counts, 3 * LOADS + LOADS + watched.reservation_fails());
}

/// A line fill is one access of owners, in either cache; a hit is none.
#[test]
fn lines_that_come_ask_for_owners() {
    const LINES: u64 = 90;
    let partition = |ways: &[u32]| Some(PartitionConfig { by: Partition::Fixed, ways: ways.to_vec(), ..PartitionConfig::default() });
    let of = |l1: Option<PartitionConfig>, l2: Option<PartitionConfig>| {
        let mut gpu = whole_lines(one_sm(), L1Lookup::AtHead);
        (gpu.l1.partition, gpu.l2.partition) = (l1, l2);
        // Few enough lines of each set to stay.
        let (sm, memory) = counted(&gpu, accesses(LOAD, 4 * LINES, |i| i % LINES));
        (sm.l1_owner_accesses, memory.l2_owner_accesses)
    };
    assert_eq!(of(None, None), (0, 0));
    assert_eq!(of(partition(&[4, 2]), None), (LINES, 0));
    assert_eq!(of(None, partition(&[4, 2])), (0, LINES));
}

/// A load miss takes a line, a miss-queue entry and an MSHR, each with one count up and one down; a
/// store takes a miss-queue entry.
#[test]
fn shares_of_miss_resources_count_up_and_down() {
    let mut gpu = whole_lines(one_sm(), L1Lookup::AtHead);
    let of = |gpu: &GpuConfig, class| counted(gpu, accesses(class, 90, |i| i)).0;
    assert_eq!(of(&gpu, LOAD).sharing_counts, 0);
    gpu.l1.miss_resources = Some(MissResourcesConfig { by: MissDivision::Equal, weights: vec![] });
    let loads = of(&gpu, LOAD);
    assert_eq!((loads.l1_load_misses, loads.sharing_counts), (90, 6 * 90));
    let stores = of(&gpu, Class::Store(Space::Global));
    assert_eq!((stores.store_requests, stores.sharing_counts), (90, 2 * 90));
    gpu.l1.miss_resources = Some(MissResourcesConfig::default());
    assert_eq!(of(&gpu, LOAD).sharing_counts, 0, "shared");
}
