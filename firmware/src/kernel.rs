//! A launched kernel as the scheduler sees it.

use crate::resources::{Resources, SmLimits, TbShape};
use mias_registers::bus::{TryBus, read};
use mias_registers::{slot, slot_status};

/// A launched kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Slot of the kernel in the register block.
    pub slot: u8,
    /// Number of kernels launched earlier, since reset. Unlike a slot, it is never reused.
    pub number: u32,
    /// Demand of one TB.
    pub demand: Resources,
    /// Most TBs on an empty SM.
    pub max_tbs: u8,
    /// Number of TBs of the kernel's grid.
    pub grid_tbs: u32,
    /// TBs that have not retired, as of the last read.
    pub unfinished_tbs: u32,
    /// Whether the kernel has no TB left to issue.
    pub drained: bool,
}

impl Kernel {
    /// Creates a kernel at launch. The scheduler numbers it.
    ///
    /// A kernel without TBs, or whose TBs have no threads, fits nowhere, because its descriptor is
    /// corrupt.
    #[must_use]
    pub fn new(slot: u8, shape: &TbShape, grid_tbs: u32, limits: &SmLimits) -> Self {
        let demand = limits.demand(shape);
        let max_tbs = if grid_tbs == 0 || shape.threads == 0 { 0 } else { limits.max_tbs(&demand) };
        Self { slot, number: 0, demand, max_tbs, grid_tbs, unfinished_tbs: grid_tbs, drained: false }
    }

    /// Reads the descriptor in a slot.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B, slot: u8, limits: &SmLimits) -> Result<Self, B::Error> {
        let mut field = |register| read(bus, slot::at(usize::from(slot), register));
        let shape = TbShape {
            threads: field(slot::TB_THREADS)?,
            thread_registers: field(slot::THREAD_REGISTERS)?,
            shared_bytes: field(slot::TB_SHARED_BYTES)?,
        };
        let mut kernel = Self::new(slot, &shape, field(slot::GRID_TBS)?, limits);
        kernel.drained = field(slot::STATUS)? & slot_status::DRAINED != 0;
        kernel.unfinished_tbs = field(slot::UNFINISHED_TBS)?;
        Ok(kernel)
    }
}
