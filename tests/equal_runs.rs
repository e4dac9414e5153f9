//! Runs that an evaluation treats as equal are equal, by running both.

use crate::common::workloads::{executed, executed_ahead, runner};
use mias_lab::evaluate::record::{Kept, canonical, is_first_alone};
use mias_lab::experiment::gpu_runner::{DecisionTime, End, GpuRunner, Options, Run};
use mias_lab::experiment::policy::{Control, IpcUnit, Latency, Policy, Transition};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::Workload;

const SMS: u32 = 3;

const KERNELS: [(&str, u64); 2] = [("mm", 64), ("fwt", 1 << 14)];

fn run(runner: &SimulatedGpu, all: &[&Workload], control: &Control, options: Options) -> Kept {
    Kept::of(&runner.run(&Run { control: control.clone(), workloads: all.to_vec(), options }, &|_| {}).unwrap())
}

#[test]
fn left_over_in_an_endless_window_is_the_first_kernel_alone() {
    let (runner, all) = (runner(SMS), executed(&KERNELS));
    let both: Vec<&Workload> = all.iter().collect();
    let max_tbs: Vec<u32> = all.iter().map(|workload| runner.max_tbs(workload).unwrap()).collect();
    let options = Options::new(End::Cycles(40_000));
    let alone = run(&runner, &both[..1], &Control::Policy(Policy::LeftOver), options);
    let mut first_only = vec![0; both.len()];
    first_only[0] = max_tbs[0];
    for control in [Control::Policy(Policy::LeftOver), Control::Fixed(first_only)] {
        assert!(is_first_alone(&control, &max_tbs, &[0, 0], options));
        let together = run(&runner, &both, &control, options);
        let derived = alone.with_idle_kernels(both.len(), max_tbs[0], SMS);
        // The second kernel was launched and has waited since cycle 0.
        assert_eq!(together.launches[1].tbs_issued, 0);
        assert_eq!(together, derived);
    }
    // Without relaunches the second kernel has its turn, and no run is derived.
    let once = Options { relaunch: false, ..options };
    assert!(!is_first_alone(&Control::Policy(Policy::LeftOver), &max_tbs, &[0, 0], once));
    assert!(run(&runner, &both, &Control::Policy(Policy::LeftOver), once).launches[1].tbs_issued > 0);
}

#[test]
fn executed_while_it_runs_or_before_is_the_same_run() {
    let (runner, whole) = (runner(SMS), executed(&KERNELS));
    let whole: Vec<&Workload> = whole.iter().collect();
    for (policy, end) in [(Policy::LeftOver, End::Done), (Policy::MiasIpmIpc, End::Cycles(60_000)), (Policy::Spatial, End::Cycles(9_000))] {
        let options = Options { profile_cycles: 5_000, ..Options::new(end) };
        let ahead = executed_ahead(&KERNELS);
        let ahead: Vec<&Workload> = ahead.iter().collect();
        let control = Control::Policy(policy);
        assert_eq!(run(&runner, &ahead, &control, options), run(&runner, &whole, &control, options), "{control:?}");
    }
}

#[test]
fn options_that_are_taken_for_equal_give_equal_runs() {
    let (runner, all) = (runner(SMS), executed(&KERNELS));
    let both: Vec<&Workload> = all.iter().collect();
    for end in [End::Cycles(30_000), End::Done] {
        let options = Options { profile_cycles: 3_000, transition: Transition::Ideal, ipc: IpcUnit::Warp, ..Options::new(end) };
        for (members, control) in [
            (&both[..1], Control::Policy(Policy::LeftOver)),
            (&both[..1], Control::Policy(Policy::MiasStp)),
            (&both[..], Control::Policy(Policy::Spatial)),
            (&both[..], Control::Policy(Policy::Smk)),
            (&both[..], Control::Policy(Policy::LeftOver)),
            (&both[..], Control::Fixed(vec![1, 3])),
            (&both[..], Control::Policy(Policy::MiasIpc)),
        ] {
            let same = canonical(&control, &vec![0; members.len()], options);
            let measures = control == Control::Policy(Policy::MiasIpc);
            let (mut asked, plain) = (run(&runner, members, &control, options), run(&runner, members, &control, same));
            if !measures {
                // Decisions are timed, and there is none.
                assert_eq!(asked.decision_time.take(), Some(DecisionTime::default()), "{control:?}");
            }
            assert_eq!(asked, plain, "{control:?} until {end:?}");
            assert_eq!(same.latency == Latency::Off, !measures, "{control:?}");
            assert_eq!(same.profile_cycles == options.profile_cycles, measures, "{control:?}");
        }
    }
}
