//! What a decision costs on a microcontroller, in instructions: the measurements of `host-sim/lab/decision-latency.toml`, and a bound for
//! what lies between and beyond them.
//!
//! The cost of a decision does not fall when there are more SMs, kernels or configurations: every SM is read once, every
//! configuration scored and compared once, those of a second round are looked up, and of more than are kept the rest
//! is generated again (docs/decision-latency.md).
//! So between entries the next larger one is a bound. Beyond the largest entry each dimension adds no more than the steepest slope
//! measured along it: loops over SMs and configurations run the same instructions on every pass, which makes the cost linear.
//! Warped-Slicer's cost is not linear in its points, each of which may be a step that looks at all of them; its entries reach the most that
//! four kernels can have. They are of kernels that compete for an SM: where all their points fit together it takes up to 2.2 times as long
//! (docs/decision-latency.md). Its variant by the largest sum rises faster still, and what is beyond its entries is an estimate.

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

/// The file, written by `cargo xtask latency`.
const MEASURED: &str = include_str!("../../decision-latency.toml");

/// The column of limits of memory instructions.
const MEMORY_LIMIT: &str = "memory-limit";

/// The column of control of extra TBs.
const CONTEXT_CONTROL: &str = "context-control";

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
    /// Configurations that there are, if the decision ends with a second round, which is looked up among them; 0 if it ends with the
    /// last quotas.
    pub generated: u32,
}

/// The measurements of one or more processors: for each, entries by groups of policies that decide in the same situations.
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
    /// The table that this program was built with.
    ///
    /// # Panics
    /// If it is not such a table; a test reads it.
    pub fn measured() -> &'static Self {
        static TABLE: LazyLock<LatencyTable> = LazyLock::new(|| match toml::from_str(MEASURED) {
            Ok(table) => table,
            Err(error) => panic!("host-sim/lab/decision-latency.toml: {error}"),
        });
        &TABLE
    }

    /// Most configurations whose generation was measured.
    pub fn most_generated(&self, core: MicrocontrollerCore, charge: Charge) -> u32 {
        self.entries(core, charge).iter().map(Entry::generated).max().unwrap_or(0)
    }

    /// Instructions that a decision takes at most, from its interrupt to the commit of the quotas. Under one of MIAS' metrics it is
    /// that of the slowest where a second round follows: that takes most of the time and depends on where the best
    /// configuration lies, not on the metric.
    pub fn instructions(&self, core: MicrocontrollerCore, situation: Situation, charge: Charge) -> u64 {
        // A step looks at kernels and SMs, and at no configuration.
        let situation = if matches!(charge, Charge::Search | Charge::Trial) {
            Situation { late: false, scored: 0, generated: 0, ..situation }
        } else {
            situation
        };
        let charge = if situation.generated != 0 { charge.of_generation() } else { charge };
        bound::bound(self.entries(core, charge), situation, charge.column())
    }

    /// Instructions that the DMIL in firmware takes at most where `sms` SMs have up to `kernels` kernels to look at.
    pub fn memory_limits(&self, core: MicrocontrollerCore, sms: u32, kernels: u32) -> u64 {
        let situation = Situation { late: false, sms, kernels, scored: 0, generated: 0 };
        bound::bound(self.group(core, MEMORY_LIMIT), situation, MEMORY_LIMIT)
    }

    /// Instructions that the controller of extra TBs in firmware takes at most where `kernels` have had an interval; SMs do not matter.
    pub fn context_control(&self, core: MicrocontrollerCore, kernels: u32) -> u64 {
        let situation = Situation { late: false, sms: 0, kernels, scored: 0, generated: 0 };
        bound::bound(self.group(core, CONTEXT_CONTROL), situation, CONTEXT_CONTROL)
    }

    /// The group that holds what is charged.
    fn entries(&self, core: MicrocontrollerCore, charge: Charge) -> &[Entry] {
        self.group(core, charge.column())
    }

    /// The group that has a column.
    fn group(&self, core: MicrocontrollerCore, column: &str) -> &[Entry] {
        let mut groups = self.cores.get(core.name()).into_iter().flat_map(BTreeMap::values);
        groups.find(|group| group.first().is_some_and(|entry| entry.counts(column))).map_or(&[], Vec::as_slice)
    }
}
