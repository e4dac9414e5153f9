//! Memory issue as data: who may issue an off-chip memory instruction, and when (sources.md D123).

use mias_registers::KERNEL_SLOTS;
use serde::{Deserialize, Serialize};

/// What holds memory instructions back where kernels share an SM; absent or all off: nothing does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MemoryIssueConfig {
    /// Whose memory instruction is next.
    pub order: MemoryOrder,
    /// How many a kernel may have in flight on an SM.
    pub in_flight: InFlightLimit,
    /// With static limits: so many, by kernel slot; any number for slots beyond the list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<StaticLimit>,
    /// With dynamic limits: what happens to one after an interval with less than one reservation fail per request.
    pub no_fails: NoFails,
    /// With dynamic limits: reservation fails are counted on beyond 12 bits.
    pub wide_fails: bool,
    /// Warp instructions that the kernel of each slot may issue until those of all others here are spent; any number for slots beyond the
    /// list. 1 to 2^32 - 2 each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warp_quota: Vec<u32>,
    /// From when on anything is held back.
    #[serde(skip_serializing_if = "is_from_reset")]
    pub from: MemoryIssueFrom,
    /// With dynamic limits for the whole GPU: core cycles from a new limit of the SM that is monitored until all SMs have it, at least 1;
    /// absent: [`BROADCAST_CYCLES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broadcast_cycles: Option<u32>,
    /// With limits by the firmware: core cycles between its looks at the counters, at least 1; absent: [`INTERVAL_CYCLES`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval_cycles: Option<u32>,
}

/// Core cycles of a broadcast of limits, where a machine does not say (assumption: a register on the way every few SMs, as in a crossbar that
/// an unloaded packet passes in as much).
pub const BROADCAST_CYCLES: u32 = 32;

/// Core cycles between the firmware's looks at the counters of memory issue, where a machine does not say (assumption: about twice as
/// long as a look at two kernels on 30 SMs takes on the Cortex-M4F, docs/decision-latency.md).
pub const INTERVAL_CYCLES: u32 = 50_000;

impl MemoryIssueConfig {
    /// Core cycles from a new limit of the SM that is monitored until all SMs have it.
    #[must_use]
    pub fn broadcast(&self) -> u32 {
        self.broadcast_cycles.unwrap_or(BROADCAST_CYCLES)
    }

    /// Core cycles between the firmware's looks at the counters.
    #[must_use]
    pub fn interval(&self) -> u32 {
        self.interval_cycles.unwrap_or(INTERVAL_CYCLES)
    }
}

/// From when on anything is held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryIssueFrom {
    /// Always.
    #[default]
    Reset,
    /// Not while configurations are tried: on an SM from the moment at which the firmware arms it until it has the decision's quotas.
    Decision,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // What serde calls takes a reference.
fn is_from_reset(from: &MemoryIssueFrom) -> bool {
    *from == MemoryIssueFrom::Reset
}

/// Whose memory instruction is next, of the kernels that have one ready at a scheduler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MemoryOrder {
    /// The warp scheduler's choice.
    #[default]
    Scheduler,
    /// Kernels take turns: RBMI.
    RoundRobin,
    /// Kernels have quotas, so that they make as many requests each: QBMI.
    Quota,
}

/// How many off-chip memory instructions a kernel may have in flight on an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum InFlightLimit {
    /// Any number.
    #[default]
    None,
    /// As many as `limits` say: SMIL.
    Static,
    /// As many as the hardware finds, on each SM: DMIL.
    Dynamic,
    /// As many as the hardware finds on one SM, for all: global DMIL.
    DynamicGlobal,
    /// As many as the firmware finds, through the register block: the same rule, some time later.
    Firmware,
}

/// A fixed limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StaticLimit {
    /// 1 to 127 instructions.
    Most(#[cfg_attr(feature = "schema", schemars(range(min = 1, max = 127)))] u8),
    /// Any number.
    Any(Unlimited),
}

/// No limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unlimited {
    /// Any number.
    Inf,
}

impl StaticLimit {
    /// The number, if there is one.
    #[must_use]
    pub fn most(self) -> Option<u8> {
        match self {
            StaticLimit::Most(most) => Some(most),
            StaticLimit::Any(Unlimited::Inf) => None,
        }
    }
}

/// What happens to a limit that is not needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NoFails {
    /// It is taken away.
    #[default]
    Unlimited,
    /// It is raised by one.
    Grow,
}

const BROADCAST: &str = "must be at least 1 cycle, and only where sm.memory_issue.in_flight is \"dynamic-global\"";
const INTERVAL: &str = "must be at least 1 cycle, and only where sm.memory_issue.in_flight is \"firmware\"";

/// What a file may say that cannot be: the key, the number, and the remedy.
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
