//! Warp schedulers: which of the issuable warps of a sub-core issues (algorithms.md section 1.14). One file per order.

mod gto;
mod kernel_lrr;
mod lrr;

use super::KERNEL_SLOTS;
use super::sub_core::Residents;
use crate::config::WarpSchedulerKind;

/// A scheduler and what it remembers between cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picker {
    kind: WarpSchedulerKind,
    /// Local number of the warp that issued last.
    last: u32,
    /// Kernel slot that issued last, and the local number of the warp that issued last of each slot; for kernel-LRR.
    last_kernel: u8,
    last_of_kernel: [u8; KERNEL_SLOTS],
}

impl Picker {
    pub(super) fn new(kind: WarpSchedulerKind) -> Self {
        Picker { kind, last: 0, last_kernel: 0, last_of_kernel: [0; KERNEL_SLOTS] }
    }

    /// Picks one of `issuable` (not empty; bit = local number) of the sub-core's warps.
    pub(super) fn pick(&mut self, issuable: u32, warps: &Residents) -> u32 {
        let local = match self.kind {
            WarpSchedulerKind::Gto => gto::pick(issuable, self.last, warps),
            WarpSchedulerKind::Lrr => lrr::pick(issuable, self.last),
            WarpSchedulerKind::KernelLrr => self.pick_by_kernel(issuable, warps),
        };
        self.last = local;
        local
    }

    /// Local number of the warp that issued last.
    pub(super) fn last(&self) -> u32 {
        self.last
    }

    fn pick_by_kernel(&mut self, issuable: u32, warps: &Residents) -> u32 {
        let (kernel, of_kernel) = kernel_lrr::turn(issuable, self.last_kernel, warps);
        let last = &mut self.last_of_kernel[usize::from(kernel)];
        let local = gto::pick(of_kernel, u32::from(*last), warps);
        (*last, self.last_kernel) = (local as u8, kernel);
        local
    }
}

#[cfg(test)]
mod tests;
