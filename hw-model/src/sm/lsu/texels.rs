//! Texture cache: fetches of texels and loads from surfaces use it instead of the L1 (sources.md
//! D141).
//!
//! It is a read-only cache with one bank, and MSHRs and a miss queue like those of the L1. It is
//! looked up and sends its misses in the same cycles as the L1, before it, as in Accel-Sim. Its
//! counters are separate from those of the L1.

use super::super::KERNEL_SLOTS;
use super::super::counters::KernelCounters;
use super::super::l1::{Access, L1, Lookup};
use super::piece::Piece;
use super::{Current, Lsu, Surroundings, TAG_TEXELS};
use crate::config::L1Config;

/// Texture cache.
#[derive(Clone, Debug)]
pub(super) struct TextureCache {
    pub(super) cache: L1,
    /// Counts of a look-up in the L1's counters, before they are added to those of the texture
    /// cache.
    counted: [KernelCounters; KERNEL_SLOTS],
}

impl TextureCache {
    pub(super) fn new(config: &L1Config, sm: u16) -> Self {
        TextureCache { cache: L1::new(config, sm, TAG_TEXELS), counted: Default::default() }
    }

    /// Handles the arrival of the fetch of `sector`.
    #[cold]
    #[inline(never)]
    pub(super) fn fill(&mut self, sector: u64) {
        self.cache.fill(sector);
    }

    /// Takes the next fetch whose sector has arrived.
    #[cold]
    #[inline(never)]
    pub(super) fn pop_filled(&mut self) -> Option<u32> {
        self.cache.pop_filled()
    }

    /// Looks up the head of the pipeline, if it is due.
    fn look_up(&mut self, now: u64, counters: &mut [KernelCounters]) -> Option<Lookup> {
        if self.cache.banks_due(now) == 0 {
            return None;
        }
        let found = self.cache.look_up(0, &mut self.counted);
        // Finds the only kernel of the look-up.
        let tried = |counted: &&mut KernelCounters| counted.l1_accesses + counted.l1_reservation_fails > 0;
        for (sum, counted) in counters.iter_mut().zip(&mut self.counted).filter(|(_, counted)| tried(counted)) {
            let KernelCounters { l1_accesses, l1_hits, l1_pending_hits, l1_misses, l1_reservation_fails, .. } = *counted;
            sum.texture_accesses += l1_accesses;
            sum.texture_hits += l1_hits + l1_pending_hits;
            sum.texture_misses += l1_misses;
            sum.texture_reservation_fails += l1_reservation_fails;
            sum.l1_load_misses += counted.l1_load_misses;
            sum.load_requests += counted.load_requests;
            *counted = KernelCounters::default();
        }
        Some(found)
    }
}

impl Lsu {
    /// Runs the texture cache's part of a cycle. Returns true if it refused a look-up.
    #[inline]
    pub(super) fn texels_cycle(&mut self, now: u64, around: &mut Surroundings<'_, '_>) -> bool {
        self.texels.is_some() && self.cycle_of_texels(now, around)
    }

    // Most GPUs have no texture cache and must not pay for a second use of the L1's code, which
    // is inlined there and called here.
    #[cold]
    #[inline(never)]
    fn cycle_of_texels(&mut self, now: u64, around: &mut Surroundings<'_, '_>) -> bool {
        let Some(texels) = &mut self.texels else { return false };
        texels.cache.send_miss(around.port);
        match texels.look_up(now, around.counters) {
            Some(Lookup::Hit(token)) => {
                self.sector_arrived(token, now);
                false
            }
            found => found == Some(Lookup::Failed),
        }
    }

    /// Puts one access into the texture cache.
    #[cold]
    #[inline(never)]
    pub(super) fn cut_into_texels(&mut self, now: u64, around: &Surroundings<'_, '_>) {
        let (Some(current), Some(texels)) = (&mut self.current, &mut self.texels) else { return };
        let Some(trace) = around.programs.get(current.kernel).and_then(|program| program.trace(|| current.part)) else { return };
        let Current { kernel, token, .. } = *current;
        let Piece { sector, byte_mask, more_sectors, taken } = current.highest(trace, texels.cache.fetch_bits());
        if texels.cache.enqueue(Access { sector, byte_mask, more_sectors, kernel, store: false, token }, now) {
            current.sectors_left -= taken;
        }
    }
}
