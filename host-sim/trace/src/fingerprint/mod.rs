//! Fingerprints for provenance: FNV-1a, 64 bits (Fowler, Noll, Vo), over little-endian bytes,
//! identical on every platform.

mod parts;

pub use parts::kernel_in_parts;

use mias_warp_trace::KernelTrace;
use std::hash::{Hash, Hasher};

/// FNV-1a hasher with the standard interface, for derived `Hash` implementations.
#[derive(Clone, Copy, Debug)]
pub struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325) // the algorithm's offset basis
    }
}

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3); // its prime
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.write(&value.to_le_bytes());
    }

    fn write_u64(&mut self, value: u64) {
        self.write(&value.to_le_bytes());
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns the hash value as 16 hexadecimal digits.
pub fn hex(hasher: Fnv) -> String {
    format!("{:016x}", hasher.finish())
}

/// Returns the fingerprint of a kernel launch: geometry, instructions, and the path and addresses
/// of every warp.
pub fn kernel(trace: &KernelTrace) -> String {
    let mut hasher = Fnv::default();
    let info = trace.info();
    hasher.write(info.name.as_bytes());
    for value in info.grid.iter().chain(&info.block).chain([&info.registers_per_thread, &info.shared_bytes]) {
        hasher.write_u32(*value);
    }
    trace.statics().hash(&mut hasher);
    for inst in trace.shape_insts() {
        hasher.write_u32(inst.index() as u32 | inst.lanes() << 16 | inst.passes() << 22);
    }
    let mut patterns = 0;
    for tb in 0..trace.tbs() {
        for warp in 0..info.warps() {
            let at = trace.warp(tb, warp);
            hasher.write_u32(at.shape);
            let accesses = trace.shape(at.shape).filter(|&i| {
                let inst = trace.shape_insts()[i as usize];
                trace.statics()[inst.index()].class.is_offchip()
            });
            for (number, _) in accesses.enumerate() {
                let access = trace.mem(at.first_mem + number as u32);
                hasher.write_u64(access.base_sector);
                hasher.write_u32(access.pattern);
                patterns = patterns.max(access.pattern + 1);
            }
        }
    }
    for sector in (0..patterns).flat_map(|pattern| trace.pattern(pattern)) {
        hasher.write_u32(sector.delta);
        hasher.write_u32(sector.byte_mask);
    }
    hex(hasher)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_test_vectors_hold() {
        let of = |text: &str| {
            let mut hasher = Fnv::default();
            hasher.write(text.as_bytes());
            hasher.finish()
        };
        assert_eq!(of(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(of("foobar"), 0x8594_4171_f739_67e8);
    }
}
