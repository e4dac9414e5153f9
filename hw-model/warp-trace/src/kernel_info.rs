//! Launch geometry and the resources of a TB.

/// Lanes of a warp on every modeled GPU.
pub const WARP_LANES: u32 = 32;

/// Geometry and resources of a launch, known before its first instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Kernel name in reports.
    pub name: String,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread as the compiler reports them, before rounding to the allocation
    /// granule.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes, before rounding to the allocation granule.
    pub shared_bytes: u32,
}

impl KernelInfo {
    /// Number of threads per TB.
    #[inline]
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Number of warps per TB; the last one may be partly empty.
    #[inline]
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP_LANES)
    }

    /// Number of TBs in the grid.
    #[inline]
    pub fn tbs(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }

    /// True if grid and block are not empty and both products fit 32 bits.
    pub fn geometry_fits(&self) -> bool {
        [&self.grid, &self.block].into_iter().all(|extents| {
            let product = extents.iter().try_fold(1u32, |product, &extent| product.checked_mul(extent));
            product.is_some_and(|product| product > 0)
        })
    }
}
