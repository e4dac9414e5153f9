//! `cargo xtask precision DIR`: how well windows that end when they are known (docs/precision.md) say what the same windows say in full, from the results of
//! `mias evaluate precision`, or of another plan whose `precision` has `off` beside other values.
//!
//! Of every kernel of every run that ended early: whether the interval of its IPC holds the exact IPC, and how far the estimate is off. Of every group: whether two
//! policies that the intervals of STP tell apart are in another order than in full, and whether one gains (STP above 1) where in full it loses, its interval leaving 1 out.

mod results;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::util::read_results;
use results::{Known, Results, Study};

/// Where the results are.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder that `mias evaluate precision` has written.
    folder: PathBuf,
}

/// Prints a line for every experiment and precision.
pub(crate) fn run(args: &Args) -> Result<()> {
    let results: Results = read_results(&args.folder, "precision")?;
    println!(
        "| experiment | precision | simulated | runs in full | intervals | hold the exact IPC | error, mean | largest | orders told | wrong | gains told | wrong |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut whole = Judged::default();
    for study in results.studies.iter().filter(|study| study.precision.is_some()) {
        let exact = results.studies.iter().find(|exact| exact.precision.is_none() && exact.is_like(study));
        let exact = exact.with_context(|| format!("{}: the same in full is not in the results", study.experiment))?;
        let judged = Judged::of(study, exact)?;
        println!("| {} | {} | {judged} |", study.experiment, study.precision.as_deref().unwrap_or("-"));
        whole.add(&judged);
    }
    ensure!(
        whole.runs != 0,
        "{} has no runs with a precision: the plan's `precision` needs `off` and another value",
        args.folder.display()
    );
    println!("| all | - | {whole} |");
    Ok(())
}

/// What came of comparing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Judged {
    /// Runs, those that did not end early, and the sum over them of the share of the window that was simulated.
    runs: usize,
    in_full: usize,
    simulated: f64,
    /// Kernels of runs that ended early, those whose interval holds the exact IPC, and their errors as shares: sum and largest.
    intervals: usize,
    hold: usize,
    error: f64,
    largest: f64,
    /// Pairs of policies of one group that the intervals of STP tell apart, and those that are the other way round in full.
    orders: usize,
    wrong_orders: usize,
    /// Policies of groups whose interval of STP leaves 1 out, and those that are on the other side of it in full.
    verdicts: usize,
    wrong_verdicts: usize,
}

impl Judged {
    /// Of a study beside the same in full.
    fn of(study: &Study, exact: &Study) -> Result<Self> {
        let mut judged = Judged::default();
        let lacks = |name: &str| format!("{}: {name} was not run in full", study.experiment);
        for kernel in &study.kernels {
            let full = exact.kernels.iter().find(|full| full.name == kernel.name).with_context(|| lacks(&kernel.name))?;
            judged.run(kernel.simulated_cycles, study.cycles);
            judged.kernel(Known { value: kernel.ipc, half_width: kernel.ipc_half_width }, full.ipc);
        }
        for group in &study.groups {
            let name = group.kernels.join(" + ");
            let full = exact.groups.iter().find(|full| full.kernels == group.kernels).with_context(|| lacks(&name))?;
            let mut told = Vec::new();
            for policy in group.policies.iter().filter(|policy| !policy.derived) {
                let full = full.policies.iter().find(|full| full.policy == policy.policy).with_context(|| lacks(&name))?;
                judged.run(policy.simulated_cycles, study.cycles);
                for (known, exact) in policy.ipc().zip(&full.ipc) {
                    judged.kernel(known, *exact);
                }
                if let (Some(known), Some(exact)) = (policy.stp(), full.stp) {
                    judged.verdict(known, exact);
                    told.push((known, exact));
                }
            }
            for (at, one) in told.iter().enumerate() {
                told[at + 1..].iter().for_each(|other| judged.order(*one, *other));
            }
        }
        Ok(judged)
    }

    fn run(&mut self, simulated: Option<u64>, window: Option<u64>) {
        self.runs += 1;
        self.in_full += usize::from(simulated.is_none());
        self.simulated += simulated.zip(window).map_or(1.0, |(cycles, window)| cycles as f64 / window as f64);
    }

    /// A kernel that is known exactly says nothing.
    fn kernel(&mut self, known: Known, exact: f64) {
        let Some(half_width) = known.half_width else { return };
        let off = (known.value - exact).abs();
        let error = if exact == 0.0 { off } else { off / exact };
        self.intervals += 1;
        self.hold += usize::from(off <= half_width);
        self.error += error;
        self.largest = self.largest.max(error);
    }

    fn order(&mut self, (one, exact_one): (Known, f64), (other, exact_other): (Known, f64)) {
        let (apart, reach) = (one.value - other.value, one.reach() + other.reach());
        if apart.abs() > reach && (one.half_width.is_some() || other.half_width.is_some()) {
            self.orders += 1;
            self.wrong_orders += usize::from(apart * (exact_one - exact_other) < 0.0);
        }
    }

    fn verdict(&mut self, known: Known, exact: f64) {
        if known.half_width.is_some_and(|half_width| (known.value - 1.0).abs() > half_width) {
            self.verdicts += 1;
            self.wrong_verdicts += usize::from((known.value - 1.0) * (exact - 1.0) < 0.0);
        }
    }

    fn add(&mut self, other: &Self) {
        self.runs += other.runs;
        self.in_full += other.in_full;
        self.simulated += other.simulated;
        self.intervals += other.intervals;
        self.hold += other.hold;
        self.error += other.error;
        self.largest = self.largest.max(other.largest);
        self.orders += other.orders;
        self.wrong_orders += other.wrong_orders;
        self.verdicts += other.verdicts;
        self.wrong_verdicts += other.wrong_verdicts;
    }
}

impl std::fmt::Display for Judged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = |part: f64, all: usize| 100.0 * part / (all.max(1) as f64);
        write!(
            f,
            "{:.0} % | {} of {} | {} | {:.1} % | {:.2} % | {:.1} % | {} | {} | {} | {}",
            of(self.simulated, self.runs),
            self.in_full,
            self.runs,
            self.intervals,
            of(self.hold as f64, self.intervals),
            of(self.error, self.intervals),
            100.0 * self.largest,
            self.orders,
            self.wrong_orders,
            self.verdicts,
            self.wrong_verdicts,
        )
    }
}
