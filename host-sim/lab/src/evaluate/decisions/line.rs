//! Lines of the decision benchmark: each policy with its mechanisms and transition, compared with B
//! and O. B is the existing policy with the best mean STP, O each mix's best static choice
//! (sources.md D193).

use super::Objective;
use super::mixes::{Block, Mix, Run, Way};
use super::resample::Resampled;
use crate::evaluate::statistics::arithmetic;

/// Transition of B; policies with other transitions are compared with the same B.
pub const TRANSITION: &str = "preempt:switch";

/// Policy without measurements that was ahead in short windows: a rule's choices for more than two
/// kernels are compared with it, too.
const SMK: &str = "smk";

/// Numbers of kernels per mix with separate means.
const SIZES: [usize; 3] = [2, 3, 4];

/// Number over mixes, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// Number of mixes behind the value.
    pub mixes: usize,
    /// Value over the mixes.
    pub value: f64,
    /// Ends of the 95 % interval of the value; `None` if it cannot be determined.
    pub interval: Option<(f64, f64)>,
}

/// Results of a policy over the mixes of a block.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Policy with its mechanisms and transition.
    pub way: Way,
    /// Number of mixes that the policy ran.
    pub mixes: usize,
    /// Mean STP.
    pub stp: Option<f64>,
    /// Position of its STP between B and O: 0 equals B, 1 the best static choice of each mix;
    /// `None` if O is not above B.
    pub share: Option<Known>,
    /// Mean of each objective over that of B, over the mixes in which both exist.
    pub over_base: [Option<Known>; 4],
    /// Mean STP over that of SMK-P on the unchanged GPU, over the mixes of more than two
    /// kernels.
    pub over_smk: Option<Known>,
    /// Mean decision regret by each objective: the static run of its choice against the best static
    /// choice with the same mechanisms.
    pub decision: [Option<Known>; 4],
    /// Mean decision regret by STP, for mixes of 2, 3 and 4 kernels.
    pub decision_by_size: [Option<Known>; 3],
    /// Mean end-to-end regret by STP: its own run against the best static choice with any
    /// mechanism.
    pub end_to_end: Option<Known>,
    /// Mean S.
    pub s: Option<f64>,
    /// Mean S of running only the fastest kernel, over the same mixes.
    pub s_null: Option<f64>,
    /// Mean fraction of the window spent on placement, transitions, profiling and decisions.
    pub overhead: Option<f64>,
    /// Number of mixes whose window ended before the choice was in effect.
    pub too_late: usize,
    /// Number of mixes in which a kernel made no progress.
    pub starved: usize,
}

/// Judged block with its references B and O.
#[derive(Clone, Debug)]
pub struct Judgment<'b> {
    /// Mixes and runs of the block.
    pub block: &'b Block,
    /// B: among the existing policies that ran the most mixes, the one with the best mean STP, the
    /// first of several.
    pub base: Option<Way>,
    /// Mean STP of B.
    pub base_stp: Option<f64>,
    /// O: mean STP of each mix's best static choice.
    pub best_stp: Option<f64>,
    /// Means of the best static choices by each objective over those of B.
    pub best_over_base: [Option<Known>; 4],
    /// Results of every policy with its mechanisms and transition, in the order of the plan.
    pub lines: Vec<Line>,
}

impl<'b> Judgment<'b> {
    /// Judges a block, with B one of `existing`.
    #[must_use]
    pub fn of(block: &'b Block, existing: &[String]) -> Self {
        let kernels: Vec<Vec<String>> = block.mixes.iter().map(|mix| mix.kernels.clone()).collect();
        let judge = Judge { block, base: base(block, existing), resampled: Resampled::of(&kernels) };
        Judgment {
            block,
            base_stp: average(&judge.of_base(Objective::Stp)),
            best_stp: average(&judge.best(Objective::Stp)),
            best_over_base: Objective::ALL.map(|objective| judge.over_base(&judge.best(objective), objective)),
            lines: block.ways().into_iter().map(|way| judge.line(way)).collect(),
            base: judge.base,
        }
    }
}

/// Builder of the lines of a block.
struct Judge<'b> {
    block: &'b Block,
    base: Option<Way>,
    resampled: Resampled,
}

