//! Contexts that are switched: where a TB goes on that was switched out (sources.md D133).

use super::preempt::{Eager, preempting, preempting_gpu};
use super::*;
use crate::config::{ResumeOn, SwitchModel};
use crate::gpu::Technique;
use mias_firmware::regs::preempt::MAX_PLACES;
use mias_firmware::regs::technique;

/// Warp instructions of a TB of one kernel that is busy for long: each warp has so many.
const LONG: usize = 6_000;

/// A kernel of arithmetic, whose TBs have no accesses in flight; warps of TB `tb` have `insts(tb)` instructions.
fn busy(tbs: u32, threads: u32, insts: impl Fn(u32) -> usize) -> Arc<KernelTrace> {
    kernel(tbs, threads, 32, 0, |tb, _| (0..insts(tb)).map(|_| (StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0)).collect())
}

/// The SM on which each TB of the kernel in slot 0 is.
fn where_they_are(gpu: &mut Gpu, tbs: usize) -> Vec<Option<usize>> {
    let (programs, now) = (gpu.programs.clone(), gpu.now);
    let mut found = vec![None; tbs];
    for sm in 0..gpu.sms.len() {
        for place in 0..MAX_PLACES {
            if let Some(tb) = gpu.sms[sm].tb_status(place, now, false, &programs).filter(|tb| tb.kernel == 0) {
                assert_eq!(found[tb.index as usize].replace(sm), None, "TB {} is in two places", tb.index);
            }
        }
    }
    found
}

/// SMs that each TB of a kernel was on, one stay after the other. The kernel has four TBs on each of two SMs, and all are switched out for an
/// urgent one whose two TBs take an SM each, the one for long and the other not.
fn stays(resume: ResumeOn, switch: SwitchModel) -> Vec<Vec<usize>> {
    const TBS: usize = 8;
    let mut config = preempting(switch, resume);
    config.sm.count = 2;
    let mut gpu = preempting_gpu(&config);
    gpu.launch(once(busy(TBS as u32, 256, |_| LONG))).expect("fits");
    let urgent = busy(2, 1024, |tb| if tb == 0 { 4_000 } else { 10 });
    let arrival_cycle = 3000 + u64::from(config.launch.latency_cycles);
    gpu.launch(Launch { arrival_cycle, stream: 1, priority: 1, ..once(urgent) }).expect("fits");
    let mut eager = Eager::new(&[32, 32], technique::SWITCH);
    let (mut stays, mut before) = (vec![Vec::new(); TBS], vec![None; TBS]);
    loop {
        let end = gpu.run(&mut eager, gpu.now + 10);
        let here = where_they_are(&mut gpu, TBS);
        for ((stays, before), here) in stays.iter_mut().zip(&before).zip(&here) {
            if before.is_none() {
                stays.extend(here);
            }
        }
        before = here;
        if end == RunEnd::AllComplete {
            break;
        }
        assert!(end == RunEnd::CycleLimit && gpu.now < 1_000_000, "{end:?}");
    }
    let stats = gpu.stats();
    assert_eq!(stats.launches[0].tbs_completed, TBS as u64);
    let switched = |tb: usize| stats.preemptions.iter().filter(|one| one.tb as usize == tb && one.technique == Technique::Switch).count();
    assert!((0..TBS).all(|tb| switched(tb) == 1), "{:?}", stats.preemptions);
    // One SM is the urgent kernel's for much longer than the other.
    assert!(stays.iter().all(|stays| stays.len() == 2), "{stays:?}");
    stays
}

#[test]
fn a_tb_goes_on_where_it_was_or_where_there_is_room() {
    for switch in [SwitchModel::Traffic, SwitchModel::Stall] {
        let same = stays(ResumeOn::SameSm, switch);
        assert!(same.iter().all(|stays| stays[0] == stays[1]), "{same:?}");
        for sm in [0, 1] {
            assert_eq!(same.iter().filter(|stays| stays[1] == sm).count(), 4, "{same:?}");
        }
        // The SM that is free first takes those that have waited longest, wherever they come from.
        let any = stays(ResumeOn::AnySm, switch);
        let moved = any.iter().filter(|stays| stays[0] != stays[1]).count();
        assert!(moved > 0, "{any:?}");
        assert_ne!(any.iter().filter(|stays| stays[1] == 0).count(), 0, "{any:?}");
    }
}
