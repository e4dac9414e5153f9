//! Record of the warps of one TB, in the execution order of the front end: instructions, and
//! off-chip accesses by sector.
//!
//! A [`TraceBuilder`](crate::TraceBuilder) adds it to a trace.

use crate::coalesce::{coalesce, constant_words, shared_passes};
use crate::isa::{Space, StaticInst};
use crate::{SectorRef, ShapeInst};
use std::ops::Range;

/// Record of one warp, before equal shapes and patterns are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct WarpRecord {
    pub(super) insts: Vec<ShapeInst>,
    /// Base sector, and range of the sectors in [`TbRecorder::sectors`].
    pub(super) mems: Vec<(u64, u32, u32)>,
}

/// Recorder of the warps of one TB.
///
/// Create one per TB, and call [`TbRecorder::warp`] before each warp's instructions. A front end
/// that alternates between warps at barriers returns to an earlier one with [`TbRecorder::resume`].
#[derive(Clone, Debug, Default)]
pub struct TbRecorder {
    pub(super) warps: Vec<WarpRecord>,
    current: usize,
    insts: u64,
    pub(super) accesses: u64,
    pub(super) sectors: Vec<SectorRef>,
    pattern: Vec<SectorRef>,
    scratch: Vec<(u64, u32)>,
}

impl TbRecorder {
    /// Creates an empty TB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Starts the next warp. Warps are numbered in the order of these calls.
    pub fn warp(&mut self) {
        self.current = self.warps.len();
        self.warps.push(WarpRecord::default());
    }

    /// Continues with warp `warp` (0 = the first one started). Until that warp is started, nothing
    /// is recorded.
    pub fn resume(&mut self, warp: usize) {
        self.current = warp;
    }

    /// Records one executed instruction of the current warp.
    ///
    /// `index` and `inst` are the static instruction and its index in the builder. `lanes` counts
    /// the active lanes (0..=32). For a memory access, `addresses` has the byte address of each
    /// active lane (for texels, all that a lane touches); otherwise it is empty. Does nothing
    /// before the first [`TbRecorder::warp`].
    pub fn inst(&mut self, index: u16, inst: &StaticInst, lanes: u32, addresses: &[u64]) {
        let Some(warp) = self.warps.get_mut(self.current) else { return };
        let mut passes = 0;
        match inst.class.space() {
            Some(Space::Shared) if !addresses.is_empty() => passes = shared_passes(addresses, inst.width_bytes.into()),
            // One word is recorded as 0, so a uniform load equals one in traces without addresses.
            Some(Space::Constant) => {
                passes = match constant_words(addresses) {
                    1 => 0,
                    words => words,
                }
            }
            Some(Space::Global | Space::Local | Space::Texture) => {
                let base = coalesce(addresses, inst.width_bytes.into(), &mut self.pattern, &mut self.scratch);
                let start = self.sectors.len() as u32;
                self.sectors.extend_from_slice(&self.pattern);
                warp.mems.push((base.unwrap_or(0), start, self.sectors.len() as u32));
                self.accesses += 1;
            }
            _ => {}
        }
        warp.insts.push(ShapeInst::new(index, lanes.min(32), passes));
        self.insts += 1;
    }

    /// Records instructions `insts` of warp 0 of `other`, with off-chip accesses `accesses`, for
    /// the current warp.
    ///
    /// Both ranges must be within that warp. Does nothing before the first [`TbRecorder::warp`].
    pub fn repeat(&mut self, other: &TbRecorder, insts: Range<usize>, accesses: Range<usize>) {
        let (Some(warp), Some(from)) = (self.warps.get_mut(self.current), other.warps.first()) else { return };
        warp.insts.extend_from_slice(&from.insts[insts.clone()]);
        for &(base, start, end) in &from.mems[accesses.clone()] {
            let first = self.sectors.len() as u32;
            self.sectors.extend_from_slice(&other.sectors[start as usize..end as usize]);
            warp.mems.push((base, first, self.sectors.len() as u32));
        }
        self.insts += insts.len() as u64;
        self.accesses += accesses.len() as u64;
    }

    /// Number of instructions and of off-chip accesses of the current warp.
    pub fn recorded(&self) -> (usize, usize) {
        self.warps.get(self.current).map_or((0, 0), |warp| (warp.insts.len(), warp.mems.len()))
    }

    /// Copy of the warp started last, as a TB of its own.
    pub fn last_warp(&self) -> TbRecorder {
        let mut alone = TbRecorder::new();
        if let Some(warp) = self.warps.last() {
            alone.warp();
            let mut insts = WarpRecord { insts: warp.insts.clone(), mems: Vec::with_capacity(warp.mems.len()) };
            for &(base, start, end) in &warp.mems {
                let first = alone.sectors.len() as u32;
                alone.sectors.extend_from_slice(&self.sectors[start as usize..end as usize]);
                insts.mems.push((base, first, alone.sectors.len() as u32));
            }
            (alone.insts, alone.accesses) = (insts.insts.len() as u64, insts.mems.len() as u64);
            alone.warps = vec![insts];
        }
        alone
    }

    /// Memory of the recorded instructions, accesses and sectors, in bytes.
    #[inline]
    pub fn memory_bytes(&self) -> u64 {
        let sectors = (size_of::<SectorRef>() * self.sectors.len()) as u64;
        self.insts * size_of::<ShapeInst>() as u64 + self.accesses * size_of::<(u64, u32, u32)>() as u64 + sectors
    }
}
