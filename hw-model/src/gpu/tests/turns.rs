//! Launches in sequence equal launches one after the other on a stream, counted as one.

use super::*;
use crate::counts::Count;

/// Firmware in which the n-th launch gets as many TBs per SM as every other.
fn quotas(tbs: u32) -> Table {
    Table::fixed(&[tbs; 64])
}

/// GPU after `until` cycles, or when all is done.
fn run(launches: Vec<(Launch, Vec<Arc<KernelTrace>>)>, tbs: u32, until: u64, skip: bool) -> (RunEnd, Stats) {
    let mut gpu = gpu(&small());
    if !skip {
        gpu = gpu.without_skipping();
    }
    for (launch, then) in launches {
        gpu.launch_in_turn(launch, then).expect("fits");
    }
    let end = gpu.run(&mut quotas(tbs), until);
    (end, gpu.stats())
}

/// Separate launches on one stream.
fn one_by_one(traces: &[Arc<KernelTrace>]) -> Vec<(Launch, Vec<Arc<KernelTrace>>)> {
    traces.iter().map(|trace| (once(trace.clone()), Vec::new())).collect()
}

fn all(counters: &[LaunchCounters]) -> LaunchCounters {
    let mut sum = LaunchCounters::default();
    counters.iter().for_each(|counters| sum.add(counters));
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn in_turn_is_one_after_the_other(first in random_kernel(), second in random_kernel()) {
        let (a, b) = (first.trace(), second.trace());
        let traces = [a.clone(), b.clone(), a.clone()];
        let tbs = first.quota.min(second.quota).max(1);
        let (end, turns) = run(vec![(once(a.clone()), traces[1..].to_vec())], tbs, u64::MAX, true);
        let (_, apart) = run(one_by_one(&traces), tbs, u64::MAX, true);
        prop_assert_eq!(end, RunEnd::AllComplete);
        prop_assert_eq!((&turns.sms, turns.cycles), (&apart.sms, apart.cycles));
        prop_assert_eq!(turns.counters, vec![all(&apart.counters)]);
        let launch = turns.launches[0];
        prop_assert_eq!((launch.start_cycle, launch.end_cycle), (apart.launches[0].start_cycle, apart.launches[2].end_cycle));
        prop_assert_eq!(launch.warp_insts, 2 * a.warp_insts() + b.warp_insts());
        prop_assert_eq!(launch.tbs_completed, u64::from(2 * a.tbs() + b.tbs()));
        // Each has a launch latency.
        prop_assert!(turns.cycles >= 3 * u64::from(small().launch.latency_cycles));
    }

    /// In a window the first follows the last, as if the list continued.
    #[test]
    fn the_first_follows_the_last(first in random_kernel(), second in random_kernel(), skip: bool) {
        let (a, b) = (first.trace(), second.trace());
        let tbs = first.quota.min(second.quota).max(1);
        let until = 31_000;
        let again = Launch { relaunch: true, ..once(a.clone()) };
        let (end, turns) = run(vec![(again, vec![b.clone()])], tbs, until, skip);
        prop_assert_eq!((end, turns.cycles), (RunEnd::CycleLimit, until));
        // More launches than the window has launch latencies.
        let list: Vec<Arc<KernelTrace>> = [first.trace(), second.trace()].into_iter().cycle().take(8).collect();
        let (_, apart) = run(one_by_one(&list), tbs, until, true);
        prop_assert_eq!(&turns.sms, &apart.sms);
        prop_assert_eq!(turns.counters, vec![all(&apart.counters)]);
        prop_assert_eq!((turns.launches[0].start_cycle, turns.launches[0].end_cycle), (Some(0), None));
    }
}
