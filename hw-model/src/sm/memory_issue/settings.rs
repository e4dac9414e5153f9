//! What holds the memory instructions of an SM back, as a GPU's file says or as the register block has it while it runs, and
//! what the block reads of each kernel (sources.md D127).

use crate::config::{InFlightLimit, MemoryIssueConfig, MemoryOrder};
use mias_registers::{KERNEL_SLOTS, memory, memory_mode};

/// By kernel slot, the most active warps of each warp scheduler; 0: any number.
pub type WarpLimits = [u8; KERNEL_SLOTS];

/// By kernel slot, warp instructions of a set; 0: any number.
pub type WarpQuotas = [u32; KERNEL_SLOTS];

/// What is counted of the kernel in one slot of an SM, cumulative but for the numbers in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelMemoryCounts {
    /// Requests.
    pub requests: u64,
    /// Reservation fails.
    pub fails: u64,
    /// Scheduler-cycles in which its warps were held back.
    pub held_cycles: u64,
    /// Memory instructions in flight.
    pub in_flight: u16,
    /// Most at a time since the register block took the slot's counts.
    pub peak: u16,
    /// The limit in effect, 0 for none.
    pub limit: u8,
}

/// What holds memory instructions of an SM back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemorySettings {
    /// [`memory_mode`] fields.
    pub mode: u32,
    /// By slot: the limit as written, 0 for none.
    pub limits: [u8; KERNEL_SLOTS],
    /// Memory instructions are held back.
    pub active: bool,
    /// The firmware looks at the counters at intervals.
    pub watched: bool,
    /// By slot: warp instructions of a set, 0 for any number.
    pub warp_quotas: WarpQuotas,
}

impl MemorySettings {
    /// Those that a GPU begins with.
    pub(crate) fn of(config: &MemoryIssueConfig) -> Self {
        let warp_quotas = std::array::from_fn(|slot| config.warp_quota.get(slot).copied().unwrap_or(0));
        MemorySettings { mode: mode_of(config), limits: limits_of(config), active: true, watched: false, warp_quotas }
    }
}

/// The mode that a GPU begins in.
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

/// What a slot's limit is until the firmware sets it: the GPU's, or, where the firmware is to find it, as many as are counted.
fn limits_of(config: &MemoryIssueConfig) -> [u8; KERNEL_SLOTS] {
    std::array::from_fn(|slot| match config.in_flight {
        InFlightLimit::Firmware => memory::MOST_IN_FLIGHT as u8,
        _ => config.limits.get(slot).and_then(|limit| limit.most()).unwrap_or(0),
    })
}
