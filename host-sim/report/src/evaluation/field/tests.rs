//! Lines of a hand-made evaluation with known values, and of the plan as it is written.

use super::*;
use crate::evaluation::figure::geometry::field::evaluation;
use crate::evaluation::html;
use mias_lab::evaluate::plan;
use std::collections::BTreeSet;

/// Every line of the plan has a name of its own within its family, a source, and bits that are known; combinations are ten at most, each of the
/// families is there, and what is placed in the order of the table is where it belongs.
#[test]
fn every_line_of_the_plan_is_told() {
    let evaluation = evaluation(1);
    let rows = rows(&evaluation, ALL);
    let mut names = BTreeSet::new();
    for row in &rows {
        assert!(names.insert((row.family, row.name.clone())), "{} twice", row.name);
        assert!(!row.after.is_empty() && row.bits.is_some(), "{}", row.name);
    }
    let of = |family: Family| rows.iter().filter(|row| row.family == family).count();
    assert_eq!(of(Family::Combination), 10);
    assert!(Family::ALL.into_iter().all(|family| of(family) > 0));
    let family = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.family);
    for (name, expected) in [
        ("left-over", Family::InTurn),
        ("spatial", Family::Beside),
        ("fair-share", Family::Beside),
        ("coordinated", Family::Inside),
        ("warped-slicer+sum", Family::Inside),
        ("warped-slicer+dmil", Family::HeldBack),
        ("smk+warp-quota", Family::HeldBack),
        ("warped-slicer + UCP of the L2", Family::HeldBack),
        ("maestro", Family::Both),
        ("spatial + GPUDuet", Family::Contexts),
        ("mias-ipm-ipc, preempt:shieh", Family::Transition),
        ("mias-ipm-ipc + DMIL, preempt:shieh", Family::Combination),
        ("warped-slicer+dmil + UCP of the L1", Family::Combination),
    ] {
        assert_eq!(family(name), Some(expected), "{name}");
    }
}

/// What is read from the machine's name is what the plan sets.
#[test]
fn the_fixture_is_the_plan() {
    let plan = plan::load("field", &Policies::default()).unwrap();
    let of_plan: BTreeSet<(String, String, &str)> = plan
        .experiments
        .iter()
        .flat_map(|experiment| experiment.settings.iter().map(move |setting| (experiment, setting)))
        .flat_map(|(experiment, setting)| {
            let of = move |policy: &Policy| (experiment.name.clone(), setting.sharing.name.clone(), policy.name());
            experiment.policies.iter().map(of).collect::<Vec<_>>()
        })
        .collect();
    let evaluation = evaluation(1);
    let of_fixture = evaluation.studies.iter().flat_map(|study| {
        let of = move |policy: &'static str| (study.experiment.clone(), study.gpu.clone(), policy);
        policies(study).into_iter().map(of).collect::<Vec<_>>()
    });
    assert_eq!(of_plan, of_fixture.collect());
}

/// Against itself the even split is 1 with an interval of no length; who does twice the work for the same energy takes half for it.
#[test]
fn lines_are_held_against_the_even_split() {
    let mut evaluation = evaluation(2);
    for group in &mut evaluation.studies[0].groups {
        for result in &mut group.policies {
            let stp = if result.policy == "smk" { 2.4 } else { 1.2 };
            (result.metrics.stp, result.metrics.antt, result.energy_joules) = (Some(stp), Some(2.4 / stp), Some(3.0));
        }
    }
    let rows = rows(&evaluation, ALL);
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    let near = |ratio: Option<Ratio>, expected: f64| ratio.is_some_and(|ratio| (ratio.mean - expected).abs() < 1e-9);
    let (base, smk) = (row(BASE), row("smk"));
    assert!(near(base.work, 1.0) && near(base.energy, 1.0) && near(base.slowdown, 1.0));
    assert!(near(smk.work, 2.0) && near(smk.energy, 0.5) && near(smk.slowdown, 0.5));
    assert!(smk.work.unwrap().is_apart_from_one() && smk.stp.is_some_and(|stp| (stp - 2.4).abs() < 1e-9));
    assert_eq!(cells(smk)[4], "+100.0 %");
    // A kernel that does nothing has no ANTT, and the line says so.
    let group = &mut evaluation.studies[0].groups[0];
    group.policies.iter_mut().filter(|result| result.policy == "smk").for_each(|result| result.metrics.antt = None);
    let groups = evaluation.studies[0].groups.len();
    let starved = super::rows(&evaluation, ALL).into_iter().find(|row| row.name == "smk").unwrap();
    assert_eq!((starved.starved, cells(&starved)[6].clone()), (1, format!("1.00 of {}", groups - 1)));
}

/// Charged runs say what decisions take, to what measures only; and what that costs stands beside the same policy where they take no time.
#[test]
fn decisions_are_charged_where_they_are_measured() {
    let mut evaluation = evaluation(3);
    for study in &mut evaluation.studies {
        let charged = study.experiment.starts_with(CHARGED);
        for result in study.groups.iter_mut().flat_map(|group| &mut group.policies) {
            result.metrics.stp = Some(if charged { 0.9 } else { 1.2 });
            result.decision_cycles = charged.then_some(7_000);
        }
    }
    let rows = rows(&evaluation, ALL);
    let row = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert_eq!([row("smk").decisions, row("left-over").decisions, row("smk+dmil").decisions], [Decisions::None; 3]);
    for name in ["mias-ipc", "cd-search", "warped-slicer+dmil", "spatial + GPUDuet"] {
        let expected = if name.starts_with("spatial") { Decisions::None } else { Decisions::Cycles(7_000.0) };
        assert_eq!(row(name).decisions, expected, "{name}");
    }
    assert!(row("cd-search").charged.is_some_and(|charged| (charged.mean - 0.75).abs() < 1e-9));
    assert_eq!([row("warped-slicer+dmil").charged, row("smk").charged], [None, None]);
}

/// Only that plan has the table.
#[test]
fn other_plans_have_no_field() {
    let mut evaluation = evaluation(4);
    assert!(text(&evaluation).contains("decisions, cycles") && html::render(&evaluation).contains("The field in a minute"));
    evaluation.plan.report = Default::default();
    assert!(text(&evaluation).is_empty() && !html::render(&evaluation).contains("The field in a minute"));
}
