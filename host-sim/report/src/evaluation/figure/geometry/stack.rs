//! The same check of the figures of four levels at once, on random evaluations of the plan `stack`.

use super::*;
use mias_lab::choice::Choice;
use mias_lab::evaluate::queue::{QueueResult, Spread};
use mias_lab::experiment::levels::Levels;

/// By what each level multiplies the makespan: kernels, thread blocks, warps, requests.
pub(in crate::evaluation) const QUEUE_FACTORS: [f64; 4] = [0.9, 1.2, 0.95, 1.01];

fn queue(numbers: &mut Numbers, policy: &'static str, levels: Levels, seed: u32) -> QueueResult {
    let on = [levels.kernels(), policy != "smk", levels.warps(), levels.requests()];
    let factor: f64 = QUEUE_FACTORS.iter().zip(on).map(|(factor, on)| if on { *factor } else { 1.0 }).product();
    let mut spread = || Spread { mean: 1.0 + numbers.next(), p95: 2.0 + numbers.next(), max: 3.0 + numbers.next() };
    QueueResult {
        policy,
        run: "0".into(),
        kernels: vec!["mm:64".into(), "fwt:8".into()],
        launches: 40,
        makespan_cycles: (1_000_000.0 * f64::from(seed) * factor).round() as u64,
        sequential_cycles: 2_000_000,
        stp: Some(1.0),
        antt: Some(2.0),
        latency: spread(),
        slowdown: spread(),
        urgent_latency_cycles: Some(5.0),
        energy_joules: Some(0.01),
    }
}

pub(in crate::evaluation) fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let mut template = study(numbers, 0, true, 0);
    let group = template.groups.swap_remove(0);
    let mixes: Vec<Vec<String>> =
        [["mm", "fwt"], ["bp", "lbm"], ["bopt", "ks"]].iter().map(|mix| mix.iter().map(|name| (*name).to_owned()).collect()).collect();
    let mut studies = Vec::new();
    for levels in Levels::ALL {
        let setting = vec![("levels".to_owned(), levels.name().to_owned())];
        let told = (*levels != Levels::None).then(|| levels.name().to_owned());
        let of_mix = |kernels: &Vec<String>, numbers: &mut Numbers| GroupResult {
            kernels: kernels.clone(),
            policies: ["smk", "warped-slicer"].map(|name| measured(numbers, name)).to_vec(),
            ..group.clone()
        };
        let groups: Vec<GroupResult> = mixes.iter().map(|mix| of_mix(mix, numbers)).collect();
        let summary = summary::rows(&groups, false);
        studies.push(StudyResult {
            experiment: "mixes".into(),
            setting: setting.clone(),
            levels: told.clone(),
            groups,
            summary,
            ..template.clone()
        });
        for seed in [1, 2] {
            let setting = [&setting[..], &[("seed".to_owned(), seed.to_string())]].concat();
            let queue = ["smk", "warped-slicer"].map(|name| queue(numbers, name, *levels, seed)).to_vec();
            let (groups, summary) = (Vec::new(), Vec::new());
            let (experiment, levels) = ("queue".to_owned(), told.clone());
            studies.push(StudyResult { experiment, setting, levels, queue, groups, summary, cycles: None, ..template.clone() });
        }
    }
    let plan = PlanNote { name: "stack".into(), description: "a plan".into(), hash: "h".into(), report: of_kind("level-effects") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

/// A policy's run whose STP is known: a mix with a subset of which it is not is none of the figure's cases.
fn measured(numbers: &mut Numbers, name: &'static str) -> PolicyResult {
    let mut run = policy(numbers, name, 2, 1.0, true);
    run.metrics.stp = run.metrics.stp.filter(|stp| *stp > 0.0).or(Some(1.0));
    run
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn the_figures_of_the_stack_are_within_and_apart(seed: u64) {
        within_and_apart(&evaluation(seed), &["1", "2"], &["Sixteen subsets", "What each level brings", "Together"])?;
    }
}
