//! Sequential execution: the kernels one after the other, the baseline of every gain. It is derived
//! from the isolated runs; nothing is run for it.
//!
//! *In a window*, each of K kernels has the whole GPU for 1/K of the time, at its isolated IPC.
//! This is the thesis' baseline, the mean of the isolated IPCs (sources.md D2). So S and STP are 1
//! by definition, ANTT is K, and progress is equal. Changing from one kernel to the next costs
//! nothing, an assumption.
//!
//! *Until done*, each grid runs to its end before the next one starts, in the order of arrival.
//! Each takes as long as alone, with its launch latency and cold caches: no data of an earlier
//! kernel is assumed to be useful. So the makespan is the sum of the isolated makespans, if no
//! kernel waits for its arrival.

use super::comparison::{KernelResult, PerObjective, PolicyResult};
use super::gpu_runner::{End, Options, Outcome};
use super::policy::{Latency, Policy};
use super::rate::ipc;
use crate::metrics::{Metrics, normalized, regret};

/// Results of running kernels one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    /// Instructions per cycle of each kernel: in a window over all of it, until done over the time
    /// from its arrival to its end.
    pub ipc: Vec<f64>,
    /// Cycles until all have completed; `None` in a window.
    pub makespan_cycles: Option<u64>,
}

/// Derives the results from the isolated runs, all with the same options, and the arrival cycles in
/// the shared run.
pub fn sequential(alone: &[Outcome], arrivals: &[u64], options: Options) -> Sequential {
    let isolated = |outcome: &Outcome| ipc(outcome, 0, options);
    if options.end != End::Done {
        let ipc = alone.iter().map(|outcome| isolated(outcome) / alone.len() as f64).collect();
        return Sequential { ipc, makespan_cycles: None };
    }
    let arrival = |kernel: usize| arrivals.get(kernel).copied().unwrap_or(0);
    let mut order: Vec<usize> = (0..alone.len()).collect();
    order.sort_by_key(|&kernel| arrival(kernel));
    let (mut ipc, mut now) = (vec![0.0; alone.len()], 0_u64);
    for kernel in order {
        let outcome = &alone[kernel];
        let Some(launch) = outcome.launches.first() else { continue };
        let begin = now.max(arrival(kernel));
        let end = begin + launch.cycles(outcome.cycles);
        if end > arrival(kernel) {
            ipc[kernel] = options.ipc.insts(launch) as f64 / (end - arrival(kernel)) as f64;
        }
        now = begin + outcome.cycles;
    }
    Sequential { ipc, makespan_cycles: Some(now) }
}

impl Sequential {
    /// Converts to a policy's result; `best` is the oracle's value for each objective.
    pub fn result(&self, isolated_ipc: &[f64], best: PerObjective<Option<f64>>, options: Options) -> PolicyResult {
        let Sequential { ipc, makespan_cycles } = self;
        let mut metrics = Metrics::of(ipc, isolated_ipc);
        if options.end != End::Done && metrics.stp.is_some() {
            // Set by definition, without the rounding of sums.
            let kernels = ipc.len() as f64;
            metrics = Metrics { speedup: Some(1.0), stp: Some(1.0), antt: Some(kernels), fairness: Some(1.0) };
        }
        let part = |kernel: usize| normalized(&ipc[kernel..=kernel], &isolated_ipc[kernel..=kernel]).map(|part| part[0]);
        PolicyResult {
            metrics,
            end_to_end_regret: PerObjective { s: regret(metrics.speedup, best.s), stp: regret(metrics.stp, best.stp) },
            placement_cycles: (options.latency != Latency::Off).then_some(0),
            decision_cycles: (options.latency != Latency::Off).then_some(0),
            makespan_cycles: *makespan_cycles,
            kernels: ipc
                .iter()
                .enumerate()
                .map(|(kernel, &ipc)| KernelResult { ipc, normalized_ipc: part(kernel), latency: None, thrown_away: None })
                .collect(),
            cycles: makespan_cycles.unwrap_or_default(),
            ..PolicyResult::of(Policy::Sequential)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_hw_model::gpu::LaunchStats;

    /// Creates an isolated run of a kernel with these instructions and cycles, plus a few cycles
    /// until the GPU is idle.
    fn alone(insts: u64, cycles: u64) -> Outcome {
        let launch = LaunchStats { thread_insts: insts, start_cycle: Some(0), end_cycle: Some(cycles), ..LaunchStats::default() };
        Outcome { cycles: cycles + 2, launches: vec![launch], ..Outcome::default() }
    }

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-12)
    }

    /// Three kernels have a third of the window each. S = 3 (sum of IPC / 3) / sum of IPC = 1 for
    /// any IPCs.
    #[test]
    fn in_a_window_it_is_one_by_definition() {
        let options = Options::new(End::Cycles(1_000));
        let alone = [alone(70_000, 1_000), alone(1_000, 1_000), alone(9_900, 1_000)];
        let isolated = [70.0, 1.0, 9.9];
        let sequential = sequential(&alone, &[0; 3], options);
        assert_eq!((&sequential.ipc[..], sequential.makespan_cycles), (&[70.0 / 3.0, 1.0 / 3.0, 9.9 / 3.0][..], None));
        let result = sequential.result(&isolated, PerObjective { s: Some(1.25), stp: Some(1.6) }, options);
        let metrics = Metrics { speedup: Some(1.0), stp: Some(1.0), antt: Some(3.0), fairness: Some(1.0) };
        assert_eq!(result.metrics, metrics);
        assert!(close(result.end_to_end_regret.s, 0.2) && close(result.end_to_end_regret.stp, 0.375));
        // The metrics' own definitions agree up to rounding.
        let defined = Metrics::of(&sequential.ipc, &isolated);
        assert!(close(defined.speedup, 1.0) && close(defined.stp, 1.0) && close(defined.antt, 3.0) && close(defined.fairness, 1.0));
    }

    /// 300 cycles, then 100. The second waits 302 cycles, including the first's time to idle, so
    /// its 100 become 402 from launch to end.
    #[test]
    fn until_done_makespans_add_up() {
        let options = Options::new(End::Done);
        let alone = [alone(3_000, 300), alone(8_000, 100)];
        let both = sequential(&alone, &[0, 0], options);
        assert_eq!((&both.ipc[..], both.makespan_cycles), (&[10.0, 8_000.0 / 402.0][..], Some(302 + 102)));
        let metrics = both.result(&[10.0, 80.0], PerObjective::default(), options).metrics;
        let second = 100.0 / 402.0;
        assert!(close(metrics.stp, 1.0 + second) && close(metrics.antt, (1.0 + 1.0 / second) / 2.0) && close(metrics.fairness, second));
    }

    /// Kernels run in order of arrival; one that arrives after the end of the other does not wait.
    #[test]
    fn arrivals_set_the_order() {
        let options = Options::new(End::Done);
        let alone = [alone(3_000, 300), alone(8_000, 100)];
        let late = sequential(&alone, &[50, 0], options);
        // The second runs until 102, then the first until 402, 352 cycles after its arrival.
        assert_eq!((&late.ipc[..], late.makespan_cycles), (&[3_000.0 / 352.0, 80.0][..], Some(404)));
        let apart = sequential(&alone, &[0, 1_000], options);
        assert_eq!((&apart.ipc[..], apart.makespan_cycles), (&[10.0, 80.0][..], Some(1_102)));
    }
}
