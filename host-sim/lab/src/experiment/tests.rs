//! `compare` on a GPU with closed-form results, so that every number can be derived by hand.

use super::compare::{Watch, compare};
use super::comparison::Comparison;
use super::fit::{Calibrated, CalibrationRun, Fit, coefficient_q16, fit};
use super::gpu_runner::{End, GpuRunner, Options, Outcome, Placement, Run, RunError};
use super::least_squares::StallSample;
use super::policy::{Control, Policy};
use super::workload::Workload;
use mias_hw_model::gpu::LaunchStats;
use mias_warp_trace::{KernelInfo, TbRecorder, TraceBuilder};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

const CYCLES: u64 = 1_000;

/// GPU with capacity for 4 TBs. One TB of a kernel issues `rate` instructions per cycle, less a
/// loss for each co-resident TB of another kernel.
struct Closed {
    rates: BTreeMap<&'static str, u64>,
    /// Executed runs, by control and kernels.
    executed: Mutex<BTreeMap<(Control, Vec<String>), u32>>,
    /// Controls whose runs are interrupted.
    interrupted: Vec<Control>,
}

const ROOM: u32 = 4;

fn closed() -> Closed {
    Closed { rates: BTreeMap::from([("fast", 90), ("slow", 30), ("third", 60)]), executed: Mutex::default(), interrupted: Vec::new() }
}

impl Closed {
    fn insts(&self, workloads: &[&Workload], config: &[u32], kernel: usize) -> u64 {
        let foreign: u32 = config.iter().sum::<u32>() - config[kernel];
        let rate = self.rates[workloads[kernel].name.as_str()] - 5 * u64::from(foreign);
        u64::from(config[kernel]) * rate * CYCLES
    }
}

impl GpuRunner for Closed {
    fn max_tbs(&self, workload: &Workload) -> Result<u32, RunError> {
        if workload.name == "huge" { Err(RunError::Workload("one TB of `huge` does not fit".into())) } else { Ok(ROOM) }
    }

