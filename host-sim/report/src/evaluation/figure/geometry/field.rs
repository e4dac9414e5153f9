//! The same check of the figure of the field, on random evaluations of its plan: its experiments, settings and policies, with random values.

use super::*;
use mias_lab::evaluate::plan;
use mias_lab::experiment::policies::Policies;

/// An evaluation of that plan as far as its lines go.
pub(in crate::evaluation) fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let plan = plan::load("field", &Policies::default()).expect("built in");
    let mut studies = Vec::new();
    for experiment in &plan.experiments {
        for setting in &experiment.settings {
            let mut some = study(numbers, 0, true, 0);
            let group = some.groups.swap_remove(0);
            let of_pair = |pair: &Vec<usize>, numbers: &mut Numbers| {
                let names: Vec<&str> = pair.iter().map(|&kernel| experiment.kernels[kernel].0.as_str()).collect();
                let result = |name: &'static str, numbers: &mut Numbers| {
                    let joules = 1.0 + numbers.next();
                    PolicyResult { energy_joules: numbers.maybe(joules), ..policy(numbers, name, 2, 2.0, true) }
                };
                // The first eight kernels compute.
                let class = ["MM", "MC", "CC"][pair.iter().filter(|&&kernel| kernel < 8).count()];
                GroupResult {
                    kernels: names.iter().map(|&name| name.to_owned()).collect(),
                    class: class.into(),
                    policies: experiment.policies.iter().map(|policy| result(policy.name(), numbers)).collect(),
                    ..group.clone()
                }
            };
            // Two pairs of each class.
            let some_pairs = experiment.groups.iter().enumerate().filter(|(at, _)| at % 8 < 2);
            some.groups = some_pairs.map(|(_, pair)| of_pair(pair, numbers)).collect();
            some.summary = summary::rows(&some.groups, false);
            let choice = mias_lab::choice::Choice::name(setting.options.transition);
            studies.push(StudyResult {
                experiment: experiment.name.clone(),
                setting: setting.labels.clone(),
                gpu: setting.sharing.name.clone(),
                transition: choice,
                ..some
            });
        }
    }
    let plan = PlanNote { name: "field".into(), description: "a plan".into(), hash: "h".into(), report: of_kind("mechanism-ranking") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn the_figure_of_the_field_is_within_and_apart(seed: u64) {
        within_and_apart(&evaluation(seed), &["1"], &["The table", "By class", "By pair", "Decisions in their time"])?;
    }
}
