//! Four scheduling levels: kernels, TBs on SMs, memory instructions of warps, and DRAM requests
//! (the last paragraph of Nasef 2023; sources.md D200 to D204).
//!
//! TBs belong to the policy ([`crate::policy`]). The other three levels are here, and work with any
//! policy:
//!
//! * **Kernels**: launches wait in the queue, and the firmware sees a window of it
//!   ([`mias_registers::queue`]). Up to [`MAX_KERNELS`](mias_firmware::configs::MAX_KERNELS) run
//!   together, and the firmware selects the next launch ([`choose`]).
//! * **Memory instructions and requests**: hardware holds them back or orders them. The firmware
//!   sets the mode once, when it starts.
//!
//! Each level has its own option. Levels without their option do not change: launches get slots in
//! the order of arrival, and SMs and DRAM follow the GPU's settings.

mod admit;
mod choose;
mod identities;
mod traits;

pub use choose::{Candidate, choose};
pub use identities::{Identities, KNOWN};
pub use traits::{Kind, LaunchCounts, Mix, Traits};

use mias_registers::bus::{TryBus, read, write};
use mias_registers::{global, option};

/// Levels that the firmware sets: bits of [`global::STRAP_OPTIONS`], in the one byte that fits the
/// firmware's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels(u8);

/// Position of the lowest of the levels' bits in [`global::STRAP_OPTIONS`].
const SHIFT: u32 = option::SCHEDULE_LAUNCHES.trailing_zeros();

impl Levels {
    /// No level.
    pub const NONE: Self = Self(0);

    /// Returns the levels that the straps request.
    #[must_use]
    pub const fn of(options: u32) -> Self {
        let all = option::SCHEDULE_LAUNCHES | option::SET_MEMORY_ISSUE | option::SET_DRAM_ORDER;
        Self(((options & all) >> SHIFT) as u8)
    }

    const fn has(self, bit: u32) -> bool {
        self.0 as u32 & bit >> SHIFT != 0
    }

    /// Returns whether the firmware selects the next launch.
    #[must_use]
    pub const fn schedules_launches(self) -> bool {
        self.has(option::SCHEDULE_LAUNCHES)
    }
}

/// Launch scheduler with its state.
#[derive(Clone, Copy, Debug)]
pub struct KernelScheduler {
    /// Whether the firmware selects the next launch.
    pub(crate) on: bool,
    /// Number of times that a launch may be passed over.
    patience: u32,
    /// Table of known kernels.
    known: Identities,
}

impl KernelScheduler {
    /// A scheduler that selects no launch.
    pub(crate) const OFF: Self = Self { on: false, patience: 0, known: Identities::NONE };

    /// Returns the table of known kernels.
    #[must_use]
    pub fn known(&self) -> &Identities {
        &self.known
    }
}

/// Sets the requested levels, and returns the launch scheduler.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub(crate) fn start<B: TryBus>(levels: Levels, bus: &mut B) -> Result<KernelScheduler, B::Error> {
    if levels.has(option::SET_MEMORY_ISSUE) {
        let mode = read(bus, global::STRAP_MEMORY_MODE)?;
        write(bus, global::MEMORY_MODE_ALL, mode)?;
    }
    if levels.has(option::SET_DRAM_ORDER) {
        for (strap, register) in [(global::STRAP_DRAM_ORDER, global::DRAM_ORDER), (global::STRAP_DRAM_CAP, global::DRAM_CAP)] {
            let value = read(bus, strap)?;
            write(bus, register, value)?;
        }
    }
    if levels.schedules_launches() { admit::start(bus) } else { Ok(KernelScheduler::OFF) }
}
