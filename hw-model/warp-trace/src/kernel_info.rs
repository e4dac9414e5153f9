//! What a launch asks of the GPU: its grid, and what a TB of it needs.

/// Lanes of a warp on every GPU modelled.
pub const WARP_LANES: u32 = 32;

/// What a launch asks of the GPU, before a single instruction is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Name as shown in reports.
    pub name: String,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread as the compiler reports them, before any allocation granule.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes, before any allocation granule.
    pub shared_bytes: u32,
}

impl KernelInfo {
    /// Threads per TB.
    #[inline]
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps per TB; the last may be partly empty.
    #[inline]
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP_LANES)
    }

    /// TBs in the grid.
    #[inline]
    pub fn tbs(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// True if grid and block have elements, and both their products fit 32 bits.
    pub fn geometry_fits(&self) -> bool {
        [&self.grid, &self.block].into_iter().all(|extents| {
            let product = extents.iter().try_fold(1u32, |product, &extent| product.checked_mul(extent));
            product.is_some_and(|product| product > 0)
        })
    }
}
