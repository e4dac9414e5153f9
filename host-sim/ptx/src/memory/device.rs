//! Device memory: allocations at fixed addresses, with a check of every access.
//!
//! TBs run on several host threads, so memory consists of atomic words with relaxed accesses. A
//! kernel without data races gives the same result for any number of threads, and one with races is
//! no undefined behavior here.

use super::heap::{HEAP_BASE, HEAP_BYTES, Heap, WORKSPACE_BASE, WORKSPACE_BYTES};
use super::near::Near;
use crate::error::AccessFault;
use crate::image::Image;
use crate::texture::{Texture, TextureError, Textures, Unbound};
use std::collections::TryReserveError;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Address of the first allocation. Assumption: any high, aligned address works; null and small
/// integers stay invalid.
const FIRST_ADDRESS: u64 = 0x7000_0000_0000;

/// Alignment of allocations in bytes: the guarantee of `cudaMalloc` (CUDA C programming guide,
/// 5.3.2: at least 256).
const ALIGNMENT: u64 = 256;

/// Handle of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    index: usize,
    /// Byte address on the device.
    pub address: u64,
}

#[derive(Debug)]
struct Allocation {
    start: u64,
    bytes: u64,
    words: Vec<AtomicU32>,
    /// Name in messages.
    label: Option<String>,
}

impl Allocation {
    fn zeros(start: u64, bytes: u64) -> Self {
        let mut words: Vec<AtomicU32> = Vec::new();
        words.resize_with(bytes.div_ceil(4) as usize, AtomicU32::default);
        Allocation { start, bytes, words, label: None }
    }
}

/// Device memory with all allocations, ascending by address. A gap of one alignment unit follows
/// each, so an access beyond the end is detected.
#[derive(Debug, Default)]
pub struct DeviceMemory {
    allocations: Vec<Allocation>,
    /// Variables of the module whose kernels run, once loaded.
    module: OnceLock<(Arc<Image>, Vec<Allocation>)>,
    /// Heap for allocations of kernels, once used.
    heap: OnceLock<Allocation>,
    /// Workspace in which a cooperative grid counts its TBs, once used.
    workspace: OnceLock<Allocation>,
    given: Mutex<Heap>,
    /// Textures that kernels look up by coordinates.
    textures: Textures,
    /// Held during a read-modify-write, which may span two words.
    updates: Mutex<()>,
}

impl DeviceMemory {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates `count` words like [`DeviceMemory::allocate`], with an error if the host lacks
    /// memory.
    ///
    /// # Errors
    /// The host lacks memory for them.
    pub fn try_allocate(&mut self, count: usize, words: impl IntoIterator<Item = u32>) -> Result<Buffer, TryReserveError> {
        let mut all = reserved(count)?;
        all.extend(words.into_iter().map(AtomicU32::new));
        let bytes = 4 * all.len() as u64;
        Ok(self.place(all, bytes, 0))
    }

    /// Allocates bytes like [`DeviceMemory::allocate_bytes`], with an error if the host lacks
    /// memory.
    ///
    /// # Errors
    /// The host lacks memory for them.
    pub fn try_allocate_bytes(&mut self, bytes: &[u8]) -> Result<Buffer, TryReserveError> {
        let mut words = reserved(bytes.len().div_ceil(4))?;
        words.extend(bytes.chunks(4).map(|chunk| AtomicU32::new(word(chunk))));
        Ok(self.place(words, bytes.len() as u64, 0))
    }

    /// Allocates 32-bit words with the given contents.
    pub fn allocate(&mut self, words: impl IntoIterator<Item = u32>) -> Buffer {
        let words: Vec<AtomicU32> = words.into_iter().map(AtomicU32::new).collect();
        let bytes = 4 * words.len() as u64;
        self.place(words, bytes, 0)
    }

    /// Allocates bytes with the given contents.
    pub fn allocate_bytes(&mut self, bytes: &[u8]) -> Buffer {
        let words = bytes.chunks(4).map(|chunk| AtomicU32::new(word(chunk))).collect();
        self.place(words, bytes.len() as u64, 0)
    }

