//! The lines of a hand-made evaluation with known values, and of the plan as it is written.

use super::*;
use crate::evaluation::figure::geometry::stack::{QUEUE_FACTORS, evaluation};
use mias_lab::evaluate::plan;
use mias_lab::experiment::policies::Policies;
use std::collections::BTreeSet;

/// Every mix and every queue of the plan runs under each of the sixteen subsets, once.
#[test]
fn the_plan_has_every_subset() {
    for load in [plan::load, plan::load_quick] {
        let plan = load("stack", &Policies::default()).unwrap();
        for experiment in &plan.experiments {
            let seeds: BTreeSet<_> = experiment.settings.iter().map(|setting| setting.options.queue.map(|queue| queue.seed)).collect();
            let mut subsets = BTreeSet::new();
            for setting in &experiment.settings {
                let levels = setting.options.levels;
                for policy in &experiment.policies {
                    let seed = setting.options.queue.map(|queue| queue.seed);
                    let on = (levels.kernels(), policy.name() != BASE, levels.warps(), levels.requests());
                    assert!(subsets.insert((seed, on)), "{} twice", experiment.name);
                }
            }
            assert_eq!(subsets.len(), SUBSETS * seeds.len(), "{}", experiment.name);
        }
        assert_eq!(plan.experiments.len(), 2);
    }
}

/// Levels that multiply by known factors have these effects, and do not meet.
#[test]
fn effects_of_a_known_evaluation() {
    let all = queues(&evaluation(7));
    let makespan = all.iter().find(|one| one.name == "makespan").unwrap();
    assert!(makespan.cases.len() > 1);
    for (level, factor) in QUEUE_FACTORS.into_iter().enumerate() {
        let Effect { alone, mean, last } = effect(&makespan.cases, level);
        for found in [alone, mean, last] {
            // Cycles are whole numbers.
            assert!((found.unwrap().mean / factor - 1.0).abs() < 1e-3, "{level} {found:?}");
        }
        for other in (0..LEVELS).filter(|other| *other != level) {
            assert!((together(&makespan.cases, level, other).unwrap().mean - 1.0).abs() < 1e-3);
        }
    }
    assert_eq!((name(0), name(0b1011)), ("none".to_owned(), "kernels + thread blocks + requests".to_owned()));
    assert!(text(&evaluation(1)).contains("Queues: sixteen subsets"));
}
