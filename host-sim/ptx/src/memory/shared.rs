//! Shared memory of one TB: some kilobytes from address 0, little-endian.

use crate::LANES;
use crate::error::AccessFault;

/// Shared memory; zero at the TB's start (undefined on a GPU).
#[derive(Clone, Debug, Default)]
pub struct SharedMemory {
    bytes: Vec<u8>,
}

impl SharedMemory {
    /// Creates memory of the given size in bytes.
    pub fn new(bytes: u32) -> Self {
        SharedMemory { bytes: vec![0; bytes as usize] }
    }

    /// Clears the memory.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
    }

    /// Checks an access of `bytes` (a power of two up to 16) and returns the place of its element.
    #[inline]
    fn locate(&self, address: u64, bytes: u32, skip: u32) -> Result<usize, AccessFault> {
        if !address.is_multiple_of(bytes.into()) {
            return Err(AccessFault::Misaligned);
        }
        let size = self.bytes.len() as u64;
        if address >= size || size - address < u64::from(bytes) {
            return Err(AccessFault::OutOfBounds);
        }
        Ok(address as usize + skip as usize)
    }

    /// Reads `element` bytes (1, 2, 4, 8) at `skip` within an access of `bytes` at `address`,
    /// zero-extended.
    #[inline]
    pub fn load(&self, address: u64, bytes: u32, skip: u32, element: u32) -> Result<u64, AccessFault> {
        let at = self.locate(address, bytes, skip)?;
        let mut value = [0; 8];
        if element == 4 {
            value[..4].copy_from_slice(&self.bytes[at..at + 4]);
        } else {
            value[..element as usize].copy_from_slice(&self.bytes[at..at + element as usize]);
        }
        Ok(u64::from_le_bytes(value))
    }

    /// Reads the 32-bit element at `skip` of an access of `bytes` for a full warp at once. Returns
    /// false, without reading, if the mask is not full or any lane's access is invalid; reading
    /// lane by lane then finds the lane.
    #[inline]
    pub fn load_words(&self, mask: u32, at: &[u64; LANES], bytes: u32, skip: u32, values: &mut [u64; LANES]) -> bool {
        if mask != u32::MAX {
            return false;
        }
        let bits = at.iter().fold(0, |bits, address| bits | address);
        let highest = at.iter().fold(0, |high, &address| address.max(high));
        if bits % u64::from(bytes) != 0 || highest.saturating_add(bytes.into()) > self.bytes.len() as u64 {
            return false;
        }
        for (value, address) in values.iter_mut().zip(at) {
            let (words, _) = self.bytes[(*address as usize) + skip as usize..].as_chunks::<4>();
            *value = u32::from_le_bytes(words[0]).into();
        }
        true
    }

    /// Writes the low `element` bytes of `value`.
    #[inline]
    pub fn store(&mut self, address: u64, bytes: u32, skip: u32, element: u32, value: u64) -> Result<(), AccessFault> {
        let at = self.locate(address, bytes, skip)?;
        self.bytes[at..at + element as usize].copy_from_slice(&value.to_le_bytes()[..element as usize]);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_checked_as_a_whole() {
        let mut memory = SharedMemory::new(32);
        memory.store(16, 16, 12, 4, 0xdead_beef).unwrap();
        assert_eq!(memory.load(16, 16, 12, 4), Ok(0xdead_beef));
        assert_eq!(memory.load(28, 4, 0, 4), Ok(0xdead_beef));
        assert_eq!(memory.load(29, 1, 0, 1), Ok(0xbe));
        assert_eq!(memory.load(8, 16, 0, 4), Err(AccessFault::Misaligned));
        assert_eq!(memory.load(32, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!(memory.load(u64::MAX - 15, 16, 0, 4), Err(AccessFault::OutOfBounds));
    }
}
