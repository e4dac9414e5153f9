//! The same check of the figures of Lin et al. 2018, on random evaluations of its plan.

use super::*;
use mias_hw_model::gpu::OversubscriptionStats;
use mias_lab::evaluate::memory::MemoryResult;
use mias_lab::evaluate::used::Used;

const NAMES: [&str; 8] =
    ["bfs1:registers=19", "bt:10000,registers=27", "hg:4194304", "conv:4096", "mm2:2048", "sv:146688", "ks:494020", "sad1:176"];

fn used(numbers: &mut Numbers) -> Used {
    let mut share = || Some(1.1 * numbers.next());
    Used {
        scheduler: 0.5,
        l1: share(),
        requests: share(),
        replies: share(),
        l2: share(),
        dram: share(),
        occupancy: [0.9, 0.2, 1.0, 0.5],
        bound_by: "L2->SM".into(),
        level: "moderate".into(),
    }
}

fn of_experiment(numbers: &mut Numbers, name: &str, setting: &[(&str, &str)], kernels: &[&str]) -> StudyResult {
    let mut study = study(numbers, 0, true, 0);
    let alone = study.kernels.swap_remove(0);
    let kernel = |name: &&str| {
        let memory = MemoryResult {
            l1_miss_rate: Some(numbers.next()),
            fails_per_access: None,
            lsu_stall_share: None,
            alu_utilization: None,
            kernels: Vec::new(),
        };
        let mut contexts = OversubscriptionStats { native_tbs: 8, bound: 8, ..OversubscriptionStats::default() };
        contexts.counts.most_tbs = 8 + numbers.below(9) as u32;
        AloneResult {
            name: (*name).to_owned(),
            ipc: 1.0 + 900.0 * numbers.next(),
            used: Some(used(numbers)),
            memory: Some(memory),
            contexts: Some(contexts),
            ..alone.clone()
        }
    };
    study.kernels = kernels.iter().map(kernel).collect();
    study.groups.clear();
    study.summary.clear();
    let setting = setting.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    StudyResult { experiment: name.into(), setting, gpu: "lin18-lines".into(), ..study }
}

fn evaluation(seed: u64) -> Evaluation {
    let mut numbers = Numbers(seed);
    let numbers = &mut numbers;
    let kernels = &NAMES[..3 + numbers.below(NAMES.len() - 2)];
    let mut studies = vec![of_experiment(numbers, "alone", &[], kernels)];
    for wires in ["16", "32", "64"] {
        for warps in ["1", "2", "4", "8", "15"] {
            let setting = [("interconnect.flit_bytes", wires), ("sm.active_warps.0", warps)];
            studies.push(of_experiment(numbers, "wires", &setting, &NAMES[5..6]));
        }
    }
    studies.push(of_experiment(numbers, "doubled", &[], kernels));
    for mechanism in ["virtual", "duet-tb", "duet"] {
        studies.push(of_experiment(numbers, "techniques", &[("sm.contexts.mechanism", mechanism)], kernels));
    }
    for extra in ["1", "2", "4", "8"] {
        studies.push(of_experiment(numbers, "extras", &[("sm.contexts.extra", extra)], kernels));
    }
    for bytes in ["64", "256"] {
        studies.push(of_experiment(numbers, "ports", &[("sm.contexts.bytes_per_cycle", bytes)], kernels));
    }
    let plan = PlanNote { name: "lin".into(), description: "a plan".into(), hash: "h".into(), report: report("lin") };
    Evaluation { schema_version: SCHEMA_VERSION, model: "m".into(), plan, studies }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn figures_of_lin_are_within_and_apart(seed: u64) {
        within_and_apart(&evaluation(seed), &["1", "4", "5", "6", "7", "12", "13", "14", "15"], &["Tables 2 and 3"])?;
    }
}
