//! Uncertainty of results of runs that ended before their window: half-widths of 95 % intervals.

use super::results::{MetricValues, Objectives, PolicyResult};
use crate::experiment::comparison;
use crate::metrics::Metrics;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Half-widths for a policy's run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HalfWidths {
    /// Half-width of the IPC of each kernel.
    pub ipc: Vec<f64>,
    /// Half-widths of the metrics.
    pub metrics: MetricValues,
    /// Half-widths of decision regret.
    pub regret: Objectives<Option<f64>>,
    /// Half-widths of end-to-end regret.
    pub end_to_end_regret: Objectives<Option<f64>>,
}

impl HalfWidths {
    /// Converts to the form of results.
    pub fn of(known: &comparison::HalfWidths) -> Self {
        let objectives = |regret: comparison::PerObjective<Option<f64>>| Objectives { s: regret.s, stp: regret.stp };
        let Metrics { speedup, stp, antt, fairness } = known.metrics;
        HalfWidths {
            ipc: known.ipc.clone(),
            metrics: MetricValues { speedup, stp, antt, fairness },
            regret: objectives(known.decision_regret),
            end_to_end_regret: objectives(known.end_to_end_regret),
        }
    }
}

/// Returns the half-width of a quantity by its name in the documents. `None` if it has no interval,
/// or all runs behind it were simulated in full.
pub(super) fn of_quantity(name: &str, result: &PolicyResult) -> Option<f64> {
    let known = result.half_widths.as_ref()?;
    match name {
        "speedup" => known.metrics.speedup,
        "stp" => known.metrics.stp,
        "antt" => known.metrics.antt,
        "fairness" => known.metrics.fairness,
        "regret_s" => known.regret.s,
        "regret_stp" => known.regret.stp,
        "end_to_end_regret_s" => known.end_to_end_regret.s,
        "end_to_end_regret_stp" => known.end_to_end_regret.stp,
        _ => None,
    }
}
