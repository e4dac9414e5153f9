//! The memories of the functional machine: device memory with its allocations, and a TB's shared memory.

mod device;
mod shared;

pub use device::{Buffer, DeviceMemory, View};
pub use shared::SharedMemory;
