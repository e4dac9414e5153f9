//! Construction of a [`KernelTrace`].
//!
//! TBs are recorded independently, so a front end may run them in parallel. They are added in grid
//! order, and equal shapes and sector patterns are stored once.

use crate::isa::StaticInst;
use crate::recorder::TbRecorder;
use crate::{KernelInfo, KernelTrace, MemRef, SectorRef, ShapeInst, WarpRef};
use std::collections::BTreeMap;

/// Reasons why a trace cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// More than 65,536 static instructions, the limit of the packed form.
    #[error("the kernel has more than 65536 distinct instructions")]
    TooManyStatics,
    /// More elements than the 32-bit indices of the packed form allow.
    #[error("the trace is too large: more than {} {what}", u32::MAX)]
    TooLarge {
        /// Kind of element that overflowed.
        what: &'static str,
    },
    /// Mismatch between the warps of a TB and the launch geometry.
    #[error("TB {tb} has {found} warps, its block of {threads} threads needs {expected}")]
    WarpCount {
        /// Index of the TB in grid order.
        tb: u32,
        /// Number of warps recorded.
        found: u32,
        /// Number of warps that the geometry requires.
        expected: u32,
        /// Threads per TB.
        threads: u32,
    },
    /// Launch without a TB or without a thread.
    #[error("the launch is empty: grid {grid:?}, block {block:?}")]
    Empty {
        /// TBs in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
    },
    /// TB that exceeds its memory limit.
    #[error("a TB exceeds the available memory")]
    MemoryLimit,
    /// Mismatch between the recorded TBs and the grid.
    #[error("the grid has {expected} TBs but {found} were recorded")]
    TbCount {
        /// Number of TBs recorded.
        found: u64,
        /// Number of TBs in the grid.
        expected: u64,
    },
}

/// Builder of a [`KernelTrace`] from TBs added in grid order, whole or in parts.
#[derive(Debug)]
pub struct TraceBuilder {
    trace: KernelTrace,
    static_index: BTreeMap<StaticInst, u16>,
    shape_index: BTreeMap<Box<[ShapeInst]>, u32>,
    pattern_index: BTreeMap<Box<[SectorRef]>, u32>,
    tbs: u32,
    warp_insts: u64,
}

impl TraceBuilder {
    /// Creates an empty trace of a launch with the given geometry.
    ///
    /// # Errors
    /// [`TraceError::Empty`] if the grid or the block has no element.
    pub fn new(info: KernelInfo) -> Result<Self, TraceError> {
        if info.tbs() == 0 || info.threads() == 0 {
            return Err(TraceError::Empty { grid: info.grid, block: info.block });
        }
        Ok(TraceBuilder {
            trace: empty(info, Vec::new()),
            static_index: BTreeMap::new(),
            shape_index: BTreeMap::new(),
            pattern_index: BTreeMap::new(),
            tbs: 0,
            warp_insts: 0,
        })
    }

    /// Returns the index of a static instruction and adds it if it is new.
    ///
    /// # Errors
    /// [`TraceError::TooManyStatics`] beyond 65,536.
    pub fn define(&mut self, inst: StaticInst) -> Result<u16, TraceError> {
        if let Some(&index) = self.static_index.get(&inst) {
            return Ok(index);
        }
        let index = u16::try_from(self.trace.statics.len()).map_err(|_| TraceError::TooManyStatics)?;
        self.trace.statics.push(inst);
        self.static_index.insert(inst, index);
        Ok(index)
    }

    /// Adds the next TB in grid order.
    ///
    /// # Errors
    /// [`TraceError::WarpCount`] if the number of warps differs from the geometry;
    /// [`TraceError::TooLarge`].
    pub fn add_tb(&mut self, tb: &TbRecorder) -> Result<(), TraceError> {
        self.add_tb_within(tb, u64::MAX)
    }

    /// True if [`TraceBuilder::memory_bytes`] stays within `most_bytes` after this TB is added,
    /// even if all its sectors are new.
    pub fn has_room(&self, tb: &TbRecorder, most_bytes: u64) -> bool {
        let other = tb.sectors.len() as u64 * 2 * SECTOR_REF_BYTES + tb.accesses * ACCESS_BYTES + tb.warps.len() as u64 * WARP_BYTES;
        let left = most_bytes.checked_sub(self.memory_bytes() as u64).and_then(|left| left.checked_sub(other));
        // A shape look-up takes time, so it is done only near the limit.
        let new: u64 = tb.warps.iter().map(|warp| shape_bytes(&warp.insts)).sum();
        let added = || tb.warps.iter().map(|warp| self.added_by_shape(&warp.insts)).sum::<u64>();
        left.is_some_and(|left| new <= left || added() <= left)
    }

