//! Division of a memory instruction into accesses that the banks, the L1 or the crossbar take one
//! by one.

use super::super::inflight::MemKind;
use super::super::l1::Access;
use super::piece::Piece;
use super::{Current, Done, Lsu, Surroundings};
use crate::memory::{Request, RequestKind};

impl Lsu {
    /// Issues accesses of the current instruction, and completes it after the last.
    pub(super) fn cut(&mut self, now: u64, around: &mut Surroundings<'_, '_>) {
        let Some(current) = &mut self.current else { return };
        let Current { mem, warp, dst, .. } = *current;
        let finished = match mem {
            MemKind::Shared { store } => {
                // A full pipeline keeps the last pass waiting.
                let waits = current.passes_left == 1 && !store && self.shared.is_full();
                if !waits {
                    around.counters[usize::from(current.kernel)].shared_passes += 1;
                    current.passes_left -= 1;
                }
                let finished = current.passes_left == 0;
                if finished && store {
                    self.done.push(Done::Passed { warp });
                } else if finished {
                    self.shared.push((now + self.shared_latency, warp, dst));
                }
                finished
            }
            MemKind::OffChip { store: false, atomic, texels, .. } if current.sectors_left == 0 => {
                // Without an active lane, or if all lanes fetched from the border of a texture,
                // nothing is awaited.
                self.all_arrived(self.kind(atomic, texels), warp, dst, now);
                true
            }
            MemKind::OffChip { store, atomic, bypass, texels } => {
                if bypass {
                    self.cut_past_l1(store, atomic, around);
                } else if texels && !store && self.texels.is_some() {
                    self.cut_into_texels(now, around);
                } else {
                    self.cut_into_l1(now, store, around);
                }
                let finished = self.current.as_ref().is_none_or(|current| current.sectors_left == 0);
                if finished && store {
                    self.done.push(Done::Passed { warp });
                }
                finished
            }
            MemKind::Constant => match &self.constant_cache {
                None => {
                    self.done.push(Done::Loaded { warp, dst });
                    true
                }
                Some(cache) => {
                    current.passes_left -= 1;
                    let finished = current.passes_left == 0;
                    if finished {
                        self.later.add(now + u64::from(cache.latency), warp, dst);
                    }
                    finished
                }
            },
            MemKind::Fence | MemKind::None => {
                self.done.push(Done::Fenced { warp });
                true
            }
        };
        if finished {
            self.current = None;
        }
    }

    /// Sends one sector, if there is one, to the crossbar, for any fetch size of the caches.
    fn cut_past_l1(&mut self, store: bool, atomic: bool, around: &mut Surroundings<'_, '_>) {
        let Some(current) = &mut self.current else { return };
        let Some(trace) = around.programs.get(current.kernel).and_then(|program| program.trace(|| current.part)) else { return };
        let kind = match (store, atomic) {
            (true, _) => RequestKind::Write,
            (_, true) => RequestKind::Atomic,
            _ => RequestKind::Read,
        };
        if current.sectors_left == 0 || !around.port.can_inject(kind) {
            return;
        }
        let piece = trace.sector(current.pattern + current.sectors_left - 1);
        let sector = current.base_sector + u64::from(piece.delta);
        let (tag, byte_mask) = if store { (current.store_tag(), piece.byte_mask) } else { (current.token, u32::MAX) };
        around.port.inject(Request { sector, byte_mask, more_sectors: 0, sm: self.sm, kernel: current.kernel, kind, tag });
        let counters = &mut around.counters[usize::from(current.kernel)];
        counters.past_l1_requests += 1;
        if store {
            counters.store_requests += 1;
            self.done.push(Done::StoreSent { warp: current.warp });
        } else {
            counters.load_requests += 1;
        }
        current.sectors_left -= 1;
    }

    /// Puts up to one access per bank into the L1.
    #[inline(always)]
    fn cut_into_l1(&mut self, now: u64, store: bool, around: &Surroundings<'_, '_>) {
        let Some(current) = &mut self.current else { return };
        let Some(trace) = around.programs.get(current.kernel).and_then(|program| program.trace(|| current.part)) else { return };
        let Current { warp, kernel, .. } = *current;
        let token = if store { current.store_tag() } else { current.token };
        for _ in 0..self.l1.banks() {
            if current.sectors_left == 0 {
                return;
            }
            let Piece { sector, byte_mask, more_sectors, taken } = current.highest(trace, self.l1.fetch_bits());
            let access = Access { sector, byte_mask, more_sectors, kernel, store, token };
            if !self.l1.enqueue(access, now) {
                return;
            }
            if store {
                self.done.push(Done::StoreSent { warp });
            }
            current.sectors_left -= taken;
        }
    }
}