impl Judge<'_> {
    fn line(&self, way: &Way) -> Line {
        let run = |of: &dyn Fn(&Mix, &Run) -> Option<f64>| self.of_mixes(|mix| of(mix, mix.run(way)?));
        let values = |objective: Objective| run(&|_, run| objective.of(&run.values));
        let runs: Vec<&Run> = self.block.mixes.iter().filter_map(|mix| mix.run(way)).collect();
        let mean = |values: &[Option<f64>]| self.known(&[values], |means| Some(means[0]));
        let of_size = |size: usize| {
            let regret = |mix: &Mix| mix.decision_regret(way, Objective::Stp).filter(|_| mix.kernels.len() == size);
            mean(&self.of_mixes(regret))
        };
        let stp = Objective::Stp;
        let end_to_end = |mix: &Mix, run: &Run| stp.regret(stp.of(&run.values)?, mix.best(stp, None)?.0);
        Line {
            way: way.clone(),
            mixes: runs.len(),
            stp: average(&values(Objective::Stp)),
            share: self.share(&values(Objective::Stp)),
            over_base: Objective::ALL.map(|objective| self.over_base(&values(objective), objective)),
            over_smk: self.over_smk(way),
            decision: Objective::ALL.map(|objective| mean(&self.of_mixes(|mix| mix.decision_regret(way, objective)))),
            decision_by_size: SIZES.map(of_size),
            end_to_end: mean(&run(&end_to_end)),
            s: average(&run(&|_, run| run.values.metrics.speedup)),
            s_null: average(&run(&|mix, _| mix.s_null)),
            overhead: average(&run(&|_, run| run.overhead)),
            too_late: runs.iter().filter(|run| run.too_late).count(),
            starved: runs.iter().filter(|run| run.values.metrics.antt.is_none()).count(),
        }
    }

    fn of_mixes(&self, of: impl Fn(&Mix) -> Option<f64>) -> Vec<Option<f64>> {
        self.block.mixes.iter().map(of).collect()
    }

    fn best(&self, objective: Objective) -> Vec<Option<f64>> {
        self.of_mixes(|mix| Some(mix.best(objective, None)?.0))
    }

    fn of_base(&self, objective: Objective) -> Vec<Option<f64>> {
        self.of_mixes(|mix| objective.of(&mix.run(self.base.as_ref()?)?.values))
    }

    /// Returns the position between B and O; `None` if O is not above B.
    fn share(&self, stp: &[Option<f64>]) -> Option<Known> {
        self.known(&[stp, &self.of_base(Objective::Stp), &self.best(Objective::Stp)], |means| {
            let (own, base, best) = (means[0], means[1], means[2]);
            (best > base).then(|| (own - base) / (best - base))
        })
    }

    /// Returns the means over those of B.
    fn over_base(&self, values: &[Option<f64>], objective: Objective) -> Option<Known> {
        self.known(&[values, &self.of_base(objective)], |means| (means[1] > 0.0).then(|| means[0] / means[1]))
    }

    /// Returns STP over that of SMK-P for mixes of more than two kernels.
    fn over_smk(&self, way: &Way) -> Option<Known> {
        let smk = Way { policy: SMK, with: String::new(), transition: TRANSITION };
        let stp = |way: &Way| self.of_mixes(|mix| Objective::Stp.of(&mix.run(way).filter(|_| mix.kernels.len() > 2)?.values));
        self.known(&[&stp(way), &stp(&smk)], |means| (means[1] > 0.0).then(|| means[0] / means[1]))
    }

    /// Returns a function of the means of lists by mix, over the mixes in which all values exist,
    /// with its interval.
    fn known(&self, lists: &[&[Option<f64>]], of_means: impl Fn(&[f64]) -> Option<f64>) -> Option<Known> {
        let there: Vec<usize> = (0..self.block.mixes.len()).filter(|&mix| lists.iter().all(|values| values[mix].is_some())).collect();
        let values: Vec<Vec<f64>> = lists.iter().map(|values| there.iter().filter_map(|&mix| values[mix]).collect()).collect();
        let statistic = |weights: &[f64]| {
            let weights: Vec<f64> = there.iter().map(|&mix| weights[mix]).collect();
            let whole: f64 = weights.iter().sum();
            let mean = |values: &Vec<f64>| values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / whole;
            if whole > 0.0 { of_means(&values.iter().map(mean).collect::<Vec<f64>>()) } else { None }
        };
        let value = statistic(&vec![1.0; self.block.mixes.len()])?;
        let interval = if there.len() < 2 { None } else { self.resampled.interval(statistic) };
        Some(Known { mixes: there.len(), value, interval })
    }
}

/// Returns the mean over the mixes with a value.
fn average(values: &[Option<f64>]) -> Option<f64> {
    arithmetic(&values.iter().flatten().copied().collect::<Vec<f64>>())
}

/// Returns B, among runs that switch TBs out.
fn base(block: &Block, existing: &[String]) -> Option<Way> {
    let candidates = block.ways().into_iter().filter(|way| way.transition == TRANSITION && existing.iter().any(|name| name == way.policy));
    let known = candidates.filter_map(|way| {
        let values: Vec<Option<f64>> = block.mixes.iter().map(|mix| Objective::Stp.of(&mix.run(way)?.values)).collect();
        Some((values.iter().flatten().count(), average(&values)?, way))
    });
    let best = known.fold(None, |best: Option<(usize, f64, &Way)>, one| match best {
        Some(best) if (best.0, best.1) >= (one.0, one.1) => Some(best),
        _ => Some(one),
    });
    best.map(|(_, _, way)| way.clone())
}
