//! Arbitration among kernels at a DRAM bank: `[dram.scheduler]` of a GPU file (sources.md D183 to
//! D187).

use mias_registers::KERNEL_SLOTS;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Total bandwidth in the unit of shares.
pub const WHOLE_SHARE: u32 = 1 << 10;

/// Largest cap, the maximum of 8 bits.
pub const MOST_CAP: u32 = (1 << 8) - 1;

/// Valid caps.
pub(super) const CAP: RangeInclusive<u32> = 1..=MOST_CAP;

/// Arbitration among the requests that wait at a bank; absent: the oldest that hits the open row,
/// else the oldest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct DramSchedulerConfig {
    /// Order of requests.
    pub by: DramOrder,
    /// Cap of the order, 1 to 255; absent: 4, 5 and 16. With `kernel-cap`: row hits that may bypass
    /// an older request of another kernel. With `batch`: requests of a kernel in a bank that a
    /// batch takes. With `shares`: sectors by which a kernel's row hits may run ahead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<u32>,
    /// With `shares`: bandwidth of the kernel in each slot in parts of 1,024, at most 1,024 in
    /// total. Slots beyond the list and those with 0 count as 1, so they are served last but
    /// served.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u32>,
}

/// Order of the requests of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DramOrder {
    /// Row hits first, then the oldest, without regard to kernels.
    #[default]
    FrFcfs,
    /// The oldest request of each bank.
    Fcfs,
    /// FR-FCFS with a limit on the row hits that bypass an older request of another kernel.
    KernelCap,
    /// Batches in which the kernel with the least work goes first: PAR-BS.
    Batch,
    /// Shares of the bandwidth.
    Shares,
}

impl DramOrder {
    /// All orders.
    pub const ALL: [DramOrder; 5] = [Self::FrFcfs, Self::Fcfs, Self::KernelCap, Self::Batch, Self::Shares];

    /// Default cap (sources.md D184, D185 and D186); 0 for an order without a cap.
    #[must_use]
    pub fn usual_cap(self) -> u32 {
        match self {
            DramOrder::FrFcfs | DramOrder::Fcfs => 0,
            DramOrder::KernelCap => 4,
            DramOrder::Batch => 5,
            DramOrder::Shares => 16,
        }
    }
}

/// First invalid field: key, value and remedy.
pub(super) fn refused(config: &DramSchedulerConfig) -> Option<(&'static str, u32, &'static str)> {
    let (cap, shares) = ("dram.scheduler.cap", "dram.scheduler.shares");
    if let Some(given) = config.cap.filter(|given| !CAP.contains(given)) {
        return Some((cap, given, "must be 1 to 255; leave it out for the order's own"));
    }
    if let Some(given) = config.cap.filter(|_| config.by.usual_cap() == 0) {
        return Some((cap, given, "is for by = \"kernel-cap\", \"batch\" or \"shares\": leave it out"));
    }
    if !config.shares.is_empty() && config.by != DramOrder::Shares {
        return Some((shares, config.shares.len() as u32, "numbers: only by = \"shares\" has any"));
    }
    if config.shares.len() > KERNEL_SLOTS {
        return Some((shares, config.shares.len() as u32, "numbers, and there are 8 kernel slots"));
    }
    let sum = config.shares.iter().fold(0, |sum: u32, &more| sum.saturating_add(more));
    (sum > WHOLE_SHARE).then_some((shares, sum, "in sum must be at most 1024, which is the whole bandwidth"))
}
