//! Which runs are the same, so that one of them is enough.

use crate::experiment::gpu_runner::{End, Options};
use crate::experiment::policy::{Control, Latency, Policy};
use mias_firmware::limits::KERNELS;

/// Options without what does not matter to a run, so that equal runs are equal: a policy that does not measure needs no profiling
/// window, counts nothing, and never enters the phase whose time is counted; where it sets its quotas once, because all kernels arrive
/// together and start again for ever or there is only one, there is no transition; until done, nothing starts again. `arrivals` are the
/// cycles at which the kernels arrive.
pub fn canonical(control: &Control, arrivals: &[u64], options: Options) -> Options {
    let (kernels, all_at_once) = (arrivals.len(), arrivals.iter().all(|cycle| Some(cycle) == arrivals.first()));
    let mut same = Options { tbs_per_sm: None, ..options };
    let plain = Options::new(options.end);
    if kernels == 1 {
        (same.share_memory, same.requests) = (plain.share_memory, plain.requests);
        (same.levels, same.queue) = (plain.levels, plain.queue);
    }
    // As many as run together, all there at once: there is nobody to choose.
    if same.queue.is_none() && all_at_once && kernels <= KERNELS {
        same.levels = same.levels.without_kernels();
    }
    if options.end == End::Done {
        (same.relaunch, same.counted) = (plain.relaunch, plain.counted);
    }
    // What does not start again is simulated in full, and what is sampled.
    if options.end == End::Done || !options.relaunch || options.sample_cycles.is_some() {
        same.precision = plain.precision;
    }
    // One of the program's own may measure a kernel alone as well; those that are built in have nothing to compare then.
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
        // Making room takes its time, whoever measures.
        same.latency = if same.requests.is_some() || same.transition.preempts() { options.latency } else { Latency::Off };
        if kernels == 1 || (all_at_once && options.end != End::Done && options.relaunch) {
            same.transition = plain.transition;
        }
    }
    same
}

/// Whether a control gives TBs to the first of several kernels only, all that fit, for ever. Then the run is the first kernel's run
/// alone: the others' launches touch nothing that it sees.
///
/// Left-over turns to the next kernel when the first has no TB left to issue, and until then the quotas of the others are 0. In a
/// window in which kernels start again that is never. Only where all arrive together: a later arrival makes the firmware place again.
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
