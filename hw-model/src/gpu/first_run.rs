//! First runs: work of a relaunched kernel up to the end of its first run.
//!
//! Zhao et al. 2018, section 6: "the reported performance results are gathered only for the first
//! run for each of the benchmarks"; sources.md D8.
//!
//! A grid that is relaunched in place restarts when its last TB has been *issued*. Its first run
//! ends when the last of those TBs has *ended*, while TBs of the second pass already run. So every
//! TB records its pass. Instructions are those of the TBs' traces, so instructions that a flush
//! repeats count once. Launches in sequence have run once when the last of them has completed for
//! the first time.

use super::Gpu;
use crate::sm::Program;
use serde::{Deserialize, Serialize};

/// First run of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FirstRun {
    /// Cycle by which the last TB of the first run had ended.
    pub end_cycle: u64,
    /// Number of warp instructions of all TBs of the first run.
    pub warp_insts: u64,
    /// Number of thread instructions of all TBs of the first run.
    pub thread_insts: u64,
}

/// Progress of a launch in its first run.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// True once every TB has been issued: further TBs belong to a later pass.
    passed: bool,
    /// Number of TBs that have been issued and have not ended.
    unended: u32,
    so_far: FirstRun,
    ended: bool,
}

/// First runs of all launches, by index.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstRuns(Vec<Way>);

impl FirstRuns {
    fn of(&mut self, launch: usize) -> &mut Way {
        if self.0.len() <= launch {
            self.0.resize(launch + 1, Way::default());
        }
        &mut self.0[launch]
    }

    /// Records the issue of TB `index` of a launch with its program; `last` of its grid. Returns
    /// true for a pass after the first.
    pub(super) fn issued(&mut self, launch: usize, program: &Program, (index, part): (u32, u32), last: bool) -> bool {
        let way = self.of(launch);
        if way.passed {
            return true;
        }
        if let Some((trace, first_tb)) = program.part(part) {
            for warp in 0..trace.info().warps() {
                let shape = trace.shape(trace.warp(index - first_tb, warp).shape);
                let insts = &trace.shape_insts()[shape.start as usize..shape.end as usize];
                way.so_far.warp_insts += insts.len() as u64;
                way.so_far.thread_insts += insts.iter().map(|inst| u64::from(inst.lanes())).sum::<u64>();
            }
        }
        way.unended += 1;
        way.passed = last;
        false
    }

    /// Records that a TB of the first pass has ended by cycle `by`.
    pub(super) fn tb_ended(&mut self, launch: usize, by: u64) {
        let way = self.of(launch);
        way.unended = way.unended.saturating_sub(1);
        if way.unended == 0 && way.passed && !way.ended {
            way.ended = true;
            way.so_far.end_cycle = by;
        }
    }

    /// First run of a launch, if it has ended.
    pub(super) fn get(&self, launch: usize) -> Option<FirstRun> {
        self.0.get(launch).filter(|way| way.ended).map(|way| way.so_far)
    }
}

impl Gpu {
    /// Records the first run of each launch ([`super::LaunchStats::first_run`]). Call it before the
    /// first cycle.
    pub fn with_first_runs(mut self) -> Self {
        self.first_runs = Some(FirstRuns::default());
        self
    }
}
