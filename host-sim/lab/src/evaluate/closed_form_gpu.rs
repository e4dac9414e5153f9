//! GPU with closed-form results, and kernels for it: those of `tests/data/pairs.toml`, in its
//! window.

use crate::cancel::Cancel;
use crate::experiment::gpu_runner::{Decision, GpuRunner, Outcome, Placement, ProfiledConfig, Run, RunError};
use crate::experiment::policy::{Control, Policy};
use crate::experiment::workload::Workload;
use mias_hw_model::gpu::LaunchStats;
use mias_warp_trace::{KernelInfo, TbRecorder, TraceBuilder};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

pub(super) const CYCLES: u64 = 20_000;

/// Instructions per cycle and TB of a kernel, less 5 for each co-resident TB of another kernel.
const RATES: [(&str, u64); 3] = [("fwt:4096", 30), ("mm:64", 90), ("bopt:8", 60)];

/// TBs of a grid: more than the GPU holds.
const TBS: u32 = 200;

fn rate(name: &str) -> u64 {
    RATES.iter().find(|(known, _)| *known == name).unwrap().1
}

fn trace(name: &str) -> Workload {
    let info = KernelInfo { name: name.into(), grid: [TBS, 1, 1], block: [256, 1, 1], registers_per_thread: 1, shared_bytes: 0 };
    let mut builder = TraceBuilder::new(info).unwrap();
    let mut tb = TbRecorder::new();
    (0..8).for_each(|_| tb.warp());
    (0..TBS).for_each(|_| builder.add_tb(&tb).unwrap());
    Workload::new(name, Arc::new(builder.finish().unwrap()), 0)
}

pub(super) fn traces() -> BTreeMap<String, Workload> {
    RATES.iter().map(|(name, _)| ((*name).to_owned(), trace(name))).collect()
}

/// Closed-form GPU that counts runs, and cancels after some.
pub(super) struct Closed {
    pub(super) runs: Arc<Mutex<Vec<String>>>,
    pub(super) most: usize,
    pub(super) cancel: Cancel,
}

fn insts(run: &Run<'_>, config: &[u32], kernel: usize) -> u64 {
    let foreign: u32 = config.iter().sum::<u32>() - config[kernel];
    u64::from(config[kernel]) * (rate(&run.workloads[kernel].name) - 5 * u64::from(foreign)) * CYCLES
}

impl GpuRunner for Closed {
    fn max_tbs(&self, _: &Workload) -> Result<u32, RunError> {
        Ok(4)
    }

    fn configurations(&self, _: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError> {
        Ok(Vec::new())
    }

    fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError> {
        let names: Vec<&str> = run.workloads.iter().map(|workload| workload.name.as_str()).collect();
        let mut runs = self.runs.lock().unwrap();
        if runs.len() >= self.most {
            self.cancel.request();
            return Err(RunError::Interrupted);
        }
        runs.push(format!("{} {:?}", names.join("+"), run.control));
        drop(runs);
        let count = names.len();
        let mut outcome = Outcome { cycles: CYCLES, ..Outcome::default() };
        let config = match &run.control {
            Control::Fixed(config) => config.clone(),
            _ if count == 1 => vec![4],
            Control::Policy(Policy::Spatial) => vec![2, 2],
            // One policy chooses 1-3, the other 3-1, by scores in ascending and descending order.
            Control::Policy(policy) => {
                let up = *policy == Policy::MiasIpc;
                let score = |first: u32| f64::from(if up { 4 - first } else { first });
                let profiled = |first: u32| ProfiledConfig {
                    config: vec![first, 4 - first],
                    sms: 10,
                    cycles: 1,
                    issue_cycles: 1,
                    memory_stall_cycles: 0,
                    instructions: 1,
                    load_requests: 0,
                    outstanding_misses: 0,
                    score: Some(score(first)),
                    tie: false,
                    trial: false,
                };
                let profiled = (1..4).map(profiled).collect();
                outcome.decision = Some(Decision { cycle: 500, profiled, winner: Some(0), chosen: None });
                outcome.profile_cycles = CYCLES / 10;
                if up { vec![1, 3] } else { vec![3, 1] }
            }
        };
        if !matches!(run.control, Control::Policy(Policy::Spatial)) {
            outcome.placement = vec![Placement { sms: vec![0], config: config.clone() }];
        }
        for kernel in 0..count {
            outcome.launches.push(LaunchStats { thread_insts: insts(run, &config, kernel), ..LaunchStats::default() });
        }
        progress(CYCLES);
        Ok(outcome)
    }
}
