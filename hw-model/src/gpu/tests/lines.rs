//! Tests of caches that fetch whole lines, packets of several flits, and an L1 that looks up at the
//! head of the load/store unit (sources.md D121).

use super::*;
use crate::config::{L1Lookup, L1Write, L2WriteMiss, SetIndex};

/// Reference GPU with these options.
pub(super) fn whole_lines(mut config: GpuConfig, lookup: L1Lookup) -> GpuConfig {
    (config.l1.sector_bytes, config.l1.write, config.l1.lookup) = (128, L1Write::Evict, lookup);
    (config.l1.sets, config.l1.ways, config.l1.index, config.l1.carve_out) = (32, 6, SetIndex::Xor, Vec::new());
    (config.l2.sector_bytes, config.l2.write_miss) = (128, L2WriteMiss::Fetch);
    (config.interconnect.flit_bytes, config.interconnect.header_bytes) = (32, 8);
    config.check().expect("a GPU");
    config
}

fn load(width: u8, line: u64) -> Step {
    (StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(width), 128 * line)
}

/// Counts of one warp's steps.
fn counts(config: &GpuConfig, steps: &[Step]) -> LaunchStats {
    alone(config, kernel(1, 32, 16, 0, |_, _| steps.to_vec()), 1).launches[0]
}

/// A hit takes the latency before or after its look-up, and a line is one access.
#[test]
fn a_hit_costs_the_same_wherever_it_is_looked_up() {
    let of = |lookup| cost(&whole_lines(config(), lookup), load(4, 8));
    assert_eq!(of(L1Lookup::AfterLatency), cost(&config(), load(4, 8)));
    assert_eq!(of(L1Lookup::AtHead), cost(&config(), load(4, 8)));
    // Four lines share one bank, so they are served one after the other.
    assert_eq!(cost(&whole_lines(config(), L1Lookup::AtHead), load(16, 8)), cost(&config(), load(4, 8)) + 3);
}

#[test]
fn a_line_is_one_access_and_four_atoms() {
    let config = whole_lines(config(), L1Lookup::AtHead);
    let warp = counts(&config, &[load(4, 8), load(4, 8), load(16, 64)]);
    assert_eq!((warp.l1.accesses, warp.l1.misses, warp.l2.accesses, warp.l2.misses), (6, 5, 5, 5));
    assert_eq!((warp.dram_reads, warp.request_packets, warp.reply_packets), (20, 5, 25));
    // A byte per lane is a sector of the line, and its store two flits.
    let store = (StaticInst::new(0, Class::Store(Space::Global)).reads(&[4]).width(1), 128 * 8);
    let warp = counts(&config, &[load(4, 8), store]);
    assert_eq!((warp.l1.accesses, warp.l1.misses, warp.l2.accesses, warp.l2.misses), (2, 1, 2, 1), "a store that hits drops the line");
    assert_eq!((warp.request_packets, warp.reply_packets), (1 + 2, 5 + 1));
    let atomic = (StaticInst::new(0, Class::Atomic(Space::Global)).writes(4).reads(&[4]).width(4), 128 * 8);
    let warp = counts(&config, &[atomic]);
    assert_eq!((warp.l2.accesses, warp.dram_reads, warp.request_packets), (4, 4, 8), "what passes the L1 by goes by sectors");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |change: fn(&mut GpuConfig)| {
        let mut gpu = whole_lines(config(), L1Lookup::AtHead);
        change(&mut gpu);
        gpu.check().expect_err("no GPU").to_string()
    };
    for (change, message) in [
        ((|gpu| gpu.l1.sector_bytes = 64) as fn(&mut GpuConfig), "l1.sector_bytes = 64: must be 32, or line_bytes"),
        (|gpu| gpu.l2.sector_bytes = 32, "l2.sector_bytes = 32: must be that of the l1"),
        (|gpu| gpu.l1.write = L1Write::ThroughAllocate, "l1.sector_bytes = 128: without sectors l1.write must be \"evict\""),
        (|gpu| gpu.l2.write_miss = L2WriteMiss::LazyFetch, "l2.sector_bytes = 128: without sectors l2.write_miss must be \"fetch\""),
        (|gpu| gpu.l2.miss_queue = 2, "l2.miss_queue = 2: must be at least 3"),
        (|gpu| gpu.l1.sets = 16, "l1.sets = 16: the xor index is defined for 32 and 64 sets"),
        (|gpu| gpu.dram.address.index = SetIndex::Xor, "dram.address.index"),
        (|gpu| gpu.dram.address.bank_bits[0] = 5, "l2.sector_bytes = 128: what is fetched at once must lie in one row"),
        (|gpu| gpu.interconnect.flit_bytes = 4, "interconnect.flit_bytes = 4: must be at least 8"),
        (|gpu| gpu.interconnect.header_bytes = 65, "interconnect.header_bytes = 65: must be at most 64"),
        (|gpu| gpu.interconnect.header_bytes = 0, "interconnect.flit_bytes = 32: must be at least 40"),
    ] {
        let said = refused(change);
        assert!(said.starts_with(message), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Skipped cycles, and cycles slept by SMs, would have changed nothing.
    #[test]
    fn skipping_changes_nothing(recipe in random_kernel(), at_head: bool) {
        let mut config = whole_lines(config(), if at_head { L1Lookup::AtHead } else { L1Lookup::AfterLatency });
        (config.sm.count, config.launch.latency_cycles) = (4, 50);
        prop_assert_eq!(run_of(&config, &recipe, true), run_of(&config, &recipe, false));
    }
}