    /// True if most of the memory of the current part is shapes that several warps share. A new
    /// part would store these shapes again.
    pub fn shares_shapes(&self) -> bool {
        let shapes = self.trace.shape_starts.len() - 1;
        let bytes = 2 * size_of_val(&self.trace.shape_insts[..]);
        2 * bytes > self.memory_bytes() && self.trace.warps.len() >= SHARING_WARPS * shapes
    }

    fn added_by_shape(&self, insts: &[ShapeInst]) -> u64 {
        if self.shape_index.contains_key(insts) { 0 } else { shape_bytes(insts) }
    }

    /// Adds the next TB, with at most `most_bytes` of [`TraceBuilder::memory_bytes`] at the end.
    ///
    /// # Errors
    /// As [`TraceBuilder::add_tb`], and [`TraceError::MemoryLimit`]. After an error, the TB is
    /// added in part and the builder must not be used.
    pub fn add_tb_within(&mut self, tb: &TbRecorder, most_bytes: u64) -> Result<(), TraceError> {
        let counts = !self.has_room(tb, most_bytes);
        let expected = self.trace.info.warps();
        let found = tb.warps.len() as u32;
        if found != expected {
            return Err(TraceError::WarpCount { tb: self.tbs, found, expected, threads: self.trace.info.threads() });
        }
        for warp in &tb.warps {
            let fits = |builder: &Self, bytes: u64| builder.memory_bytes() as u64 + bytes <= most_bytes;
            if counts && !fits(self, WARP_BYTES + self.added_by_shape(&warp.insts)) {
                return Err(TraceError::MemoryLimit);
            }
            let shape = self.shape(&warp.insts)?;
            let first_mem = index_u32(self.trace.mems.len(), "memory references")?;
            for &(base_sector, start, end) in &warp.mems {
                if counts && !fits(self, ACCESS_BYTES + 2 * SECTOR_REF_BYTES * u64::from(end - start)) {
                    return Err(TraceError::MemoryLimit);
                }
                let pattern = self.pattern(&tb.sectors[start as usize..end as usize])?;
                self.trace.mems.push(MemRef { base_sector, pattern });
            }
            self.trace.warps.push(WarpRef { shape, first_mem });
            self.warp_insts += warp.insts.len() as u64;
        }
        self.tbs += 1;
        Ok(())
    }

    /// Number of TBs added so far.
    pub fn tbs(&self) -> u32 {
        self.tbs
    }

    /// Number of warp instructions of the TBs added so far.
    pub fn warp_insts(&self) -> u64 {
        self.warp_insts
    }

    /// Appends the TBs of a part.
    ///
    /// The part comes from [`TraceBuilder::take_part`] of this builder or of another builder of the
    /// same launch. Indices are assigned as if the TBs had been added one by one.
    ///
    /// # Errors
    /// [`TraceError::TooLarge`], [`TraceError::TooManyStatics`].
    pub fn append(&mut self, part: &KernelTrace) -> Result<(), TraceError> {
        let mut statics = vec![None; part.statics.len()];
        let (mut shapes, mut patterns) = (vec![None; part.shapes() as usize], vec![None; part.patterns() as usize]);
        let mut insts = Vec::new();
        let ends = part.warps().iter().skip(1).map(|warp| warp.first_mem as usize).chain([part.mems().len()]);
        for (warp, end) in part.warps().iter().zip(ends) {
            let known = &mut shapes[warp.shape as usize];
            let shape = match *known {
                Some(shape) => shape,
                None => {
                    insts.clear();
                    let range = part.shape(warp.shape);
                    for inst in &part.shape_insts()[range.start as usize..range.end as usize] {
                        let index = match statics[inst.index()] {
                            Some(index) => index,
                            None => *statics[inst.index()].insert(self.define(part.statics[inst.index()])?),
                        };
                        insts.push(ShapeInst::new(index, inst.lanes(), inst.passes()));
                    }
                    *known.insert(self.shape(&insts)?)
                }
            };
            let first_mem = index_u32(self.trace.mems.len(), "memory references")?;
            for mem in &part.mems()[warp.first_mem as usize..end] {
                let known = &mut patterns[mem.pattern as usize];
                let pattern = match *known {
                    Some(pattern) => pattern,
                    None => *known.insert(self.pattern(part.pattern(mem.pattern))?),
                };
                self.trace.mems.push(MemRef { base_sector: mem.base_sector, pattern });
            }
            self.trace.warps.push(WarpRef { shape, first_mem });
            self.warp_insts += part.shape(warp.shape).len() as u64;
        }
        self.tbs += part.recorded_tbs();
        Ok(())
    }

