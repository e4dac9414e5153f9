//! Tracking of stores in flight: assigns each acknowledgment to its store, so that a store is in
//! flight until its last one. This is the load/store unit's part of memory issue.
//!
//! Loads and atomics are identified by their tokens. A store's requests carry a store number in
//! addition to the warp's.

/// Stores in flight.
#[derive(Clone, Debug, Default)]
pub(in crate::sm) struct InFlight {
    /// Number of acknowledgments still to arrive, by store number.
    left: Vec<u32>,
    free: Vec<u32>,
    /// Warps whose off-chip memory instructions have received their last reply or acknowledgment.
    ended: Vec<u8>,
}

/// Initial capacity for stores: more than 7 bits for each of 8 kernels.
const ROOM: usize = 1024;

impl InFlight {
    pub(in crate::sm) fn new() -> Self {
        InFlight { left: vec![0; ROOM], free: (0..ROOM as u32).rev().collect(), ended: Vec::with_capacity(ROOM) }
    }

    /// Registers a store with this many requests. Returns its number.
    pub(in crate::sm) fn store(&mut self, requests: u32) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.left.push(0);
            self.left.len() as u32 - 1
        });
        self.left[number as usize] = requests;
        number
    }

    /// Records the acknowledgment of one of the store's requests.
    pub(in crate::sm) fn acknowledged(&mut self, number: u32, warp: u8) {
        let left = &mut self.left[number as usize];
        *left -= 1;
        if *left == 0 {
            self.free.push(number);
            self.ended.push(warp);
        }
    }

    /// Records that an off-chip memory instruction of the warp is complete.
    pub(in crate::sm) fn ended(&mut self, warp: u8) {
        self.ended.push(warp);
    }

    /// Passes the warps of instructions that have ended since the last call to `each`.
    pub(in crate::sm) fn take(&mut self, each: impl FnMut(u8)) {
        self.ended.drain(..).for_each(each);
    }
}
