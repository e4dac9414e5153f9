//! Local memory of the 32 threads of a warp, and its place in device memory.
//!
//! Consecutive 32-bit words of device memory belong to consecutive threads (CUDA C programming
//! guide, 5.3.2 "Local Memory"). A warp whose lanes access the same local word therefore moves
//! whole lines.

use crate::LANES;
use crate::error::AccessFault;

/// Address of local memory in device memory, for the trace. Assumption: 64 GiB above the first
/// buffer, beyond the memory of any host. Every warp of the grid has a separate place; a GPU reuses
/// the place of an ended warp (not modeled).
pub const DEVICE_BASE: u64 = 0x7010_0000_0000;

/// Returns the address range of the local memory of a grid's warps, for the trace; `None` if
/// threads have none.
pub fn device_span(bytes_per_thread: u32, warps: u64) -> Option<std::ops::Range<u64>> {
    let each = (u64::from(bytes_per_thread.div_ceil(4)) * 4).saturating_mul(LANES as u64);
    (each > 0).then(|| DEVICE_BASE..DEVICE_BASE.saturating_add(each.saturating_mul(warps)))
}

/// Local memory of a warp; zero at the TB's start (undefined on a GPU).
#[derive(Clone, Debug, Default)]
pub struct LocalMemory {
    words: Vec<[u32; LANES]>,
    /// Device address of the warp's first word.
    base: u64,
}

impl LocalMemory {
    /// Creates memory of `bytes` per thread, a multiple of 4.
    pub fn new(bytes: u32) -> Self {
        LocalMemory { words: vec![[0; LANES]; bytes.div_ceil(4) as usize], base: DEVICE_BASE }
    }

    /// Clears the memory for warp `warp`, numbered over all TBs of the grid.
    pub fn start(&mut self, warp: u64) {
        self.words.fill([0; LANES]);
        self.base = DEVICE_BASE + warp * (self.words.len() * LANES * 4) as u64;
    }

    /// Returns the device address of `bytes` at a thread's `address`.
    ///
    /// Lanes that access the same local address access each of its words in one line of 128 bytes.
    /// For more than one word, the lines of the words follow each other, and the positions of lanes
    /// within them are not distinguished.
    #[inline]
    pub fn device_address(&self, lane: usize, address: u64, bytes: u32) -> u64 {
        let step = u64::from(bytes.max(4));
        self.base.wrapping_add((address / step * step).wrapping_mul(LANES as u64)).wrapping_add(lane as u64 * step + address % step)
    }

    /// Checks an access of `bytes` (a power of two up to 16) and returns the word of its element.
    #[inline]
    fn locate(&self, address: u64, bytes: u32, skip: u32) -> Result<usize, AccessFault> {
        if !address.is_multiple_of(bytes.into()) {
            return Err(AccessFault::Misaligned);
        }
        let size = 4 * self.words.len() as u64;
        if address >= size || size - address < u64::from(bytes) {
            return Err(AccessFault::OutOfBounds);
        }
        Ok((address + u64::from(skip)) as usize / 4)
    }

    /// Reads `element` bytes (1, 2, 4, 8) at `skip` within an access of `bytes` at `address` of a
    /// lane, zero-extended.
    #[inline]
    pub fn load(&self, lane: usize, address: u64, bytes: u32, skip: u32, element: u32) -> Result<u64, AccessFault> {
        let at = self.locate(address, bytes, skip)?;
        let word = self.words[at][lane];
        Ok(match element {
            4 => word.into(),
            8 => u64::from(self.words[at + 1][lane]) << 32 | u64::from(word),
            narrow => u64::from(word >> (8 * ((address + u64::from(skip)) % 4)) & ((1 << (8 * narrow)) - 1)),
        })
    }

    /// Writes the low `element` bytes of `value`.
    #[inline]
    pub fn store(&mut self, lane: usize, address: u64, bytes: u32, skip: u32, element: u32, value: u64) -> Result<(), AccessFault> {
        let at = self.locate(address, bytes, skip)?;
        match element {
            4 => self.words[at][lane] = value as u32,
            8 => {
                self.words[at][lane] = value as u32;
                self.words[at + 1][lane] = (value >> 32) as u32;
            }
            narrow => {
                let shift = 8 * ((address + u64::from(skip)) % 4);
                let mask = ((1u32 << (8 * narrow)) - 1) << shift;
                let word = &mut self.words[at][lane];
                *word = *word & !mask | (value as u32) << shift & mask;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each lane has a separate little-endian array of bytes.
        #[test]
        fn bytes_go_where_they_belong(accesses in prop::collection::vec((0usize..LANES, 0u64..64, 0u32..4, any::<u64>()), 1..60)) {
            let mut memory = LocalMemory::new(64);
            let mut reference = [[0u8; 64]; LANES];
            for (lane, offset, log, value) in accesses {
                let bytes = 1u32 << log;
                let offset = offset / u64::from(bytes) * u64::from(bytes);
                memory.store(lane, offset, bytes, 0, bytes, value).unwrap();
                reference[lane][offset as usize..][..bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                for (lane, bytes) in reference.iter().enumerate() {
                    let half = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
                    prop_assert_eq!(memory.load(lane, 8, 8, 0, 8), Ok(half));
                    prop_assert_eq!(memory.load(lane, offset, 1, 0, 1), Ok(bytes[offset as usize].into()));
                }
            }
        }

        /// The lanes of a warp at the same local address fill whole lines, and no two addresses
        /// share a byte.
        #[test]
        fn a_warp_fills_lines(log in 0u32..5, place in 0u64..16, warp in 0u64..5) {
            let bytes = 1u32 << log;
            let place = place / u64::from(bytes) * u64::from(bytes);
            let mut memory = LocalMemory::new(16);
            memory.start(warp);
            let mut touched: Vec<u64> = (0..LANES)
                .flat_map(|lane| { let at = memory.device_address(lane, place, bytes); at..at + u64::from(bytes) }).collect();
            touched.sort_unstable();
            touched.dedup();
            prop_assert_eq!(touched.len(), LANES * bytes as usize);
            let (first, last) = (touched[0], touched[touched.len() - 1]);
            prop_assert_eq!(first / 128, (DEVICE_BASE + warp * 512) / 128 + place / 4);
            prop_assert_eq!(last / 128 - first / 128, u64::from(bytes.div_ceil(4)) - 1);
        }
    }

    #[test]
    fn the_ends_are_guarded() {
        let memory = LocalMemory::new(8);
        assert_eq!(memory.load(3, 8, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!(memory.load(3, 4, 8, 0, 8), Err(AccessFault::Misaligned));
        assert_eq!(memory.load(3, u64::MAX - 3, 4, 0, 4), Err(AccessFault::OutOfBounds));
    }
}
