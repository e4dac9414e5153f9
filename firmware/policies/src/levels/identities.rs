//! Table of kernels that have run, by the identity that a launch carries (sources.md D202). It is
//! cleared when the firmware restarts.

use super::Kind;

/// Capacity in kernels (assumption: an application has about a dozen).
pub const KNOWN: usize = 16;

/// Entry of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// Identity of the kernel; 0 for a free entry.
    identity: u32,
    /// Time of the last update, in ended launches.
    heard: u32,
    kind: Kind,
}

/// Kernels that have run, at most [`KNOWN`]. The entry with the oldest update is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identities {
    entries: [Entry; KNOWN],
    /// Number of launches that have ended.
    ended: u32,
}

impl Identities {
    /// The empty table.
    // It is all zero, so that a static of it takes no flash.
    pub const NONE: Self = Self { entries: [Entry { identity: 0, heard: 0, kind: Kind::ALL_ISSUE }; KNOWN], ended: 0 };

    /// Returns the kind of the kernel with this identity; none if it is unknown. No kernel has
    /// identity 0.
    #[must_use]
    pub fn kind(&self, identity: u32) -> Option<Kind> {
        let entry = self.entries.iter().find(|entry| entry.identity == identity)?;
        (identity != 0).then_some(entry.kind)
    }

    /// Records the kind that an ended launch of this kernel has shown. Only the last launch counts,
    /// because phases and inputs change.
    pub fn learn(&mut self, identity: u32, kind: Kind) {
        if identity == 0 {
            return;
        }
        self.ended = self.ended.saturating_add(1);
        let heard = self.ended;
        // The kernel's own entry, else a free one (never updated), else the one with the oldest
        // update.
        let rank = |entry: &Entry| if entry.identity == identity { 0 } else { entry.heard.saturating_add(1) };
        if let Some(entry) = self.entries.iter_mut().min_by_key(|entry| rank(entry)) {
            *entry = Entry { identity, heard, kind };
        }
    }

    /// Returns the number of known kernels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.iter().filter(|entry| entry.identity != 0).count()
    }

    /// Returns whether the table is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::LaunchCounts;
    use super::*;
    use mias_firmware::gpu::GpuProperties;
    use mias_firmware::quantity::SectorRate;
    use proptest::prelude::*;
    use std::collections::BTreeMap;
    use std::vec::Vec;

    /// Creates the kind `dram` of 16, on a GPU where an instruction weighs as much as a sector.
    fn kind(dram: u32) -> Kind {
        let gpu = GpuProperties { sm_count: 1, schedulers: 1, dram_sectors: SectorRate::from_bits(1 << 16), ..GpuProperties::NONE };
        Kind::of(LaunchCounts { warp_insts: 16 - dram, dram_sectors: dram }, &gpu).unwrap()
    }

    #[test]
    fn the_last_launch_counts_and_nobody_is_not_known() {
        let mut known = Identities::NONE;
        assert_eq!((known.kind(0), known.kind(7), known.len()), (None, None, 0));
        known.learn(7, kind(3));
        known.learn(7, kind(12));
        known.learn(0, kind(1));
        assert_eq!((known.kind(7).map(Kind::sixteenths), known.kind(0), known.len()), (Some(12), None, 1));
    }

    proptest! {
        /// The last [`KNOWN`] different kernels are known, each by its last launch, as in a
        /// complete list.
        #[test]
        fn the_last_ones_are_known(launches in proptest::collection::vec((1..40_u32, 0..=16_u32), 0..200)) {
            let (mut known, mut last) = (Identities::NONE, BTreeMap::new());
            for (at, &(identity, dram)) in launches.iter().enumerate() {
                known.learn(identity, kind(dram));
                last.insert(identity, (at, dram));
            }
            let mut by_age: Vec<_> = last.iter().map(|(identity, (at, dram))| (*at, *identity, *dram)).collect();
            by_age.sort_unstable();
            by_age.reverse();
            for (place, (_, identity, dram)) in by_age.into_iter().enumerate() {
                let expected = (place < KNOWN).then_some(dram);
                prop_assert_eq!(known.kind(identity).map(Kind::sixteenths), expected);
            }
            prop_assert!(known.len() <= KNOWN);
        }
    }
}
