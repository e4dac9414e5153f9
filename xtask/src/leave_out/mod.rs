//! `cargo xtask leave-out DIR`: the exponent of `mias-roofline` (docs/roofline.md, "The score"), chosen on some groups and judged on
//! others, and what other exponents would have chosen. From the results of `mias evaluate rules`: every exponent's scores follow from those of
//! the two rules of the firmware, which are speedup^2 progress and progress.

mod results;
mod tables;

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::util::read_results;
use results::{Group, Results};

/// Policies of the published metrics.
const METRICS: [&str; 4] = ["mias-ipm-ipc", "mias-ipc", "mias-factor", "mias-linear"];

/// The firmware's rule with an exponent, and that of progress alone.
const RULE: &str = "mias-roofline";
const PROGRESS: &str = "mias-roofline-stp";

/// The exponent of the firmware's rule.
const FIRMWARE: f64 = 2.0;

/// Where the results are.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A folder that `mias evaluate rules` has written.
    folder: PathBuf,
}

/// Prints the tables.
pub(crate) fn run(args: &Args) -> Result<()> {
    let results: Results = read_results(&args.folder, "rules")?;
    let groups: Vec<Group> = results.studies.into_iter().flat_map(|study| study.groups).collect();
    ensure!(!groups.is_empty(), "{} has no groups of kernels", args.folder.display());
    let judged = groups.iter().map(Judged::of).collect::<Result<Vec<_>>>()?;
    print!("{}\n{}", tables::exponents(&judged), tables::left_out(&judged)?);
    if let Some((exponent, _)) = tables::choose(judged.iter()) {
        println!("\nChosen on all groups: {exponent}; the firmware has {FIRMWARE}.");
    }
    let others = judged.iter().filter(|group| !group.all_scored).count();
    println!(
        "\nIn {others} of {} groups the firmware's two rules did not score the same configurations: there, other exponents choose of those that both did.",
        judged.len()
    );
    Ok(())
}

/// What a choice loses, in S and in STP, as a share of the best.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Regret {
    s: f64,
    stp: f64,
}

impl Regret {
    /// Whether both are the same but for rounding.
    fn is_near(self, other: Regret) -> bool {
        (self.s - other.s).abs() < 1e-9 && (self.stp - other.stp).abs() < 1e-9
    }

    /// The mean; zero of none.
    fn mean(regrets: impl Iterator<Item = Regret>) -> Regret {
        let (mut sum, mut count) = (Regret::default(), 0.0_f64);
        for regret in regrets {
            sum = Regret { s: sum.s + regret.s, stp: sum.stp + regret.stp };
            count += 1.0;
        }
        Regret { s: sum.s / count.max(1.0), stp: sum.stp / count.max(1.0) }
    }
}

/// How a rule weighs speedup against progress.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weight {
    /// speedup^n progress.
    Exponent(f64),
    /// Speedup alone.
    Speedup,
}

/// A group of kernels, with what everyone's choice loses.
struct Judged {
    kernels: Vec<String>,
    metrics: [Regret; METRICS.len()],
    /// What the firmware's choices lost.
    rule: Regret,
    progress: Regret,
    /// Of each configuration that both scored: ln speedup, ln progress, and what choosing it would lose.
    scored: Vec<(f64, f64, Regret)>,
    /// Whether both scored the same ones. Where two rounds do not suffice for all, the second is around the best of the first, which
    /// need not be the same.
    all_scored: bool,
}

impl Judged {
    fn of(group: &Group) -> Result<Self> {
        let name = group.kernels.join(" + ");
        let lost = |policy| group.regret_of_policy(policy).with_context(|| format!("{name}: {policy} has no regret"));
        let mut metrics = [Regret::default(); METRICS.len()];
        for (regret, policy) in metrics.iter_mut().zip(METRICS) {
            *regret = lost(policy)?;
        }
        let scores = |policy| group.scores(policy).with_context(|| format!("{name}: {policy} has no scores"));
        let (rule, progress) = (scores(RULE)?, scores(PROGRESS)?);
        let mut scored = Vec::new();
        for (config, score) in rule {
            let Some((_, progress)) = progress.iter().find(|(other, _)| other == config) else { continue };
            let Some(regret) = group.regret_of_config(config) else { continue };
            scored.push(((score.ln() - progress.ln()) / FIRMWARE, progress.ln(), regret));
        }
        let all_scored = scored.len() == rule.len() && scored.len() == progress.len();
        let judged = Judged { kernels: group.kernels.clone(), metrics, rule: lost(RULE)?, progress: lost(PROGRESS)?, scored, all_scored };
        for (policy, exponent, there) in [(RULE, FIRMWARE, judged.rule), (PROGRESS, 0.0, judged.progress)] {
            let here = judged.regret_by_scores(Weight::Exponent(exponent));
            ensure!(!all_scored || here.is_near(there), "{name}: {policy} lost {there:?}, its scores say {here:?}");
        }
        Ok(judged)
    }

    /// What the choice with this weight loses: the firmware's own, or of the configurations that both of its rules scored.
    fn regret(&self, weight: Weight) -> Regret {
        match weight {
            Weight::Exponent(FIRMWARE) => self.rule,
            Weight::Exponent(0.0) => self.progress,
            _ => self.regret_by_scores(weight),
        }
    }

    /// Of equal scores the first wins, as in the firmware.
    fn regret_by_scores(&self, weight: Weight) -> Regret {
        let score = |&(speedup, progress, _): &(f64, f64, Regret)| match weight {
            Weight::Exponent(n) => n * speedup + progress,
            Weight::Speedup => speedup,
        };
        let mut best: Option<(f64, Regret)> = None;
        for entry in &self.scored {
            if best.is_none_or(|(most, _)| score(entry) > most) {
                best = Some((score(entry), entry.2));
            }
        }
        best.map(|(_, regret)| regret).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
