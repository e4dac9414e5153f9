//! Stack depth of a call: the memory below the stack pointer is painted, and the remaining paint
//! shows the depth.

use crate::board;

/// Number of painted bytes, the limit of this measurement.
const PAINTED: usize = 8 * 1024;

/// Unpainted bytes right below the stack pointer: the frame of the painting function.
const SPARED: usize = 64;

/// A value that no code puts on the stack.
const PAINT: u32 = 0x5AFE_57AC;

/// Runs `body` and returns its stack use in bytes, [`SPARED`] at least.
#[inline(never)]
pub(crate) fn depth(body: impl FnOnce()) -> u32 {
    let top = board::stack_pointer() & !3;
    let bottom = top - PAINTED;
    for word in (bottom..top - SPARED).step_by(4) {
        // SAFETY: below the stack pointer, in unused RAM. The boards have far more than that.
        unsafe { (word as *mut u32).write_volatile(PAINT) };
    }
    body();
    // SAFETY: as above.
    let is_painted = |word: &usize| unsafe { (*word as *const u32).read_volatile() } == PAINT;
    let deepest = (bottom..top - SPARED).step_by(4).take_while(is_painted).last().map_or(bottom, |word| word + 4);
    assert!(deepest > bottom, "more than {PAINTED} bytes of stack");
    (top - deepest) as u32
}
