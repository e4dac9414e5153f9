//! First runs contain exactly a grid's TBs, and end when the last of them has ended.

use super::*;

fn first_run_of(config: &GpuConfig, launch: Launch, then: Vec<Arc<KernelTrace>>, tbs: u32, until: u64) -> LaunchStats {
    let mut gpu = gpu(config).with_first_runs();
    gpu.launch_in_turn(launch, then).expect("fits");
    gpu.run(&mut Table::fixed(&[tbs; 64]), until);
    gpu.stats().launches[0]
}

/// The first TB takes as long as several passes of the others: the first run ends with it, though
/// its grid has restarted several times.
#[test]
fn it_ends_with_its_last_tb_and_not_with_as_many_tbs() {
    const LONG: usize = 2_000;
    let add = (StaticInst::new(0, Class::Int).writes(4).reads(&[4, 5]), 0);
    let trace = kernel(4, 32, 16, 0, |tb, _| vec![add; if tb == 0 { LONG } else { 10 }]);
    let mut config = config();
    config.sm.count = 1;
    let again = Launch { relaunch: true, ..once(trace.clone()) };
    let launch = first_run_of(&config, again, Vec::new(), 2, 60_000);
    let first = launch.first_run.expect("it has run once");
    let least = LONG as u64 * u64::from(config.sm.units.int.latency);
    assert!(first.end_cycle >= u64::from(config.launch.latency_cycles) + least, "{first:?}");
    assert_eq!((first.warp_insts, first.thread_insts), (trace.warp_insts(), trace.thread_insts()));
    assert!(launch.tbs_completed > 3 * u64::from(trace.tbs()), "other passes ran beside it");
}

#[test]
fn nobody_asked() {
    let trace = kernel(2, 32, 16, 0, |_, _| vec![(StaticInst::new(0, Class::Int), 0)]);
    let mut gpu = gpu(&config());
    gpu.launch(once(trace)).expect("fits");
    gpu.run(&mut Table::fixed(&[2]), 50_000);
    assert_eq!(gpu.stats().launches[0].first_run, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// A kernel that runs once has run once when it ends. A relaunched one does not have its first
    /// run earlier, and its work is equal.
    #[test]
    fn once_is_once(first in random_kernel(), second in random_kernel(), turns: bool) {
        let (a, b) = (first.trace(), second.trace());
        let then = if turns { vec![b.clone()] } else { Vec::new() };
        let tbs = first.quota.min(second.quota).max(1);
        let launch = first_run_of(&config(), once(a.clone()), then.clone(), tbs, u64::MAX);
        let run = launch.first_run.expect("it has ended");
        prop_assert_eq!(Some(run.end_cycle), launch.end_cycle);
        prop_assert_eq!((run.warp_insts, run.thread_insts), (launch.warp_insts, launch.thread_insts));
        let again = first_run_of(&config(), Launch { relaunch: true, ..once(a) }, then, tbs, 4 * run.end_cycle);
        let again_run = again.first_run.expect("four times as long");
        prop_assert_eq!((again_run.warp_insts, again_run.thread_insts), (run.warp_insts, run.thread_insts));
        prop_assert!(again_run.end_cycle >= again.all_issued_cycle.expect("all were issued"));
        if turns {
            // The second pass does not start before the first has ended.
            prop_assert_eq!(again_run.end_cycle, run.end_cycle);
        }
    }
}
