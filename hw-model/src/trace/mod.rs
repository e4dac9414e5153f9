//! The warp trace: what every warp of a kernel executed, in the compact form that the timing model replays.
//!
//! A trace holds nothing that depends on timing. Most warps of a kernel run the same instructions in the same order, so
//! that order is stored once, as a *shape*; a warp is a shape and a list of memory references. Addresses are coalesced
//! to 32-byte sectors when the trace is made (they depend on nothing the timing model may change), and equal sector
//! patterns are stored once.
//!
//! ```text
//! TB -> warps -> (shape, first memory reference)
//!                  |            `-> MemRef { base sector, pattern } ...   one per off-chip access, in program order
//!                  `-> ShapeInst { static instruction, lanes, passes } ...
//! ```

mod builder;
mod coalesce;
mod idempotence;
mod parts;
mod recorder;
mod source;

pub use builder::{TraceBuilder, TraceError};
pub use coalesce::{SECTOR_BYTES, constant_words, shared_passes};
pub use parts::{PartsError, TraceParts};
pub use recorder::TbRecorder;
pub use source::{TracePart, TraceSource};

use crate::isa::StaticInst;

/// Lanes of a warp on every machine modelled.
pub const WARP_LANES: u32 = 32;

/// What a launch asks of the machine, before a single instruction is known.
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
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Warps per TB; the last may be partly empty.
    pub fn warps(&self) -> u32 {
        self.threads().div_ceil(WARP_LANES)
    }

    /// TBs in the grid.
    pub fn tbs(&self) -> u64 {
        self.grid.iter().map(|&n| u64::from(n)).product()
    }
}

/// One executed instruction of a shape, packed into 32 bits: static index, active lanes, [passes](ShapeInst::passes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeInst(u32);

impl ShapeInst {
    /// No lanes of the first static instruction: what stands where nothing has been read yet.
    pub(crate) const NONE: ShapeInst = ShapeInst(0);

    /// Packs a static index (16 bits), active lanes (0..=32) and passes (0..=63).
    pub(crate) fn new(index: u16, lanes: u32, passes: u32) -> Self {
        debug_assert!(lanes <= 32 && passes < 64, "lanes {lanes}, passes {passes}");
        ShapeInst(u32::from(index) | lanes << 16 | passes << 22)
    }

    /// Packs a static index, active lanes and passes; none unless lanes are in 0..=32 and passes in 0..=63.
    pub fn packed(index: u16, lanes: u32, passes: u32) -> Option<Self> {
        (lanes <= WARP_LANES && passes < 64).then(|| ShapeInst::new(index, lanes, passes))
    }

    /// Index into [`KernelTrace::statics`].
    pub fn index(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// Active lanes, 0..=32.
    pub fn lanes(self) -> u32 {
        self.0 >> 16 & 0x3f
    }

    /// Of a shared-memory access, its passes through the banks, 1 if conflict-free. Of a constant load whose lanes read different words,
    /// how many words those are, 2..=32; older traces have 0. 0 of anything else.
    pub fn passes(self) -> u32 {
        self.0 >> 22
    }
}

/// A sector touched by an access, relative to the access' lowest sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectorRef {
    /// Distance from the lowest sector of the access, in 32-byte sectors.
    pub delta: u32,
    /// Bytes touched within the sector, bit 0 = lowest address.
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

/// Where one warp's instructions and memory references are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpRef {
    /// Index into the shapes.
    pub shape: u32,
    /// Index of the warp's first memory reference.
    pub first_mem: u32,
}

/// A whole kernel launch, ready for replay.
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
    pub fn info(&self) -> &KernelInfo {
        &self.info
    }

    /// The static instructions.
    pub fn statics(&self) -> &[StaticInst] {
        &self.statics
    }

    /// TBs of the grid.
    pub fn tbs(&self) -> u32 {
        self.info.tbs() as u32
    }

    /// TBs recorded, in grid order from the first: all, unless this is a part of a trace ([`TraceSource`]).
    pub fn recorded_tbs(&self) -> u32 {
        (self.warps.len() / self.info.warps() as usize) as u32
    }

    /// The warp `warp` of TB `tb`.
    pub fn warp(&self, tb: u32, warp: u32) -> WarpRef {
        self.warps[tb as usize * self.info.warps() as usize + warp as usize]
    }

    /// All warps, in the order of TBs and of warps in a TB.
    pub fn warps(&self) -> &[WarpRef] {
        &self.warps
    }

    /// How many shapes there are.
    pub fn shapes(&self) -> u32 {
        (self.shape_starts.len() - 1) as u32
    }

    /// Range of a shape's instructions within [`KernelTrace::shape_insts`].
    pub fn shape(&self, shape: u32) -> std::ops::Range<u32> {
        self.shape_starts[shape as usize]..self.shape_starts[shape as usize + 1]
    }

    /// All shapes' instructions, one after the other.
    pub fn shape_insts(&self) -> &[ShapeInst] {
        &self.shape_insts
    }

    /// A warp's memory reference.
    pub fn mem(&self, index: u32) -> MemRef {
        self.mems[index as usize]
    }

    /// All warps' memory references, one warp after the other.
    pub fn mems(&self) -> &[MemRef] {
        &self.mems
    }

    /// How many sector patterns there are.
    pub fn patterns(&self) -> u32 {
        (self.pattern_starts.len() - 1) as u32
    }

    /// The sectors of a pattern, ascending by address; empty if no lane was active.
    pub fn pattern(&self, pattern: u32) -> &[SectorRef] {
        let range = self.pattern_range(pattern);
        &self.sectors[range.start as usize..range.end as usize]
    }

    /// Where the sectors of a pattern are among those of all patterns.
    pub(crate) fn pattern_range(&self, pattern: u32) -> std::ops::Range<u32> {
        let pattern = pattern as usize;
        self.pattern_starts[pattern]..self.pattern_starts[pattern + 1]
    }

    /// A sector of a pattern, by its place among those of all patterns.
    pub(crate) fn sector(&self, place: u32) -> SectorRef {
        self.sectors[place as usize]
    }

    /// Warp instructions in the whole launch.
    pub fn warp_insts(&self) -> u64 {
        self.warps.iter().map(|w| self.shape(w.shape).len() as u64).sum()
    }

    /// Thread instructions in the whole launch: active lanes summed over all warp instructions.
    pub fn thread_insts(&self) -> u64 {
        let per_shape: Vec<u64> = self
            .shape_starts
            .windows(2)
            .map(|w| self.shape_insts[w[0] as usize..w[1] as usize].iter().map(|i| u64::from(i.lanes())).sum())
            .collect();
        self.warps.iter().map(|w| per_shape[w.shape as usize]).sum()
    }

    /// Sectors touched: from the lowest to one past the highest. Empty if no memory is accessed.
    pub fn sector_span(&self) -> std::ops::Range<u64> {
        let spans = self.mems.iter().filter_map(|mem| {
            let last = self.pattern(mem.pattern).last()?;
            Some((mem.base_sector, mem.base_sector + u64::from(last.delta) + 1))
        });
        spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).map_or(0..0, |(low, high)| low..high)
    }

    /// Bytes that the trace occupies in memory.
    pub fn memory_bytes(&self) -> usize {
        size_of_val(&self.statics[..])
            + size_of_val(&self.shape_insts[..])
            + size_of_val(&self.sectors[..])
            + size_of_val(&self.warps[..])
            + size_of_val(&self.mems[..])
            + 4 * (self.shape_starts.len() + self.pattern_starts.len())
    }
}
