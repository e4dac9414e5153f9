//! Data of the kernels in their slots for preemption (sources.md D134, D136).

use super::cost::switch_latency;
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::resources::Resources;
use mias_registers::bus::{TryBus, read};
use mias_registers::{KERNEL_SLOTS, global, slot, slot_status};

/// Data of a kernel in a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotInfo {
    /// Priority, larger is more urgent.
    pub priority: u32,
    /// Demand of one TB.
    pub demand: Resources,
    /// TBs that an empty SM holds, which are the positions of the kernel.
    pub max_tbs: u8,
    /// Cycles to move the context of a TB to DRAM.
    pub switch_latency: u32,
}

impl SlotInfo {
    /// Data of a free slot.
    pub(super) const NONE: Self = Self { priority: 0, demand: Resources::NONE, max_tbs: 0, switch_latency: 0 };
}

/// Data of all slots; empty for a free one.
pub type Slots = [SlotInfo; KERNEL_SLOTS];

/// Reads the data of all slots.
#[inline(never)]
pub(super) fn read_slots<B: TryBus>(bus: &mut B, gpu: &GpuProperties) -> Result<Slots, B::Error> {
    let mut slots = Slots::default();
    for (index, info) in (0_u8..).zip(slots.iter_mut()).take(gpu.slot_count.into()) {
        if read(bus, slot::at(index.into(), slot::STATUS))? & slot_status::OCCUPIED != 0 {
            let kernel = Kernel::read(bus, index, &gpu.limits)?;
            *info = SlotInfo {
                priority: read(bus, slot::at(index.into(), slot::PRIORITY))?,
                demand: kernel.demand,
                max_tbs: kernel.max_tbs,
                switch_latency: switch_latency(&kernel.demand, gpu.sm_count, gpu.dram_sectors.to_bits()),
            };
        }
    }
    Ok(slots)
}

/// Reads the latency limit in cycles for the kernel in a slot: that of its launch, or else that of
/// the straps.
pub(super) fn read_limit<B: TryBus>(bus: &mut B, slot: u8) -> Result<u32, B::Error> {
    match read(bus, slot::at(slot.into(), slot::LATENCY_LIMIT))? {
        0 => read(bus, global::STRAP_PREEMPT_LIMIT),
        limit => Ok(limit),
    }
}
