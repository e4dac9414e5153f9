//! Heap of the thesis' port: an allocator that never frees until the next measurement. It has the
//! least possible cost, so that the comparison is fair to the port.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr::{addr_of_mut, null_mut};

/// Heap size in bytes, enough for the thesis' tree of four kernels on any board.
const SIZE: usize = 128 * 1024;

static mut MEMORY: [u64; SIZE / 8] = [0; SIZE / 8];

struct Bump(UnsafeCell<usize>);

// SAFETY: the benchmark has one thread and no interrupt handler.
unsafe impl Sync for Bump {}

#[global_allocator]
static HEAP: Bump = Bump(UnsafeCell::new(0));

// SAFETY: blocks are disjoint, aligned parts of MEMORY. A request that does not fit returns null.
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

/// Frees all blocks.
///
/// # Safety
/// No heap block is in use.
pub(crate) unsafe fn reset() {
    // SAFETY: one thread, and no reference to the cell outlives a call.
    unsafe { *HEAP.0.get() = 0 }
}
