//! Heap for `malloc` and `free` in kernels (CUDA C programming guide, section "Dynamic Global
//! Memory Allocation and Operations").

use std::collections::BTreeMap;

/// Address of the heap. Assumption: below the module's variables.
pub const HEAP_BASE: u64 = 0x6fff_0000_0000;

/// Size of the heap in bytes: 8 MiB, a device's default unless the host requests more (CUDA C
/// programming guide, section "Dynamic Global Memory Allocation and Operations").
pub const HEAP_BYTES: u64 = 8 << 20;

/// Address of the workspace in which a cooperative grid counts its TBs (`cooperative.rs`).
/// Assumption: below the heap.
pub const WORKSPACE_BASE: u64 = 0x6ffe_0000_0000;

/// Size of the workspace in bytes. Assumption; two words of it are used.
pub const WORKSPACE_BYTES: u64 = 256;

/// Alignment of allocations (same section of the CUDA C programming guide).
const ALIGNMENT: u64 = 16;

/// State of the heap. Addresses depend on the order of the calls, so kernels that allocate are
/// executed TB by TB.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    /// Bytes allocated so far from the start.
    used: u64,
    /// Size of each allocation by address.
    given: BTreeMap<u64, u64>,
    /// Addresses of freed memory by size.
    free: BTreeMap<u64, Vec<u64>>,
}

impl Heap {
    /// Allocates memory: an address, or 0 without space.
    pub(super) fn allocate(&mut self, bytes: u64) -> u64 {
        let Some(bytes) = bytes.max(1).checked_next_multiple_of(ALIGNMENT) else { return 0 };
        let again = self.free.get_mut(&bytes).and_then(Vec::pop);
        let address = match again {
            Some(address) => address,
            None if bytes <= HEAP_BYTES - self.used => {
                self.used += bytes;
                HEAP_BASE + self.used - bytes
            }
            None => return 0,
        };
        self.given.insert(address, bytes);
        address
    }

    /// Frees an allocation. Other addresses, including 0, are ignored.
    pub(super) fn free(&mut self, address: u64) {
        if let Some(bytes) = self.given.remove(&address) {
            self.free.entry(bytes).or_default().push(address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// An allocation is in the heap, aligned, and does not overlap others.
        #[test]
        fn nobody_is_given_what_another_has(steps in prop::collection::vec((0u64..3 << 20, any::<bool>(), 0usize..8), 1..60)) {
            let mut heap = Heap::default();
            let mut held: Vec<(u64, u64)> = Vec::new();
            for (bytes, allocate, which) in steps {
                if allocate || held.is_empty() {
                    let address = heap.allocate(bytes);
                    if address == 0 {
                        prop_assert!(bytes + held.iter().map(|h| h.1).sum::<u64>() > 0);
                        continue;
                    }
                    prop_assert!(address.is_multiple_of(ALIGNMENT) && address >= HEAP_BASE && address + bytes <= HEAP_BASE + HEAP_BYTES);
                    prop_assert!(held.iter().all(|&(at, size)| address + bytes.max(1) <= at || at + size <= address));
                    held.push((address, bytes.max(1)));
                } else {
                    let (address, _) = held.swap_remove(which % held.len());
                    heap.free(address);
                    heap.free(address);
                }
            }
        }
    }

    #[test]
    fn a_full_heap_gives_nothing_until_something_comes_back() {
        let mut heap = Heap::default();
        let whole = heap.allocate(HEAP_BYTES);
        assert_eq!((whole, heap.allocate(1), heap.allocate(u64::MAX)), (HEAP_BASE, 0, 0));
        heap.free(whole);
        assert_eq!(heap.allocate(HEAP_BYTES - 1), HEAP_BASE);
    }
}
