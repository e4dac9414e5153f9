//! Issue of off-chip memory instructions: arbitration and limits per kernel (sources.md D123).

use mias_registers::KERNEL_SLOTS;
use serde::{Deserialize, Serialize};

/// Restrictions of memory instructions where kernels share an SM; absent or all off: none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MemoryIssueConfig {
    /// Arbitration among kernels.
    pub order: MemoryOrder,
    /// Maximum number of instructions in flight per kernel on an SM.
    pub in_flight: InFlightLimit,
    /// With static limits: limit by kernel slot; slots beyond the list have no limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<StaticLimit>,
    /// With dynamic limits: change of a limit after an interval with less than one reservation fail
    /// per request.
    pub no_fails: NoFails,
    /// With dynamic limits: reservation fails are counted beyond 12 bits.
    pub wide_fails: bool,
    /// Warp instructions that the kernel of each slot may issue until the quotas of all other
    /// kernels on the SM are spent, 1 to 2^32 - 2 each; slots beyond the list have no limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warp_quota: Vec<u32>,
    /// Start of the restrictions.
    #[serde(skip_serializing_if = "is_from_reset")]
    pub from: MemoryIssueFrom,
    /// With dynamic limits for the whole GPU: core cycles from a new limit of the monitored SM
    /// until all SMs have it, at least 1; absent: [`BROADCAST_CYCLES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast_cycles: Option<u32>,
    /// With limits by the firmware: core cycles between its reads of the counters, at least 1;
    /// absent: [`INTERVAL_CYCLES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_cycles: Option<u32>,
}

/// Default core cycles of a broadcast of limits (assumption: one register stage every few SMs, so
/// the broadcast takes as long as an unloaded packet through a crossbar).
pub const BROADCAST_CYCLES: u32 = 32;

/// Default core cycles between the firmware's reads of the memory-issue counters (assumption: about
/// twice the time that the Cortex-M4F needs to read two kernels on 30 SMs,
/// docs/porting/decision-latency.md).
pub const INTERVAL_CYCLES: u32 = 50_000;

impl MemoryIssueConfig {
    /// Core cycles from a new limit of the monitored SM until all SMs have it.
    #[must_use]
    pub fn broadcast(&self) -> u32 {
        self.broadcast_cycles.unwrap_or(BROADCAST_CYCLES)
    }

    /// Core cycles between the firmware's reads of the counters.
    #[must_use]
    pub fn interval(&self) -> u32 {
        self.interval_cycles.unwrap_or(INTERVAL_CYCLES)
    }
}

/// Start of the memory-issue restrictions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryIssueFrom {
    /// From reset on.
    #[default]
    Reset,
    /// Not during profiling: an SM is unrestricted from the moment at which the firmware arms it
    /// until it has the decision's quotas.
    Decision,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
fn is_from_reset(from: &MemoryIssueFrom) -> bool {
    *from == MemoryIssueFrom::Reset
}

/// Arbitration among the kernels with a memory instruction ready at a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// Warp scheduler's choice.
    #[default]
    Scheduler,
    /// Round robin among kernels: RBMI.
    RoundRobin,
    /// Quotas per kernel, so that all kernels make equally many requests: QBMI.
    Quota,
}

/// Limit of off-chip memory instructions in flight per kernel on an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InFlightLimit {
    /// No limit.
    #[default]
    None,
    /// Fixed limits from `limits`: SMIL.
    Static,
    /// Limits found by the hardware of each SM: DMIL.
    Dynamic,
    /// Limits found by the hardware of one SM, for all SMs: global DMIL.
    DynamicGlobal,
    /// Limits found by the firmware through the register block: the same rule, with a delay.
    Firmware,
}

/// Fixed limit of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StaticLimit {
    /// 1 to 127 instructions.
    Most(#[cfg_attr(feature = "schema", schemars(range(min = 1, max = 127)))] u8),
    /// No limit.
    Any(Unlimited),
}

/// Absence of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unlimited {
    /// No limit.
    Inf,
}

impl StaticLimit {
    /// Number of instructions, if limited.
    #[must_use]
    pub fn most(self) -> Option<u8> {
        match self {
            StaticLimit::Most(most) => Some(most),
            StaticLimit::Any(Unlimited::Inf) => None,
        }
    }
}

/// Change of a limit that is not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoFails {
    /// The limit is removed.
    #[default]
    Unlimited,
    /// The limit is raised by one.
    Grow,
}

const BROADCAST: &str = "must be at least 1 cycle, and only where sm.memory_issue.in_flight is \"dynamic-global\"";
const INTERVAL: &str = "must be at least 1 cycle, and only where sm.memory_issue.in_flight is \"firmware\"";

/// First invalid field: key, value and remedy.
pub(super) fn refused(config: &MemoryIssueConfig) -> Option<(&'static str, u32, &'static str)> {
    let (limits, quotas) = ("sm.memory_issue.limits", "sm.memory_issue.warp_quota");
    let slots = |given: usize| (given > KERNEL_SLOTS).then_some((given as u32, "numbers, and there are 8 kernel slots"));
    if let Some((given, remedy)) = slots(config.limits.len()) {
        return Some((limits, given, remedy));
    }
    if (config.in_flight == InFlightLimit::Static) == config.limits.is_empty() {
        let remedy = "numbers: static limits need some, and no other limits have any (sm.memory_issue.in_flight)";
        return Some((limits, config.limits.len() as u32, remedy));
    }
    if let Some(most) = config.limits.iter().filter_map(|limit| limit.most()).find(|most| !(1..=127).contains(most)) {
        return Some((limits, most.into(), "must be 1 to 127 instructions, or \"inf\""));
    }
    for (key, given, of, must) in [
        ("sm.memory_issue.broadcast_cycles", config.broadcast_cycles, InFlightLimit::DynamicGlobal, BROADCAST),
        ("sm.memory_issue.interval_cycles", config.interval_cycles, InFlightLimit::Firmware, INTERVAL),
    ] {
        if let Some(cycles) = given.filter(|&cycles| cycles == 0 || config.in_flight != of) {
            return Some((key, cycles, must));
        }
    }
    if let Some((given, remedy)) = slots(config.warp_quota.len()) {
        return Some((quotas, given, remedy));
    }
    let wrong = config.warp_quota.iter().copied().find(|&quota| quota == 0 || quota == u32::MAX);
    wrong.map(|quota| (quotas, quota, "must be 1 to 4,294,967,294 warp instructions"))
}
