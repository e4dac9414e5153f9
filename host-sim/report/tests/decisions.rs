//! Blocks and lines of evaluations of the written plan, and their tables.

use crate::random;
use mias_lab::evaluate::decisions::{Block, Choice, Judgment, Kernels, Line, Objective, Set, TRANSITION};
use mias_lab::evaluate::plan;
use mias_lab::evaluate::results::{Evaluation, PolicyResult};
use mias_lab::experiment::gpu_runner::{End, Placement};
use mias_lab::experiment::policies::Policies;
use mias_report::evaluation::text;
use std::path::Path;

/// Returns an evaluation of the plan, in one of its windows.
fn evaluation(seed: u64) -> Evaluation {
    let mut plan = plan::load("decisions", &Policies::default()).expect("built in");
    for experiment in &mut plan.experiments {
        experiment.settings.retain(|setting| setting.options.end == End::Cycles(500_000));
        let of_size = |size: usize| experiment.groups.iter().filter(move |mix| mix.len() == size).take(2).cloned();
        experiment.groups = (2..=4).flat_map(of_size).collect();
    }
    random::of_plan(&plan, seed)
}

/// Returns all blocks, and the policies among which the best is B.
fn blocks(evaluation: &Evaluation) -> (Vec<Block>, Vec<String>) {
    let kernels = Kernels::built_in();
    (Block::all(evaluation, &kernels), kernels.existing)
}

/// Two GPUs with both sets and one with judged kernels, in the plan's order. Each has all
/// policies with and without DMIL, and the measuring ones with draining transitions.
#[test]
fn every_study_of_the_plan_has_its_place() {
    let evaluation = evaluation(1);
    let (blocks, existing) = blocks(&evaluation);
    let found: Vec<(&str, Set)> = blocks.iter().map(|block| (block.gpu.as_str(), block.set)).collect();
    let (rtx, dai) = ("rtx2060", "dai18-lines");
    assert_eq!(found, [(rtx, Set::Making), (dai, Set::Making), (rtx, Set::Judged), (dai, Set::Judged), ("a100", Set::Judged)]);
    for block in &blocks {
        let judgment = Judgment::of(block, &existing);
        // In addition to the existing ones, MIAS-Duel and MIAS-Trial, which measure as all except
        // Spatial and SMK-P do.
        let policies = existing.len() + 2;
        assert_eq!(judgment.lines.len(), 2 * policies + 2 * (policies - 2));
        let dmil = "sm.memory_issue.in_flight=dynamic";
        for wanted in [
            ("spatial", "", TRANSITION),
            ("mias-ipc", dmil, TRANSITION),
            ("mias-duel", dmil, "drain"),
            ("mias-trial", dmil, TRANSITION),
            ("coordinated", "", "drain"),
            ("maestro+search", dmil, "drain"),
        ] {
            assert!(judgment.lines.iter().any(|line| (line.way.policy, &*line.way.with, line.way.transition) == wanted), "{wanted:?}");
        }
        let base = judgment.base.as_ref().unwrap();
        assert!(existing.iter().any(|name| name == base.policy) && base.transition == "preempt:switch");
        // Two configurations, and 7, 21 or 35 splits, with and without DMIL.
        for mix in &block.mixes {
            assert_eq!(mix.statics.len(), 2 * (2 + [7, 21, 35][mix.kernels.len() - 2]), "{:?}", mix.kernels);
            assert!(mix.statics.iter().all(|one| one.with.is_empty() || one.with == "sm.memory_issue.in_flight=dynamic"));
        }
    }
    let text = |evaluation: &Evaluation| text::render(evaluation, Path::new("d"));
    let said = text(&evaluation);
    assert!(said.contains("held-out kernels were inspected by plan decisions (h) on m"), "{said}");
    let mut other = evaluation;
    other.plan.report = Default::default();
    assert!(!text(&other).contains("kernels were inspected"));
}

/// B has the best mean, and its line states 0 %. The best static choices are at 100 %, and no
/// static choice is beyond them.
#[test]
fn lines_agree_with_their_ends() {
    for seed in 0..2 {
        let evaluation = evaluation(seed);
        let (blocks, existing) = blocks(&evaluation);
        for block in &blocks {
            let judgment = Judgment::of(block, &existing);
            let (lines, base) = (&judgment.lines, judgment.base.as_ref().unwrap());
            let exists = |line: &&Line| line.way.transition == TRANSITION && existing.iter().any(|name| name == line.way.policy);
            let most = lines.iter().filter(exists).filter_map(|line| line.stp).fold(0.0, f64::max);
            assert!((judgment.base_stp.unwrap() - most).abs() < 1e-12);
            let line = lines.iter().find(|line| line.way == *base).unwrap();
            assert!(line.over_base.iter().flatten().all(|over| (over.value - 1.0).abs() < 1e-12));
            assert!(line.share.is_none_or(|share| share.value.abs() < 1e-12 && share.interval.is_none_or(|ends| ends == (0.0, 0.0))));
            let regrets = lines.iter().flat_map(|line| line.decision).flatten();
            assert!(regrets.into_iter().all(|regret| regret.value >= 0.0));
        }
    }
}

/// Choices are a configuration, including a late one, or the SMs of each kernel, if every SM has
/// TBs of one only.
#[test]
fn choices_are_read_from_placements() {
    let mut evaluation = evaluation(2);
    let placed = |sms: std::ops::Range<u32>, config: [u32; 2]| Placement { sms: sms.collect(), config: config.to_vec() };
    let study = evaluation.studies.iter_mut().find(|study| study.experiment == "rtx2060-judged").unwrap();
    let results = &mut study.groups[0].policies;
    let mut set = |at: usize, config: Option<Vec<u32>>, late: Option<Vec<u32>>, placement: Vec<Placement>| {
        let too_late = late.is_some();
        results[at] = PolicyResult { config, too_late, too_late_config: late, placement, ..results[at].clone() };
    };
    set(0, None, None, vec![placed(0..11, [4, 0]), placed(11..30, [0, 2])]);
    set(1, Some(vec![3, 1]), None, Vec::new());
    set(2, None, Some(vec![2, 2]), Vec::new());
    set(3, None, None, vec![placed(0..11, [4, 0]), placed(11..30, [1, 2])]);
    set(4, None, None, vec![placed(0..3, [4, 0]), placed(3..9, [0, 0]), placed(9..30, [0, 2])]);
    set(5, None, None, vec![placed(0..30, [4, 0])]);
    let (blocks, _) = blocks(&evaluation);
    let block = blocks.iter().find(|block| block.set == Set::Judged && block.gpu == "rtx2060").unwrap();
    let chosen: Vec<Option<Choice>> = block.mixes[0].runs.iter().take(6).map(|(_, run)| run.choice.clone()).collect();
    let (config, split) = (|tbs: [u32; 2]| Some(Choice::Config(tbs.to_vec())), |sms: [u32; 2]| Some(Choice::Split(sms.to_vec())));
    assert_eq!(chosen, [split([11, 19]), config([3, 1]), config([2, 2]), None, split([3, 21]), None]);
    // 11 of 30 SMs are three eighths, rounded down: one of the splits of the plan. 3 and 21 of 30
    // are none.
    let regret = |at: usize| block.mixes[0].decision_regret(&block.mixes[0].runs[at].0, Objective::Stp);
    assert!(regret(0).is_some() && regret(4).is_none());
}
