//! Memories of a kernel: device, shared and local memory, and the generic addresses of all of them.

pub mod device;
pub mod heap;
pub mod local;
mod near;
pub mod shared;
pub mod window;

pub use device::{Buffer, DeviceMemory};
pub use local::LocalMemory;
pub(crate) use near::Near;
pub use shared::SharedMemory;
