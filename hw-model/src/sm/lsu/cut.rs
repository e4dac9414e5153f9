//! Cutting a memory instruction into the accesses that the banks, the L1 or the crossbar take one by one.

use super::super::inflight::MemKind;
use super::super::l1::Access;
use super::{Current, Done, Lsu, Surroundings};
use crate::memory::{Request, RequestKind};

impl Lsu {
    /// Hands accesses of the current instruction on; lets the instruction go when none is left.
    pub(super) fn cut(&mut self, now: u64, around: &mut Surroundings) {
        let Some(mut current) = self.current else { return };
        let warp = current.inst.warp;
        let finished = match current.inst.mem {
            MemKind::Shared { store } => {
                // A full pipeline keeps the last pass waiting.
                let waits = current.passes_left == 1 && !store && self.shared.is_full();
                if !waits {
                    around.counters[usize::from(current.kernel)].shared_passes += 1;
                    current.passes_left -= 1;
                }
                if current.passes_left > 0 {
                    false
                } else {
                    if store {
                        self.done.push(Done::Passed { warp });
                    } else {
                        self.shared.push((now + self.shared_latency, warp, current.inst.dst));
                    }
                    true
                }
            }
            MemKind::OffChip { store, atomic, bypass } => {
                self.cut_off_chip(now, &mut current, store, atomic, bypass, around);
                if current.sectors_left == 0 && store {
                    self.done.push(Done::Passed { warp });
                }
                current.sectors_left == 0
            }
            MemKind::Constant => {
                self.done.push(Done::Loaded { warp, dst: current.inst.dst });
                true
            }
            MemKind::Fence | MemKind::None => {
                self.done.push(Done::Fenced { warp });
                true
            }
        };
        self.current = (!finished).then_some(current);
    }

    fn cut_off_chip(&mut self, now: u64, current: &mut Current, store: bool, atomic: bool, bypass: bool, around: &mut Surroundings) {
        let Some(program) = around.programs.get(current.kernel) else { return };
        let sectors = program.trace.pattern(current.pattern);
        let warp = current.inst.warp;
        if sectors.is_empty() && !store {
            // No lane was active: nothing to wait for.
            let dst = current.inst.dst;
            self.done.push(if atomic { Done::Atomic { warp, dst } } else { Done::Loaded { warp, dst } });
            return;
        }
        let counters = &mut around.counters[usize::from(current.kernel)];
        // Past the L1 one sector leaves per cycle; into the L1 one per bank.
        let most = if bypass { 1 } else { self.l1.banks() };
        for _ in 0..most {
            if current.sectors_left == 0 {
                return;
            }
            let piece = sectors[current.sectors_left as usize - 1];
            let sector = current.base_sector + u64::from(piece.delta);
            if bypass {
                let kind = match (store, atomic) {
                    (true, _) => RequestKind::Write,
                    (_, true) => RequestKind::Atomic,
                    _ => RequestKind::Read,
                };
                if !around.memory.can_inject(self.sm, kind) {
                    return;
                }
                let (tag, byte_mask) = if store { (u32::from(warp), piece.byte_mask) } else { (current.token, u32::MAX) };
                around.memory.inject(Request { sector, byte_mask, sm: self.sm, kernel: current.kernel, kind, tag });
                if store {
                    counters.store_requests += 1;
                } else {
                    counters.load_requests += 1;
                }
            } else {
                let token = if store { u32::from(warp) } else { current.token };
                let access = Access { sector, byte_mask: piece.byte_mask, kernel: current.kernel, store, token };
                if !self.l1.enqueue(access, now) {
                    return;
                }
            }
            if store {
                self.done.push(Done::StoreSent { warp });
            }
            current.sectors_left -= 1;
        }
    }
}
