//! Construction of a [`KernelTrace`] from its parts, as a stored trace has them, with all checks.
//!
//! Indices must be in range, and geometry and content must have the same size, since the timing
//! model relies on both. In addition, the sectors of a pattern must ascend from its lowest, as a
//! [`TraceBuilder`](crate::TraceBuilder) guarantees.

use crate::coalesce::SECTOR_BYTES;
use crate::isa::{MAX_SOURCES, StaticInst};
use crate::{KernelInfo, KernelTrace, MemRef, SectorRef, ShapeInst, WarpRef};

/// Parts of a [`KernelTrace`]. The first memory reference of each warp follows from the shapes and
/// is not stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParts {
    /// Launch geometry and resources.
    pub info: KernelInfo,
    /// Static instructions.
    pub statics: Vec<StaticInst>,
    /// Instructions of all shapes, one shape after the other.
    pub shape_insts: Vec<ShapeInst>,
    /// Start of each shape in `shape_insts`, then the end of the last: one entry more than shapes,
    /// ascending from 0.
    pub shape_starts: Vec<u32>,
    /// Sectors of all patterns, one pattern after the other.
    pub sectors: Vec<SectorRef>,
    /// Start of each pattern in `sectors`, then the end of the last.
    pub pattern_starts: Vec<u32>,
    /// Shape of each warp, ordered by TB and then by warp within a TB.
    pub warp_shapes: Vec<u32>,
    /// Memory references of all warps, one per off-chip access, in the order of `warp_shapes`.
    pub mems: Vec<MemRef>,
}

/// Reasons why parts do not form a trace. Positions count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// Empty grid or block, or more TBs or threads than 32 bits count.
    #[error("the launch geometry is empty or too large: grid {grid:?}, block {block:?}")]
    Geometry {
        /// TBs in x, y, z.
        grid: [u32; 3],
        /// Threads in x, y, z.
        block: [u32; 3],
    },
    /// More than 65,536 static instructions, or more than four sources of the one at this index.
    #[error("static instruction {0} has more than {MAX_SOURCES} sources, or is beyond the 65536 that there can be")]
    Static(usize),
    /// Starts that do not begin at 0, that descend, or that do not end with the last element.
    #[error("the starts of the {what} do not divide the {elements} elements that there are")]
    Starts {
        /// Kind of start.
        what: &'static str,
        /// Number of elements to divide.
        elements: usize,
    },
    /// Index out of range.
    #[error("{what} {at} names {of} {index}, there are {count}")]
    Index {
        /// Kind of element that contains the index.
        what: &'static str,
        /// Position of that element.
        at: usize,
        /// Kind of element that the index refers to.
        of: &'static str,
        /// Index found.
        index: u32,
        /// Number of elements that exist.
        count: usize,
    },
    /// Pattern at this position with sectors that do not ascend from 0 or touch no byte.
    #[error("the sectors of pattern {0} do not ascend from 0, or one has no byte")]
    Pattern(usize),
    /// Memory reference at this position with a base sector beyond 64-bit byte addresses.
    #[error("memory reference {0} lies beyond the 64-bit address space")]
    Address(usize),
    /// Number of elements that differs from the rest of the trace.
    #[error("{expected} {what} needed, {found} found")]
    Count {
        /// Kind of element.
        what: &'static str,
        /// Number of elements required.
        expected: u64,
        /// Number of elements found.
        found: u64,
    },
}

