//! Cost of a decision on a microcontroller, in instructions: the measurements of
//! `host-sim/lab/decision-latency.toml`, and bounds between and beyond them.
//!
//! The cost of a decision does not decrease with SMs, kernels or configurations. Every SM is read
//! once, and every configuration is scored and compared once. Those of a second round are looked
//! up, or generated again if they were not kept (docs/porting/decision-latency.md). So between
//! entries the next larger one is a bound.
//!
//! Beyond the largest entry, each dimension adds at most the steepest slope measured along it.
//! Loops over SMs and configurations execute the same instructions in every pass, which makes the
//! cost linear.
//!
//! Warped-Slicer's cost is not linear in its points, since each may be a step over all of them; its
//! entries reach the maximum for four kernels. They are for kernels that compete for an SM. If all
//! their points fit together, a decision takes up to 2.2 times as long
//! (docs/porting/decision-latency.md). Its variant by the largest sum grows faster still; beyond
//! its entries the value is an estimate.

mod bound;
mod charge;
mod placement;
mod preemption;
#[cfg(test)]
mod tests;

pub use charge::Charge;
pub use placement::Batch;

use bound::{Entry, Group};
use mias_hw_model::config::MicrocontrollerCore;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Contents of the file, written by `cargo xtask latency`.
const MEASURED: &str = include_str!("../../decision-latency.toml");

/// Column of limits of memory instructions.
const MEMORY_LIMIT: &str = "memory-limit";

/// Column of control of extra TBs.
const CONTEXT_CONTROL: &str = "context-control";

/// Situation of a decision, on which its cost depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Whether not all SMs have finished their window, or warp instructions count: a longer path
    /// through the counters.
    pub late: bool,
    /// Number of SMs of the GPU.
    pub sms: u32,
    /// Number of kernels scheduled together.
    pub kernels: u32,
    /// Number of configurations profiled so far, in both rounds.
    pub scored: u32,
    /// Total number of configurations, if the decision ends with a second round, which is looked up
    /// among them; 0 if it ends with the final quotas.
    pub generated: u32,
}

/// Measurements of one or more processors, with entries by groups of policies that decide in the
/// same situations.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "BTreeMap<String, BTreeMap<String, Group>>")]
pub struct LatencyTable {
    cores: BTreeMap<String, BTreeMap<String, Vec<Entry>>>,
}

impl TryFrom<BTreeMap<String, BTreeMap<String, Group>>> for LatencyTable {
    type Error = String;

    fn try_from(cores: BTreeMap<String, BTreeMap<String, Group>>) -> Result<Self, String> {
        let entries = |(name, group): (String, Group)| Ok((name, group.try_into()?));
        let core =
            |(name, groups): (String, BTreeMap<String, Group>)| Ok((name, groups.into_iter().map(entries).collect::<Result<_, String>>()?));
        Ok(LatencyTable { cores: cores.into_iter().map(core).collect::<Result<_, String>>()? })
    }
}

impl LatencyTable {
    /// Returns the table that this program was built with.
    ///
    /// # Panics
    /// If it is invalid; a test parses it.
    pub fn measured() -> &'static Self {
        static TABLE: LazyLock<LatencyTable> = LazyLock::new(|| match toml::from_str(MEASURED) {
            Ok(table) => table,
            Err(error) => panic!("host-sim/lab/decision-latency.toml: {error}"),
        });
        &TABLE
    }

    /// Returns the maximum number of configurations whose generation was measured.
    pub fn most_generated(&self, core: MicrocontrollerCore, charge: Charge) -> u32 {
        self.entries(core, charge).iter().map(Entry::generated).max().unwrap_or(0)
    }

    /// Returns an upper bound of a decision's instructions, from its interrupt to the commit of the
    /// quotas. With a second round, any of MIAS' metrics is charged the slowest: the generation
    /// takes most of the time, and depends on the best configuration instead of the metric.
    pub fn instructions(&self, core: MicrocontrollerCore, situation: Situation, charge: Charge) -> u64 {
        // The cost of a step depends on kernels and SMs, not on configurations.
        let situation = if matches!(charge, Charge::Search | Charge::Trial) {
            Situation { late: false, scored: 0, generated: 0, ..situation }
        } else {
            situation
        };
        let charge = if situation.generated != 0 { charge.of_generation() } else { charge };
        bound::bound(self.entries(core, charge), situation, charge.column())
    }

    /// Returns an upper bound of the instructions of DMIL in firmware, for `sms` SMs with up to
    /// `kernels` kernels.
    pub fn memory_limits(&self, core: MicrocontrollerCore, sms: u32, kernels: u32) -> u64 {
        let situation = Situation { late: false, sms, kernels, scored: 0, generated: 0 };
        bound::bound(self.group(core, MEMORY_LIMIT), situation, MEMORY_LIMIT)
    }

    /// Returns an upper bound of the instructions of the controller of extra TBs in firmware, for
    /// `kernels` with a finished interval; SMs do not matter.
    pub fn context_control(&self, core: MicrocontrollerCore, kernels: u32) -> u64 {
        let situation = Situation { late: false, sms: 0, kernels, scored: 0, generated: 0 };
        bound::bound(self.group(core, CONTEXT_CONTROL), situation, CONTEXT_CONTROL)
    }

    /// Returns the group with the charged column.
    fn entries(&self, core: MicrocontrollerCore, charge: Charge) -> &[Entry] {
        self.group(core, charge.column())
    }

    /// Returns the group with a column.
    fn group(&self, core: MicrocontrollerCore, column: &str) -> &[Entry] {
        let mut groups = self.cores.get(core.name()).into_iter().flat_map(BTreeMap::values);
        groups.find(|group| group.first().is_some_and(|entry| entry.counts(column))).map_or(&[], Vec::as_slice)
    }
}
