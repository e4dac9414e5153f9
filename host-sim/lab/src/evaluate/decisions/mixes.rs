//! Results arranged by mix: for each GPU, set of kernels and window the mixes, each with its
//! static choices and the runs of policies.

use super::Objective;
use super::kernels::{Kernels, Set};
use crate::evaluate::names::Name;
use crate::evaluate::results::{Evaluation, GroupResult, MetricValues, PolicyResult, StudyResult};
use crate::experiment::shares::Shares;

/// Values of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Values {
    /// Metrics against isolated runs.
    pub metrics: MetricValues,
    /// Energy of the run in joules; `None` if the GPU has no coefficients.
    pub joules: Option<f64>,
}

/// Static assignment of TBs or SMs for a whole window.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// TBs of each kernel on every SM.
    Config(Vec<u32>),
    /// SMs of each kernel.
    Split(Vec<u32>),
}

/// Static run with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Static {
    /// GPU fields that a mechanism sets; empty without a mechanism.
    pub with: String,
    /// Static choice of the run.
    pub choice: Choice,
    /// Values of the run.
    pub values: Values,
}

/// Policy with its mechanisms and transition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Name of the policy.
    pub policy: Name,
    /// GPU fields that a mechanism sets, as [`Static::with`].
    pub with: String,
    /// Transition of SMs between configurations.
    pub transition: Name,
}

/// Run of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Values of the run, including profiling, transitions and decisions.
    pub values: Values,
    /// Choice, in effect or too late; `None` if it is neither a configuration of all SMs nor a
    /// division of them.
    pub choice: Option<Choice>,
    /// Whether the window ended before the choice was in effect.
    pub too_late: bool,
    /// Fraction of the window spent on placement, transitions, profiling and decisions.
    pub overhead: Option<f64>,
}

/// Kernels that ran together, with their runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    /// Names in launch order.
    pub kernels: Vec<String>,
    /// Types of the kernels, C and M.
    pub class: String,
    /// S of running only the fastest kernel.
    pub s_null: Option<f64>,
    /// All static choices with their values.
    pub statics: Vec<Static>,
    /// Runs of policies, in their order.
    pub runs: Vec<(Way, Run)>,
}

/// Mixes of one set of kernels on one GPU in one window.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// GPU, with the fields that determine its size.
    pub gpu: String,
    /// Set of the kernels.
    pub set: Set,
    /// Length of the window in core cycles.
    pub cycles: u64,
    /// Mixes in the order of the plan.
    pub mixes: Vec<Mix>,
}

/// GPU fields that determine its size, and the hardware selection of preemption victims; they
/// are not mechanisms of a policy.
const SAYS_GPU: [&str; 3] = ["sm.count", "dram.channels", "sm.preemption.selector.start_cycles"];

/// Setting that divides the SMs by given numbers, and the policy that uses it.
const SHARES: (&str, &str) = ("shares", "spatial");

/// Splits the GPU of a study from the fields that mechanisms set. A field of value `none` sets
/// nothing.
pub(super) fn gpu(gpu: &str) -> (String, String) {
    let says_gpu = |field: &str| field.split_once('=').is_some_and(|(key, _)| SAYS_GPU.contains(&key));
    let mut words = gpu.split(' ');
    let name = words.next().unwrap_or_default();
    let (of_gpu, fields): (Vec<&str>, Vec<&str>) = words.partition(|field| says_gpu(field));
    let set: Vec<&str> = fields.into_iter().filter(|field| !field.ends_with("=none")).collect();
    ([&[name][..], &of_gpu].concat().join(" "), set.join(" "))
}

/// Returns the SMs of each kernel, if each SM has TBs of one kernel only.
fn split(result: &PolicyResult, kernels: usize) -> Option<Vec<u32>> {
    let mut sms = vec![0; kernels];
    for placed in &result.placement {
        let mut owners = placed.config.iter().enumerate().filter(|(_, tbs)| **tbs > 0);
        match (owners.next(), owners.next()) {
            (Some((owner, _)), None) => *sms.get_mut(owner)? += placed.sms.len() as u32,
            // The SM belongs to no kernel.
            (None, _) => {}
            _ => return None,
        }
    }
    sms.iter().all(|count| *count > 0).then_some(sms)
}

