//! What a decision costs on a microcontroller, in instructions: the measurements of `firmware/decision-latency.toml`, and a bound for
//! what lies between and beyond them.
//!
//! The cost of a decision does not fall when there are more SMs, kernels or configurations: every SM is read once, every
//! configuration scored and compared once, every one there is generated twice if a second round follows (docs/decision-latency.md).
//! So between entries the next larger one is a bound. Beyond the largest entry each dimension adds no more than the steepest slope
//! measured along it: loops over SMs and configurations run the same instructions on every pass, which makes the cost linear.

#[cfg(test)]
mod tests;

use crate::experiment::policy::Policy;
use mias_hw_model::config::MicrocontrollerCore;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The file, written by `cargo xtask latency`.
const MEASURED: &str = include_str!("../../../firmware/decision-latency.toml");

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Not all SMs have finished their window, or warp instructions count: a longer way through the counters.
    pub late: bool,
    /// SMs of the machine.
    pub sms: u32,
    /// Kernels scheduled together.
    pub kernels: u32,
    /// Configurations profiled so far, of both rounds.
    pub scored: u32,
    /// Configurations that there are, if the decision ends with a second round, which is then generated; 0 if it ends with the
    /// broadcast.
    pub generated: u32,
}

impl Situation {
    fn dimensions(self) -> [u64; 4] {
        [self.sms, self.kernels, self.scored, self.generated].map(u64::from)
    }

    /// Whether the same steps are taken, however often.
    fn is_like(self, other: Situation) -> bool {
        (self.late, self.generated == 0) == (other.late, other.generated == 0)
    }
}

/// What a decision is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Instructions per cycle.
    Ipc,
    /// Instructions per miss times IPC.
    IpmIpc,
    /// IPC with stalls scaled.
    Factor,
    /// IPC with stalls corrected linearly.
    Linear,
}

impl Metric {
    /// All of them.
    const ALL: [Metric; 4] = [Metric::Ipc, Metric::IpmIpc, Metric::Factor, Metric::Linear];

    /// The metric of a policy; none if it does not measure, or is one of the program's own, which is not in the table. Policies that
    /// decide by something else are taken to cost what IPC does: assumption, too little for most (docs/decision-latency.md).
    pub fn of(policy: Policy) -> Option<Self> {
        match policy {
            Policy::MiasIpc => Some(Metric::Ipc),
            Policy::MiasIpmIpc => Some(Metric::IpmIpc),
            Policy::MiasFactor => Some(Metric::Factor),
            Policy::MiasLinear => Some(Metric::Linear),
            Policy::MiasGuard => Some(Metric::IpmIpc),
            Policy::MiasStp
            | Policy::WarpedSlicer
            | Policy::WarpedSlicerUnscaled
            | Policy::WarpedSlicerSum
            | Policy::Coordinated
            | Policy::Maestro
            | Policy::MiasRoofline
            | Policy::MiasRooflineStp => Some(Metric::Ipc),
            Policy::LeftOver | Policy::Spatial | Policy::Null | Policy::Sequential | Policy::Smk | Policy::Own(_) => None,
        }
    }
}

/// A measured situation: instructions from the interrupt to the commit.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    late: bool,
    sms: u32,
    kernels: u32,
    scored: u32,
    generated: u32,
    ipc: u64,
    ipm_ipc: u64,
    factor: u64,
    linear: u64,
    worst: u64,
}

impl Entry {
    fn situation(&self) -> Situation {
        let Entry { late, sms, kernels, scored, generated, .. } = *self;
        Situation { late, sms, kernels, scored, generated }
    }

    fn dimensions(&self) -> [u64; 4] {
        self.situation().dimensions()
    }

    fn count(&self, metric: Option<Metric>) -> u64 {
        match metric {
            None => self.worst,
            Some(Metric::Ipc) => self.ipc,
            Some(Metric::IpmIpc) => self.ipm_ipc,
            Some(Metric::Factor) => self.factor,
            Some(Metric::Linear) => self.linear,
        }
    }
}

/// The measurements of one or more processors.
#[derive(Clone, Debug, Deserialize)]
#[serde(transparent)]
pub struct LatencyTable {
    cores: BTreeMap<String, Vec<Entry>>,
}

impl LatencyTable {
    /// The table that this program was built with.
    ///
    /// # Panics
    /// If it is not such a table; a test reads it.
    pub fn measured() -> &'static Self {
        static TABLE: LazyLock<LatencyTable> = LazyLock::new(|| match toml::from_str(MEASURED) {
            Ok(table) => table,
            Err(error) => panic!("firmware/decision-latency.toml: {error}"),
        });
        &TABLE
    }

    /// Most configurations whose generation was measured.
    pub fn most_generated(&self, core: MicrocontrollerCore) -> u32 {
        self.entries(core).iter().map(|entry| entry.generated).max().unwrap_or(0)
    }

    /// Instructions that a decision takes at most, from its interrupt to the commit of the quotas; under `metric`, or under
    /// whichever takes longest. It is always the latter where a second round is generated: that takes most of the time and depends
    /// on where the best configuration lies, not on the metric.
    pub fn instructions(&self, core: MicrocontrollerCore, situation: Situation, metric: Option<Metric>) -> u64 {
        let metric = metric.filter(|_| situation.generated == 0);
        let entries: Vec<&Entry> = self.entries(core).iter().filter(|entry| entry.situation().is_like(situation)).collect();
        let asked = situation.dimensions();
        // No smaller situation has cost more, measured noise of code placement included.
        let bound = |dimensions: [u64; 4]| {
            let smaller = entries.iter().filter(|entry| covers(dimensions, entry.dimensions()));
            smaller.map(|entry| entry.count(metric)).max().unwrap_or(0)
        };
        let larger = entries.iter().filter(|entry| covers(entry.dimensions(), asked)).map(|entry| bound(entry.dimensions()));
        larger.min().unwrap_or_else(|| {
            let most: [u64; 4] = std::array::from_fn(|at| entries.iter().map(|entry| entry.dimensions()[at]).max().unwrap_or(0));
            let beyond = (0..4).map(|at| asked[at].saturating_sub(most[at]).saturating_mul(slope(&entries, at)));
            beyond.fold(bound(most), u64::saturating_add)
        })
    }

    fn entries(&self, core: MicrocontrollerCore) -> &[Entry] {
        self.cores.get(core.name()).map_or(&[], Vec::as_slice)
    }
}

/// Whether no dimension of `small` is above that of `large`.
fn covers(large: [u64; 4], small: [u64; 4]) -> bool {
    large.iter().zip(&small).all(|(large, small)| large >= small)
}

/// Instructions per unit of one dimension, rounded up: the most between any two entries that differ in nothing else, of any metric.
fn slope(entries: &[&Entry], dimension: usize) -> u64 {
    let between = |less: &Entry, more: &Entry| {
        let (from, to) = (less.dimensions(), more.dimensions());
        let others = (0..4).all(|at| at == dimension || from[at] == to[at]);
        let apart = to[dimension].checked_sub(from[dimension]).filter(|apart| others && *apart > 0)?;
        let rise = |metric: Metric| more.count(Some(metric)).saturating_sub(less.count(Some(metric)));
        Metric::ALL.into_iter().map(rise).max().map(|rise| rise.div_ceil(apart))
    };
    entries.iter().flat_map(|less| entries.iter().filter_map(|more| between(less, more))).max().unwrap_or(0)
}
