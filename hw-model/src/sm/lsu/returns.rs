//! Return path of the load/store unit: replies from the crossbar, and results on the way to
//! registers.

use super::super::inflight::NO_REG;
use super::{Done, Kind, Lsu, Outstanding, Surroundings, TAG_FILL, TAG_TEXELS};
use crate::memory::RequestKind;

/// Result that waits for the write-back port.
#[derive(Clone, Copy, Debug)]
pub(super) enum WriteBack {
    Shared { warp: u8, dst: u16 },
    Sector { token: u32 },
}

/// Number of write-back clients: shared memory, fills of the texture cache, bypassed sectors, L1
/// fills; in Accel-Sim's order.
const CLIENTS: u8 = 4;

impl Lsu {
    /// Writes the selected result, then selects the next one, round robin among the clients.
    pub(super) fn write_back(&mut self, now: u64, around: &mut Surroundings<'_, '_>) {
        if let Some(result) = self.writing {
            let (warp, dst) = match result {
                WriteBack::Shared { warp, dst } => (warp, dst),
                WriteBack::Sector { token } => (self.outstanding[token as usize].warp, self.outstanding[token as usize].dst),
            };
            if dst != NO_REG && !around.operands.write(usize::from(warp & around.sub_core_mask), warp, dst) {
                return;
            }
            self.writing = None;
            match result {
                WriteBack::Shared { warp, dst } => self.done.push(Done::Loaded { warp, dst }),
                WriteBack::Sector { token } => self.sector_arrived(token, now),
            }
        }
        let shared = self.shared.front().is_some_and(|&(cycle, ..)| cycle <= now);
        let texels = self.texels.as_ref().is_some_and(|texels| texels.cache.has_filled());
        let waiting =
            u8::from(shared) | u8::from(texels) << 1 | u8::from(self.bypassed.is_some()) << 2 | u8::from(self.l1.has_filled()) << 3;
        if waiting == 0 {
            return;
        }
        // The first client with a result, from the next in turn.
        let turns = (waiting | waiting << CLIENTS) >> self.turn;
        let client = (self.turn + turns.trailing_zeros() as u8) % CLIENTS;
        self.turn = (client + 1) % CLIENTS;
        self.writing = match client {
            0 => self.shared.pop().map(|(_, warp, dst)| WriteBack::Shared { warp, dst }),
            1 => self.texels.as_mut().and_then(|texels| texels.pop_filled()).map(|token| WriteBack::Sector { token }),
            2 => self.bypassed.take().map(|token| WriteBack::Sector { token }),
            _ => self.l1.pop_filled().map(|token| WriteBack::Sector { token }),
        };
    }

    pub(super) fn sector_arrived(&mut self, token: u32, now: u64) {
        let load = &mut self.outstanding[token as usize];
        load.pieces -= 1;
        if load.pieces == 0 {
            let Outstanding { warp, dst, kind, .. } = *load;
            self.free_tokens.push(token);
            self.all_arrived(kind, warp, dst, now);
        }
    }

    /// Handles a load or an atomic that has all its data.
    pub(super) fn all_arrived(&mut self, kind: Kind, warp: u8, dst: u16, now: u64) {
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.ended(warp);
        }
        if let Some(loads) = &mut self.loads {
            loads.ended(warp);
        }
        match kind {
            Kind::Load => self.done.push(Done::Loaded { warp, dst }),
            Kind::Atomic => self.done.push(Done::Atomic { warp, dst }),
            Kind::Texels => self.later.add(now + u64::from(self.texel_latency), warp, dst),
        }
    }

    pub(super) fn use_reply(&mut self, now: u64) {
        let Some(&(usable, reply)) = self.replies.front() else { return };
        if usable > now {
            return;
        }
        if reply.kind == RequestKind::Write {
            self.done.push(Done::StoreAcknowledged { warp: reply.tag as u8 });
            if let Some(in_flight) = &mut self.in_flight {
                in_flight.acknowledged(reply.tag >> u8::BITS, reply.tag as u8);
            }
        } else if reply.tag & TAG_FILL != 0 {
            self.l1.fill(reply.sector);
        } else if let (true, Some(texels)) = (reply.tag & TAG_TEXELS != 0, &mut self.texels) {
            texels.fill(reply.sector);
        } else if self.bypassed.is_none() {
            self.bypassed = Some(reply.tag);
        } else {
            return;
        }
        self.replies.pop();
    }
}
