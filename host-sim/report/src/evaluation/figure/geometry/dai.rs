//! The same check of the figures of Dai et al. 2018, on random evaluations of its plan: with a few groups, as its quick form has, or with many.

use super::*;
use mias_lab::evaluate::memory::{KernelMemory, MemoryAsked, MemoryResult, SeriesResult};

const NAMES: [&str; 13] = ["cp", "hs", "dc", "pf", "bp", "bs", "st", "3m", "sv", "cd", "s2", "ks", "ax"];

/// Of these the first seven are compute-intensive.
const COMPUTE: usize = 7;

const SCHEMES: [&str; 13] = [
    "spatial",
    "warped-slicer",
    "warped-slicer+l1-ucp",
    "warped-slicer+equal-misses",
    "warped-slicer+rbmi",
    "warped-slicer+qbmi",
    "warped-slicer+dmil",
    "warped-slicer+qbmi+dmil",
    "smk",
    "smk+warp-quota",
    "smk+qbmi",
    "smk+dmil",
    "mias-ipm-ipc+qbmi+dmil",
];

fn memory(numbers: &mut Numbers, kernels: usize) -> MemoryResult {
    let fails = 80.0 * numbers.next().powi(4);
    let kernel = |numbers: &mut Numbers| {
        let (misses, accesses) = (numbers.next(), 400.0 * numbers.next());
        KernelMemory { l1_miss_rate: numbers.maybe(misses), fails_per_access: numbers.maybe(fails), accesses_per_kilocycle: Some(accesses) }
    };
    MemoryResult {
        l1_miss_rate: Some(numbers.next()),
        fails_per_access: Some(fails),
        lsu_stall_share: Some(numbers.next()),
        alu_utilization: Some(numbers.next()),
        kernels: (0..kernels).map(|_| kernel(numbers)).collect(),
    }
}

fn series(numbers: &mut Numbers, kernels: usize) -> SeriesResult {
    let mut counts = || (0..kernels).map(|_| (0..300).map(|_| (9_000.0 * numbers.next()) as u64).collect()).collect();
    SeriesResult { every_cycles: 1_000, l1_accesses: counts(), warp_insts: counts() }
}

fn of_group(numbers: &mut Numbers, members: &[usize], policies: &[&'static str]) -> GroupResult {
    let mut class: Vec<char> = members.iter().map(|&member| if member < COMPUTE { 'C' } else { 'M' }).collect();
    class.sort_unstable_by(|a, b| b.cmp(a));
    let count = members.len();
    let results = policies.iter().map(|name| {
        let mut result = policy(numbers, name, count, 2.0, true);
        (result.memory, result.series) = (Some(memory(numbers, count)), Some(series(numbers, count)));
        (result.config, result.energy_joules) = (Some(vec![1 + numbers.below(8) as u32; count]), Some(0.1 + numbers.next()));
        result
    });
    let policies = results.collect();
    let best =
        |numbers: &mut Numbers| Some(OracleResult { config: vec![2; count], value: 1.0 + numbers.next(), half_width: None, rivals: 0 });
    GroupResult {
        kernels: members.iter().map(|&member| NAMES[member].to_owned()).collect(),
        class: class.into_iter().collect(),
        isolated_ipc: vec![1.0; count],
        s_null: Some(1.0),
        sequential_cycles: None,
        oracle: Objectives { s: best(numbers), stp: best(numbers) },
        configurations: Vec::new(),
        policies,
    }
}

fn of_experiment(numbers: &mut Numbers, name: &str, setting: &[(&str, &str)], groups: Vec<GroupResult>) -> StudyResult {
    let mut study = study(numbers, 0, true, 0);
    let alone = study.kernels.swap_remove(0);
    let kernel = |name: &&str| {
        let best = 1 + numbers.below(16) as u32;
        AloneResult {
            name: (*name).to_owned(),
            scalability: (1..=best).map(|tbs| (tbs, f64::from(tbs) * (0.5 + numbers.next()))).collect(),
            memory: Some(memory(numbers, 1)),
            asks: Some(MemoryAsked {
                compute_per_memory: Some(9.0 * numbers.next()),
                requests_per_memory: Some(1.0 + 31.0 * numbers.next()),
            }),
            series: Some(series(numbers, 1)),
            ..alone.clone()
        }
    };
    study.kernels = NAMES.iter().map(kernel).collect();
    study.summary = summary::rows(&groups, false);
    StudyResult {
        experiment: name.into(),
        setting: setting.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        gpu: "dai18-lines sm.count=4 dram.channels=4".into(),
        groups,
        ..study
    }
}

fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let policies = &SCHEMES[..1 + numbers.below(SCHEMES.len())];
    let all = if numbers.below(2) == 0 { 13 } else { 5 };
    let pairs: Vec<Vec<usize>> = (0..all).flat_map(|a| (a + 1..all).map(move |b| vec![a, b])).collect();
    let groups = |numbers: &mut Numbers, of: &[Vec<usize>], policies: &[&'static str]| {
        of.iter().map(|members| of_group(numbers, members, policies)).collect::<Vec<_>>()
    };
    let mut studies = vec![of_experiment(numbers, "alone", &[], Vec::new())];
    let of_pairs = groups(numbers, &pairs, policies);
    studies.push(of_experiment(numbers, "pairs", &[], of_pairs));
    let of_triples =
        groups(numbers, &[vec![0, 3, 4], vec![4, 8, 11], vec![8, 11, 12]], &["warped-slicer", "warped-slicer+dmil", "smk+warp-quota"]);
    studies.push(of_experiment(numbers, "triples", &[], of_triples));
    let of_both = groups(numbers, &[vec![4, 8]], &["warped-slicer", "warped-slicer+rbmi", "warped-slicer+qbmi", "warped-slicer+dmil"]);
    studies.push(of_experiment(numbers, "series", &[], of_both));
    let limits: Vec<String> =
        if all == 13 { (1..=24).map(|limit| limit.to_string()).chain(["inf".into()]).collect() } else { vec!["1".into(), "8".into()] };
    for first in &limits {
        for second in &limits {
            let setting = [("sm.memory_issue.limits.0", first.as_str()), ("sm.memory_issue.limits.1", second.as_str())];
            let of_limits = groups(numbers, &[vec![3, 4], vec![8, 11]], &["warped-slicer"]);
            studies.push(of_experiment(numbers, "limits", &setting, of_limits));
        }
    }
    for value in ["none", "dynamic"] {
        let of_best = groups(numbers, &[vec![4, 8]], &["mias-ipc"]);
        studies.push(of_experiment(numbers, "mias-best", &[("sm.memory_issue.in_flight", value)], of_best));
    }
    let plan = PlanNote { name: "dai".into(), description: "a plan".into(), hash: "h".into(), report: report("dai") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn figures_of_dai_are_within_and_apart(seed: u64) {
        within_and_apart(&evaluation(seed), &["2", "6", "9"], &["Table 2: the kernels"])?;
    }
}
