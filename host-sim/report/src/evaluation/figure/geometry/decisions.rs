//! The same check of the figures of decisions, on random evaluations of its plan: its experiments, settings and policies, with random values.

use super::*;
use mias_lab::evaluate::plan;
use mias_lab::experiment::machine::End;
use mias_lab::experiment::policies::Policies;

/// Two mixes of each size for an experiment.
const MIXES: usize = 2;

/// An evaluation of that plan as far as its lines go, in one of its windows.
pub(in crate::evaluation) fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let plan = plan::load("decisions", &Policies::default()).expect("built in");
    let mut studies = Vec::new();
    for experiment in &plan.experiments {
        let window = |setting: &&plan::Setting| setting.options.end == End::Cycles(500_000);
        for setting in experiment.settings.iter().filter(window) {
            let mut some = study(numbers, 0, true, 0);
            let group = some.groups.swap_remove(0);
            let of_mix = |mix: &Vec<usize>, numbers: &mut Numbers| {
                let kernels: Vec<String> = mix.iter().map(|&kernel| experiment.kernels[kernel].0.clone()).collect();
                let known = |numbers: &mut Numbers| MetricValues { stp: Some(0.5 + numbers.next()), ..metrics(numbers, 1.0) };
                let result = |name: &'static str, numbers: &mut Numbers| {
                    let (joules, metrics) = (1.0 + numbers.next(), known(numbers));
                    PolicyResult { energy_joules: numbers.maybe(joules), metrics, ..policy(numbers, name, mix.len(), 1.0, true) }
                };
                let configuration = |tbs: u32, numbers: &mut Numbers| ConfigurationResult {
                    config: vec![tbs; mix.len()],
                    metrics: known(numbers),
                    energy_joules: Some(1.0 + numbers.next()),
                    ..group.configurations[0].clone()
                };
                GroupResult {
                    kernels,
                    class: "MC".into(),
                    configurations: if experiment.configurations {
                        vec![configuration(1, numbers), configuration(2, numbers)]
                    } else {
                        Vec::new()
                    },
                    policies: experiment.policies.iter().map(|policy| result(policy.name(), numbers)).collect(),
                    ..group.clone()
                }
            };
            let some_of = |size: usize| experiment.groups.iter().filter(move |mix| mix.len() == size).take(MIXES);
            some.groups = (2..=4).flat_map(some_of).map(|mix| of_mix(mix, numbers)).collect();
            some.summary = summary::rows(&some.groups, false);
            studies.push(StudyResult {
                experiment: experiment.name.clone(),
                setting: setting.labels.clone(),
                gpu: setting.sharing.name.clone(),
                transition: mias_lab::choice::Choice::name(setting.options.transition),
                cycles: Some(500_000),
                ..some
            });
        }
    }
    let plan = PlanNote { name: "decisions".into(), description: "a plan".into(), hash: "h".into(), report: of_kind("decision-quality") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]

    #[test]
    fn figures_of_decisions_are_within_and_apart(seed: u64) {
        within_and_apart(&evaluation(seed), &["1"], &["Decisions in a minute", "What the window brought", "What was decided", "Every mix"])?;
    }
}
