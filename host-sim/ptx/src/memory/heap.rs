//! Memory that kernels allocate: `malloc` and `free` on the device. CUDA C programming guide, section "Dynamic Global Memory
//! Allocation and Operations".

use std::collections::BTreeMap;

/// Where it begins. Assumption: below the module's variables.
pub const HEAP_BASE: u64 = 0x6fff_0000_0000;

/// Its bytes: the same section; a device has 8 MiB unless the host asks for more.
pub const HEAP_BYTES: u64 = 8 << 20;

/// Where a cooperative grid counts its TBs (`together.rs`). Assumption: below the heap.
pub const WORKSPACE_BASE: u64 = 0x6ffe_0000_0000;

/// Its bytes. Assumption; two words of it are used.
pub const WORKSPACE_BYTES: u64 = 256;

/// Alignment of what is given: the same section.
const ALIGNMENT: u64 = 16;

/// Who has what. Addresses depend on the order of the calls, so that kernels that allocate are executed TB by TB.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    /// Bytes given so far from the start.
    used: u64,
    /// Size by address of what is given.
    given: BTreeMap<u64, u64>,
    /// Addresses by size of what has come back.
    free: BTreeMap<u64, Vec<u64>>,
}

impl Heap {
    /// An address, or 0 where there is no room.
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

    /// Takes back what was given. Anything else, 0 among it, is let pass.
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
        /// What is given lies in the heap, is aligned, and overlaps nothing that is still given.
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