    /// Allocates bytes with others before and after them.
    ///
    /// The address is that of the first byte in the middle, aligned as for any buffer. The bytes
    /// before are padded in front with zeros to a multiple of 4.
    ///
    /// # Errors
    /// The host lacks memory for them.
    pub fn allocate_between(&mut self, before: &[u8], bytes: &[u8], after: &[u8]) -> Result<Buffer, TryReserveError> {
        let filler = before.len().next_multiple_of(4) - before.len();
        let parts = [&[0; 3][..filler], before, bytes, after];
        let mut all = reserved(parts.iter().map(|part| part.len()).sum())?;
        parts.iter().for_each(|part| all.extend_from_slice(part));
        let mut words = reserved(all.len().div_ceil(4))?;
        words.extend(all.chunks(4).map(|chunk| AtomicU32::new(word(chunk))));
        Ok(self.place(words, all.len() as u64, (filler + before.len()) as u64))
    }

    /// Places an allocation. The address of the buffer is `lead` bytes after its start, a multiple
    /// of 4.
    fn place(&mut self, words: Vec<AtomicU32>, bytes: u64, lead: u64) -> Buffer {
        let end = self.allocations.last().map_or(FIRST_ADDRESS, |a| a.start + a.bytes + ALIGNMENT);
        let address = (end + lead).next_multiple_of(ALIGNMENT);
        self.allocations.push(Allocation { start: address - lead, bytes, words, label: None });
        Buffer { index: self.allocations.len() - 1, address }
    }

    /// Sets the name of a buffer in messages.
    pub fn label(&mut self, buffer: Buffer, label: &str) {
        self.allocations[buffer.index].label = Some(label.to_owned());
    }

