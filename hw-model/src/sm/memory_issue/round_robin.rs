//! RBMI: memory instructions of the kernels in a loose round robin (Dai et al. 2018, section 3.2). A kernel without one ready loses its turn.

use super::super::KERNEL_SLOTS;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundRobin {
    /// Slot of the kernel that issued last.
    last: u8,
}

impl RoundRobin {
    /// The first kernel behind the one that issued last, of `ready` (not empty).
    pub(super) fn first(self, ready: u8) -> u8 {
        let from = (u32::from(self.last) + 1) % KERNEL_SLOTS as u32;
        ((from + ready.rotate_right(from).trailing_zeros()) % KERNEL_SLOTS as u32) as u8
    }

    /// A memory instruction of the kernel has issued.
    pub(super) fn issued(&mut self, kernel: u8) {
        self.last = kernel;
    }
}
