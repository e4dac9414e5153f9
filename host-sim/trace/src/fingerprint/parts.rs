//! Fingerprint of a launch in parts, equal to that of the whole launch.

use super::{Fnv, hex};
use mias_warp_trace::isa::StaticInst;
use mias_warp_trace::{KernelInfo, KernelTrace, SectorRef, ShapeInst};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use twox_hash::xxhash3_128;

/// Returns the fingerprint of a whole launch from its parts.
///
/// `each` visits the parts in order, three times, and may fail. `statics` are those of the whole
/// launch; a part may lack instructions that only later parts have.
///
/// # Errors
/// Errors of `each`.
pub fn kernel_in_parts<E>(
    info: &KernelInfo,
    statics: &[StaticInst],
    each: impl Fn(&mut dyn FnMut(&KernelTrace)) -> Result<(), E>,
) -> Result<String, E> {
    let mut hasher = Fnv::default();
    hasher.write(info.name.as_bytes());
    for value in info.grid.iter().chain(&info.block).chain([&info.registers_per_thread, &info.shared_bytes]) {
        hasher.write_u32(*value);
    }
    statics.hash(&mut hasher);
    // Shapes and patterns are numbered by first occurrence over all parts.
    let (mut shapes, mut patterns) = (Numbers::default(), Numbers::default());
    each(&mut |part| {
        for shape in 0..part.shapes() {
            let insts = insts(part, shape);
            if shapes.number(&shape_key(insts)).1 {
                insts.iter().for_each(|&inst| hasher.write_u32(packed(inst)));
            }
        }
    })?;
    each(&mut |part| {
        let warps = part.info().warps();
        let shape_numbers: Vec<u32> = (0..part.shapes()).map(|shape| shapes.number(&shape_key(insts(part, shape))).0).collect();
        let mut pattern_numbers = vec![None; part.patterns() as usize];
        for (tb, warp) in (0..part.recorded_tbs()).flat_map(|tb| (0..warps).map(move |warp| (tb, warp))) {
            let at = part.warp(tb, warp);
            hasher.write_u32(shape_numbers[at.shape as usize]);
            let accesses = insts(part, at.shape).iter().filter(|inst| part.statics()[inst.index()].class.is_offchip());
            for (number, _) in accesses.enumerate() {
                let access = part.mem(at.first_mem + number as u32);
                let known = &mut pattern_numbers[access.pattern as usize];
                let pattern = *known.get_or_insert_with(|| patterns.number(&pattern_key(part.pattern(access.pattern))).0);
                hasher.write_u64(access.base_sector);
                hasher.write_u32(pattern);
            }
        }
    })?;
    let mut next = 0;
    each(&mut |part| {
        for sectors in (0..part.patterns()).map(|pattern| part.pattern(pattern)) {
            if patterns.known(&pattern_key(sectors)) == Some(next) {
                next += 1;
                for sector in sectors {
                    hasher.write_u32(sector.delta);
                    hasher.write_u32(sector.byte_mask);
                }
            }
        }
    })?;
    Ok(hex(hasher))
}

/// Numbers of sequences in the order of their first use, by a hash of 128 bits. The sequences
/// themselves may exceed memory.
#[derive(Debug, Default)]
struct Numbers(BTreeMap<u128, u32>);

impl Numbers {
    /// Returns the number of a sequence, and whether it is new.
    fn number(&mut self, key: &u128) -> (u32, bool) {
        let next = self.0.len() as u32;
        let number = *self.0.entry(*key).or_insert(next);
        (number, number == next)
    }

    fn known(&self, key: &u128) -> Option<u32> {
        self.0.get(key).copied()
    }
}

fn insts(trace: &KernelTrace, shape: u32) -> &[ShapeInst] {
    let range = trace.shape(shape);
    &trace.shape_insts()[range.start as usize..range.end as usize]
}

fn packed(inst: ShapeInst) -> u32 {
    inst.index() as u32 | inst.lanes() << 16 | inst.passes() << 22
}

fn shape_key(insts: &[ShapeInst]) -> u128 {
    let mut hasher = xxhash3_128::Hasher::new();
    insts.iter().for_each(|&inst| hasher.write(&packed(inst).to_le_bytes()));
    hasher.finish_128()
}

fn pattern_key(sectors: &[SectorRef]) -> u128 {
    let mut hasher = xxhash3_128::Hasher::new();
    sectors.iter().for_each(|sector| hasher.write(&(u64::from(sector.delta) << 32 | u64::from(sector.byte_mask)).to_le_bytes()));
    hasher.finish_128()
}
