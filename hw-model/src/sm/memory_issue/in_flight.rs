//! Which store an acknowledgement is of, so that a store is in flight until its last: the load/store unit's part of memory issue.
//!
//! Loads and atomics are told apart by their tokens; a store's requests carry a number of its own beside the warp's.

/// Stores in flight.
#[derive(Clone, Debug, Default)]
pub(in crate::sm) struct InFlight {
    /// Acknowledgements still to come, by number.
    left: Vec<u32>,
    free: Vec<u32>,
    /// Warps whose off-chip memory instructions have had their last reply or acknowledgement.
    ended: Vec<u8>,
}

/// Stores that there is room for at first: more than fit into 7 bits for each of 8 kernels.
const ROOM: usize = 1024;

impl InFlight {
    pub(in crate::sm) fn new() -> Self {
        InFlight { left: vec![0; ROOM], free: (0..ROOM as u32).rev().collect(), ended: Vec::with_capacity(ROOM) }
    }

    /// A store with so many requests begins: its number.
    pub(in crate::sm) fn store(&mut self, requests: u32) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.left.push(0);
            self.left.len() as u32 - 1
        });
        self.left[number as usize] = requests;
        number
    }

    /// One of the store's requests was acknowledged.
    pub(in crate::sm) fn acknowledged(&mut self, number: u32, warp: u8) {
        let left = &mut self.left[number as usize];
        *left -= 1;
        if *left == 0 {
            self.free.push(number);
            self.ended.push(warp);
        }
    }

    /// An off-chip memory instruction of the warp has nothing left to wait for.
    pub(in crate::sm) fn ended(&mut self, warp: u8) {
        self.ended.push(warp);
    }

    /// The warps of instructions that have ended since the last call.
    pub(in crate::sm) fn take(&mut self, each: impl FnMut(u8)) {
        self.ended.drain(..).for_each(each);
    }
}
