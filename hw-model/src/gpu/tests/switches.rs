//! Tests of switched contexts: the SM on which a switched-out TB resumes, and issue by others while
//! contexts move (Wang et al. 2016, as in Shieh 2016, section 5.3; sources.md D133).

use super::preempt::{Eager, preempting, preempting_gpu};
use super::*;
use crate::config::{ResumeOn, SwitchModel};
use crate::gpu::Technique;
use mias_registers::preempt::{self, MAX_PLACES};
use mias_registers::technique;

/// Number of instructions of each warp of a long kernel.
const LONG: usize = 6_000;

/// Kernel of arithmetic, whose TBs have no accesses in flight; warps of TB `tb` have `insts(tb)`
/// instructions.
fn busy(tbs: u32, threads: u32, insts: impl Fn(u32) -> usize) -> Arc<KernelTrace> {
    kernel(tbs, threads, 32, 0, |tb, _| (0..insts(tb)).map(|_| (StaticInst::new(0, Class::Sp).writes(4).reads(&[4]), 0)).collect())
}

/// SM of each TB of the kernel in slot 0.
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

/// SMs of each TB of a kernel, one stay after the other. The kernel has four TBs on each of two
/// SMs. All are switched out for an urgent kernel whose two TBs take an SM each, one for long and
/// the other not.
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
    // The urgent kernel keeps one SM much longer than the other.
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
        // The SM that is free first takes the TBs that have waited longest, from any SM.
        let any = stays(ResumeOn::AnySm, switch);
        let moved = any.iter().filter(|stays| stays[0] != stays[1]).count();
        assert!(moved > 0, "{any:?}");
        assert_ne!(any.iter().filter(|stays| stays[1] == 0).count(), 0, "{any:?}");
    }
}

/// Eight TBs of two warps are on an SM, so few that every warp issues as soon as possible; three of
/// them are switched out.
#[test]
fn others_issue_while_a_context_goes() {
    const VICTIMS: usize = 3;
    const TBS: usize = 8;
    let config = preempting(SwitchModel::Traffic, ResumeOn::AnySm);
    let mut gpu = preempting_gpu(&config);
    gpu.launch(once(busy(TBS as u32, 64, |_| LONG))).expect("fits");
    let mut table = Table::fixed(&[32]);
    let begin = 2_000 + u64::from(config.launch.latency_cycles);
    assert_eq!(gpu.run(&mut table, begin), RunEnd::CycleLimit);
    assert_eq!(gpu.sms[0].resident(0), TBS as u32);
    gpu.registers_mut().write32(global::MODE, mode::PREEMPT);
    for place in 0..VICTIMS {
        gpu.registers_mut().write32(preempt::at(0, preempt::COMMAND + 4 * place as u32), technique::SWITCH);
    }
    // Instructions issued by each TB, cycle by cycle, until the last victim has left.
    let mut series: Vec<[Option<u64>; TBS]> = Vec::new();
    loop {
        assert_eq!(gpu.run(&mut table, gpu.now + 1), RunEnd::CycleLimit);
        let (programs, now) = (gpu.programs.clone(), gpu.now);
        series.push(std::array::from_fn(|place| gpu.sms[0].tb_status(place, now, false, &programs).map(|tb| tb.insts)));
        if gpu.stats().preemptions.iter().filter(|tb| tb.left_cycle.is_some()).count() == VICTIMS {
            break;
        }
        assert!(series.len() < 100_000, "they leave");
    }
    let of = |place: usize| series.iter().map(move |all| all[place]);
    // 64 threads of 32 registers, and two warps of 288 bytes: a sector per cycle.
    let sectors = (4 * 64 * 32 + 2 * 288) / 32;
    let stopped: Vec<usize> = (0..VICTIMS)
        .map(|place| {
            let last = of(place).flatten().last();
            of(place).position(|insts| insts == last).expect("it was there")
        })
        .collect();
    let left: Vec<u64> = gpu.stats().preemptions.iter().map(|tb| tb.left_cycle.expect("all have left") - begin).collect();
    // One at a time: a victim stops when the previous context begins to move, so that its own is
    // ready when that one has left. A warp's instructions depend on each other.
    let pitch = config.sm.units.sp.latency as usize + 5;
    for place in 1..VICTIMS {
        assert!(stopped[place] + pitch > sectors * (place - 1), "{stopped:?} of {sectors} sectors each");
        assert!((stopped[place] as u64) < left[place - 1], "{stopped:?}, {left:?}");
        assert!(left[place] >= left[place - 1] + sectors as u64, "{left:?}");
    }
    // The TBs that do not leave have issued all the time.
    for (place, window) in (VICTIMS..TBS).flat_map(|place| series.windows(100).map(move |window| (place, window))) {
        let (first, last) = (window[0][place].expect("it stays"), window[99][place].expect("it stays"));
        assert!(last > first, "the TB in place {place} stands still at {first}");
    }
}
