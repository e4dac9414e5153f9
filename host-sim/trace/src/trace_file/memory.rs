//! Section `memory`: base sector and pattern of every off-chip access. The prediction uses the same
//! access of the same warp in the TB before, or else the instruction's stride. See
//! `docs/reference/trace-format.md`, "memory".

use super::bytes::{Reader, RunReader, RunWriter, put_varint, unzigzag, zigzag};
use super::error::Fault;
use super::warps::Newest;
use mias_warp_trace::isa::StaticInst;
use mias_warp_trace::{KernelTrace, MemRef, ShapeInst};

/// Mask of a base sector, which has 59 bits for a 64-bit byte address.
const SECTOR_MASK: u64 = u64::MAX >> 5;

/// Static instructions of each shape's off-chip accesses, in order.
struct Accesses {
    statics: Vec<u16>,
    starts: Vec<u32>,
}

impl Accesses {
    /// Lists the off-chip accesses of every shape; every index must have been checked.
    fn new(statics: &[StaticInst], shape_insts: &[ShapeInst], shape_starts: &[u32]) -> Self {
        let offchip: Vec<bool> = statics.iter().map(|inst| inst.class.is_offchip()).collect();
        let mut accesses = Accesses { statics: Vec::new(), starts: vec![0] };
        for bounds in shape_starts.windows(2) {
            let insts = &shape_insts[bounds[0] as usize..bounds[1] as usize];
            accesses.statics.extend(insts.iter().map(|inst| inst.index()).filter(|&at| offchip[at]).map(|at| at as u16));
            accesses.starts.push(accesses.statics.len() as u32);
        }
        accesses
    }

    fn of(&self, shape: u32) -> &[u16] {
        &self.statics[self.starts[shape as usize] as usize..self.starts[shape as usize + 1] as usize]
    }
}

/// History of accesses, of one instruction or of all. Differences are modulo 2^64.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    /// Sector of the last access.
    last: u64,
    pattern: u32,
    /// Difference between the last two accesses.
    stride: u64,
    /// Difference between the last access and its counterpart, if it had one.
    shift: u64,
}

impl History {
    /// Predicts the next access. `counterpart` is the same access of the same warp in the TB
    /// before.
    fn predict(&self, counterpart: Option<MemRef>) -> MemRef {
        let (base, pattern) = match counterpart {
            Some(before) => (before.base_sector.wrapping_add(self.shift), before.pattern),
            None => (self.last.wrapping_add(self.stride), self.pattern),
        };
        MemRef { base_sector: base & SECTOR_MASK, pattern }
    }

    fn learn(&mut self, counterpart: Option<MemRef>, access: MemRef) {
        if let Some(before) = counterpart {
            self.shift = access.base_sector.wrapping_sub(before.base_sector);
        }
        self.stride = access.base_sector.wrapping_sub(self.last);
        self.last = access.base_sector;
        self.pattern = access.pattern;
    }
}

/// Histories by instruction. An instruction without accesses uses the history of all accesses,
/// since unrolled code continues there.
struct Histories {
    all: History,
    of_static: Vec<Option<History>>,
}

impl Histories {
    fn new(statics: usize) -> Self {
        Histories { all: History::default(), of_static: vec![None; statics] }
    }

    fn predict(&self, inst: u16, counterpart: Option<MemRef>) -> MemRef {
        self.of_static[usize::from(inst)].unwrap_or(self.all).predict(counterpart)
    }

    fn learn(&mut self, inst: u16, counterpart: Option<MemRef>, access: MemRef) {
        self.of_static[usize::from(inst)].get_or_insert(self.all).learn(counterpart, access);
        self.all.learn(counterpart, access);
    }
}

pub(super) fn encode(trace: &KernelTrace) -> Vec<u8> {
    let starts: Vec<u32> = std::iter::once(0).chain((0..trace.shapes()).map(|shape| trace.shape(shape).end)).collect();
    let accesses = Accesses::new(trace.statics(), trace.shape_insts(), &starts);
    let mut histories = Histories::new(trace.statics().len());
    let (mut out, mut runs, mut newest) = (Vec::new(), RunWriter::default(), Newest::default());
    let (warps, mems) = (trace.warps(), trace.mems());
    for (at, warp) in warps.iter().enumerate() {
        let before = at.checked_sub(trace.info().warps() as usize).map(|at| warps[at]).filter(|before| before.shape == warp.shape);
        for (number, &inst) in accesses.of(warp.shape).iter().enumerate() {
            let counterpart = before.map(|before| mems[before.first_mem as usize + number]);
            let access = mems[warp.first_mem as usize + number];
            let predicted = histories.predict(inst, counterpart);
            if access == predicted {
                runs.hit(&mut out);
            } else {
                let step = zigzag(access.base_sector.wrapping_sub(predicted.base_sector) as i64);
                let other = access.pattern != predicted.pattern;
                runs.miss(&mut out, step << 1 | u64::from(other));
                if other {
                    put_varint(&mut out, newest.code(access.pattern));
                }
            }
            histories.learn(inst, counterpart, access);
        }
    }
    runs.flush(&mut out);
    out
}

/// Decodes the memory references of all warps. The shapes' instructions must be those of `statics`,
/// and `warp_shapes` must contain valid shapes.
pub(super) fn decode(
    section: &[u8],
    statics: &[StaticInst],
    (shape_insts, shape_starts): (&[ShapeInst], &[u32]),
    (warp_shapes, warps_per_tb, most_bytes): (&[u32], usize, u64),
) -> Result<Vec<MemRef>, Fault> {
    let accesses = Accesses::new(statics, shape_insts, shape_starts);
    let all: u64 = warp_shapes.iter().map(|&shape| accesses.of(shape).len() as u64).sum();
    if all.saturating_mul(size_of::<MemRef>() as u64) > most_bytes {
        return Err(Fault::MemoryLimit);
    }
    let mut histories = Histories::new(statics.len());
    let (mut reader, mut runs, mut newest) = (Reader::new(section), RunReader::default(), Newest::default());
    let mut mems: Vec<MemRef> = Vec::new();
    let mut first_mems: Vec<usize> = Vec::with_capacity(warp_shapes.len());
    for (at, &shape) in warp_shapes.iter().enumerate() {
        let before = at.checked_sub(warps_per_tb).filter(|&before| warp_shapes[before] == shape).map(|before| first_mems[before]);
        first_mems.push(mems.len());
        for (number, &inst) in accesses.of(shape).iter().enumerate() {
            let counterpart = before.map(|first| mems[first + number]);
            let mut access = histories.predict(inst, counterpart);
            if let Some(code) = runs.next(&mut reader)? {
                access.base_sector = access.base_sector.wrapping_add(unzigzag(code >> 1) as u64);
                if access.base_sector > SECTOR_MASK {
                    return Err(Fault::Value { what: "a step between sectors", value: code });
                }
                if code & 1 == 1 {
                    access.pattern = newest.index(reader.varint()?, "a pattern")?;
                }
            }
            histories.learn(inst, counterpart, access);
            mems.push(access);
        }
    }
    runs.finish()?;
    reader.finish()?;
    Ok(mems)
}
