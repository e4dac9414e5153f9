//! Slot form of a kernel: a persistent thread block (Gupta et al. 2012) that executes the TBs of
//! the kernel's grid one after the other, counts those completed in a window of SM cycles, and
//! ends.
//!
//! [`text`] finds the entry in PTX, [`code`] has the code around its body, and [`form`] combines
//! both.

mod code;
mod form;
mod text;

#[cfg(test)]
mod tests;

pub use form::{Slot, SlotError, transform};

/// Suffix of the new entry's name.
pub const SUFFIX: &str = "_slot";

/// Bytes of shared memory that the slot form adds to a TB.
pub const SHARED_BYTES: u32 = 64;

/// Value of `mias_end` for a kernel that continues while the window is open.
pub const ENDLESS: u32 = u32::MAX;

/// Parameters after the kernel's own, in order: name and PTX type.
pub const PARAMETERS: [(&str, &str); 13] = [
    ("mias_control", "u64"), // address of the control block (`control`)
    ("mias_grid_x", "u32"),  // the kernel's grid
    ("mias_grid_y", "u32"),
    ("mias_grid_z", "u32"),
    ("mias_tbs", "u32"),      // TBs of one pass through the grid
    ("mias_end", "u32"),      // TBs after which the window ends for all kernels, or ENDLESS
    ("mias_kernel", "u32"),   // index of the kernel among those that run together
    ("mias_limit", "u32"),    // TBs that stay on each SM
    ("mias_expected", "u32"), // TBs of all kernels that start together
    ("mias_warm_up", "u64"),  // SM cycles from the start at which counting starts
    ("mias_window", "u64"),   // SM cycles from the start at which counting ends
    ("mias_patience", "u64"), // SM cycles to wait for the others
    ("mias_stride", "u64"),   // bytes from one pass's own memory to the next pass's
];
