//! GPU memory, and host memory for asynchronous copies.

use super::{Stream, checked};
use cudarc::driver::sys;
use std::ptr;

/// A block of the GPU's memory, freed when dropped.
#[derive(Debug)]
pub struct Block {
    address: u64,
    bytes: usize,
}

impl Block {
    /// Allocates `bytes` bytes without initialization.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new(bytes: usize) -> Result<Self, String> {
        let mut address = 0;
        // SAFETY: a valid place for an address.
        checked(unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes.max(1)) }, &format!("{bytes} bytes of the GPU's memory"))?;
        Ok(Block { address, bytes })
    }

    /// Allocates a block with these contents.
    ///
    /// # Errors
    /// The driver's error.
    pub fn holding(contents: &[u8]) -> Result<Self, String> {
        let block = Block::new(contents.len())?;
        write(block.address, contents)?;
        Ok(block)
    }

    /// Returns the address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reads bytes from an offset on.
    ///
    /// # Errors
    /// The driver's error.
    pub fn read(&self, offset: usize, bytes: usize) -> Result<Vec<u8>, String> {
        assert!(offset + bytes <= self.bytes, "within the block");
        read(self.address + offset as u64, bytes)
    }

    /// Fills the block with zeros, in a stream's order.
    ///
    /// # Errors
    /// The driver's error.
    pub fn clear(&self, stream: &Stream) -> Result<(), String> {
        // SAFETY: the block has that many bytes.
        checked(unsafe { sys::cuMemsetD8Async(self.address, 0, self.bytes, stream.raw()) }, "clearing memory")
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated by `cuMemAlloc`, once. After an error of the GPU this fails, and the
        // process ends anyway.
        unsafe { sys::cuMemFree_v2(self.address) };
    }
}

/// Writes to an address of the GPU's memory, and waits.
///
/// # Errors
/// The driver's error.
pub fn write(address: u64, bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: the source has that length, and the driver checks the destination.
    checked(unsafe { sys::cuMemcpyHtoD_v2(address, bytes.as_ptr().cast(), bytes.len()) }, "copying to the GPU")
}

/// Reads from an address of the GPU's memory, and waits.
///
/// # Errors
/// The driver's error.
pub fn read(address: u64, bytes: usize) -> Result<Vec<u8>, String> {
    let mut found = vec![0; bytes];
    if bytes > 0 {
        // SAFETY: the destination has that length, and the driver checks the source.
        checked(unsafe { sys::cuMemcpyDtoH_v2(found.as_mut_ptr().cast(), address, bytes) }, "copying from the GPU")?;
    }
    Ok(found)
}

/// Copies within the GPU's memory, in a stream's order.
///
/// # Errors
/// The driver's error.
pub fn copy(to: u64, from: u64, bytes: usize, stream: &Stream) -> Result<(), String> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the driver checks both.
    checked(unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream.raw()) }, "copying on the GPU")
}

/// A pinned word of host memory, which can be copied while kernels run.
#[derive(Debug)]
pub struct Pinned(*mut u32);

impl Pinned {
    /// Allocates a word with the value 0.
    ///
    /// # Errors
    /// The driver's error.
    pub fn new() -> Result<Self, String> {
        let mut place = ptr::null_mut();
        // SAFETY: a valid place for a pointer.
        checked(unsafe { sys::cuMemAllocHost_v2(&raw mut place, 64) }, "memory of the host for copies")?;
        let word = place.cast::<u32>();
        // SAFETY: at least 64 bytes, aligned.
        unsafe { word.write_volatile(0) };
        Ok(Pinned(word))
    }

    /// Returns the current word at an address of the GPU's memory.
    ///
    /// # Errors
    /// The driver's error.
    pub fn fetch(&self, address: u64, stream: &Stream) -> Result<u32, String> {
        // SAFETY: the word lives until this value is dropped, and the copy is waited for.
        checked(unsafe { sys::cuMemcpyDtoHAsync_v2(self.0.cast(), address, 4, stream.raw()) }, "copying from the GPU")?;
        stream.wait()?;
        // SAFETY: as above.
        Ok(unsafe { self.0.read_volatile() })
    }

    /// Writes a word to an address of the GPU's memory at once.
    ///
    /// # Errors
    /// The driver's error.
    pub fn put(&self, address: u64, word: u32, stream: &Stream) -> Result<(), String> {
        // SAFETY: as above.
        unsafe { self.0.write_volatile(word) };
        // SAFETY: as above.
        checked(unsafe { sys::cuMemcpyHtoDAsync_v2(address, self.0.cast(), 4, stream.raw()) }, "copying to the GPU")?;
        stream.wait()
    }
}
