//! Trace of a whole launch: instructions and memory accesses of each warp.

use crate::isa::StaticInst;
use crate::{KernelInfo, ShapeInst};

/// A sector touched by an access, relative to the lowest sector of the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectorRef {
    /// Distance from the lowest sector of the access, in 32-byte sectors.
    pub delta: u32,
    /// Mask of the bytes touched within the sector, bit 0 = lowest address.
    pub byte_mask: u32,
}

/// One off-chip memory access of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemRef {
    /// Lowest sector touched: byte address / 32.
    pub base_sector: u64,
    /// Index of the sector pattern, for [`KernelTrace::pattern`].
    pub pattern: u32,
}

/// Instructions and memory references of one warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpRef {
    /// Index into the shapes.
    pub shape: u32,
    /// Index of the warp's first memory reference.
    pub first_mem: u32,
}

/// Trace of a whole kernel launch, ready for replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelTrace {
    pub(crate) info: KernelInfo,
    pub(crate) statics: Vec<StaticInst>,
    pub(crate) shape_insts: Vec<ShapeInst>,
    pub(crate) shape_starts: Vec<u32>,
    pub(crate) sectors: Vec<SectorRef>,
    pub(crate) pattern_starts: Vec<u32>,
    pub(crate) warps: Vec<WarpRef>,
    pub(crate) mems: Vec<MemRef>,
}

impl KernelTrace {
    /// Launch geometry and resources.
    #[inline]
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// Static instructions.
    #[inline]
    pub fn statics(&self) -> &[StaticInst] {
        &self.statics
    }

    /// Number of TBs of the grid.
    #[inline]
    pub fn tbs(&self) -> u32 {
        self.info.tbs() as u32
    }

    /// Number of TBs recorded, in grid order from the first. Fewer than the grid has if this is a
    /// part of a trace ([`TraceSource`](crate::TraceSource)).
    #[inline]
    pub fn recorded_tbs(&self) -> u32 {
        (self.warps.len() / self.info.warps() as usize) as u32
    }

    /// Warp `warp` of TB `tb`.
    #[inline]
    pub fn warp(&self, tb: u32, warp: u32) -> WarpRef {
        self.warps[tb as usize * self.info.warps() as usize + warp as usize]
    }

    /// All warps, ordered by TB and then by warp within a TB.
    #[inline]
    pub fn warps(&self) -> &[WarpRef] {
        &self.warps
    }

    /// Number of shapes.
    #[inline]
    pub fn shapes(&self) -> u32 {
        (self.shape_starts.len() - 1) as u32
    }

    /// Range of a shape's instructions within [`KernelTrace::shape_insts`].
    #[inline]
    pub fn shape(&self, shape: u32) -> std::ops::Range<u32> {
        self.shape_starts[shape as usize]..self.shape_starts[shape as usize + 1]
    }

    /// Instructions of all shapes, one shape after the other.
    #[inline]
    pub fn shape_insts(&self) -> &[ShapeInst] {
        &self.shape_insts
    }

    /// Memory reference `index`, counted over all warps.
    #[inline]
    pub fn mem(&self, index: u32) -> MemRef {
        self.mems[index as usize]
    }

    /// Memory references of all warps, one warp after the other.
    #[inline]
    pub fn mems(&self) -> &[MemRef] {
        &self.mems
    }

    /// Number of sector patterns.
    #[inline]
    pub fn patterns(&self) -> u32 {
        (self.pattern_starts.len() - 1) as u32
    }

    /// Sectors of a pattern, ascending by address; empty if no lane was active.
    #[inline]
    pub fn pattern(&self, pattern: u32) -> &[SectorRef] {
        let range = self.pattern_range(pattern);
        &self.sectors[range.start as usize..range.end as usize]
    }

    /// Range of a pattern's sectors, for [`KernelTrace::sector`].
    #[inline]
    pub fn pattern_range(&self, pattern: u32) -> std::ops::Range<u32> {
        let pattern = pattern as usize;
        self.pattern_starts[pattern]..self.pattern_starts[pattern + 1]
    }

    /// Sector at index `place` of all patterns' sectors.
    #[inline]
    pub fn sector(&self, place: u32) -> SectorRef {
        self.sectors[place as usize]
    }

    /// Number of warp instructions of the whole launch.
    pub fn warp_insts(&self) -> u64 {
        self.warps.iter().map(|w| self.shape(w.shape).len() as u64).sum()
    }

    /// Number of thread instructions of the whole launch: active lanes summed over all warp
    /// instructions.
    pub fn thread_insts(&self) -> u64 {
        let per_shape: Vec<u64> = self
            .shape_starts
            .windows(2)
            .map(|w| self.shape_insts[w[0] as usize..w[1] as usize].iter().map(|i| u64::from(i.lanes())).sum())
            .collect();
        self.warps.iter().map(|w| per_shape[w.shape as usize]).sum()
    }

    /// Range of the accessed sectors, from the lowest to one past the highest. Empty without memory
    /// accesses.
    pub fn sector_span(&self) -> std::ops::Range<u64> {
        let spans = self.mems.iter().filter_map(|mem| {
            let last = self.pattern(mem.pattern).last()?;
            Some((mem.base_sector, mem.base_sector + u64::from(last.delta) + 1))
        });
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).map_or(0..0, |(low, high)| low..high)
    }

    /// Memory of the trace in bytes.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.statics[..])
            + size_of_val(&self.shape_insts[..])
            + size_of_val(&self.sectors[..])
            + size_of_val(&self.warps[..])
            + size_of_val(&self.mems[..])
            + 4 * (self.shape_starts.len() + self.pattern_starts.len())
    }
}
