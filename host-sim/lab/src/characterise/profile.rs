//! Instruction profile of a kernel, counted in its trace. It does not depend on time or on the
//! GPU, except for the line size.
//!
//! * Cinst/Minst: instructions without memory access over those with, including shared and constant
//!   memory. Req/Minst: lines requested per instruction to global or local memory (Dai et al. 2018,
//!   table 2; which instructions count: sources.md D78).
//! * Idempotent: no atomic, and no byte of global memory both read and written (Shieh 2016, section
//!   4.1). The paper leaves it to the compiler; here it is derived from the launch.

use crate::metrics::ratio;
use mias_warp_trace::isa::{Class, Space};
use mias_warp_trace::{KernelTrace, SECTOR_BYTES, WARP_LANES};
use serde::Serialize;

/// Instruction classes of the mix, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Integer, logic, moves, the uniform path.
    Int,
    /// Single and half precision.
    Fp32,
    /// Double precision.
    Fp64,
    /// Transcendentals, roots, conversions.
    Sfu,
    /// Matrix multiply-accumulate.
    Tensor,
    /// Branches and exits.
    Control,
    /// Barriers and fences.
    Barrier,
    /// Shared memory, atomics on it included.
    Shared,
    /// Loads from global and local memory.
    Load,
    /// Stores to global and local memory.
    Store,
    /// Atomics on global memory.
    Atomic,
    /// Constant memory and textures.
    Constant,
}

/// Number of [`Kind`]s.
pub const KINDS: usize = 12;

impl Kind {
    /// All classes, in order.
    pub const ALL: [Kind; KINDS] = [
        Kind::Int,
        Kind::Fp32,
        Kind::Fp64,
        Kind::Sfu,
        Kind::Tensor,
        Kind::Control,
        Kind::Barrier,
        Kind::Shared,
        Kind::Load,
        Kind::Store,
        Kind::Atomic,
        Kind::Constant,
    ];

    /// Returns the name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Fp32 => "fp32",
            Kind::Fp64 => "fp64",
            Kind::Sfu => "sfu",
            Kind::Tensor => "tensor",
            Kind::Control => "control",
            Kind::Barrier => "barrier",
            Kind::Shared => "shared",
            Kind::Load => "load",
            Kind::Store => "store",
            Kind::Atomic => "atomic",
            Kind::Constant => "constant",
        }
    }

    fn of(class: Class) -> Kind {
        match class {
            Class::Int | Class::Uniform => Kind::Int,
            Class::Sp => Kind::Fp32,
            Class::Dp => Kind::Fp64,
            Class::Sfu => Kind::Sfu,
            Class::Tensor => Kind::Tensor,
            Class::Branch | Class::Exit => Kind::Control,
            Class::Barrier | Class::MemoryBarrier => Kind::Barrier,
            Class::Load(Space::Shared) | Class::Store(Space::Shared) | Class::Atomic(Space::Shared) => Kind::Shared,
            Class::Load(Space::Constant) | Class::Store(Space::Constant) | Class::Atomic(Space::Constant) | Class::Texture => {
                Kind::Constant
            }
            Class::Load(Space::Global | Space::Local | Space::Texture) => Kind::Load,
            Class::Store(Space::Global | Space::Local | Space::Texture) => Kind::Store,
            Class::Atomic(Space::Global | Space::Local | Space::Texture) => Kind::Atomic,
        }
    }

    fn is_memory(self) -> bool {
        matches!(self, Kind::Shared | Kind::Load | Kind::Store | Kind::Atomic | Kind::Constant)
    }
}

/// Instruction counts of a whole launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Number of warps.
    pub warps: u64,
    /// Number of warp instructions.
    pub warp_insts: u64,
    /// Number of active lanes, summed over warp instructions.
    pub thread_insts: u64,
    /// Warp instructions by [`Kind`].
    pub mix: [u64; KINDS],
    /// Number of lines requested by instructions to global and local memory.
    pub lines: u64,
    /// Number of 32-byte sectors that they touch.
    pub sectors: u64,
    /// Number of sectors that loads touch.
    pub load_sectors: u64,
    /// Number of bytes used in all sectors touched.
    pub bytes: u64,
    /// Whether executing a TB twice has no effect.
    pub idempotent: bool,
}

impl Profile {
    /// Returns warp instructions per warp.
    pub fn insts_per_warp(&self) -> Option<f64> {
        ratio(self.warp_insts, self.warps)
    }

    /// Returns active lanes per warp instruction, at most 32.
    pub fn lanes_per_inst(&self) -> Option<f64> {
        ratio(self.thread_insts, self.warp_insts)
    }

    /// Returns the fraction of a class among warp instructions, 0 to 1.
    pub fn share(&self, kind: Kind) -> Option<f64> {
        ratio(self.mix[kind as usize], self.warp_insts)
    }

    fn memory_insts(&self) -> u64 {
        Kind::ALL.iter().filter(|kind| kind.is_memory()).map(|&kind| self.mix[kind as usize]).sum()
    }

    fn offchip_insts(&self) -> u64 {
        [Kind::Load, Kind::Store, Kind::Atomic].map(|kind| self.mix[kind as usize]).iter().sum()
    }

    /// Returns compute instructions per memory instruction.
    pub fn compute_per_memory(&self) -> Option<f64> {
        ratio(self.warp_insts - self.memory_insts(), self.memory_insts())
    }

