//! Detection of equal runs, so that each is executed once.

use crate::experiment::gpu_runner::{End, Options};
use crate::experiment::policy::{Control, Latency, Policy};
use mias_firmware::limits::KERNELS;

/// Resets options that do not affect a run, so that equal runs have equal options. `arrivals` are
/// the cycles at which the kernels arrive.
///
/// A policy that does not measure needs no profiling window, counts nothing, and never enters the
/// timed phase. There is no transition if it sets its quotas once: all kernels arrive together and
/// are relaunched forever, or there is only one. Until done, kernels are not relaunched.
pub fn canonical(control: &Control, arrivals: &[u64], options: Options) -> Options {
    let (kernels, all_at_once) = (arrivals.len(), arrivals.iter().all(|cycle| Some(cycle) == arrivals.first()));
    let mut same = Options { tbs_per_sm: None, ..options };
    let plain = Options::new(options.end);
    if kernels == 1 {
        (same.share_memory, same.requests) = (plain.share_memory, plain.requests);
        (same.levels, same.queue) = (plain.levels, plain.queue);
    }
    // As many kernels as run together, all at once: the firmware has no launch to choose.
    if same.queue.is_none() && all_at_once && kernels <= KERNELS {
        same.levels = same.levels.without_kernels();
    }
    if options.end == End::Done {
        (same.relaunch, same.counted) = (plain.relaunch, plain.counted);
    }
    // Runs without relaunch and sampled runs are simulated in full.
    if options.end == End::Done || !options.relaunch || options.sample_cycles.is_some() {
        same.precision = plain.precision;
    }
    // A custom policy may measure an isolated kernel as well; built-in ones have nothing to compare
    // then.
    let measures = match control {
        Control::Policy(Policy::Custom(_)) => true,
        Control::Policy(policy) => policy.measures() && kernels > 1,
        Control::Fixed(_) => false,
    };
    if *control != Control::Policy(Policy::Spatial) || kernels == 1 {
        same.shares = plain.shares;
    }
    if !control.searches() {
        same.search_cycles = plain.search_cycles;
    }
    if !measures {
        (same.profile_cycles, same.ipc) = (plain.profile_cycles, plain.ipc);
        // Preemption takes time under any policy.
        same.latency = if same.requests.is_some() || same.transition.preempts() { options.latency } else { Latency::Off };
        if kernels == 1 || (all_at_once && options.end != End::Done && options.relaunch) {
            same.transition = plain.transition;
        }
    }
    same
}

/// Returns whether a control gives TBs only to the first of several kernels, all that fit, for the
/// whole run. Then the run equals the first kernel's isolated run, since the other launches affect
/// nothing that it observes.
///
/// Left-over turns to the next kernel when the first has no TB left to issue; until then the others
/// have quotas of 0. In a window with relaunches that never happens. All must arrive together,
/// since a later arrival makes the firmware place again.
pub fn is_first_alone(control: &Control, max_tbs: &[u32], arrivals: &[u64], options: Options) -> bool {
    let endless = options.end != End::Done && options.relaunch && options.requests.is_none() && options.queue.is_none();
    endless
        && arrivals.iter().all(|&cycle| cycle == 0)
        && max_tbs.len() > 1
        && match control {
            Control::Policy(policy) => *policy == Policy::LeftOver,
            Control::Fixed(config) => config.first() == max_tbs.first() && config.iter().skip(1).all(|&tbs| tbs == 0),
        }
}
