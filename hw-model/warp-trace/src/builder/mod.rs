//! Building a [`KernelTrace`]: TBs are recorded independently (so a front end may run them in parallel) and then added in
//! grid order, where equal shapes and sector patterns are folded into one.

use crate::isa::StaticInst;
use crate::recorder::TbRecorder;
use crate::{KernelInfo, KernelTrace, MemRef, SectorRef, ShapeInst, WarpRef};
use std::collections::BTreeMap;

/// Why a trace could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The packed form has room for 65,536 static instructions.
    #[error("the kernel has more than 65536 distinct instructions")]
    TooManyStatics,
    /// The packed form indexes with 32 bits.
    #[error("the trace is too large: more than {} {what}", u32::MAX)]
    TooLarge {
        /// What overflowed.
        what: &'static str,
    },
    /// A TB has another number of warps than its launch geometry says.
    #[error("TB {tb} has {found} warps, its block of {threads} threads needs {expected}")]
    WarpCount {
        /// Index of the TB in grid order.
        tb: u32,
        /// Warps recorded.
        found: u32,
        /// Warps that the geometry needs.
        expected: u32,
        /// Threads per TB.
        threads: u32,
    },
    /// The launch has no TB or no thread.
    #[error("the launch is empty: grid {grid:?}, block {block:?}")]
    Empty {
        /// TBs in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
    },
    /// A TB needs more room than it may take.
    #[error("a TB needs more memory than there is for it")]
    Room,
    /// Fewer or more TBs were recorded than the grid has.
    #[error("the grid has {expected} TBs but {found} were recorded")]
    TbCount {
        /// TBs recorded.
        found: u64,
        /// TBs of the grid.
        expected: u64,
    },
}

/// Assembles a [`KernelTrace`] from TBs added in grid order, whole or in parts.
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
    /// A trace of a launch with the given geometry.
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

    /// The index of a static instruction, adding it if it is new.
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
    /// [`TraceError::WarpCount`] if the TB has another number of warps than the block needs; [`TraceError::TooLarge`].
    pub fn add_tb(&mut self, tb: &TbRecorder) -> Result<(), TraceError> {
        self.add_tb_within(tb, u64::MAX)
    }

    /// Whether [`TraceBuilder::memory_bytes`] stays within `most_bytes` when a TB is added, even if its sectors are all new.
    pub fn has_room(&self, tb: &TbRecorder, most_bytes: u64) -> bool {
        let other = tb.sectors.len() as u64 * 2 * SECTOR_REF_BYTES + tb.accesses * ACCESS_BYTES + tb.warps.len() as u64 * WARP_BYTES;
        let left = most_bytes.checked_sub(self.memory_bytes() as u64).and_then(|left| left.checked_sub(other));
        // Looking shapes up takes time: only where it matters.
        let new: u64 = tb.warps.iter().map(|warp| shape_bytes(&warp.insts)).sum();
        let added = || tb.warps.iter().map(|warp| self.added_by_shape(&warp.insts)).sum::<u64>();
        left.is_some_and(|left| new <= left || added() <= left)
    }

    /// Whether most of the TBs since the last part is shapes that several warps have: a part begun anew would have them again.
    pub fn shares_shapes(&self) -> bool {
        let shapes = self.trace.shape_starts.len() - 1;
        let bytes = 2 * size_of_val(&self.trace.shape_insts[..]);
        2 * bytes > self.memory_bytes() && self.trace.warps.len() >= SHARING_WARPS * shapes
    }

    fn added_by_shape(&self, insts: &[ShapeInst]) -> u64 {
        if self.shape_index.contains_key(insts) { 0 } else { shape_bytes(insts) }
    }

    /// The same, with at most `most_bytes` of [`TraceBuilder::memory_bytes`] in the end.
    ///
    /// # Errors
    /// As [`TraceBuilder::add_tb`], and [`TraceError::Room`]; then a part of the TB is there, and the builder is of no more use.
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
                return Err(TraceError::Room);
            }
            let shape = self.shape(&warp.insts)?;
            let first_mem = index_u32(self.trace.mems.len(), "memory references")?;
            for &(base_sector, start, end) in &warp.mems {
                if counts && !fits(self, ACCESS_BYTES + 2 * SECTOR_REF_BYTES * u64::from(end - start)) {
                    return Err(TraceError::Room);
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

    /// TBs added so far.
    pub fn tbs(&self) -> u32 {
        self.tbs
    }

    /// Warp instructions of the TBs added so far.
    pub fn warp_insts(&self) -> u64 {
        self.warp_insts
    }

    /// Adds the TBs of a part, as [`TraceBuilder::take_part`] of this builder or of another of the same launch gave it, after those that
    /// are there. What they add is numbered as if they had been added one by one.
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

    /// The trace with the TBs so far, from the last part taken on.
    pub fn so_far(&self) -> KernelTrace {
        self.trace.clone()
    }

    /// Takes the TBs since the last part out, as a trace of a grid of that many TBs. The static instructions stay.
    pub fn take_part(&mut self) -> KernelTrace {
        let next = empty(self.trace.info.clone(), self.trace.statics.clone());
        let mut part = std::mem::replace(&mut self.trace, next);
        self.shape_index.clear();
        self.pattern_index.clear();
        part.info.grid = [part.recorded_tbs(), 1, 1];
        part
    }

    /// Bytes that the TBs since the last part take, and what finds equal sequences among them.
    pub fn memory_bytes(&self) -> usize {
        let shapes = 4 * self.trace.shape_insts.len();
        let sectors = size_of::<SectorRef>() * self.trace.sectors.len();
        self.trace.memory_bytes() + shapes + sectors
    }

    /// The finished trace.
    ///
    /// # Errors
    /// [`TraceError::TbCount`] unless every TB of the grid was added, and none was taken.
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

/// Warps per shape from which on shapes are shared. Assumption: then what comes next has most of them, too.
const SHARING_WARPS: usize = 4;

/// Bytes of a sector of a pattern. A new pattern has them twice: once to be found by.
const SECTOR_REF_BYTES: u64 = size_of::<SectorRef>() as u64;

/// Bytes that an access adds besides the sectors of a new pattern: itself, and where that pattern begins.
const ACCESS_BYTES: u64 = size_of::<MemRef>() as u64 + 4;

/// Bytes that a warp adds besides its shape and its accesses.
const WARP_BYTES: u64 = size_of::<WarpRef>() as u64;

/// Bytes of a new shape: twice, and where it begins.
fn shape_bytes(insts: &[ShapeInst]) -> u64 {
    2 * size_of_val(insts) as u64 + 4
}

/// A trace of no TB.
fn empty(info: KernelInfo, statics: Vec<StaticInst>) -> KernelTrace {
    let (shape_starts, pattern_starts) = (vec![0], vec![0]);
    KernelTrace { info, statics, shape_insts: vec![], shape_starts, sectors: vec![], pattern_starts, warps: vec![], mems: vec![] }
}

/// The number of a run of items, which are added to `all` unless they are there. `what` names runs and items, for an error.
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
