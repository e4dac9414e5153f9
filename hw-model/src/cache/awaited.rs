//! Number of lines in flight per set and kernel. Kept only for divided miss resources
//! (`sm/miss_resources/`); in hardware 3 bits per line.

use mias_registers::KERNEL_SLOTS;

/// Number of lines in flight, by set and kernel slot.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    /// Kernel of the current access.
    pub(super) accessing: u8,
    /// By line: kernel for which the line is in flight, if any.
    by: Vec<u8>,
    sets: Vec<[u16; KERNEL_SLOTS]>,
}

impl Awaited {
    pub(super) fn new(sets: u32, lines: usize) -> Self {
        Awaited { accessing: 0, by: vec![0; lines], sets: vec![[0; KERNEL_SLOTS]; sets as usize] }
    }

    /// Removes all lines in flight.
    pub(super) fn empty(&mut self) {
        self.sets.fill([0; KERNEL_SLOTS]);
    }

    /// Records that a line is in flight, or not any more.
    #[cold]
    #[inline(never)]
    pub(super) fn changed(&mut self, set: u32, slot: u32, on_its_way: bool) {
        let by = &mut self.by[slot as usize];
        if on_its_way {
            // A copy from the host arrives at once, so its kernel does not matter.
            *by = self.accessing & (KERNEL_SLOTS as u8 - 1);
        }
        let count = &mut self.sets[set as usize][usize::from(*by)];
        *count = if on_its_way { *count + 1 } else { *count - 1 };
    }

    /// Number of lines of `set` in flight for `kernel`.
    pub(super) fn of(&self, set: usize, kernel: u8) -> u32 {
        self.sets[set][usize::from(kernel)].into()
    }
}
