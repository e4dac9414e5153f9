//! Safe wrappers of the required CUDA driver functions, with errors as sentences (CUDA driver API
//! reference). The library is opened at the first call, so commands without a GPU run without it.

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

/// Converts the result of a driver function to a sentence.
fn checked(result: CUresult, what: &str) -> Result<(), String> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    let mut name = ptr::null();
    // SAFETY: `name` is a valid place for a pointer to a static string of the driver.
    let known = unsafe { cuGetErrorName(result, &raw mut name) } == CUresult::CUDA_SUCCESS && !name.is_null();
    // SAFETY: a zero-terminated string of the driver.
    let name = if known { unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned() } else { format!("{}", result as u32) };
    Err(format!("{what}: the driver returned {name}"))
}
