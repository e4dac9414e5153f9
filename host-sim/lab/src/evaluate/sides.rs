//! Inside or beside: whether kernels share SMs or have SMs of their own, which is best for each group, and a rule that says so beforehand from counters
//! of the kernels alone (own; the question is that of Maestro, Park et al. 2017, and of Zhao et al. 2018, section 7.5).
//!
//! A side's value is that of its best policy, known afterwards: what is judged is the choice of the side. The rule is one threshold on one
//! counter, so that few groups can teach it; it is judged on groups none of whose kernels taught it.

use super::results::{AloneResult, GroupResult, PolicyResult, StudyResult};
use mias_workloads::kernels::OTHER_NAMES;
use std::collections::BTreeSet;

/// Where TBs of several kernels go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Onto the same SMs.
    Inside,
    /// Onto SMs of their own.
    Beside,
    /// Whichever the policy finds better while it runs.
    Both,
}

impl Side {
    /// In the order of reports.
    pub const ALL: [Side; 3] = [Side::Inside, Side::Beside, Side::Both];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Side::Inside => "inside",
            Side::Beside => "beside",
            Side::Both => "both",
        }
    }

    /// The side of a policy; none of one that is of no side, such as Left-over.
    pub fn of(policy: &str) -> Option<Side> {
        match policy {
            "smk" | "warped-slicer" => Some(Side::Inside),
            _ if policy.starts_with("mias-") => Some(Side::Inside),
            "spatial"
            | "fair-share"
            | "fair-share+model"
            | "effective-bandwidth"
            | "effective-bandwidth+fair"
            | "effective-bandwidth+harmonic" => Some(Side::Beside),
            "maestro" | "maestro+search" | "cd-search+maestro" => Some(Side::Both),
            _ if policy.starts_with("cd-search") => Some(Side::Beside),
            _ => None,
        }
    }
}

/// What is to be large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objective {
    /// System throughput.
    Stp,
    /// The inverse of the average normalised turnaround time.
    Antt,
    /// System throughput over the energy of the run, in 1/J: work for energy.
    Energy,
}

impl Objective {
    /// In the order of reports.
    pub const ALL: [Objective; 3] = [Objective::Stp, Objective::Antt, Objective::Energy];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Objective::Stp => "STP",
            Objective::Antt => "1 / ANTT",
            Objective::Energy => "STP per joule",
        }
    }

    /// Of a run; 0 where a kernel made no progress, none where it is not known.
    pub fn of(self, result: &PolicyResult) -> Option<f64> {
        match self {
            Objective::Stp => result.metrics.stp,
            Objective::Antt => Some(result.metrics.antt.map_or(0.0, |antt| 1.0 / antt)),
            Objective::Energy => Some(result.metrics.stp? / result.energy_joules.filter(|joules| *joules > 0.0)?),
        }
    }
}

