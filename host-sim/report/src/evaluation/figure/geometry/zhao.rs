//! The same check of the figures of Zhao et al. 2018, on random evaluations of its plan: with a few pairs, as its quick form has, or with all.

use super::*;
use mias_hw_model::gpu::SmStateCycles;
use mias_lab::evaluate::energy::EnergyResult;
use mias_lab::evaluate::off_sm::OffSm;
use mias_lab::experiment::machine::SearchFound;

const NAMES: [&str; 14] = [
    "dxtc:512",
    "tpacf",
    "bino:512",
    "leu",
    "coulomb",
    "merge",
    "pathfinder",
    "lavamd",
    "gaussian",
    "lbm",
    "dwt2d:4194304",
    "gesummv",
    "pvc",
    "sc",
];

/// Of these the first seven are compute-intensive.
const COMPUTE: usize = 7;

const SEARCHES: [&str; 4] = ["spatial", "cd-search", "cd-search+share", "cd-search+utilisation"];
const SLOWDOWNS: [&str; 4] = ["spatial", "fair-share", "fair-share+model", "effective-bandwidth"];
const BESIDE: [&str; 6] = ["spatial", "warped-slicer", "smk", "maestro+search", "cd-search+maestro", "cd-search"];

fn of_group(numbers: &mut Numbers, members: &[usize], policies: &[&'static str]) -> GroupResult {
    let mut class: Vec<char> = members.iter().map(|&member| if member < COMPUTE { 'C' } else { 'M' }).collect();
    class.sort_unstable_by(|a, b| b.cmp(a));
    let count = members.len();
    let results = policies.iter().map(|name| {
        let mut result = policy(numbers, name, count, 2.0, true);
        result.metrics.stp = Some(0.2 + 2.0 * numbers.next());
        result.energy_joules = Some(0.1 + numbers.next());
        result.energy = Some(EnergyResult {
            average_watts: 60.0 + 20.0 * numbers.next(),
            leakage_share: 0.3 * numbers.next(),
            clock_share: 0.2,
            without_leakage_joules: 0.1,
            energy_delay_watts: Some(40.0),
            energy_delay_without_leakage_watts: Some(30.0),
        });
        if name.starts_with("fair-share") {
            let estimated_progress = members.iter().map(|_| 0.1 + numbers.next()).collect();
            let memory_intensive = vec![true; count];
            result.search = Some(SearchFound { memory_intensive, windows: 5, done: true, estimated_progress, active_warps: Vec::new() });
        }
        if name.starts_with("cd-search") {
            let memory_intensive = members.iter().map(|&member| (member >= COMPUTE) != (numbers.below(9) == 0)).collect();
            result.search =
                Some(SearchFound { memory_intensive, windows: 3, done: true, estimated_progress: Vec::new(), active_warps: Vec::new() });
            let cycles = |numbers: &mut Numbers| numbers.below(1_000_000) as u64;
            let [active, stalled, gated] = [cycles(numbers), cycles(numbers), cycles(numbers)];
            result.sm_states = Some(SmStateCycles { active, stalled, gated, waking: 0, wakes: 0 });
        }
        result
    });
    let policies = results.collect();
    GroupResult {
        kernels: members.iter().map(|&member| NAMES[member].to_owned()).collect(),
        class: class.into_iter().collect(),
        isolated_ipc: vec![1.0; count],
        s_null: Some(1.0),
        sequential_cycles: None,
        oracle: Objectives { s: None, stp: None },
        configurations: Vec::new(),
        policies,
    }
}

fn of_experiment(numbers: &mut Numbers, name: &str, setting: &[(&str, String)], groups: Vec<GroupResult>) -> StudyResult {
    let mut study = study(numbers, 0, true, 0);
    let alone = study.kernels.swap_remove(0);
    let kernel = |name: &&str| AloneResult {
        name: (*name).to_owned(),
        ipc: 0.1 + 900.0 * numbers.next(),
        off_sm: Some(OffSm {
            dram_utilization: Some(numbers.next()),
            l2_miss_rate: Some(numbers.next()),
            l2_accesses_per_kiloinst: Some(2_000.0 * numbers.next()),
            demand_over_supply: Some(100.0 * numbers.next().powi(4)),
        }),
        ..alone.clone()
    };
    study.kernels = NAMES.iter().map(kernel).collect();
    study.summary = summary::rows(&groups, false);
    let setting = setting.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    StudyResult { experiment: name.into(), setting, gpu: "zhao18-lines".into(), groups, ..study }
}

fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let whole = numbers.below(2) == 0;
    let all = if whole { NAMES.len() } else { 5 };
    let pairs: Vec<Vec<usize>> = (0..all).flat_map(|a| (a + 1..all).map(move |b| vec![a, b])).collect();
    let mut studies = Vec::new();
    for sms in if whole { vec![24, 20, 16, 12, 8, 4, 1] } else { vec![24, 12] } {
        studies.push(of_experiment(numbers, "alone", &[("sms", sms.to_string())], Vec::new()));
    }
    let mut of_groups = |name: &str, setting: &[(&str, String)], groups: &[Vec<usize>], policies: &[&'static str]| {
        let groups = groups.iter().map(|members| of_group(numbers, members, policies)).collect();
        studies.push(of_experiment(numbers, name, setting, groups));
    };
    for shares in ["20-4", "12-12", "4-20", "4-8", "8-4"] {
        of_groups("motivation", &[("shares", shares.to_owned())], &[vec![8, 3], vec![9, 10], vec![2, 3]], &["spatial"]);
    }
    for first in 1..24 {
        of_groups("splits", &[("shares", format!("{first}-{}", 24 - first))], &[vec![3, 10], vec![6, 9]], &["spatial"]);
    }
    for each in 1..=12 {
        of_groups("fewer", &[("shares", format!("{each}-{each}"))], &[vec![9, 10], vec![7, 9]], &["spatial"]);
        of_groups("compute", &[("shares", format!("{each}-{}", 24 - each))], &[vec![2, 3]], &["spatial"]);
        of_groups("corners", &[("shares", format!("{each}-{}", each % 5 + 1))], &[vec![9, 10]], &["spatial"]);
    }
    of_groups("pairs", &[("latency", "off".to_owned())], &pairs, &SEARCHES);
    for name in ["bandwidth-75", "bandwidth-125", "bandwidth-150", "sms-30"] {
        of_groups(name, &[], &pairs[..4], &SEARCHES[..2]);
    }
    of_groups("four", &[], &[vec![0, 1, 8, 9], vec![7, 8, 9, 10]], &SEARCHES[..2]);
    of_groups("beside", &[], &pairs[..4], &BESIDE);
    of_groups("slowdowns", &[], &pairs[..4], &SLOWDOWNS);
    let plan = PlanNote { name: "zhao".into(), description: "a plan".into(), hash: "h".into(), report: report("zhao") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn figures_of_zhao_are_within_and_apart(seed: u64) {
        // Figures of a mode are there where some group has it.
        within_and_apart(&evaluation(seed), &["2", "3", "4", "5a", "6a", "7", "16"], &[
            "Table 1: the kernels",
            "Who tells the types",
            "Whom they call memory-intensive",
            "Energy, with leakage and without",
            "Both modes, all machines",
            "Slowdowns: the estimate beside what was",
        ])?;
    }
}