    /// Returns the allocation nearest to an address.
    pub(crate) fn near(&self, address: u64) -> Option<Near<'_>> {
        let variables = self.module.get().into_iter().flat_map(|(_, variables)| variables);
        let all = self.allocations.iter().map(|a| (a, false)).chain(variables.map(|a| (a, true)));
        let near = all.map(|(a, variable)| Near { start: a.start, bytes: a.bytes, label: a.label.as_deref(), variable });
        near.min_by_key(|near| near.distance(address))
    }

    /// Returns the contents of a buffer as 32-bit words.
    pub fn words(&self, buffer: Buffer) -> impl Iterator<Item = u32> {
        self.allocations[buffer.index].words.iter().map(|w| w.load(Relaxed))
    }

    /// Returns the contents of a buffer as floats.
    pub fn floats(&self, buffer: Buffer) -> Vec<f32> {
        self.words(buffer).map(f32::from_bits).collect()
    }

    /// Loads the variables of a module with their initial values, unless they are loaded. Returns
    /// false if another module is loaded.
    #[must_use]
    pub fn load(&self, image: &Arc<Image>) -> bool {
        if image.variables.is_empty() {
            return true;
        }
        let (loaded, _) = self.module.get_or_init(|| {
            let allocation = |variable: &crate::image::ModuleVariable| {
                let mut words: Vec<AtomicU32> = Vec::new();
                words.resize_with(variable.bytes.div_ceil(4) as usize, AtomicU32::default);
                for (at, &byte) in variable.initial.iter().enumerate() {
                    words[at / 4].fetch_or(u32::from(byte) << (8 * (at % 4)), Relaxed);
                }
                let label = Some(crate::names::quoted(&variable.name));
                Allocation { start: variable.address, bytes: variable.bytes, words, label }
            };
            (Arc::clone(image), image.variables.iter().map(allocation).collect())
        });
        loaded == image
    }

    /// Allocates memory for `malloc` of a kernel: an address, or 0 without space.
    pub(crate) fn heap_allocate(&self, bytes: u64) -> u64 {
        self.heap.get_or_init(|| Allocation::zeros(HEAP_BASE, HEAP_BYTES));
        self.given.lock().unwrap_or_else(PoisonError::into_inner).allocate(bytes)
    }

    /// Reserves the workspace in which a cooperative grid counts its TBs.
    pub(crate) fn reserve_workspace(&self) {
        self.workspace.get_or_init(|| Allocation::zeros(WORKSPACE_BASE, WORKSPACE_BYTES));
    }

    /// Frees memory for `free` of a kernel.
    pub(crate) fn heap_free(&self, address: u64) {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).free(address);
    }

    /// Binds a part of memory as a texture and surface for this and every later launch, and returns
    /// its handle for kernels.
    ///
    /// # Errors
    /// [`TextureError`] if its parts are inconsistent, or the memory is not allocated.
    pub fn bind(&mut self, texture: Texture) -> Result<u64, TextureError> {
        texture.check()?;
        let bytes = texture.bytes();
        let end = bytes.and_then(|bytes| texture.address.checked_add(bytes));
        let room = self.allocations.iter().find(|a| texture.address.wrapping_sub(a.start) < a.bytes);
        match (room, end) {
            (Some(room), Some(end)) if end <= room.start + room.bytes => Ok(self.textures.add(texture)),
            (Some(room), _) => {
                let (size, left) = (texture.size, room.start + room.bytes - texture.address);
                let needed = bytes.map_or_else(|| "more than 2^64".to_owned(), |bytes| bytes.to_string());
                let message = format!("{size:?} texels of {} need {needed} bytes, the buffer has {left} from there", texture.format);
                Err(TextureError { name: texture.name, message: format!("{message}: use a larger buffer or a smaller texture") })
            }
            (None, _) => {
                let message = format!("no buffer at {:#x}", texture.address);
                Err(TextureError { name: texture.name, message })
            }
        }
    }

    /// Returns all textures and surfaces.
    pub fn textures(&self) -> &Textures {
        &self.textures
    }

    /// Finds the texture or surface of a handle.
    ///
    /// # Errors
    /// [`Unbound`].
    pub fn texture(&self, handle: u64) -> Result<&Texture, Unbound> {
        self.textures.find(handle, self.module.get().map(|(image, _)| &**image))
    }

    /// Writes bytes to any allocation: a buffer, or a module variable once it is loaded.
    ///
    /// # Errors
    /// [`AccessFault::OutOfBounds`] beyond the end of the allocation at `address`; then no byte is
    /// written.
    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), AccessFault> {
        let mut view = self.view();
        let end = address.checked_add(bytes.len() as u64).ok_or(AccessFault::OutOfBounds)?;
        if let Some(last) = end.checked_sub(1).filter(|_| !bytes.is_empty()) {
            let (first, _) = view.locate(address, 1)?;
            let (other, _) = view.locate(last, 1)?;
            if first.start != other.start {
                return Err(AccessFault::OutOfBounds);
            }
        }
        (address..end).zip(bytes).try_for_each(|(at, &byte)| view.store(at, 1, 0, 1, byte.into()))
    }

    /// Reads bytes from any allocation.
    ///
    /// # Errors
    /// [`AccessFault::OutOfBounds`] beyond the end of the allocation at `address`.
    pub fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, AccessFault> {
        if bytes == 0 {
            return Ok(Vec::new());
        }
        let (allocation, offset) = self.view().locate(address, 1)?;
        if bytes as u64 > allocation.bytes - offset {
            return Err(AccessFault::OutOfBounds);
        }
        let byte = |at: u64| allocation.words[(at / 4) as usize].load(Relaxed).to_le_bytes()[(at % 4) as usize];
        Ok((offset..offset + bytes as u64).map(byte).collect())
    }

    /// Returns the first address, bytes and contents of every allocation, with a loaded module's
    /// variables last. The last word may extend beyond the bytes, with zeros there.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64, impl Iterator<Item = u32>)> {
        let variables = self.module.get().into_iter().flat_map(|(_, variables)| variables);
        self.allocations.iter().chain(variables).map(|a| (a.start, a.bytes, a.words.iter().map(|word| word.load(Relaxed))))
    }

    /// Returns a view for a series of accesses, which remembers the last allocation.
    pub fn view(&self) -> View<'_> {
        View { memory: self, last: None }
    }
}

