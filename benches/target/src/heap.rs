//! The heap of the thesis' port: an allocator that hands out memory from front to back and takes none back until the next
//! measurement. It is as cheap as an allocator can be, so that the comparison does the port no wrong.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{addr_of_mut, null_mut};

/// Bytes. Enough for the thesis' tree of four kernels on any board.
const SIZE: usize = 128 * 1024;

static mut MEMORY: [u64; SIZE / 8] = [0; SIZE / 8];

struct Bump(UnsafeCell<usize>);

// SAFETY: the bench has one thread and no interrupt handler.
unsafe impl Sync for Bump {}

#[global_allocator]
static HEAP: Bump = Bump(UnsafeCell::new(0));

// SAFETY: blocks are disjoint parts of MEMORY, aligned as asked for; a request that does not fit gets null.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: one thread, and no reference to the cell outlives a call.
        let used = unsafe { &mut *self.0.get() };
        let start = used.next_multiple_of(layout.align());
        let end = start + layout.size();
        if layout.align() > 8 || end > SIZE {
            return null_mut();
        }
        *used = end;
        // SAFETY: `start` is within MEMORY.
        unsafe { addr_of_mut!(MEMORY).cast::<u8>().add(start) }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

/// Takes everything back.
///
/// # Safety
/// Nothing on the heap is in use.
pub(crate) unsafe fn reset() {
    // SAFETY: one thread, and no reference to the cell outlives a call.
    unsafe { *HEAP.0.get() = 0 }
}