impl KernelTrace {
    /// Assembles a trace from its parts.
    ///
    /// # Errors
    /// [`PartsError`] if the parts do not fit together.
    pub fn from_parts(parts: TraceParts) -> Result<KernelTrace, PartsError> {
        let TraceParts { info, statics, shape_insts, shape_starts, sectors, pattern_starts, warp_shapes, mems } = parts;
        if !info.geometry_fits() {
            return Err(PartsError::Geometry { grid: info.grid, block: info.block });
        }
        let bad_static = |(at, inst): (usize, &StaticInst)| at > usize::from(u16::MAX) || usize::from(inst.source_count) > MAX_SOURCES;
        if let Some(at) = statics.iter().enumerate().position(bad_static) {
            return Err(PartsError::Static(at));
        }
        check_starts("shapes", &shape_starts, shape_insts.len())?;
        check_starts("sector patterns", &pattern_starts, sectors.len())?;
        let static_count = statics.len();
        if let Some(at) = shape_insts.iter().position(|inst| inst.index() >= static_count) {
            let index = shape_insts[at].index() as u32;
            let (what, of) = ("shape instruction", "static instruction");
            return Err(PartsError::Index { what, at, of, index, count: static_count });
        }
        for (at, bounds) in pattern_starts.windows(2).enumerate() {
            let pattern = &sectors[bounds[0] as usize..bounds[1] as usize];
            let ascend = pattern.windows(2).all(|pair| pair[0].delta < pair[1].delta);
            if !ascend || pattern.first().is_some_and(|sector| sector.delta != 0) || pattern.iter().any(|s| s.byte_mask == 0) {
                return Err(PartsError::Pattern(at));
            }
        }
        check_mems(&mems, pattern_starts.len() - 1)?;
        let per_shape: Vec<u32> = shape_starts
            .windows(2)
            .map(|bounds| {
                let insts = &shape_insts[bounds[0] as usize..bounds[1] as usize];
                insts.iter().filter(|inst| statics[inst.index()].class.is_offchip()).count() as u32
            })
            .collect();
        let expected = info.tbs() * u64::from(info.warps());
        if expected != warp_shapes.len() as u64 {
            return Err(PartsError::Count { what: "warps", expected, found: warp_shapes.len() as u64 });
        }
        let warps = warps(&warp_shapes, &per_shape, mems.len())?;
        Ok(KernelTrace { info, statics, shape_insts, shape_starts, sectors, pattern_starts, warps, mems })
    }
}

/// Checks starts: one more than there are parts, from 0 to `elements`, never descending.
fn check_starts(what: &'static str, starts: &[u32], elements: usize) -> Result<(), PartsError> {
    let ends = starts.first() == Some(&0) && starts.last().is_some_and(|&last| last as usize == elements);
    if ends && starts.is_sorted() { Ok(()) } else { Err(PartsError::Starts { what, elements }) }
}

fn check_mems(mems: &[MemRef], patterns: usize) -> Result<(), PartsError> {
    if let Some(at) = mems.iter().position(|mem| mem.pattern as usize >= patterns) {
        let index = mems[at].pattern;
        return Err(PartsError::Index { what: "memory reference", at, of: "pattern", index, count: patterns });
    }
    mems.iter().position(|mem| mem.base_sector > u64::MAX / SECTOR_BYTES).map_or(Ok(()), |at| Err(PartsError::Address(at)))
}

