//! Memory-issue settings of an SM, from the GPU file or the register block, and counts of each
//! kernel for the register block (sources.md D127).

use crate::config::{InFlightLimit, MemoryIssueConfig, MemoryOrder};
use mias_registers::{KERNEL_SLOTS, memory, memory_mode};

/// Maximum number of active warps per warp scheduler, by kernel slot; 0: no limit.
pub type WarpLimits = [u8; KERNEL_SLOTS];

/// Warp instructions of a set, by kernel slot; 0: no quota.
pub type WarpQuotas = [u32; KERNEL_SLOTS];

/// Counts of the kernel in one slot of an SM, cumulative except for the numbers in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelMemoryCounts {
    /// Number of requests.
    pub requests: u64,
    /// Number of reservation fails.
    pub fails: u64,
    /// Number of scheduler-cycles in which the kernel's warps were held back.
    pub held_cycles: u64,
    /// Number of memory instructions in flight.
    pub in_flight: u16,
    /// Maximum number in flight since the register block read the slot's counts.
    pub peak: u16,
    /// Limit in effect, 0 for none.
    pub limit: u8,
}

/// Memory-issue settings of an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySettings {
    /// Mode, as [`memory_mode`] fields.
    pub mode: u32,
    /// Limit by slot, as written; 0 for none.
    pub limits: [u8; KERNEL_SLOTS],
    /// True if memory instructions are held back.
    pub active: bool,
    /// True if the firmware reads the counters at intervals.
    pub watched: bool,
    /// Warp instructions of a set by slot; 0 for no quota.
    pub warp_quotas: WarpQuotas,
}

impl MemorySettings {
    /// Initial settings of a GPU.
    pub(crate) fn of(config: &MemoryIssueConfig) -> Self {
        let warp_quotas = std::array::from_fn(|slot| config.warp_quota.get(slot).copied().unwrap_or(0));
        MemorySettings { mode: mode_of(config), limits: limits_of(config), active: true, watched: false, warp_quotas }
    }
}

/// Initial mode of a GPU.
fn mode_of(config: &MemoryIssueConfig) -> u32 {
    let order = match config.order {
        MemoryOrder::Scheduler => memory_mode::SCHEDULER,
        MemoryOrder::RoundRobin => memory_mode::ROUND_ROBIN,
        MemoryOrder::Quota => memory_mode::QUOTA,
    };
    let limits = match config.in_flight {
        InFlightLimit::None => memory_mode::NONE,
        InFlightLimit::Static | InFlightLimit::Firmware => memory_mode::WRITTEN,
        InFlightLimit::Dynamic => memory_mode::FOUND,
        InFlightLimit::DynamicGlobal => memory_mode::BROADCAST,
    };
    order | limits
}

/// Initial limits, until the firmware sets them: the GPU file's, or the maximum count where the
/// firmware finds them.
fn limits_of(config: &MemoryIssueConfig) -> [u8; KERNEL_SLOTS] {
    std::array::from_fn(|slot| match config.in_flight {
        InFlightLimit::Firmware => memory::MOST_IN_FLIGHT as u8,
        _ => config.limits.get(slot).and_then(|limit| limit.most()).unwrap_or(0),
    })
}