impl Block {
    /// Returns all blocks of an evaluation, in order of appearance.
    #[must_use]
    pub fn all(evaluation: &Evaluation, kernels: &Kernels) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        for study in &evaluation.studies {
            let Some(cycles) = study.cycles else { continue };
            let (gpu, with) = gpu(&study.gpu);
            for group in study.groups.iter().filter(|group| group.kernels.len() > 1) {
                let Some(set) = kernels.set_of(&group.kernels) else { continue };
                let is_it = |block: &Block| block.gpu == gpu && block.set == set && block.cycles == cycles;
                let at = blocks.iter().position(is_it).unwrap_or_else(|| {
                    blocks.push(Block { gpu: gpu.clone(), set, cycles, mixes: Vec::new() });
                    blocks.len() - 1
                });
                blocks[at].mix(group).add(study, group, &with);
            }
        }
        blocks
    }

    fn mix(&mut self, group: &GroupResult) -> &mut Mix {
        let at = self.mixes.iter().position(|mix| mix.kernels == group.kernels).unwrap_or_else(|| {
            let (kernels, class) = (group.kernels.clone(), group.class.clone());
            self.mixes.push(Mix { kernels, class, s_null: group.s_null, statics: Vec::new(), runs: Vec::new() });
            self.mixes.len() - 1
        });
        &mut self.mixes[at]
    }

    /// Returns the policies with mechanisms and transitions, in order of appearance.
    #[must_use]
    pub fn ways(&self) -> Vec<&Way> {
        let mut ways: Vec<&Way> = Vec::new();
        for (way, _) in self.mixes.iter().flat_map(|mix| &mix.runs) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
        ways
    }
}

impl Mix {
    /// Adds a study's results for this mix.
    fn add(&mut self, study: &StudyResult, group: &GroupResult, with: &str) {
        let shares = study.setting.iter().find(|(key, _)| key == SHARES.0).and_then(|(_, shares)| shares.parse::<Shares>().ok());
        let mut fixed = |choice: Choice, metrics: MetricValues, joules: Option<f64>| {
            if !self.statics.iter().any(|known| known.with == with && known.choice == choice) {
                self.statics.push(Static { with: with.to_owned(), choice, values: Values { metrics, joules } });
            }
        };
        for configuration in &group.configurations {
            fixed(Choice::Config(configuration.config.clone()), configuration.metrics, configuration.energy_joules);
        }
        for result in &group.policies {
            let values = Values { metrics: result.metrics, joules: result.energy_joules };
            if let Some(shares) = shares.filter(|_| result.policy == SHARES.1) {
                let sms = shares.sms().iter().map(|&sms| sms.into()).collect();
                fixed(Choice::Split(sms), result.metrics, result.energy_joules);
                continue;
            }
            let way = Way { policy: result.policy, with: with.to_owned(), transition: study.transition };
            let config = result.config.as_ref().or(result.too_late_config.as_ref());
            let divided = || split(result, group.kernels.len()).filter(|_| !result.too_late).map(Choice::Split);
            let choice = config.cloned().map(Choice::Config).or_else(divided);
            self.runs.push((way, Run { values, choice, too_late: result.too_late, overhead: result.overhead }));
        }
    }

    /// Returns the run of a policy.
    #[must_use]
    pub fn run(&self, way: &Way) -> Option<&Run> {
        self.runs.iter().find(|(known, _)| known == way).map(|(_, run)| run)
    }

    /// Returns the best static choice by an objective among those with the mechanism `with`, or
    /// with any.
    #[must_use]
    pub fn best(&self, objective: Objective, with: Option<&str>) -> Option<(f64, &Static)> {
        let mut best: Option<(f64, &Static)> = None;
        for one in self.statics.iter().filter(|one| with.is_none_or(|with| one.with == with)) {
            let Some(value) = objective.of(&one.values) else { continue };
            if best.is_none_or(|(before, _)| objective.is_better(value, before)) {
                best = Some((value, one));
            }
        }
        best
    }

    /// Returns the decision regret of a run by an objective: its choice against the best static
    /// choice with its mechanism, both as static runs. `None` if its choice has no static run.
    #[must_use]
    pub fn decision_regret(&self, way: &Way, objective: Objective) -> Option<f64> {
        let chosen = self.run(way)?.choice.as_ref()?;
        let of_choice = self.statics.iter().find(|one| one.with == way.with && one.choice == *chosen)?;
        objective.regret(objective.of(&of_choice.values)?, self.best(objective, Some(&way.with))?.0)
    }
}