/// Assigns memory references to the warps, one per off-chip access of the warp's shape, until all
/// are assigned.
fn warps(shapes: &[u32], per_shape: &[u32], mems: usize) -> Result<Vec<WarpRef>, PartsError> {
    let mut next = 0u64;
    let mut warps = Vec::with_capacity(shapes.len());
    for (at, &shape) in shapes.iter().enumerate() {
        let bad = PartsError::Index { what: "warp", at, of: "shape", index: shape, count: per_shape.len() };
        let accesses = *per_shape.get(shape as usize).ok_or(bad)?;
        // There are at most 2^32 references, so a saturated index belongs to a surplus, which the
        // count reports.
        warps.push(WarpRef { shape, first_mem: u32::try_from(next).unwrap_or(u32::MAX) });
        next += u64::from(accesses);
    }
    let count = PartsError::Count { what: "memory references", expected: next, found: mems as u64 };
    if next == mems as u64 && next <= u64::from(u32::MAX) { Ok(warps) } else { Err(count) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::{Class, Space};

    /// Two TBs of one warp, each with a load of two sectors, an addition and a load of none.
    fn parts() -> TraceParts {
        let load = StaticInst::new(0, Class::Load(Space::Global)).writes(1).width(4);
        let add = StaticInst::new(16, Class::Int).writes(2).reads(&[1]);
        let inst = |index, lanes| ShapeInst::packed(index, lanes, 0).unwrap();
        TraceParts {
            info: KernelInfo { name: "k".into(), grid: [2, 1, 1], block: [1, 8, 4], registers_per_thread: 16, shared_bytes: 0 },
            statics: vec![load, add],
            shape_insts: vec![inst(0, 32), inst(1, 32), inst(0, 0)],
            shape_starts: vec![0, 3],
            sectors: vec![SectorRef { delta: 0, byte_mask: 1 }, SectorRef { delta: 5, byte_mask: u32::MAX }],
            pattern_starts: vec![0, 2, 2],
            warp_shapes: vec![0, 0],
            mems: [0, 1, 0, 1].map(|pattern| MemRef { base_sector: 128, pattern }).into(),
        }
    }

    #[test]
    fn parts_that_fit_make_the_trace() {
        let trace = KernelTrace::from_parts(parts()).unwrap();
        assert_eq!((trace.tbs(), trace.warp_insts(), trace.thread_insts()), (2, 6, 128));
        assert_eq!(trace.warp(1, 0), WarpRef { shape: 0, first_mem: 2 });
        assert_eq!(trace.sector_span(), 128..134);
    }

    #[test]
    fn each_part_is_checked() {
        type Break = fn(&mut TraceParts);
        let breaks: [(Break, &str); 17] = [
            (|p| p.info.grid = [0, 1, 1], "geometry"),
            (|p| p.info.grid = [1 << 16, 1 << 16, 1], "geometry"),
            (|p| p.info.block = [1 << 16, 1 << 15, 2], "geometry"),
            (|p| p.statics[1].source_count = 5, "static instruction 1"),
            (|p| p.shape_starts = vec![], "starts of the shapes"),
            (|p| p.shape_starts = vec![1, 3], "starts of the shapes"),
            (|p| p.shape_starts = vec![0, 2], "starts of the shapes"),
            (|p| p.shape_starts = vec![0, 4, 3], "starts of the shapes"),
            (|p| p.pattern_starts = vec![0, 2], "memory reference 1 names pattern 1, there are 1"),
            (|p| p.statics.truncate(1), "shape instruction 1 names static instruction 1, there are 1"),
            (|p| p.sectors[0].delta = 1, "pattern 0"),
            (|p| p.sectors[1].delta = 0, "pattern 0"),
            (|p| p.sectors[1].byte_mask = 0, "pattern 0"),
            (|p| p.warp_shapes[1] = 1, "warp 1 names shape 1, there are 1"),
            (|p| p.warp_shapes.truncate(1), "2 warps needed, 1 found"),
            (|p| p.mems.truncate(3), "4 memory references needed, 3 found"),
            (|p| p.mems[2].base_sector = 1 << 59, "memory reference 2 lies beyond"),
        ];
        for (at, (break_it, message)) in breaks.into_iter().enumerate() {
            let mut broken = parts();
            break_it(&mut broken);
            let error = KernelTrace::from_parts(broken).expect_err(message).to_string();
            assert!(error.contains(message), "case {at}: {error}");
        }
    }

    #[test]
    fn packed_fields_have_their_ranges() {
        assert!(ShapeInst::packed(0, 33, 0).is_none() && ShapeInst::packed(0, 0, 64).is_none());
        let most = ShapeInst::packed(u16::MAX, 32, 63).unwrap();
        assert_eq!((most.index(), most.lanes(), most.passes()), (65_535, 32, 63));
    }
}
