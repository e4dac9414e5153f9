//! The levels of memory as an SM sees them: latency, peak rate, and Little's law.

use super::*;

/// Past the L1, a hit in the L2: the fixed latency and twelve stages (docs/timing-model.md), and one cycle more per further sector.
#[test]
fn an_l2_hit_costs_its_latency_and_twelve_stages() {
    let config = config();
    let mut load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    load.bypass_l1 = true;
    assert_eq!(cost(&config, (load, 0x1000)), u64::from(config.l2.latency) + 12 + 3);
}

/// L1 hits stream at the peak of one sector per bank and cycle, which is a whole line per cycle and SM.
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
    // Now and then no warp is ready: a register is written a cycle after its neighbour's.
    assert!(taken <= peak + peak / 100, "{taken} cycles for {peak} lines");
}

/// Little's law for the L1 (property 47). A warp loads one line after the other, none of them in a cache, so that its four sectors
/// wait from the look-up on. While it waits the SM is memory-stalled, and the MSHR entries summed over those cycles are the
/// entries' number times the time each is held.
#[test]
fn mean_outstanding_of_the_l1_is_throughput_times_latency() {
    let config = config();
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let run = |count: u64| {
        let mut gpu = gpu(&config);
        let lines = kernel(1, 32, 16, 0, |_, _| (0..count).map(|n| (load, 0x1000 + n * 4096)).collect());
        gpu.launch(once(lines)).expect("fits");
        assert_eq!(gpu.run(&mut Table::fixed(&[32]), 10_000_000), RunEnd::AllComplete);
        let stats = gpu.stats();
        let outstanding: u64 = stats.sms.iter().map(|sm| sm.counters.accumulated_outstanding).sum();
        (stats.launches[0].load_requests, outstanding, stats.cycles)
    };
    let (short, long) = (run(100), run(300));
    let requests = long.0 - short.0;
    assert_eq!(requests, 4 * 200);
    // From outside: a load costs so many cycles; it is looked up L1 latency + 4 after its issue, and a sector that has
    // come leaves in the order of the four, one per cycle: 0 to 3 cycles before the last, 1.5 on average. The last is then
    // chosen for write-back and written, which are two cycles.
    let per_load = (long.2 - short.2) as f64 / 200.0;
    let held = per_load - f64::from(config.l1.latency + 4) - 1.5 - 2.0;
    let measured = (long.1 - short.1) as f64 / requests as f64;
    // The edge: a cycle at either end may be the look-up's or the write-back's, or one of issue, which is no stall.
    assert!((measured - held).abs() <= 2.0, "entries held {measured} cycles, expected {held}");
}

#[test]
fn stores_leave_at_one_sector_per_cycle() {
    let config = config();
    let store = StaticInst::new(0, Class::Store(Space::Global)).reads(&[4, 5]).width(4);
    assert_eq!(cost(&config, (store, 0x1000)), 4, "four sectors");
}
