//! Comparison of the GPU of Lin et al. 2018, `lin18-lines`, with the paper's table 1: unloaded
//! load latencies, and bandwidths of the crossbar and DRAM (sources.md D169).

use super::*;

fn lin18() -> GpuConfig {
    toml::from_str(mias_gpus::text("lin18-lines").expect("built in")).expect("valid")
}

/// Lines that the L2 holds at their next use, and the L1 does not.
const LINES: u64 = 1024;

/// Core cycles per load of `more` dependent loads of a line after `before` of them, all by one
/// warp. Load n is of line `line(n)`.
fn per_load(before: u64, more: u64, line: impl Fn(u64) -> u64) -> f64 {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let run = |count: u64| cycles(&lin18(), kernel(1, 32, 16, 0, |_, _| (0..count).map(|n| (load, 128 * line(n))).collect()));
    (run(before + more) - run(before)) as f64 / more as f64
}

/// Lin et al. 2018, table 1: an L2 hit takes 200 cycles. A first round loads the lines into the L2.
#[test]
fn an_l2_hit_takes_200_cycles() {
    let cycles = per_load(LINES, LINES, |n| n % LINES);
    assert!((cycles - 200.0).abs() <= 1.0, "{cycles}");
}

/// Lin et al. 2018, table 1: a DRAM access takes 450 cycles. Lines of all channels and many banks,
/// each in its own row.
#[test]
fn what_dram_answers_takes_450_cycles() {
    let cycles = per_load(64, 256, |n| n * (8192 + 2));
    assert!((cycles - 450.0).abs() <= 4.5, "{cycles}");
}

/// Lin et al. 2018, section 3.1 and table 1: wires of 16, 32 and 64 bytes are 307, 614 and 1,228
/// GB/s per direction. DRAM has 307 GB/s.
#[test]
fn bandwidths_are_the_papers() {
    let GpuConfig { sm, interconnect, dram, clocks, .. } = lin18();
    let gb_per_s = |bytes_per_cycle: u32, khz: u32| f64::from(bytes_per_cycle) * f64::from(khz) * 1e-6;
    assert_eq!((sm.count, dram.channels * lin18().l2.slices_per_channel, interconnect.flit_bytes), (16, 16, 32));
    for (wires, expected) in [(16, 307.2), (32, 614.4), (64, 1228.8)] {
        assert!((gb_per_s(sm.count * wires, clocks.interconnect_khz) - expected).abs() < 0.1, "{wires} bytes");
    }
    assert!((gb_per_s(dram.channels * dram.bus_bytes * dram.beats_per_cycle, clocks.dram_khz) - 307.2).abs() < 0.1);
}

/// Lin et al. 2018, section 3.1: replies reach close to 60 % of the peak, with wires of each width.
/// All SMs read random lines that the L2 holds, more of them than an L1 holds. A line and its
/// header are 9, 5 and 3 flits. With wires of 64 bytes, a slice's port gives a line in 4 cycles and
/// sometimes leaves the crossbar's queues short.
#[test]
fn replies_of_the_l2_saturate_the_crossbar_at_sixty_percent() {
    for (wires, flits, least) in [(16, 9, 0.55), (32, 5, 0.55), (64, 3, 0.5)] {
        let mut config = lin18();
        config.interconnect.flit_bytes = wires;
        let run = |count: u64| {
            let load = |n: u64| StaticInst::new(0, Class::Load(Space::Global)).writes(4 + (n % 8) as u8).reads(&[3]).width(4);
            let line = |tb: u64, warp: u64, n: u64| (tb * 64 + warp * 8 + n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52;
            let body = |tb: u32, warp: u32| (0..count).map(|n| (load(n), 128 * line(tb.into(), warp.into(), n * 8192))).collect();
            let launch = alone(&config, kernel(128, 256, 32, 0, body), 32).launches[0];
            (launch.end_cycle.expect("complete"), launch.reply_packets, launch.l1.misses)
        };
        // The first rounds load the lines from DRAM into the L2.
        let (before, after) = (run(40), run(120));
        let sent = after.1 - before.1;
        assert_eq!(sent, flits * (after.2 - before.2), "{wires} bytes");
        let share = sent as f64 / ((after.0 - before.0) as f64 * 1.2 * 16.0);
        assert!((least..=0.61).contains(&share), "{wires} bytes: {share:.3} of the peak");
    }
}