    /// Trace of the TBs added since the last part was taken.
    pub fn so_far(&self) -> KernelTrace {
        self.trace.clone()
    }

    /// Takes the TBs added since the last part, as a trace of a grid of that many TBs. The static
    /// instructions stay.
    pub fn take_part(&mut self) -> KernelTrace {
        let next = empty(self.trace.info.clone(), self.trace.statics.clone());
        let mut part = std::mem::replace(&mut self.trace, next);
        self.shape_index.clear();
        self.pattern_index.clear();
        part.info.grid = [part.recorded_tbs(), 1, 1];
        part
    }

    /// Memory of the current part and of the tables that find equal sequences, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let shapes = 4 * self.trace.shape_insts.len();
        let sectors = size_of::<SectorRef>() * self.trace.sectors.len();
        self.trace.memory_bytes() + shapes + sectors
    }

    /// Returns the finished trace.
    ///
    /// # Errors
    /// [`TraceError::TbCount`] unless every TB of the grid was added and no part was taken.
    pub fn finish(self) -> Result<KernelTrace, TraceError> {
        let (found, expected) = (u64::from(self.trace.recorded_tbs()), self.trace.info.tbs());
        if found != expected {
            return Err(TraceError::TbCount { found, expected });
        }
        Ok(self.trace)
    }

    fn shape(&mut self, insts: &[ShapeInst]) -> Result<u32, TraceError> {
        let KernelTrace { shape_insts, shape_starts, .. } = &mut self.trace;
        once(insts, &mut self.shape_index, shape_insts, shape_starts, ["shapes", "shape instructions"])
    }

    fn pattern(&mut self, sectors: &[SectorRef]) -> Result<u32, TraceError> {
        let KernelTrace { sectors: all, pattern_starts, .. } = &mut self.trace;
        once(sectors, &mut self.pattern_index, all, pattern_starts, ["sector patterns", "sectors"])
    }
}

/// Number of warps per shape from which shapes count as shared. Assumption: later TBs then share
/// most of them too.
const SHARING_WARPS: usize = 4;

/// Bytes per sector of a pattern. A new pattern stores each sector twice, once as a key of the
/// look-up.
const SECTOR_REF_BYTES: u64 = size_of::<SectorRef>() as u64;

/// Bytes per access in addition to the sectors of a new pattern: the access and the start of its
/// pattern.
const ACCESS_BYTES: u64 = size_of::<MemRef>() as u64 + 4;

/// Bytes per warp in addition to its shape and its accesses.
const WARP_BYTES: u64 = size_of::<WarpRef>() as u64;

/// Bytes of a new shape: its instructions twice, and its start.
fn shape_bytes(insts: &[ShapeInst]) -> u64 {
    2 * size_of_val(insts) as u64 + 4
}

/// Trace without TBs.
fn empty(info: KernelInfo, statics: Vec<StaticInst>) -> KernelTrace {
    let (shape_starts, pattern_starts) = (vec![0], vec![0]);
    KernelTrace { info, statics, shape_insts: vec![], shape_starts, sectors: vec![], pattern_starts, warps: vec![], mems: vec![] }
}

/// Index of a run of items. A new run is added to `all`. `what` names runs and items in an error.
fn once<T: Copy + Ord>(
    run: &[T],
    numbers: &mut BTreeMap<Box<[T]>, u32>,
    all: &mut Vec<T>,
    starts: &mut Vec<u32>,
    what: [&'static str; 2],
) -> Result<u32, TraceError> {
    if let Some(&number) = numbers.get(run) {
        return Ok(number);
    }
    let number = index_u32(numbers.len(), what[0])?;
    all.extend_from_slice(run);
    starts.push(index_u32(all.len(), what[1])?);
    numbers.insert(run.into(), number);
    Ok(number)
}

fn index_u32(value: usize, what: &'static str) -> Result<u32, TraceError> {
    u32::try_from(value).map_err(|_| TraceError::TooLarge { what })
}

#[cfg(test)]
mod tests;