/// A counter of a kernel alone.
type Counter = (&'static str, fn(&AloneResult) -> Option<f64>);

/// The counters that a rule may ask for; hardware has all of them per SM.
const COUNTERS: [Counter; 5] = [
    ("L1 misses over accesses", |kernel| kernel.memory.as_ref()?.l1_miss_rate),
    ("reservation fails over L1 accesses", |kernel| kernel.memory.as_ref()?.fails_per_access),
    ("cycles in which the L1 refuses", |kernel| kernel.memory.as_ref()?.lsu_stall_share),
    ("issue slots used", |kernel| kernel.memory.as_ref()?.alu_utilization),
    ("issue slots that wait for memory", |kernel| kernel.issue_slots.get("memory_raw").copied()),
];

/// How the counters of a group's kernels become one number.
type Combination = (&'static str, fn(&[f64]) -> f64);

const COMBINATIONS: [Combination; 3] = [
    ("largest", |all| all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    ("smallest", |all| all.iter().copied().fold(f64::INFINITY, f64::min)),
    ("mean", |all| all.iter().sum::<f64>() / all.len().max(1) as f64),
];

/// A rule: the side by whether a number of the group is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Places in the lists of combinations and counters; none: always [`Rule::above`].
    of: Option<(usize, usize)>,
    /// Above it, [`Rule::above`] is the side, else the other.
    threshold: f64,
    above: Side,
}

impl Rule {
    /// In words.
    pub fn say(&self) -> String {
        let Some((combination, counter)) = self.of else { return format!("always {}", self.above.name()) };
        let (combination, counter) = (COMBINATIONS[combination].0, COUNTERS[counter].0);
        format!("{} if the {combination} of {counter} is above {:.3}, else {}", self.above.name(), self.threshold, other(self.above).name())
    }

    fn side(&self, group: &Group) -> Side {
        match self.of {
            Some(of) if group.number(of).is_none_or(|number| number <= self.threshold) => other(self.above),
            _ => self.above,
        }
    }
}

fn other(side: Side) -> Side {
    if side == Side::Inside { Side::Beside } else { Side::Inside }
}

/// A group, and what each side is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its experiment, and its kernels in launch order.
    pub experiment: String,
    /// The latter.
    pub kernels: Vec<String>,
    /// Of each side the best policy and its value; none where no policy of it ran.
    pub best: [Option<(&'static str, f64)>; 3],
    /// Every counter of every kernel, in kernel order; none where it is not known.
    counters: Vec<[Option<f64>; COUNTERS.len()]>,
}

impl Group {
    fn of(study: &StudyResult, group: &GroupResult, objective: Objective) -> Option<Group> {
        let best = Side::ALL.map(|side| {
            let of_side = group.policies.iter().filter(|result| Side::of(result.policy) == Some(side));
            let values = of_side.filter_map(|result| Some((result.policy, objective.of(result)?)));
            // Of equals the first.
            values.fold(None, |best: Option<(&str, f64)>, one| if best.is_none_or(|best| one.1 > best.1) { Some(one) } else { best })
        });
        let alone = |name: &String| study.kernels.iter().find(|kernel| kernel.name == *name);
        let counters = group.kernels.iter().map(|name| COUNTERS.map(|(_, of)| alone(name).and_then(of))).collect();
        (best[0].is_some() && best[1].is_some()).then(|| Group {
            experiment: study.experiment.clone(),
            kernels: group.kernels.clone(),
            best,
            counters,
        })
    }

    /// The value of a side.
    fn value(&self, side: Side) -> f64 {
        self.best[side as usize].map_or(0.0, |(_, value)| value)
    }

    /// A side's value over that of the better of inside and beside, 0..=1 for these two.
    pub fn share(&self, side: Side) -> Option<f64> {
        let most = self.value(Side::Inside).max(self.value(Side::Beside));
        (most > 0.0).then(|| self.value(side) / most)
    }

    /// The side that is better; inside where they are equal.
    pub fn right(&self) -> Side {
        if self.value(Side::Beside) > self.value(Side::Inside) { Side::Beside } else { Side::Inside }
    }

    fn number(&self, (combination, counter): (usize, usize)) -> Option<f64> {
        let numbers: Option<Vec<f64>> = self.counters.iter().map(|of_kernel| of_kernel[counter]).collect();
        numbers.map(|numbers| COMBINATIONS[combination].1(&numbers))
    }

    /// Its kernels whatever their input, by their own names.
    fn families(&self) -> BTreeSet<&str> {
        self.kernels.iter().map(|name| family(name)).collect()
    }
}

/// A kernel's own name, whatever its input and however it was asked for.
pub(super) fn family(name: &str) -> &str {
    let bare = name.split(':').next().unwrap_or_default();
    OTHER_NAMES.iter().find(|(other, _)| *other == bare).map_or(bare, |(_, own)| own)
}

/// The rule that attains most of the better side in the mean over groups; of equals the first, and one that asks nothing before all.
fn learn(groups: &[&Group]) -> Option<Rule> {
    let attained = |rule: &Rule| groups.iter().filter_map(|group| group.share(rule.side(group))).sum::<f64>();
    let always = [Side::Inside, Side::Beside].map(|above| Rule { of: None, threshold: 0.0, above });
    let asking = (0..COMBINATIONS.len()).flat_map(|combination| (0..COUNTERS.len()).map(move |counter| (combination, counter)));
    let asking = asking.flat_map(|of| {
        let mut numbers: Vec<f64> = groups.iter().filter_map(|group| group.number(of)).filter(|number| number.is_finite()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let between: Vec<f64> = numbers.windows(2).map(|two| f64::midpoint(two[0], two[1])).collect();
        let of_threshold = move |threshold: f64| [Side::Inside, Side::Beside].map(|above| Rule { of: Some(of), threshold, above });
        between.into_iter().flat_map(of_threshold)
    });
    let rules = always.into_iter().chain(asking).map(|rule| (attained(&rule), rule));
    // Sums of the same shares in the same order: equal ones are equal to the bit.
    let best = rules.fold(None, |best: Option<(f64, Rule)>, one| if best.is_none_or(|best| one.0 > best.0) { Some(one) } else { best });
    best.filter(|_| !groups.is_empty()).map(|(_, rule)| rule)
}

/// How well a way to choose the side does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attained {
    /// Groups that it chose the better side for, and groups in all.
    pub right: usize,
    /// The latter.
    pub groups: usize,
    /// Mean over groups of what it attains of the better side.
    pub share: f64,
}

impl Attained {
    fn of(chosen: &[(&Group, Side)]) -> Attained {
        let shares: Vec<f64> = chosen.iter().filter_map(|(group, side)| group.share(*side)).collect();
        Attained {
            right: chosen.iter().filter(|(group, side)| group.right() == *side).count(),
            groups: shares.len(),
            share: shares.iter().sum::<f64>() / shares.len().max(1) as f64,
        }
    }
}

/// What is known of the sides for one objective.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Every group that ran on both sides.
    pub groups: Vec<Group>,
    /// Always inside, and always beside.
    pub always: [Attained; 2],
    /// A rule for each group from those that share no kernel with it; groups without such others are left out.
    pub rule: Attained,
    /// The same groups under the side that is better for most of the others.
    pub majority: Attained,
    /// The rule of all groups.
    pub of_all: Option<Rule>,
}

/// Whether sides can be judged: a study ran policies of all three and asked what kernels alone meet in memory.
pub fn is_of(studies: &[StudyResult]) -> bool {
    let ran = |study: &StudyResult, side: Side| {
        study.groups.iter().flat_map(|group| &group.policies).any(|result| Side::of(result.policy) == Some(side))
    };
    studies.iter().any(|study| study.kernels.iter().any(|kernel| kernel.memory.is_some()) && Side::ALL.iter().all(|&side| ran(study, side)))
}

/// Judges all groups of all studies.
pub fn judge(studies: &[StudyResult], objective: Objective) -> Judged {
    let groups = studies.iter().flat_map(|study| study.groups.iter().filter_map(|group| Group::of(study, group, objective)));
    let groups: Vec<Group> = groups.filter(|group| group.share(Side::Inside).is_some()).collect();
    let always = [Side::Inside, Side::Beside].map(|side| Attained::of(&groups.iter().map(|group| (group, side)).collect::<Vec<_>>()));
    let (mut by_rule, mut by_majority) = (Vec::new(), Vec::new());
    for group in &groups {
        let others: Vec<&Group> = groups.iter().filter(|other| other.families().is_disjoint(&group.families())).collect();
        let Some(rule) = learn(&others) else { continue };
        by_rule.push((group, rule.side(group)));
        let inside = others.iter().filter(|other| other.right() == Side::Inside).count();
        by_majority.push((group, if 2 * inside >= others.len() { Side::Inside } else { Side::Beside }));
    }
    let (rule, majority) = (Attained::of(&by_rule), Attained::of(&by_majority));
    let of_all = learn(&groups.iter().collect::<Vec<_>>());
    Judged { always, rule, majority, of_all, groups }
}

#[cfg(test)]
mod tests;
