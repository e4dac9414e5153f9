//! Levels of memory from an SM: latency, peak rate, and Little's law.

use super::*;
use crate::sm::SmCounters;
use mias_registers::bus::Bus;
use mias_registers::counters::Counter;
use mias_registers::{sm, sm_control};

/// Past the L1, a hit in the L2 takes the fixed latency and twelve stages
/// (docs/explanation/timing-sm.md), and one cycle more per further sector.
#[test]
fn an_l2_hit_costs_its_latency_and_twelve_stages() {
    let config = config();
    let mut load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    load.bypass_l1 = true;
    assert_eq!(cost(&config, (load, 0x1000)), u64::from(config.l2.latency) + 12 + 3);
}

/// L1 hits stream at the peak of one sector per bank and cycle, which is a whole line per cycle and
/// SM.
#[test]
fn l1_hits_stream_at_a_line_per_cycle() {
    let config = config();
    let warps = 32;
    let run = |count: u32| {
        let load = |n: u32| StaticInst::new(0, Class::Load(Space::Global)).writes(4 + (n % 8) as u8).reads(&[3]).width(4);
        cycles(&config, kernel(1, 32 * warps, 32, 0, |_, _| (0..count).map(|n| (load(n), 0x1000)).collect()))
    };
    assert_eq!(config.l1.banks, 4, "four sectors of a line, four banks");
    let peak = 200 * u64::from(warps);
    let taken = run(300) - run(100);
    assert!(taken >= peak, "{taken} cycles for {peak} lines: more than a line per cycle");
    // In some cycles no warp is ready: a register is written a cycle after its neighbor's.
    assert!(taken <= peak + peak / 100, "{taken} cycles for {peak} lines");
}

/// Little's law for the L1 (sources.md D110). A warp loads one line after the other, none of them
/// cached, so its four sectors wait from the look-up on. While it waits, the SM is memory-stalled.
/// The MSHR entries summed over those cycles are the number of entries times the time of each.
#[test]
fn mean_outstanding_of_the_l1_is_throughput_times_latency() {
    let config = config();
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let run = |count: u64| {
        let lines = kernel(1, 32, 16, 0, |_, _| (0..count).map(|n| (load, 0x1000 + n * 4096)).collect());
        let stats = alone(&config, lines, 32);
        let sum = |count: fn(&SmCounters) -> u64| stats.sms.iter().map(|sm| count(&sm.counters)).sum::<u64>();
        let outstanding = [sum(|sm| sm.outstanding_misses), sum(|sm| sm.outstanding_cycles)];
        assert_eq!((stats.launches[0].l1_load_misses, sum(|sm| sm.lsu_stall_cycles)), (stats.counters[0].sm.load_requests, 0));
        (stats.counters[0].sm.load_requests, outstanding, stats.cycles)
    };
    let (short, long) = (run(100), run(300));
    let requests = long.0 - short.0;
    assert_eq!(requests, 4 * 200);
    // External view: a load takes a known number of cycles and is looked up L1 latency + 4 after
    // its issue. An arrived sector leaves in the order of the four, one per cycle: 0 to 3 cycles
    // before the last, 1.5 on average. The last is then selected for write-back and written, two
    // cycles.
    let per_load = (long.2 - short.2) as f64 / 200.0;
    let held = per_load - f64::from(config.l1.latency + 4) - 1.5 - 2.0;
    let measured = [0, 1].map(|of| (long.1[of] - short.1[of]) as f64 / requests as f64);
    // The edge: at either end, a cycle may belong to the look-up or the write-back, or to issue,
    // which is no stall.
    assert!((measured[0] - held).abs() <= 2.0, "entries held {} cycles of stall, expected {held}", measured[0]);
    assert!((measured[1] - held).abs() <= 2.0, "entries held {} cycles, expected {held}", measured[1]);
    assert!(measured[1] >= measured[0], "stalls are a part of all cycles");
}

/// 32 warps load a line each at once, four misses per cycle against one that the crossbar takes.
/// The miss queue fills, and then look-ups are refused until the last request has left.
#[test]
fn a_burst_beyond_the_miss_queue_stalls_the_load_store_unit() {
    let stalls = |miss_queue: u32| {
        let mut config = config();
        config.l1.miss_queue = miss_queue;
        let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
        let mut gpu = launched(&config, [kernel(1, 1024, 16, 0, |_, warp| vec![(load, 0x1000 + u64::from(warp) * 4096)])]);
        assert_eq!(gpu.run(&mut Table::fixed(&[32]), 10_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        assert!(stats.launches[0].request_packets >= 4 * 32 && stats.launches[0].reply_packets >= 4 * 32);
        let stalls: u64 = stats.sms.iter().map(|sm| sm.counters.lsu_stall_cycles).sum();
        // The register block has the same counts for the whole run, since nothing was latched
        // before.
        let latched = (0..gpu.sms.len()).map(|sm| {
            let now = gpu.now;
            let raw = super::super::raw_counters(&mut gpu.sms[sm], &gpu.memory, sm, now);
            gpu.registers.load_counters(sm, raw);
            gpu.registers.write32(sm::at(sm, sm::CONTROL), sm_control::SNAPSHOT);
            u64::from(gpu.registers.read32(sm::at(sm, Counter::LsuStallCycles.register())))
        });
        assert_eq!(latched.sum::<u64>(), stalls);
        (stalls, stats.launches[0].l1.reservation_fails)
    };
    // 32 warps of four sectors are 128 requests, of which one leaves per cycle: a queue for all of
    // them never refuses.
    assert_eq!(stalls(256), (0, 0));
    let (cycles, fails) = stalls(8);
    // Up to four banks fail per cycle; 128 requests leave one by one, so there are at most 128
    // stall cycles.
    assert!(cycles > 0 && cycles <= 128 && (cycles..=4 * cycles).contains(&fails), "{cycles} cycles, {fails} fails");
}

#[test]
fn stores_leave_at_one_sector_per_cycle() {
    let config = config();
    let store = StaticInst::new(0, Class::Store(Space::Global)).reads(&[4, 5]).width(4);
    assert_eq!(cost(&config, (store, 0x1000)), 4, "four sectors");
}
