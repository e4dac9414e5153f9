//! What a line of the field's table is called, what it is after, and among which it stands: told from its policy, its machine's fields and its transition.

use mias_lab::evaluate::results::StudyResult;
use mias_lab::evaluate::sides::Side;
use mias_lab::experiment::policy::Policy;

/// What it does, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::evaluation) enum Family {
    /// One kernel after the other.
    InTurn,
    /// SMs of their own for each kernel.
    Beside,
    /// Which TBs are on every SM.
    Inside,
    /// The same, and something that holds kernels back there.
    HeldBack,
    /// Whichever of both is found to be better.
    Both,
    /// More TBs than fit.
    Contexts,
    /// How SMs come from one configuration to the next.
    Transition,
    /// Of several of these.
    Combination,
}

impl Family {
    /// In the order of the table.
    pub(in crate::evaluation) const ALL: [Family; 8] = [
        Family::InTurn,
        Family::Beside,
        Family::Inside,
        Family::HeldBack,
        Family::Both,
        Family::Contexts,
        Family::Transition,
        Family::Combination,
    ];

    /// In words.
    pub(in crate::evaluation) fn name(self) -> &'static str {
        match self {
            Family::InTurn => "in turn",
            Family::Beside => "SMs of their own",
            Family::Inside => "shared SMs",
            Family::HeldBack => "shared SMs, held back",
            Family::Both => "one or the other",
            Family::Contexts => "more TBs than fit",
            Family::Transition => "transitions",
            Family::Combination => "combinations",
        }
    }

    /// Of a policy in a study.
    pub(super) fn of(study: &StudyResult, policy: Policy) -> Family {
        let experiment = study.experiment.as_str();
        if experiment.starts_with("combined") {
            return Family::Combination;
        }
        if experiment == TRANSITIONS {
            return Family::Transition;
        }
        if study.gpu.contains("sm.contexts") {
            return Family::Contexts;
        }
        let held = policy.composed().is_some() || fields(study).next().is_some();
        match Side::of(policy.base().name()) {
            _ if held => Family::HeldBack,
            Some(Side::Both) => Family::Both,
            Some(Side::Beside) => Family::Beside,
            Some(Side::Inside) => Family::Inside,
            None if matches!(policy, Policy::LeftOver) => Family::InTurn,
            // TBs by resources or by use, which the question inside or beside does not ask about.
            None => Family::Inside,
        }
    }
}

/// The experiment about transitions.
const TRANSITIONS: &str = "transitions";

/// Fields of the machine that only make it smaller.
const SIZES: [&str; 2] = ["sm.count", "dram.channels"];

/// Key and value of each field that a mechanism sets, as the machine's name has them.
pub(super) fn fields(study: &StudyResult) -> impl Iterator<Item = (&str, &str)> {
    let all = study.gpu.split(' ').skip(1).filter_map(|field| field.split_once('='));
    all.filter(|(key, _)| !SIZES.contains(key))
}

/// Mechanisms by field and value, with the names that people give them.
const MECHANISMS: [(&str, &str, &str, &str); 6] = [
    ("sm.contexts.mechanism", "virtual", "Virtual Thread", "Yoon et al. 2016"),
    ("sm.contexts.mechanism", "duet", "GPUDuet", "Lin et al. 2018"),
    ("sm.contexts.mechanism", "duet-tb", "GPUDuet, TB level", "Lin et al. 2018"),
    ("sm.memory_issue.in_flight", "dynamic", "DMIL", "Dai et al. 2018"),
    ("l1.partition.by", "ucp", "UCP of the L1", "Qureshi and Patt 2006"),
    ("l2.partition.by", "ucp", "UCP of the L2", "Qureshi and Patt 2006"),
];

pub(in crate::evaluation) fn mechanism(key: &str, value: &str) -> Option<(&'static str, &'static str)> {
    let known = MECHANISMS.iter().find(|(known, of, ..)| *known == key && *of == value);
    known.map(|(_, _, name, after)| (*name, *after))
}

/// Transitions, after whom.
const SCHEMES: [(&str, &str); 6] = [
    ("drain", "Nasef 2023"),
    ("ideal", "no hardware"),
    ("preempt:switch", "Shieh 2016"),
    ("preempt:flush", "Shieh 2016"),
    ("preempt:chimera", "Park et al. 2015"),
    ("preempt:shieh", "Shieh 2016"),
];

/// What a line is called: policy, then what is beside it.
pub(super) fn name(study: &StudyResult, policy: &str) -> String {
    let mut name = policy.to_owned();
    for (key, value) in fields(study) {
        name += " + ";
        name += &mechanism(key, value).map_or_else(|| format!("{key}={value}"), |(name, _)| name.to_owned());
    }
    if tells_transition(study) { name + ", " + study.transition } else { name }
}

/// Whether the way from one configuration to the next is part of what is looked at, and not merely how the plan's other lines go.
pub(super) fn tells_transition(study: &StudyResult) -> bool {
    study.experiment == TRANSITIONS || !["drain", "preempt:switch"].contains(&study.transition)
}

/// Whose it is.
pub(super) fn after(study: &StudyResult, policy: Policy, family: Family) -> &'static str {
    match family {
        Family::Combination => "own",
        Family::Transition => SCHEMES.iter().find(|(name, _)| *name == study.transition).map_or("", |(_, after)| *after),
        _ => fields(study).find_map(|(key, value)| mechanism(key, value)).map_or_else(|| of_policy(policy), |(_, after)| after),
    }
}

fn of_policy(policy: Policy) -> &'static str {
    match policy {
        Policy::LeftOver | Policy::MiasIpc | Policy::MiasIpmIpc | Policy::MiasFactor | Policy::MiasLinear => "Nasef 2023",
        Policy::Spatial => "Adriaens et al. 2012",
        Policy::Smk => "Wang et al. 2016",
        Policy::WarpedSlicer | Policy::WarpedSlicerUnscaled => "Xu et al. 2016",
        Policy::WarpedSlicerSum => "Pan and Rogers 2024",
        Policy::Coordinated => "Lin et al. 2019",
        Policy::Maestro | Policy::MaestroSearch => "Park et al. 2017",
        Policy::FairShare => "Aguilera et al. 2014",
        Policy::FairShareModel => "Zhao et al. 2020",
        Policy::EffectiveBandwidth | Policy::EffectiveBandwidthFair | Policy::EffectiveBandwidthHarmonic => "Wang et al. 2018",
        Policy::Composed(composed) if composed.has_quotas() => "Wang et al. 2016",
        Policy::Composed(_) => "Dai et al. 2018",
        _ if policy.name().starts_with("cd-search") => "Zhao et al. 2018",
        _ => "own",
    }
}
