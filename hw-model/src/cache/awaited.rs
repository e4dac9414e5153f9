//! For whom the lines on their way are: how many of each set every kernel has reserved. Kept only where somebody asks
//! (`sm/miss_resources/`); in hardware 3 bits per line.

use mias_registers::KERNEL_SLOTS;

/// Lines on their way, by set and kernel slot.
#[derive(Clone, Debug)]
pub(super) struct Awaited {
    /// Whose access is being made.
    pub(super) accessing: u8,
    /// By line: for whom it is on its way, if it is.
    by: Vec<u8>,
    sets: Vec<[u16; KERNEL_SLOTS]>,
}

impl Awaited {
    pub(super) fn new(sets: u32, lines: usize) -> Self {
        Awaited { accessing: 0, by: vec![0; lines], sets: vec![[0; KERNEL_SLOTS]; sets as usize] }
    }

    /// Nothing is awaited any more.
    pub(super) fn empty(&mut self) {
        self.sets.fill([0; KERNEL_SLOTS]);
    }

    /// A line is on its way from now on, or is not any more.
    #[cold]
    #[inline(never)]
    pub(super) fn changed(&mut self, set: u32, slot: u32, on_its_way: bool) {
        let by = &mut self.by[slot as usize];
        if on_its_way {
            // A copy from the host comes at once, whoever is said to wait for it.
            *by = self.accessing & (KERNEL_SLOTS as u8 - 1);
        }
        let count = &mut self.sets[set as usize][usize::from(*by)];
        *count = if on_its_way { *count + 1 } else { *count - 1 };
    }

    /// Lines of `set` that are on their way for `kernel`.
    pub(super) fn of(&self, set: usize, kernel: u8) -> u32 {
        self.sets[set][usize::from(kernel)].into()
    }
}
