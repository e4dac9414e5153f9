//! Tests of the cap on TBs per SM.

use super::*;

/// GPU with one SM, which decides alone.
fn one_sm() -> GpuConfig {
    let mut config = config();
    config.sm.count = 1;
    config
}

fn chains(tbs: u32) -> Arc<KernelTrace> {
    let add = StaticInst::new(16, Class::Int).writes(4).reads(&[4]);
    kernel(tbs, 64, 16, 0, |_, _| vec![(add, 0); 50])
}

#[test]
fn no_sm_holds_more_tbs_than_the_cap_and_reaches_it() {
    let mut gpu = gpu(&one_sm()).with_tb_cap(3);
    gpu.launch(once(chains(10))).expect("fits");
    let mut scheduler = Table::fixed(&[8]);
    let mut most = 0;
    while gpu.run(&mut scheduler, gpu.cycle() + 1) == RunEnd::CycleLimit {
        most = most.max(gpu.sms[0].resident(0));
    }
    assert_eq!(most, 3);
    assert_eq!(gpu.stats().launches[0].tbs_completed, 10);
}

/// TBs that run one after the other take equally long, in any order.
#[test]
fn with_a_cap_of_one_time_grows_by_the_same_for_every_tb() {
    let run = |tbs: u32| {
        let mut gpu = gpu(&one_sm()).with_tb_cap(1);
        gpu.launch(once(chains(tbs))).expect("fits");
        assert_eq!(gpu.run(&mut Table::fixed(&[8]), 1_000_000), RunEnd::AllComplete);
        gpu.cycle()
    };
    let cycles = [1, 2, 3, 7].map(run);
    let per_tb = cycles[1] - cycles[0];
    assert_eq!(cycles[2] - cycles[1], per_tb);
    assert_eq!(cycles[3] - cycles[2], 4 * per_tb);
    // 50 dependent additions of 7 cycles (sources.md D97).
    assert!(per_tb >= 50 * 7, "{per_tb}");
}

/// The other SMs stay empty regardless of their quotas, and the kernel still runs to its end.
#[test]
fn only_open_sms_are_given_tbs() {
    let mut config = config();
    config.sm.count = 4;
    let mut gpu = gpu(&config).with_open_sms(3);
    gpu.launch(once(chains(40))).expect("fits");
    assert_eq!(gpu.run(&mut Table::fixed(&[2]), 10_000_000), RunEnd::AllComplete);
    let stats = gpu.stats();
    let busy: Vec<bool> = stats.sms.iter().map(|sm| sm.active_cycles > 0).collect();
    assert_eq!(busy, [true, true, true, false]);
    assert_eq!(stats.launches[0].tbs_completed, 40);
    let filled = stats.launches[0].filled_cycle.expect("there was room on three SMs for all that fit there");
    assert!(filled < stats.launches[0].end_cycle.expect("it has ended"));
}
