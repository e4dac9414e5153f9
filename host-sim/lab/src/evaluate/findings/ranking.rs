//! Ranking of configurations by a policy's scores.

use crate::evaluate::results::{ConfigurationResult, MetricValues, Objectives, Ranking};
use crate::evaluate::statistics::{Concordance, spearman};
use crate::experiment::gpu_runner::Decision;

/// Compares the order of configurations by the decision's scores with that by their static runs.
pub(super) fn ranking(decision: &Decision, configurations: &[ConfigurationResult]) -> Ranking {
    let profiled = decision.profiled.iter().filter(|profiled| !profiled.trial);
    let scored = profiled.filter_map(|profiled| Some((profiled.config.clone(), profiled.score?)));
    let scores: Vec<(Vec<u32>, f64)> = scored.collect();
    let against = |objective: fn(&MetricValues) -> Option<f64>| {
        let found = |(config, score): &(Vec<u32>, f64)| {
            let point = configurations.iter().find(|point| point.config == *config)?;
            Some((*score, objective(&point.metrics)?))
        };
        let (scores, values): (Vec<f64>, Vec<f64>) = scores.iter().filter_map(found).unzip();
        (Concordance::of(&scores, &values), spearman(&scores, &values))
    };
    let (s, stp) = (against(|metrics| metrics.speedup), against(|metrics| metrics.stp));
    Ranking {
        kendall: Objectives { s: s.0.tau_b(), stp: stp.0.tau_b() },
        spearman: Objectives { s: s.1, stp: stp.1 },
        concordant: Objectives { s: s.0.concordant, stp: stp.0.concordant },
        discordant: Objectives { s: s.0.discordant, stp: stp.0.discordant },
        scores,
    }
}
