//! End of the idempotent phase of a TB.
//!
//! A TB can be executed again from its start until its first global atomic, or until its first
//! store to a byte that it loads anywhere. (Relaxed idempotence: Park et al. 2015, as in Shieh
//! 2016, section 4.1.)
//!
//! The phase is computed from the accessed bytes in the trace. Loads of other TBs do not matter,
//! since only this TB is executed again. Shared memory starts anew with the TB, and local memory is
//! written before it is read.

use crate::isa::{Class, Space};
use crate::{KernelTrace, WarpRef};

/// Sector, and mask of its bytes.
type Bytes = (u64, u32);

impl KernelTrace {
    /// First non-idempotent instruction of each warp of TB `tb`, counted from the warp's first;
    /// none if there is none.
    ///
    /// `tb` counts from the first TB recorded here.
    pub fn idempotence_ends(&self, tb: u32) -> Vec<Option<u32>> {
        let warps = (0..self.info.warps()).map(|warp| self.warp(tb, warp));
        let writes = |class| matches!(class, Class::Store(Space::Global) | Class::Atomic(Space::Global) | Class::Store(Space::Texture));
        if !self.statics.iter().any(|inst| writes(inst.class)) {
            return vec![None; self.info.warps() as usize];
        }
        let loaded = self.loaded_bytes(warps.clone());
        warps.map(|warp| self.first_overwrite(warp, &loaded)).collect()
    }

    /// True if every TB recorded here stays idempotent to its end.
    pub fn is_idempotent(&self) -> bool {
        (0..self.recorded_tbs()).all(|tb| self.idempotence_ends(tb).iter().all(Option::is_none))
    }

    /// Bytes that these warps load, by sector.
    fn loaded_bytes(&self, warps: impl Iterator<Item = WarpRef>) -> Vec<Bytes> {
        let mut loaded: Vec<Bytes> = Vec::new();
        for warp in warps {
            self.each_access(warp, |_, class, bytes| {
                if matches!(class, Class::Load(Space::Global | Space::Texture)) {
                    loaded.extend(bytes);
                }
                true
            });
            if loaded.len() > 1 << 20 {
                merge(&mut loaded);
            }
        }
        merge(&mut loaded);
        loaded
    }

    fn first_overwrite(&self, warp: WarpRef, loaded: &[Bytes]) -> Option<u32> {
        let mut first = None;
        self.each_access(warp, |place, class, mut bytes| {
            let ends = match class {
                Class::Atomic(Space::Global) => true,
                Class::Store(Space::Global | Space::Texture) => Iterator::any(&mut bytes, |(sector, mask)| {
                    let at = loaded.binary_search_by_key(&sector, |&(sector, _)| sector);
                    at.is_ok_and(|at| loaded[at].1 & mask != 0)
                }),
                _ => false,
            };
            if ends {
                first = Some(place);
            }
            !ends
        });
        first
    }

    /// Calls `each` for the off-chip accesses of a warp in program order, until it returns false:
    /// instruction index, class and bytes.
    fn each_access(&self, warp: WarpRef, mut each: impl FnMut(u32, Class, &mut dyn Iterator<Item = Bytes>) -> bool) {
        let mut mem = warp.first_mem;
        for (place, at) in (0..).zip(self.shape(warp.shape)) {
            let class = self.statics[self.shape_insts[at as usize].index()].class;
            if !class.is_offchip() {
                continue;
            }
            let reference = self.mem(mem);
            mem += 1;
            let sectors = self.pattern(reference.pattern).iter();
            let mut bytes = sectors.map(|sector| (reference.base_sector + u64::from(sector.delta), sector.byte_mask));
            if !each(place, class, &mut bytes) {
                return;
            }
        }
    }
}

/// Sorts the entries and merges those of the same sector.
fn merge(bytes: &mut Vec<Bytes>) {
    bytes.sort_unstable();
    bytes.dedup_by(|later, kept| {
        let same = later.0 == kept.0;
        if same {
            kept.1 |= later.1;
        }
        same
    });
}

#[cfg(test)]
#[path = "idempotence_tests.rs"]
mod tests;