    fn configurations(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError> {
        assert_eq!(workloads.len(), 2, "the test GPU counts in twos");
        Ok((1..ROOM).map(|a| vec![a, ROOM - a]).collect())
    }

    fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError> {
        if self.interrupted.contains(&run.control) {
            return Err(RunError::Interrupted);
        }
        let names = run.workloads.iter().map(|w| w.name.clone()).collect();
        *self.executed.lock().unwrap().entry((run.control.clone(), names)).or_default() += 1;
        let mut outcome = Outcome { cycles: CYCLES, ..Outcome::default() };
        let config = match &run.control {
            Control::Fixed(config) => config.clone(),
            Control::Policy(Policy::LeftOver) => (0..run.workloads.len()).map(|k| if k == 0 { ROOM } else { 0 }).collect(),
            Control::Policy(Policy::Spatial) if run.workloads.len() > 1 => {
                outcome.placement =
                    vec![Placement { sms: vec![0], config: vec![ROOM, 0] }, Placement { sms: vec![1], config: vec![0, ROOM] }];
                vec![2, 2]
            }
            Control::Policy(_) if run.workloads.len() == 1 => vec![ROOM],
            Control::Policy(_) => vec![1, 3],
        };
        if !matches!(run.control, Control::Policy(Policy::LeftOver | Policy::Spatial)) {
            outcome.placement = vec![Placement { sms: vec![0, 1], config: config.clone() }];
        }
        let loss = if matches!(run.control, Control::Policy(Policy::MiasIpc)) { 10 * CYCLES } else { 0 };
        for kernel in 0..run.workloads.len() {
            let thread_insts = self.insts(&run.workloads, &config, kernel) - if kernel == 0 { loss } else { 0 };
            outcome.launches.push(LaunchStats { thread_insts, ..LaunchStats::default() });
        }
        progress(CYCLES);
        Ok(outcome)
    }
}

#[derive(Default)]
struct Counting {
    planned: AtomicU64,
    finished: AtomicU64,
    cycles: AtomicU64,
}

impl Watch for Counting {
    fn planned(&self, runs: usize) {
        self.planned.fetch_add(runs as u64, Ordering::Relaxed);
    }
    fn cycles(&self, cycles: u64) {
        self.cycles.fetch_add(cycles, Ordering::Relaxed);
    }
    fn finished(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

fn workload(name: &str) -> Workload {
    let info = KernelInfo { name: name.into(), grid: [1; 3], block: [32, 1, 1], registers_per_thread: 1, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).unwrap();
    let mut tb = TbRecorder::new();
    tb.warp();
    builder.add_tb(&tb).unwrap();
    Workload::new(name, Arc::new(builder.finish().unwrap()), 0)
}

fn options() -> Options {
    Options::new(End::Cycles(CYCLES))
}

fn run(runner: &Closed, names: &[&str], watch: &Counting) -> Result<Comparison, RunError> {
    let workloads: Vec<Workload> = names.iter().map(|name| workload(name)).collect();
    compare(runner, &workloads, &Policy::ALL, options(), watch)
}

#[test]
fn the_numbers_follow_from_the_closed_form() {
    let comparison = run(&closed(), &["slow", "fast"], &Counting::default()).unwrap();
    // Alone 4 * 30 and 4 * 90; a-b gives a(30 - 5b) and b(90 - 5a).
    assert_eq!(comparison.isolated.iter().map(|k| k.ipc).collect::<Vec<_>>(), [120.0, 360.0]);
    assert_eq!(comparison.s_null, Some(360.0 / 240.0));
    let s: Vec<f64> = comparison.sweep.iter().map(|p| p.metrics.speedup.unwrap()).collect();
    assert_eq!(s, [(15.0 + 255.0) / 240.0, (40.0 + 160.0) / 240.0, (75.0 + 75.0) / 240.0]);
    let best = comparison.oracle.s.as_ref().unwrap();
    assert_eq!((best.config.as_slice(), best.value), (&[1, 3][..], 270.0 / 240.0));
    // STP: 15/120 + 255/360 = 0.833, 40/120 + 160/360 = 0.778, 75/120 + 75/360 = 0.833 (a tie but
    // for rounding).
    let stp = comparison.oracle.stp.as_ref().unwrap();
    assert!((stp.value - 5.0 / 6.0).abs() < 1e-12, "{stp:?}");

    let of = |policy: Policy| comparison.results.iter().find(|r| r.policy == policy).unwrap();
    let mias = of(Policy::MiasFactor);
    assert_eq!((mias.config.as_deref(), mias.decision_regret.s, mias.end_to_end_regret.s), (Some(&[1, 3][..]), Some(0.0), Some(0.0)));
    // MIAS-IPC chooses the same but loses 10 of 270 in its run: only its end-to-end regret is above
    // 0.
    let lossy = of(Policy::MiasIpc);
    assert_eq!(lossy.decision_regret.s, Some(0.0));
    assert!((lossy.end_to_end_regret.s.unwrap() - 10.0 / 270.0).abs() < 1e-12);
    // Null exceeds the sweep in S (it is not part of it), and starves a kernel.
    let sequential = of(Policy::Sequential);
    assert_eq!((sequential.metrics.speedup, sequential.metrics.stp, sequential.metrics.antt), (Some(1.0), Some(1.0), Some(2.0)));
    assert_eq!(sequential.kernels.iter().map(|k| k.ipc).collect::<Vec<_>>(), [60.0, 180.0], "each its own IPC for half of the time");
    let null = of(Policy::Null);
    assert_eq!((null.config.as_deref(), null.decision_regret.s, null.metrics.antt), (Some(&[0, 4][..]), None, None));
    assert_eq!(null.metrics.speedup, comparison.s_null);
    assert!(null.end_to_end_regret.s.unwrap() < 0.0);
    // Spatial's SMs differ: it has a placement, but no configuration and no decision regret.
    let spatial = of(Policy::Spatial);
    assert_eq!((spatial.config.as_ref(), spatial.placement.len(), spatial.decision_regret.s), (None, 2, None));
}

#[test]
fn each_run_is_executed_once() {
    let (runner, watch) = (closed(), Counting::default());
    run(&runner, &["slow", "fast"], &watch).unwrap();
    let executed = runner.executed.lock().unwrap();
    assert!(executed.values().all(|&times| times == 1), "{executed:?}");
    // 2 isolated, 3 configurations, and the policies, including null; sequential follows from the
    // first 2.
    let runs = 2 + 3 + Policy::ALL.len() as u64 - 1;
    assert_eq!(executed.len() as u64, runs);
    assert_eq!(watch.planned.load(Ordering::Relaxed), runs);
    assert_eq!(watch.finished.load(Ordering::Relaxed), runs);
    assert_eq!(watch.cycles.load(Ordering::Relaxed), runs * CYCLES);
}

#[test]
fn equal_kernels_share_their_isolated_run() {
    let runner = closed();
    let comparison = run(&runner, &["fast", "fast"], &Counting::default()).unwrap();
    assert_eq!(comparison.isolated[0], comparison.isolated[1]);
    assert_eq!(runner.executed.lock().unwrap().keys().filter(|(_, names)| names.len() == 1).count(), 1);
}

#[test]
fn one_kernel_alone_has_no_oracle() {
    let comparison = run(&closed(), &["third"], &Counting::default()).unwrap();
    assert_eq!((comparison.oracle.s.as_ref(), comparison.s_null, comparison.sweep.len()), (None, Some(1.0), 0));
    let left_over = &comparison.results[0];
    assert_eq!((left_over.metrics.speedup, left_over.metrics.stp, left_over.end_to_end_regret.s), (Some(1.0), Some(1.0), None));
}

#[test]
fn a_kernel_that_does_not_fit_is_reported_before_any_run() {
    let (runner, watch) = (closed(), Counting::default());
    let error = run(&runner, &["fast", "huge"], &watch).unwrap_err();
    assert_eq!(error.to_string(), "one TB of `huge` does not fit");
    assert!(runner.executed.lock().unwrap().is_empty());
}

#[test]
fn threads_do_not_change_the_result() {
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&closed(), &["slow", "fast"], &Counting::default()).unwrap())
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn an_interrupted_comparison_keeps_what_was_finished() {
    let whole = run(&closed(), &["slow", "fast"], &Counting::default()).unwrap();
    assert!(whole.missing.is_empty());
    let interrupted = vec![Control::Policy(Policy::MiasFactor), Control::Fixed(vec![2, 2])];
    let part = run(&Closed { interrupted, ..closed() }, &["slow", "fast"], &Counting::default()).unwrap();
    assert_eq!((part.missing.policies, part.missing.configs), (vec![Policy::MiasFactor], vec![vec![2, 2]]));
    assert_eq!((part.results.len(), part.sweep.len()), (Policy::ALL.len() - 1, 2));
    // Available results are unchanged; results that need the whole sweep are absent.
    let of = |c: &Comparison| c.results.iter().map(|r| (r.policy, r.metrics)).collect::<BTreeMap<_, _>>();
    let before = of(&whole);
    assert!(part.results.iter().all(|result| before.get(&result.policy) == Some(&result.metrics)));
    assert_eq!((part.oracle.s, part.results[0].end_to_end_regret.s), (None, None));
}

#[test]
fn without_isolated_runs_there_is_nothing_to_compare_with() {
    let runner = Closed { interrupted: vec![Control::Policy(Policy::LeftOver)], ..closed() };
    assert_eq!(run(&runner, &["slow", "fast"], &Counting::default()), Err(RunError::Interrupted));
}

impl Calibrated for Closed {
    /// Returns samples of two SMs. Every TB adds 100 to A; M is 2 A, plus 3 on the second SM.
    fn sample(&self, _: &[&Workload], config: &[u32], _: u32) -> Result<Vec<StallSample>, RunError> {
        let outstanding_misses = 100 * config.iter().sum::<u32>();
        Ok([0, 3].map(|more| StallSample { outstanding_misses, memory_stall_cycles: 2 * outstanding_misses + more }).to_vec())
    }
}

#[test]
fn calibration_runs_each_kernel_alone_and_each_pair() {
    let workloads = ["slow", "fast"].map(workload);
    let fit = fit(&closed(), &workloads, 45_000, &Counting::default()).unwrap();
    let runs: Vec<(&[usize], &[u32])> = fit.runs.iter().map(|run| (&run.kernels[..], &run.config[..])).collect();
    let alone = (0..2).flat_map(|kernel| (1..=ROOM).map(move |tbs| (vec![kernel], vec![tbs])));
    let pairs = (1..ROOM).map(|tbs| (vec![0, 1], vec![tbs, ROOM - tbs]));
    let expected: Vec<(Vec<usize>, Vec<u32>)> = alone.chain(pairs).collect();
    assert_eq!(runs, expected.iter().map(|(kernels, config)| (&kernels[..], &config[..])).collect::<Vec<_>>());
    assert_eq!(fit.samples(), 22);
    // The 3 do not depend on A: slope 2, intercept 1.5 rounded up.
    assert_eq!(fit.line().map(|line| (line.slope_q16, line.intercept)), Some((2 << 16, 2)));
    assert_eq!(coefficient_q16(fit.line()), 2 << 16);

    // Alone each kernel has the same line; without both, nothing is left.
    assert_eq!(fit.line_without(&[0]).map(|line| line.slope_q16), Some(2 << 16));
    assert_eq!((fit.samples_without(&[0]), fit.samples_without(&[1]), fit.samples_without(&[0, 1])), (8, 8, 0));
    assert_eq!(fit.line_without(&[0, 1]), None);
}

/// Leaving a kernel out removes all its runs, including pairs. Here it alone breaks the line.
#[test]
fn a_kernel_left_out_is_out_of_all_its_runs() {
    let sample = |outstanding_misses, memory_stall_cycles| vec![StallSample { outstanding_misses, memory_stall_cycles }];
    let run = |kernels: &[usize], samples| CalibrationRun { kernels: kernels.to_vec(), config: vec![1; kernels.len()], samples };
    let runs = vec![
        run(&[0], sample(10, 30)),
        run(&[1], sample(20, 60)),
        run(&[2], sample(30, 7)),
        run(&[0, 1], sample(30, 90)),
        run(&[0, 2], sample(50, 1)),
        run(&[1, 2], sample(40, 8)),
    ];
    let fit = Fit { runs };
    assert_eq!(fit.line_without(&[2]).map(|line| (line.slope_q16, line.intercept, line.r2_permille)), Some((3 << 16, 0, 1000)));
    // One point is left, which defines no line: Linear decides as IPC.
    assert_eq!((fit.line_without(&[0, 2]), coefficient_q16(fit.line_without(&[0, 2]))), (None, 0));
}
