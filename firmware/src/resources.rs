//! TB resource demands and SM limits (Nasef 2023, section 2.2.6; rounding: sources.md D13 and D14).

use mias_registers::bus::{TryBus, read};
use mias_registers::global;

/// Amounts of the four resources that limit the TBs of an SM: a capacity, a remainder, or one TB's
/// demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Threads, padded to whole warps.
    pub threads: u32,
    /// 32-bit registers.
    pub registers: u32,
    /// Shared memory in bytes.
    pub shared_bytes: u32,
    /// Number of TB slots.
    pub tbs: u32,
}

impl Resources {
    /// Zero of every resource.
    pub const NONE: Self = Self { threads: 0, registers: 0, shared_bytes: 0, tbs: 0 };

    /// Returns whether one more TB of demand `tb` fits into this remainder.
    #[cfg_attr(not(target_arch = "riscv32"), inline)]
    #[must_use]
    pub fn fits(&self, tb: &Self) -> bool {
        tb.threads <= self.threads && tb.registers <= self.registers && tb.shared_bytes <= self.shared_bytes && tb.tbs <= self.tbs
    }

    /// Returns the number of TBs of demand `tb` that fit into this remainder.
    ///
    /// A resource with zero demand does not limit. TB slots always limit: a demand without slots
    /// counts as one slot.
    #[cfg_attr(not(target_arch = "riscv32"), inline)]
    #[must_use]
    pub fn max_tbs(&self, tb: &Self) -> u32 {
        let limit = |available: u32, needed: u32| available.checked_div(needed).unwrap_or(u32::MAX);
        limit(self.tbs, tb.tbs.max(1))
            .min(limit(self.threads, tb.threads))
            .min(limit(self.registers, tb.registers))
            .min(limit(self.shared_bytes, tb.shared_bytes))
    }

    /// Returns the remainder after `count` TBs of demand `tb`; none if they do not fit.
    // Not inlined on the RISC-V core, whose image has the least flash to spare.
    #[must_use]
    #[cfg_attr(not(target_arch = "riscv32"), inline(always))]
    #[cfg_attr(target_arch = "riscv32", inline(never))]
    pub fn minus(&self, tb: &Self, count: u32) -> Option<Self> {
        let left = |available: u32, needed: u32| available.checked_sub(needed.checked_mul(count)?);
        Some(Self {
            threads: left(self.threads, tb.threads)?,
            registers: left(self.registers, tb.registers)?,
            shared_bytes: left(self.shared_bytes, tb.shared_bytes)?,
            tbs: left(self.tbs, tb.tbs)?,
        })
    }
}

/// Resource demand of a kernel as launched, before any rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TbShape {
    /// Threads per TB.
    pub threads: u32,
    /// Registers per thread.
    pub thread_registers: u32,
    /// Shared memory per TB in bytes.
    pub shared_bytes: u32,
}

/// Capacity of an SM and its allocation granules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmLimits {
    /// Resources of an empty SM. At most 255 TB slots.
    pub capacity: Resources,
    /// Threads per warp, to a multiple of which threads are padded.
    pub warp_threads: u32,
    /// Granule to which registers per thread are rounded up.
    pub register_granule: u32,
    /// Granule in bytes to which shared memory per TB is rounded up.
    pub shared_granule_bytes: u32,
}

impl SmLimits {
    /// Limits of an SM that holds nothing.
    pub const NONE: Self = Self { capacity: Resources::NONE, warp_threads: 0, register_granule: 0, shared_granule_bytes: 0 };

    /// Reads the limits from the register block.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B) -> Result<Self, B::Error> {
        Ok(Self {
            capacity: Resources {
                threads: read(bus, global::SM_THREADS)?,
                registers: read(bus, global::SM_REGISTERS)?,
                shared_bytes: read(bus, global::SM_SHARED_BYTES)?,
                tbs: read(bus, global::SM_TBS)?.min(u32::from(u8::MAX)),
            },
            warp_threads: read(bus, global::WARP_THREADS)?,
            register_granule: read(bus, global::REGISTER_GRANULE)?,
            shared_granule_bytes: read(bus, global::SHARED_GRANULE_BYTES)?,
        })
    }

    /// Returns the demand of one TB of that shape.
    ///
    /// Threads are padded to warps, registers and shared memory are rounded up to their granules,
    /// and the TB takes one slot. The result saturates, so an excessive shape fits nowhere instead
    /// of wrapping to a small one.
    #[must_use]
    pub fn demand(&self, shape: &TbShape) -> Resources {
        let threads = round_up(shape.threads, self.warp_threads);
        Resources {
            threads,
            registers: round_up(shape.thread_registers, self.register_granule).saturating_mul(threads),
            shared_bytes: round_up(shape.shared_bytes, self.shared_granule_bytes),
            tbs: 1,
        }
    }

    /// Returns the number of TBs of demand `tb` that an empty SM holds, 0 to 255.
    #[must_use]
    pub fn max_tbs(&self, tb: &Resources) -> u8 {
        u8::try_from(self.capacity.max_tbs(tb)).unwrap_or(u8::MAX)
    }
}

/// Rounds `value` up to a multiple of `granule` (0 counts as 1), saturating.
fn round_up(value: u32, granule: u32) -> u32 {
    match value.checked_rem(granule) {
        None | Some(0) => value,
        Some(rest) => value.saturating_add(granule.saturating_sub(rest)),
    }
}
