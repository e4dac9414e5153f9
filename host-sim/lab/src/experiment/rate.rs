//! Instructions per cycle of a kernel with their interval: over the window, over its first run
//! (Zhao et al. 2018, section 6), or until done.

use super::gpu_runner::{End, Options, Outcome};
use super::policy::{Counted, IpcUnit};
use crate::intervals::Estimated;
use crate::metrics::ratio;

/// Returns the IPC of one kernel over the window. Until done, it covers the time from arrival to
/// end. If first runs count and the first run has ended, it covers cycle 0 to that end.
pub fn ipc(outcome: &Outcome, kernel: usize, options: Options) -> f64 {
    let Some(launch) = outcome.launches.get(kernel) else { return 0.0 };
    if let (Counted::FirstRun, Some(first)) = (options.counted, &launch.first_run) {
        return ratio(options.ipc.insts_of(first), first.end_cycle).unwrap_or_default();
    }
    let cycles = match options.end {
        End::Cycles(window) => window,
        End::Done => launch.cycles(outcome.cycles),
    };
    ratio(options.ipc.insts(launch), cycles).unwrap_or_default()
}

/// Returns the IPC with its interval. A run that ends early has completed all first runs, so their
/// counts are exact.
pub fn estimated_ipc(outcome: &Outcome, kernel: usize, options: Options) -> Estimated {
    let value = ipc(outcome, kernel, options);
    let half = outcome.estimate.as_ref().and_then(|estimate| estimate.half_widths.get(kernel));
    let half = half.filter(|_| options.counted == Counted::Window).map_or(0, |half| match options.ipc {
        IpcUnit::Thread => half.thread_insts,
        IpcUnit::Warp => half.warp_insts,
    });
    Estimated { value, half_width: ratio(half, outcome.cycles).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::gpu::{FirstRun, LaunchStats};

    /// Of two kernels, the first ran once in a quarter of the window, with a tenth of its total
    /// work; the second did not finish.
    #[test]
    fn the_first_run_counts_where_it_has_ended() {
        let first_run = Some(FirstRun { end_cycle: 250, warp_insts: 10, thread_insts: 300 });
        let launches = vec![
            LaunchStats { warp_insts: 100, thread_insts: 3_000, first_run, ..LaunchStats::default() },
            LaunchStats { warp_insts: 50, thread_insts: 1_500, ..LaunchStats::default() },
        ];
        let outcome = Outcome { cycles: 1_000, launches, ..Outcome::default() };
        let window = Options::new(End::Cycles(1_000));
        let first = Options { counted: Counted::FirstRun, ..window };
        let both = |options| [ipc(&outcome, 0, options), ipc(&outcome, 1, options)];
        assert_eq!(both(window), [3.0, 1.5]);
        assert_eq!(both(first), [1.2, 1.5]);
        assert_eq!(both(Options { ipc: IpcUnit::Warp, ..first }), [0.04, 0.05]);
        assert_eq!(ipc(&outcome, 2, first), 0.0, "no such kernel");
    }
}