/// Creates an empty vector with reserved capacity.
fn reserved<T>(count: usize) -> Result<Vec<T>, TryReserveError> {
    let mut room = Vec::new();
    room.try_reserve_exact(count)?;
    Ok(room)
}

/// Builds a word from up to four bytes, lowest first.
fn word(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

/// View of device memory for accesses that mostly stay within one allocation.
pub struct View<'a> {
    memory: &'a DeviceMemory,
    last: Option<&'a Allocation>,
}

impl<'a> View<'a> {
    /// Checks an access of `bytes` (a power of two up to 16) and returns its allocation and offset.
    #[inline]
    fn locate(&mut self, address: u64, bytes: u32) -> Result<(&'a Allocation, u64), AccessFault> {
        if !address.is_multiple_of(bytes.into()) {
            return Err(AccessFault::Misaligned);
        }
        let inside = |a: &Allocation| {
            let offset = address.wrapping_sub(a.start);
            (offset < a.bytes && u64::from(bytes) <= a.bytes - offset).then_some(offset)
        };
        if let Some(last) = self.last
            && let Some(offset) = inside(last)
        {
            return Ok((last, offset));
        }
        let heap = || self.memory.heap.get().map(std::slice::from_ref);
        let workspace = || self.memory.workspace.get().map(std::slice::from_ref);
        let all = match self.memory.module.get() {
            _ if (HEAP_BASE..HEAP_BASE + HEAP_BYTES).contains(&address) => heap().unwrap_or_default(),
            _ if (WORKSPACE_BASE..WORKSPACE_BASE + WORKSPACE_BYTES).contains(&address) => workspace().unwrap_or_default(),
            Some((_, variables)) if address < FIRST_ADDRESS => variables,
            _ => &self.memory.allocations,
        };
        let found = all.partition_point(|a| a.start <= address).checked_sub(1).map(|i| &all[i]).ok_or(AccessFault::OutOfBounds)?;
        let offset = inside(found).ok_or(AccessFault::OutOfBounds)?;
        self.last = Some(found);
        Ok((found, offset))
    }

    /// Reads `element` bytes (1, 2, 4, 8) at `skip` within an access of `bytes` at `address`,
    /// zero-extended.
    #[inline]
    pub fn load(&mut self, address: u64, bytes: u32, skip: u32, element: u32) -> Result<u64, AccessFault> {
        let (allocation, offset) = self.locate(address, bytes)?;
        let offset = offset + u64::from(skip);
        let at = (offset / 4) as usize;
        let word = allocation.words[at].load(Relaxed);
        Ok(match element {
            4 => word.into(),
            8 => u64::from(allocation.words[at + 1].load(Relaxed)) << 32 | u64::from(word),
            narrow => u64::from(word >> (8 * (offset % 4)) & ((1 << (8 * narrow)) - 1)),
        })
    }

    /// Replaces the `bytes` (2, 4 or 8) at `address` by `f` of them and returns the old value,
    /// atomically with respect to other updates.
    #[inline]
    pub fn update(&mut self, address: u64, bytes: u32, f: impl Fn(u64) -> u64) -> Result<u64, AccessFault> {
        let (allocation, offset) = self.locate(address, bytes)?;
        let at = (offset / 4) as usize;
        let _one_at_a_time = self.memory.updates.lock().unwrap_or_else(PoisonError::into_inner);
        let word = |at: usize| u64::from(allocation.words[at].load(Relaxed));
        if bytes == 2 {
            let shift = 8 * (offset % 4);
            let old = word(at) >> shift & 0xffff;
            self.store(address, 2, 0, 2, f(old))?;
            return Ok(old);
        }
        let old = if bytes == 8 { word(at + 1) << 32 | word(at) } else { word(at) };
        let new = f(old);
        allocation.words[at].store(new as u32, Relaxed);
        if bytes == 8 {
            allocation.words[at + 1].store((new >> 32) as u32, Relaxed);
        }
        Ok(old)
    }

