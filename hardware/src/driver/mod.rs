//! The few functions of the CUDA driver that are needed, with errors as sentences. CUDA driver API reference; the library is opened when the
//! first is called, so that what needs no GPU runs without.

mod context;
mod memory;
mod module;
mod stream;

pub use context::Gpu;
pub use memory::{Block, Pinned, copy, read, write};
pub use module::{Function, Module};
pub use stream::{Event, Stream};

use cudarc::driver::sys::{CUresult, cuGetErrorName};
use std::ffi::CStr;
use std::ptr;

/// A sentence for what a driver function answered.
fn checked(result: CUresult, what: &str) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut name = ptr::null();
    // SAFETY: `name` is a place for a pointer to a static string of the driver.
    let known = unsafe { cuGetErrorName(result, &raw mut name) } == CUresult::CUDA_SUCCESS && !name.is_null();
    // SAFETY: a string of the driver, ended by zero.
    let name = if known { unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned() } else { format!("{}", result as u32) };
    Err(format!("{what}: the driver says {name}"))
}
