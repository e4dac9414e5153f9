//! RBMI: loose round robin among the memory instructions of the kernels (Dai et al. 2018, section
//! 3.2). A kernel without a ready one loses its turn.

use super::super::KERNEL_SLOTS;

/// Round-robin state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundRobin {
    /// Slot of the kernel that issued last.
    last: u8,
}

impl RoundRobin {
    /// First kernel after the one that issued last, of `ready` (not empty).
    pub(super) fn first(self, ready: u8) -> u8 {
        let from = (u32::from(self.last) + 1) % KERNEL_SLOTS as u32;
        ((from + ready.rotate_right(from).trailing_zeros()) % KERNEL_SLOTS as u32) as u8
    }

    /// Records an issued memory instruction of the kernel.
    pub(super) fn issued(&mut self, kernel: u8) {
        self.last = kernel;
    }
}
