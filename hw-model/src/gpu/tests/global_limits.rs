//! Tests of limits that one SM finds for all (sources.md D126).

use super::memory_issue::with;
use super::*;
use crate::config::{InFlightLimit, MemoryIssueConfig};
use crate::sm::UNLIMITED;

const BROADCAST: u32 = 17;

/// TBs of eight warps, each with loads of as many sectors as lanes: more than an L1 accepts, so
/// that it refuses many.
fn refused(tbs: u32) -> Arc<KernelTrace> {
    let load = |i: u64| StaticInst::new(16 * (i % 16) as u32, Class::Load(Space::Global)).writes(8 + (i % 16) as u8).reads(&[5]).width(128);
    let address = |tb: u32, warp: u32, i: u64| (u64::from(8 * tb + warp) * 400 + i) * 128;
    kernel(tbs, 256, 32, 0, |tb, warp| (0..400).map(|i| (load(i), address(tb, warp, i))).collect())
}

fn gpu_config(in_flight: InFlightLimit) -> GpuConfig {
    let mut config = config();
    (config.sm.count, config.launch.latency_cycles) = (3, 50);
    let broadcast_cycles = (in_flight == InFlightLimit::DynamicGlobal).then_some(BROADCAST);
    with(config, MemoryIssueConfig { in_flight, broadcast_cycles, ..MemoryIssueConfig::default() })
}

/// Limit of the first kernel on each SM in every cycle, and the limit that the monitored SM had
/// found by its end.
fn followed(gpu: &mut Gpu, table: &mut Table, cycles: u64) -> Vec<(Vec<u8>, Option<u8>)> {
    let mut seen = Vec::new();
    while gpu.cycle() < cycles {
        let until = gpu.cycle() + 1;
        gpu.run(table, until);
        let limits = gpu.sms.iter().map(|sm| sm.limit_in_effect(0).expect("a limit")).collect();
        seen.push((limits, gpu.sms.iter().find_map(|sm| sm.found_limit(0))));
    }
    seen
}

/// All SMs have the same limit: that of the monitored SM, delayed by the broadcast.
#[test]
fn limits_reach_all_sms_after_the_broadcast() {
    let mut gpu = gpu(&gpu_config(InFlightLimit::DynamicGlobal));
    gpu.launch(once(refused(12))).expect("fits");
    let seen = followed(&mut gpu, &mut Table::fixed(&[2]), 20_000);
    let mut changes = 0;
    for (cycle, pair) in (1..).zip(seen.windows(2)) {
        let ((before, _), (limits, _)) = (&pair[0], &pair[1]);
        assert!(limits.iter().all(|limit| *limit == limits[0]), "cycle {cycle}: {limits:?}");
        if limits != before {
            changes += 1;
            let sent = seen[cycle - BROADCAST as usize].1;
            assert_eq!(sent, Some(limits[0]), "cycle {cycle}");
        }
    }
    assert!(changes > 1 && seen.iter().any(|(limits, _)| limits[0] < UNLIMITED), "{changes} changes");
}

/// The lowest SM with the kernel is monitored. SMs without the kernel have no effect; when it
/// arrives on a lower one, that one is monitored.
#[test]
fn the_lowest_sm_with_the_kernel_is_monitored() {
    let mut gpu = gpu(&gpu_config(InFlightLimit::DynamicGlobal));
    gpu.launch(once(refused(40))).expect("fits");
    let mut table = Table::fixed(&[0]);
    let monitored = |gpu: &Gpu| -> Vec<usize> { (0..3).filter(|&sm| gpu.sms[sm].found_limit(0).is_some()).collect() };
    gpu.run(&mut table, 100);
    assert!(monitored(&gpu).is_empty());
    for sm in [2, 1, 0] {
        gpu.registers_mut().write32(mias_registers::sm::at(sm, mias_registers::sm::QUOTA), 2);
        gpu.registers_mut().write32(global::COMMIT, 1);
        let (until, mut least) = (gpu.cycle() + 6_000, UNLIMITED);
        while gpu.cycle() < until {
            let next = gpu.cycle() + 100;
            gpu.run(&mut table, next);
            assert_eq!(monitored(&gpu), [sm]);
            least = least.min(gpu.sms[0].limit_in_effect(0).expect("a limit"));
        }
        assert!(least < UNLIMITED, "found on SM {sm}");
    }
}

/// A new kernel in a slot starts without a limit, regardless of the previous one.
#[test]
fn a_new_kernel_has_no_limit() {
    let mut gpu = gpu(&gpu_config(InFlightLimit::DynamicGlobal));
    gpu.launch(once(refused(6))).expect("fits");
    let idle = kernel(1, 32, 16, 0, |_, _| vec![]);
    // This launch comes once the first has left the slot.
    gpu.launch(Launch { arrival_cycle: 400_000, ..once(idle) }).expect("fits");
    let mut table = Table::fixed(&[2, 1]);
    let mut least = UNLIMITED;
    while gpu.registers().kernel(0).is_none_or(|kernel| kernel.grid_tbs != 1) {
        let until = gpu.cycle() + 10;
        assert_ne!(gpu.run(&mut table, until), RunEnd::AllComplete);
        least = least.min(gpu.sms[0].limit_in_effect(0).expect("a limit"));
    }
    let now = [0, 1, 2].map(|sm| gpu.sms[sm].limit_in_effect(0));
    assert!(least < UNLIMITED && now == [Some(UNLIMITED); 3], "{least}, {now:?}");
}
