//! Panic handler of all images. It calls an undefined symbol, so an image links only if no panic is
//! reachable.

use core::panic::PanicInfo;

unsafe extern "C" {
    /// Function that is deliberately undefined, so that an image with a reachable panic does not
    /// link.
    fn __panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // SAFETY: never runs, because an image that refers to this symbol does not link.
    unsafe { __panic_is_reachable() }
}
