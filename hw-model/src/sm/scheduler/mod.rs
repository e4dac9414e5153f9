//! Warp schedulers: selection among the issuable warps of a sub-core (sources.md D55). One file per
//! order.
//!
//! Start reading with the plain twin, `plain.rs`: the same orders over a list of warps.

mod gto;
mod kernel_lrr;
mod lrr;

use super::KERNEL_SLOTS;
use super::residents::Residents;
use crate::config::WarpSchedulerKind;

/// Scheduler with its state; data of every order comes first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Picker {
    kind: WarpSchedulerKind,
    /// Warp that issued last: its local number, and the bit of its place, or of that of the warp
    /// that took the number later.
    last: u8,
    /// Kernel slot that issued last, and the local number of the warp that issued last of each
    /// slot; for kernel-LRR.
    last_kernel: u8,
    last_bit: u32,
    last_of_kernel: [u8; KERNEL_SLOTS],
}

impl Picker {
    pub(super) fn new(kind: WarpSchedulerKind) -> Self {
        Picker { kind, last: 0, last_bit: 0, last_kernel: 0, last_of_kernel: [0; KERNEL_SLOTS] }
    }

    /// Selects one of `issuable` (not empty; a bit per place) of the sub-core's warps and returns
    /// its local number.
    #[inline(always)]
    pub(super) fn pick(&mut self, issuable: u32, warps: &Residents) -> u32 {
        let place = match self.kind {
            WarpSchedulerKind::Gto => gto::pick(issuable, self.last_bit, warps),
            WarpSchedulerKind::Lrr => lrr::pick(issuable, self.last.into()),
            WarpSchedulerKind::KernelLrr => self.pick_by_kernel(issuable, warps),
        };
        let local = warps.local(place);
        (self.last, self.last_bit) = (local as u8, 1 << place);
        local
    }

    /// Handles warps that have arrived, left or moved.
    pub(super) fn placed(&mut self, warps: &Residents) {
        self.last_bit = warps.bit(self.last.into());
    }

    fn pick_by_kernel(&mut self, issuable: u32, warps: &Residents) -> u32 {
        let (kernel, of_kernel) = kernel_lrr::turn(issuable, self.last_kernel, warps);
        let last = &mut self.last_of_kernel[usize::from(kernel)];
        let place = gto::pick(of_kernel, warps.bit(u32::from(*last)), warps);
        (*last, self.last_kernel) = (warps.local(place) as u8, kernel);
        place
    }
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;
