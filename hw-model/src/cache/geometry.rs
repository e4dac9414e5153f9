//! Shape of a tag array, as the GPU file gives it.

use crate::config::SetIndex;

/// Shape of a tag array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagGeometry {
    /// Number of sets, a power of two.
    pub sets: u32,
    /// Ways per set, at least 1.
    pub ways: u32,
    /// Sectors of 32 bytes per line: 1, 2 or 4.
    pub sectors_per_line: u32,
    /// Set index function.
    pub index: SetIndex,
    /// Lower bound for evicting modified lines: one may be evicted only while at least this
    /// percentage of all lines is modified; 0: no such rule. (GPGPU-Sim's
    /// `gpgpu_l1_cache_write_ratio`; its L2 has none.)
    pub modified_floor_percent: u32,
}
