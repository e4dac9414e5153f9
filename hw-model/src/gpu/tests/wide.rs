//! Tests of the largest GPUs: with 128 memory channels or 256 SMs, all are used, and one more
//! is refused. Also of the SM of current large chips.

use super::*;
use crate::config::SmConfig;
use mias_registers::sm;

/// Runs a kernel whose TBs load separate lines on this GPU. Returns the statistics.
fn run(config: &GpuConfig, tbs: u32) -> Stats {
    let load = StaticInst::new(0, Class::Load(Space::Global)).writes(4).reads(&[4]).width(4);
    let trace = kernel(tbs, 32, 16, 0, |tb, _| (0..4).map(|i| (load, u64::from(4 * tb + i) * 128)).collect());
    alone(config, trace, 1)
}

#[test]
fn all_of_256_sms_run() {
    let mut config = config();
    config.sm.count = 256;
    config.scheduler.commit_cycles_per_sm = 1;
    config.check().unwrap();
    // One TB on each SM, all before the first could move to a second.
    let stats = run(&config, 256);
    assert_eq!(stats.sms.len(), 256);
    assert!(stats.sms.iter().all(|sm| sm.counters.issue_cycles > 0));
    assert_eq!(stats.launches[0].tbs_completed, 256);
}

#[test]
fn all_of_128_channels_are_used() {
    let mut config = config();
    config.dram.channels = 128;
    config.check().unwrap();
    // Channels change every 256 bytes: 4 lines of 128 bytes per TB are 2 channels. Each sector
    // comes from DRAM once.
    let stats = run(&config, 64);
    assert_eq!(stats.launches[0].tbs_completed, 64);
    assert_eq!(stats.launches[0].dram_reads, 64 * 4 * 4);
}

/// 2,048 threads, 32 TBs and 228 KB of shared memory, all of it in use at once; a byte more per TB
/// leaves one TB waiting.
#[test]
fn an_sm_of_todays_largest_chips_is_filled() {
    let mut config = config();
    config.sm = SmConfig { count: 1, threads: 2_048, tbs: 32, shared_bytes: 228 * 1024, shared_granule_bytes: 1, ..config.sm };
    config.l1.carve_out.clear();
    config.check().unwrap();
    let resident = |shared: u32| {
        let chain = vec![(StaticInst::new(0, Class::Dp).writes(4).reads(&[4]), 0); 100];
        let mut gpu = gpu(&config);
        gpu.launch(once(kernel(64, 64, 32, shared, |_, _| chain.clone()))).expect("fits");
        let mut table = Table::fixed(&[32]);
        // One TB per cycle is issued from the launch latency on; each takes at least 6,400 cycles.
        assert_eq!(gpu.run(&mut table, u64::from(config.launch.latency_cycles) + 1_000), RunEnd::CycleLimit);
        let slot = table.slots[0];
        gpu.registers_mut().read32(sm::at(0, sm::RESIDENT + 4 * slot))
    };
    assert_eq!(resident(228 * 1024 / 32), 32);
    assert_eq!(resident(228 * 1024 / 32 + 1), 31);
}

#[test]
fn one_more_is_refused() {
    let refused = |change: fn(&mut GpuConfig)| {
        let mut config = config();
        change(&mut config);
        config.check().unwrap_err().to_string()
    };
    assert!(refused(|config| config.sm.count = 257).starts_with("sm.count = 257: must be at most 256"));
    assert!(refused(|config| config.dram.channels = 129).starts_with("dram.channels = 129: must be at most 128"));
}