    /// Returns lines per instruction to global or local memory, 1 to 32 or more.
    pub fn requests_per_memory(&self) -> Option<f64> {
        ratio(self.lines, self.offchip_insts())
    }

    /// Returns sectors loaded per thousand warp instructions.
    pub fn load_sectors_per_kilo(&self) -> Option<f64> {
        ratio(1000 * self.load_sectors, self.warp_insts)
    }

    /// Returns the fraction of bytes used in the sectors touched, 0 to 1; 1 for perfectly coalesced
    /// accesses.
    pub fn sector_use(&self) -> Option<f64> {
        ratio(self.bytes, SECTOR_BYTES * self.sectors)
    }

    /// Counts a trace, with lines of `line_bytes`, a multiple of 32.
    pub fn of(trace: &KernelTrace, line_bytes: u32) -> Self {
        let mut profile = Profile { warps: trace.warps().len() as u64, idempotent: true, ..Profile::default() };
        let shapes: Vec<Shape> = (0..trace.shapes()).map(|shape| Shape::new(trace, shape)).collect();
        let patterns = Patterns::new(trace, u64::from(line_bytes) / SECTOR_BYTES);
        let mut written: Vec<(u64, u32)> = Vec::new();
        for warp in trace.warps() {
            let shape = &shapes[warp.shape as usize];
            profile.warp_insts += shape.insts;
            profile.thread_insts += shape.lanes;
            profile.mix.iter_mut().zip(shape.mix).for_each(|(sum, count)| *sum += count);
            for (kind, &mem) in shape.offchip.iter().zip(&trace.mems()[warp.first_mem as usize..]) {
                let (sectors, bytes) = patterns.sizes[mem.pattern as usize];
                profile.sectors += sectors;
                profile.bytes += bytes;
                profile.lines += patterns.lines(mem.pattern, mem.base_sector);
                if kind.kind == Kind::Load {
                    profile.load_sectors += sectors;
                } else if kind.is_global {
                    written.extend(trace.pattern(mem.pattern).iter().map(|s| (mem.base_sector + u64::from(s.delta), s.byte_mask)));
                }
            }
        }
        profile.idempotent = profile.mix[Kind::Atomic as usize] == 0 && !reads_any(trace, &shapes, merged(written));
        profile
    }
}

/// Properties common to all warps of a shape.
struct Shape {
    insts: u64,
    lanes: u64,
    mix: [u64; KINDS],
    /// Instructions with a memory reference, in order.
    offchip: Vec<OffChip>,
}

struct OffChip {
    kind: Kind,
    is_global: bool,
}

impl Shape {
    fn new(trace: &KernelTrace, shape: u32) -> Self {
        let range = trace.shape(shape);
        let insts = &trace.shape_insts()[range.start as usize..range.end as usize];
        let mut counted = Shape { insts: insts.len() as u64, lanes: 0, mix: [0; KINDS], offchip: Vec::new() };
        for inst in insts {
            let class = trace.statics()[inst.index()].class;
            let kind = Kind::of(class);
            counted.lanes += u64::from(inst.lanes().min(WARP_LANES));
            counted.mix[kind as usize] += 1;
            if class.is_offchip() {
                counted.offchip.push(OffChip { kind, is_global: matches!(class.space(), Some(Space::Global | Space::Texture)) });
            }
        }
        counted
    }
}

/// Sizes of sector patterns, and the lines they cover for every position of their first sector in
/// its line.
struct Patterns {
    sizes: Vec<(u64, u64)>,
    lines: Vec<u64>,
    line_sectors: u64,
}

impl Patterns {
    fn new(trace: &KernelTrace, line_sectors: u64) -> Self {
        let line_sectors = line_sectors.max(1);
        let (mut sizes, mut lines) = (Vec::new(), Vec::new());
        for pattern in 0..trace.patterns() {
            let sectors = trace.pattern(pattern);
            sizes.push((sectors.len() as u64, sectors.iter().map(|sector| u64::from(sector.byte_mask.count_ones())).sum()));
            for place in 0..line_sectors {
                let mut covered: Vec<u64> = sectors.iter().map(|sector| (place + u64::from(sector.delta)) / line_sectors).collect();
                covered.dedup();
                lines.push(covered.len() as u64);
            }
        }
        Patterns { sizes, lines, line_sectors }
    }

    fn lines(&self, pattern: u32, base_sector: u64) -> u64 {
        self.lines[(u64::from(pattern) * self.line_sectors + base_sector % self.line_sectors) as usize]
    }
}

/// Merges to one mask per sector, ascending.
fn merged(mut sectors: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
    sectors.sort_unstable();
    sectors.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 |= if same { next.1 } else { 0 };
        same
    });
    sectors
}

/// Returns whether a global load reads a byte of `written`.
fn reads_any(trace: &KernelTrace, shapes: &[Shape], written: Vec<(u64, u32)>) -> bool {
    let is_written = |sector: u64, mask: u32| written.binary_search_by_key(&sector, |w| w.0).is_ok_and(|at| written[at].1 & mask != 0);
    trace.warps().iter().any(|warp| {
        let mems = shapes[warp.shape as usize].offchip.iter().zip(&trace.mems()[warp.first_mem as usize..]);
        let mut loads = mems.filter(|(inst, _)| inst.kind == Kind::Load && inst.is_global);
        loads.any(|(_, mem)| trace.pattern(mem.pattern).iter().any(|s| is_written(mem.base_sector + u64::from(s.delta), s.byte_mask)))
    })
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
