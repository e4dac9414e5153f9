//! What is read of `results.json` (docs/results-format.md).

use serde::Deserialize;

/// The document.
#[derive(Deserialize)]
pub(super) struct Results {
    pub(super) studies: Vec<Study>,
}

/// An experiment in one setting.
#[derive(Deserialize)]
pub(super) struct Study {
    pub(super) experiment: String,
    /// Key and value of all that was varied.
    setting: Vec<(String, String)>,
    /// How well runs were to be known; none in full.
    pub(super) precision: Option<String>,
    /// The window; none where grids run to their end.
    pub(super) cycles: Option<u64>,
    pub(super) kernels: Vec<Alone>,
    pub(super) groups: Vec<Group>,
}

/// A kernel alone.
#[derive(Deserialize)]
pub(super) struct Alone {
    pub(super) name: String,
    pub(super) ipc: f64,
    pub(super) ipc_half_width: Option<f64>,
    pub(super) simulated_cycles: Option<u64>,
}

/// Kernels together.
#[derive(Deserialize)]
pub(super) struct Group {
    pub(super) kernels: Vec<String>,
    pub(super) policies: Vec<Policy>,
}

/// A policy's run.
#[derive(Deserialize)]
pub(super) struct Policy {
    pub(super) policy: String,
    #[serde(default)]
    pub(super) derived: bool,
    pub(super) ipc: Vec<f64>,
    pub(super) stp: Option<f64>,
    pub(super) simulated_cycles: Option<u64>,
    half_widths: Option<HalfWidths>,
}

/// Both fields are there in whatever `mias evaluate` writes: a folder that lacks one is refused, not taken to be exact.
#[derive(Deserialize)]
struct HalfWidths {
    ipc: Vec<f64>,
    metrics: OfMetrics,
}

#[derive(Deserialize)]
struct OfMetrics {
    stp: Option<f64>,
}

/// A number, and half of its 95 % interval; none where it is exact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) value: f64,
    pub(super) half_width: Option<f64>,
}

impl Known {
    /// Half of the interval; 0 of a number that is exact.
    pub(super) fn reach(self) -> f64 {
        self.half_width.unwrap_or(0.0)
    }
}

impl Study {
    /// Whether it is the same but for the precision.
    pub(super) fn is_like(&self, other: &Study) -> bool {
        fn but_precision(study: &Study) -> impl Iterator<Item = &(String, String)> {
            study.setting.iter().filter(|(key, _)| key != "precision")
        }
        self.experiment == other.experiment && but_precision(self).eq(but_precision(other))
    }
}

impl Policy {
    /// The IPC of every kernel. A run that was simulated in full is exact, whatever is known of the kernels alone.
    pub(super) fn ipc(&self) -> impl Iterator<Item = Known> + '_ {
        let of = move |at: usize| self.simulated_cycles.and(self.half_widths.as_ref()?.ipc.get(at).copied());
        self.ipc.iter().enumerate().map(move |(at, value)| Known { value: *value, half_width: of(at) })
    }

    /// STP, if it has one.
    pub(super) fn stp(&self) -> Option<Known> {
        Some(Known { value: self.stp?, half_width: self.half_widths.as_ref().and_then(|half_widths| half_widths.metrics.stp) })
    }
}
