//! Plan of the whole field: included and excluded policies with reasons, its pairs by their rule,
//! and the size of its quick form.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the plan's policies without an experiment, with reasons from lines such as
/// `# - null: because`.
fn left_out() -> BTreeMap<&'static str, &'static str> {
    let text = mias_plans::text("field").unwrap();
    text.lines().filter_map(|line| line.strip_prefix("# - ")?.split_once(": ")).collect()
}

/// Every policy without mechanisms is in the plan, or is left out with a reason, but not both; so
/// is every mechanism.
#[test]
fn every_policy_is_in_it_or_left_out_with_a_reason() {
    let plan = load("field").unwrap();
    let inside: BTreeSet<&str> = plan.experiments.iter().flat_map(|experiment| &experiment.policies).map(|policy| policy.name()).collect();
    let outside = left_out();
    let known = Policies::default();
    for name in &known.names() {
        assert!(inside.contains(name) != outside.contains_key(name), "{name}: in the plan, or a line `# - {name}: why` at its head");
    }
    for mechanism in &crate::experiment::mechanisms::MECHANISMS {
        let mut names = inside.iter().chain(outside.keys());
        assert!(names.any(|name| name.split('+').any(|word| word == mechanism.name)), "{}", mechanism.name);
    }
    for (name, reason) in outside {
        assert!(known.find(name).is_some() && reason.len() > 10, "{name}: {reason}");
    }
}

/// At most ten combinations, each marked by its experiment's name, all on one GPU.
#[test]
fn at_most_ten_combinations_on_one_gpu() {
    let plan = load("field").unwrap();
    let combined = plan.experiments.iter().filter(|experiment| experiment.name.starts_with("combined"));
    assert!((1..=10).contains(&combined.map(|experiment| experiment.policies.len() * experiment.settings.len()).sum::<usize>()));
    for experiment in &plan.experiments {
        assert_eq!((experiment.gpus.len(), experiment.gpus[0].1.as_str()), (1, "field"), "{}", experiment.name);
        assert!(experiment.settings.iter().all(|setting| setting.options.end == End::Cycles(1_000_000) && setting.gpu.name == "field"));
    }
}

/// Sixteen kernels: eight compute-bound, then eight memory-bound. Each is paired with the next of
/// its type, and the n-th compute-bound one with the (n+5)-th memory-bound one. So there are 24
/// pairs, eight of each class, three of each kernel.
#[test]
fn pairs_follow_their_rule() {
    let plan = load("field").unwrap();
    let compute = |at: usize| at % 8;
    let memory = |at: usize| 8 + at % 8;
    let mut expected: Vec<Vec<usize>> = (0..8).map(|at| vec![compute(at), compute(at + 1)]).collect();
    expected.extend((0..8).map(|at| vec![memory(at), memory(at + 1)]));
    expected.extend((0..8).map(|at| vec![compute(at), memory(at + 5)]));
    let names: Vec<&str> = plan.experiments[0].kernels.iter().map(|(name, _)| name.as_str()).collect();
    for experiment in &plan.experiments {
        assert_eq!(experiment.groups, expected, "{}", experiment.name);
        assert!(experiment.kernels.iter().map(|(name, _)| name.as_str()).eq(names.iter().copied()), "{}", experiment.name);
    }
    for (at, (name, request)) in plan.experiments[0].kernels.iter().enumerate() {
        let expected = if at < 8 { mias_workloads::kernels::KernelType::Compute } else { mias_workloads::kernels::KernelType::Memory };
        assert_eq!(request.kernel_type(), Some(expected), "{name}");
    }
}

/// Every second pair of each class, on half of the GPU, for a fifth of the time; for timed
/// decisions, the first pair of each class.
#[test]
fn the_quick_form_is_small() {
    let (plan, quick) = (load("field").unwrap(), load_quick("field", &Policies::default()).unwrap());
    assert_eq!(plan.experiments.len(), quick.experiments.len());
    let mut runs = quick.experiments[0].kernels.len();
    for (whole, quick) in plan.experiments.iter().zip(&quick.experiments) {
        let charged = whole.name.starts_with("charged");
        let kept = |at: usize| if charged { at.is_multiple_of(8) } else { at.is_multiple_of(2) };
        let expected: Vec<&Vec<usize>> = whole.groups.iter().enumerate().filter(|(at, _)| kept(*at)).map(|(_, group)| group).collect();
        assert_eq!(quick.groups.iter().collect::<Vec<_>>(), expected, "{}", whole.name);
        assert_eq!(whole.policies, quick.policies);
        for (whole, quick) in whole.settings.iter().zip(&quick.settings) {
            assert_eq!(quick.options.end, End::Cycles(200_000));
            assert_eq!((quick.options.profile_cycles, quick.options.search_cycles), (9_000, 4_000));
            assert_eq!([2 * quick.gpu.sm.count, 2 * quick.gpu.dram.channels], [whole.gpu.sm.count, whole.gpu.dram.channels]);
        }
        runs += quick.groups.len() * quick.policies.len() * quick.settings.len();
    }
    assert!((600..=800).contains(&runs), "{runs}");
}