    /// Writes the low `element` bytes of `value`.
    #[inline]
    pub fn store(&mut self, address: u64, bytes: u32, skip: u32, element: u32, value: u64) -> Result<(), AccessFault> {
        let (allocation, offset) = self.locate(address, bytes)?;
        let offset = offset + u64::from(skip);
        let at = (offset / 4) as usize;
        match element {
            4 => allocation.words[at].store(value as u32, Relaxed),
            8 => {
                allocation.words[at].store(value as u32, Relaxed);
                allocation.words[at + 1].store((value >> 32) as u32, Relaxed);
            }
            narrow => {
                // Another thread may own the adjacent bytes, so only these are changed.
                let shift = 8 * (offset % 4);
                let mask = ((1u32 << (8 * narrow)) - 1) << shift;
                allocation.words[at].fetch_and(!mask, Relaxed);
                allocation.words[at].fetch_or((value as u32) << shift & mask, Relaxed);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ends_are_guarded() {
        let mut memory = DeviceMemory::new();
        let a = memory.allocate([1, 2, 3]);
        let b = memory.allocate([4]);
        let mut view = memory.view();
        assert_eq!(view.load(a.address + 8, 4, 0, 4), Ok(3));
        assert_eq!(view.load(a.address + 12, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!(view.load(a.address + 8, 8, 0, 8), Err(AccessFault::OutOfBounds));
        assert_eq!(view.load(a.address + 2, 4, 0, 4), Err(AccessFault::Misaligned));
        assert_eq!(view.load(a.address - 4, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!(view.load(b.address, 4, 0, 4), Ok(4));
        assert_eq!(view.load(0, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!(view.load(u64::MAX - 3, 4, 0, 4), Err(AccessFault::OutOfBounds));
        assert_eq!((a.address % ALIGNMENT, b.address % ALIGNMENT), (0, 0));
    }

    proptest! {
        /// The bytes before and after a buffer are at the right addresses for any lengths.
        #[test]
        fn bytes_lie_around_a_buffer(before in prop::collection::vec(any::<u8>(), 0..40), bytes in prop::collection::vec(any::<u8>(), 1..40), after in prop::collection::vec(any::<u8>(), 0..9)) {
            let mut memory = DeviceMemory::new();
            memory.allocate([0]);
            let buffer = memory.allocate_between(&before, &bytes, &after).unwrap();
            let whole = [&before[..], &bytes, &after].concat();
            prop_assert_eq!(buffer.address % ALIGNMENT, 0);
            let start = buffer.address - before.len() as u64;
            prop_assert_eq!(memory.read(start, whole.len()), Ok(whole.clone()));
            prop_assert_eq!(memory.read(start, whole.len() + 1), Err(AccessFault::OutOfBounds));
            prop_assert_eq!(memory.read(start - 4, 1), Err(AccessFault::OutOfBounds));
        }

        /// The memory acts like a little-endian array of bytes.
        #[test]
        fn bytes_go_where_they_belong(accesses in prop::collection::vec((0u64..64, 0u32..4, any::<u64>()), 1..40)) {
            let mut memory = DeviceMemory::new();
            let buffer = memory.allocate([0; 16]);
            let mut reference = [0u8; 64];
            let mut view = memory.view();
            for (offset, log, value) in accesses {
                let bytes = 1u32 << log;
                let offset = offset / u64::from(bytes) * u64::from(bytes);
                view.store(buffer.address + offset, bytes, 0, bytes, value).unwrap();
                reference[offset as usize..][..bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
                let mut wide = [0; 8];
                wide[..bytes as usize].copy_from_slice(&reference[offset as usize..][..bytes as usize]);
                prop_assert_eq!(view.load(buffer.address + offset, bytes, 0, bytes), Ok(u64::from_le_bytes(wide)));
            }
            let words: Vec<u8> = memory.words(buffer).flat_map(u32::to_le_bytes).collect();
            prop_assert_eq!(words, reference);
        }
    }
}
