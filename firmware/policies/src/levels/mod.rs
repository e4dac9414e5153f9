//! Four schedulers at once: which kernels run together, which TBs of them sit on an SM, whose warp issues a memory instruction, and whose request DRAM serves
//! (the last paragraph of Nasef 2023; sources.md D200 to D204).
//!
//! TBs are the policy's ([`crate::policy`]). The other three levels are here, and go with any policy:
//!
//! * **Kernels**: launches wait in the queue, of which the firmware sees a window ([`mias_registers::queue`]). Up to [`MAX_KERNELS`](mias_firmware::configs::MAX_KERNELS) run
//!   together, and the firmware says which is next ([`choose`]).
//! * **Memory instructions and requests**: hardware holds them back or puts them in order; the firmware sets in which way, once, when it starts.
//!
//! Each is asked for by an option of its own. What is not asked for is not touched: launches get slots in the order in which they arrive, and SMs and DRAM are as the
//! machine has them.

mod admit;
mod choose;
mod identities;
mod traits;

pub use choose::{Candidate, choose};
pub use identities::{Identities, KNOWN};
pub use traits::{Kind, LaunchCounts, Mix, Traits};

use mias_registers::bus::{TryBus, read, write};
use mias_registers::{global, option};

/// Which levels the firmware sets: bits of [`global::STRAP_OPTIONS`]. One byte, which a firmware's state has to spare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels(u8);

/// The lowest of these bits.
const SHIFT: u32 = option::SCHEDULE_LAUNCHES.trailing_zeros();

impl Levels {
    /// None.
    pub const NONE: Self = Self(0);

    /// As the straps say.
    #[must_use]
    pub const fn of(options: u32) -> Self {
        let all = option::SCHEDULE_LAUNCHES | option::SET_MEMORY_ISSUE | option::SET_DRAM_ORDER;
        Self(((options & all) >> SHIFT) as u8)
    }

    const fn has(self, bit: u32) -> bool {
        self.0 as u32 & bit >> SHIFT != 0
    }

    /// The firmware says which launch is next.
    #[must_use]
    pub const fn schedules_launches(self) -> bool {
        self.has(option::SCHEDULE_LAUNCHES)
    }
}

/// What the scheduler of kernels remembers.
#[derive(Clone, Copy, Debug)]
pub struct KernelScheduler {
    /// It says which launch is next.
    pub(crate) on: bool,
    /// How often a launch may be passed over.
    patience: u32,
    /// What is known of kernels.
    known: Identities,
}

impl KernelScheduler {
    /// It says nothing.
    pub(crate) const OFF: Self = Self { on: false, patience: 0, known: Identities::NONE };

    /// What it knows of kernels.
    #[must_use]
    pub fn known(&self) -> &Identities {
        &self.known
    }
}

/// Sets the levels that are asked for, and gives the scheduler of kernels.
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
