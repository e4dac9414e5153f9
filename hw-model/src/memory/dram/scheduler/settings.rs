//! Settings of an order of DRAM requests, from the GPU file or from the register block at run time
//! (sources.md D187).

use crate::config::{DramOrder, DramSchedulerConfig};
use crate::memory::KERNEL_SLOTS;

/// Order of DRAM requests, with its numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DramSettings {
    /// Order of requests.
    pub by: DramOrder,
    /// Cap of the order, 1 to 255, as [`DramSchedulerConfig::cap`]; 0: the order's default.
    pub cap: u8,
    /// Shares by kernel slot, in parts of 1,024 of the bandwidth; 0 counts as 1.
    pub shares: [u16; KERNEL_SLOTS],
}

impl DramSettings {
    /// Initial settings of a GPU.
    #[must_use]
    pub fn of(config: Option<&DramSchedulerConfig>) -> Self {
        let Some(config) = config else { return DramSettings::default() };
        let narrow = |share: u32| u16::try_from(share).unwrap_or(u16::MAX);
        DramSettings {
            by: config.by,
            cap: config.cap.map_or(0, |cap| u8::try_from(cap).unwrap_or(u8::MAX)),
            shares: std::array::from_fn(|slot| config.shares.get(slot).copied().map_or(0, narrow)),
        }
    }

    /// Cap in effect.
    pub(super) fn cap(&self) -> u32 {
        if self.cap == 0 { self.by.usual_cap() } else { self.cap.into() }
    }
}
