//! One L2 slice (memory sub-partition): a fixed delay, a write-back cache with MSHRs, and the queues around it.
//!
//! The order within a cycle is GPGPU-Sim's: answer one request whose data have come; take one fill from DRAM; send one
//! miss to DRAM; look one request up; let one request out of the delay. Lines are allocated on a miss; a write miss does
//! not fetch, and a read of a sector with unknown bytes does (lazy fetch on read). Writes are acknowledged when they are
//! looked up. Whatever a look-up lacks (line slot, MSHR, merge space, miss-queue entry) makes it a reservation failure
//! that is retried in the next cycle.

use super::counters::CounterTable;
use super::dram::DramRequest;
use super::packets::{L2Request, PacketId, Packets};
use super::{Request, RequestKind};
use crate::cache::{Evicted, Mshr, MshrRoom, Probe, TagArray, TagGeometry};
use crate::config::L2Config;
use crate::queue::{Queue, QueuePair};

/// GPGPU-Sim keeps this many places free in the queue before the cache when it accepts a packet: a packet could be cut
/// into that many sectors.
const SECTORS_PER_PACKET: u32 = 4;

/// A request that waits for its sector. What it is need not be looked up when the sector comes, unless it is an atomic.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    id: PacketId,
    atomic: bool,
}

/// A request that is answered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    pub(super) id: PacketId,
    /// The look-up found its bytes: a bit of the reply, which the SM counts.
    pub(super) hit: bool,
}

/// One slice.
#[derive(Clone, Debug)]
pub(super) struct L2Slice {
    latency: u64,
    /// Bytes that a port moves per cycle, a power of two: its logarithm.
    port_bits: u32,
    line_sectors: u64,
    /// The fixed delay, and the requests that have left it for the look-up; with the cycle in which they may leave.
    requests: QueuePair<(u64, PacketId)>,
    /// The miss queue, and the misses that the channel may take.
    pub(super) misses: QueuePair<DramRequest>,
    /// Sectors that have come.
    pub(super) from_dram: Queue<u64>,
    pub(super) to_crossbar: Queue<Answer>,
    pub(super) tags: TagArray,
    mshr: Mshr<Waiting>,
    data_port_free_at: u64,
    fill_port_free_at: u64,
}

impl L2Slice {
    pub(super) fn new(config: &L2Config) -> Self {
        let queues = &config.queues;
        L2Slice {
            latency: config.latency.into(),
            port_bits: config.port_bytes.trailing_zeros(),
            line_sectors: u64::from(config.line_bytes / config.sector_bytes),
            // At one arrival per cycle the delay holds its length; the queue after it stops arrivals before it backs up.
            requests: QueuePair::new(config.latency + queues.from_crossbar, queues.from_crossbar),
            misses: QueuePair::new(config.miss_queue, queues.to_dram),
            from_dram: Queue::new(queues.from_dram),
            to_crossbar: Queue::new(queues.to_crossbar),
            tags: TagArray::new(TagGeometry {
                sets: config.sets,
                ways: config.ways,
                sectors_per_line: config.line_bytes / config.sector_bytes,
                index: config.index,
                modified_floor_percent: 0,
            }),
            mshr: Mshr::new(config.mshrs, config.mshr_merges),
            data_port_free_at: 0,
            fill_port_free_at: 0,
        }
    }

    /// Whether a packet can be taken from the crossbar.
    #[inline]
    pub(super) fn can_accept(&self) -> bool {
        self.requests.second_room() >= SECTORS_PER_PACKET.min(self.requests.second_capacity())
    }

    /// Takes a packet from the crossbar in cycle `now`. Returns the cycle in which it leaves the delay.
    #[inline]
    pub(super) fn accept(&mut self, request: PacketId, now: u64) -> u64 {
        self.requests.push((now + self.latency, request));
        now + self.latency
    }

    /// Runs cycle `now`. Returns whether the channel should look again: there is something new for it, or new room.
    pub(super) fn cycle(&mut self, now: u64, packets: &Packets, counters: &mut CounterTable) -> bool {
        if self.mshr.has_ready()
            && !self.to_crossbar.is_full()
            && let Some((_, answered)) = self.mshr.pop_ready()
        {
            self.to_crossbar.push(Answer { id: answered.id, hit: false });
        }
        let mut call_channel = self.fill(now, packets);
        call_channel |= self.misses.pass_if(|_| true);
        if now >= self.data_port_free_at
            && self.misses.second_room() > 0
            && !self.to_crossbar.is_full()
            && let Some(&(_, id)) = self.requests.front()
        {
            let request = packets.get(id);
            if self.look_up(id, request, now, counters) {
                self.requests.pop();
            } else {
                counters.of(request.request.kernel).l2_reservation_fails += 1;
            }
        }
        self.requests.pass_if(|&(ready, _)| ready <= now);
        call_channel
    }

    /// The next cycle after `now` in which something may happen unless a packet or data arrive.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> u64 {
        let has_miss = self.misses.first_front().is_some();
        if self.mshr.has_ready() | !self.from_dram.is_empty() | has_miss | !self.requests.second_is_empty() {
            return now + 1;
        }
        self.requests.first_front().map_or(u64::MAX, |&(ready, _)| ready.max(now + 1))
    }

    /// Cycles for which so many sectors keep a port.
    #[inline]
    fn port_cycles(&self, sectors: u8) -> u64 {
        (u64::from(sectors) * 32 + (1 << self.port_bits) - 1) >> self.port_bits
    }

    /// The sectors awaited.
    #[cfg(test)]
    pub(super) fn mshr(&self) -> &Mshr<Waiting> {
        &self.mshr
    }

    /// Nothing in the slice but tags.
    pub(super) fn is_idle(&self) -> bool {
        self.next_event(0) == u64::MAX && self.mshr.is_empty() && self.misses.is_empty() && self.to_crossbar.is_empty()
    }

    /// Takes one fill. Returns whether the queue from DRAM was full and is not any more.
    fn fill(&mut self, now: u64, packets: &Packets) -> bool {
        if now < self.fill_port_free_at {
            return false;
        }
        let was_full = self.from_dram.is_full();
        let Some(sector) = self.from_dram.pop() else { return false };
        self.fill_port_free_at = now + self.port_cycles(1);
        let atomic = self.mshr.fill(sector).and_then(|mut requests| requests.find(|waiting| waiting.atomic));
        let atomic = atomic.map(|waiting| packets.get(waiting.id).request);
        if let (Some(slot), Some(atomic)) = (self.tags.fill(sector), atomic) {
            self.tags.write(sector, slot, atomic.byte_mask, Probe::Hit(slot));
        }
        was_full
    }

    /// Looks a request up. Returns whether it was accepted; nothing has changed if not.
    fn look_up(&mut self, id: PacketId, request: &L2Request, now: u64, counters: &mut CounterTable) -> bool {
        let &L2Request { request: Request { kind, byte_mask, kernel, .. }, local } = request;
        let is_write = kind == RequestKind::Write;
        let probe = self.tags.probe(local, is_write);
        if probe == Probe::Full {
            return false;
        }
        if let Probe::Hit(slot) = probe {
            self.tags.access(local, probe);
            if kind != RequestKind::Read {
                self.tags.write(local, slot, byte_mask, probe);
            }
            let counters = counters.of(kernel);
            *(if is_write { &mut counters.l2_write_hits } else { &mut counters.l2_read_hits }) += 1;
            self.data_port_free_at = now + self.port_cycles(1);
            self.to_crossbar.push(Answer { id, hit: true });
            return true;
        }
        // A read miss may need two places in the miss queue, for itself and for a write-back; GPGPU-Sim asks for the
        // second even of a read that merges, and of a write for one only.
        if self.misses.first_room() < if is_write { 1 } else { 2 } {
            return false;
        }
        let room = self.mshr.room(local);
        if !is_write && matches!(room, MshrRoom::EntriesFull | MshrRoom::MergesFull) {
            return false;
        }
        let (slot, evicted) = self.tags.access(local, probe);
        if is_write {
            self.tags.write(local, slot, byte_mask, probe);
            self.to_crossbar.push(Answer { id, hit: false });
        } else {
            // The line may have been evicted while requests for it were still being answered.
            if room == MshrRoom::Merge && self.mshr.has_arrived(local) {
                self.tags.fill(local);
                if kind == RequestKind::Atomic {
                    self.tags.write(local, slot, byte_mask, Probe::Hit(slot));
                }
            }
            self.mshr.add(local, Waiting { id, atomic: kind == RequestKind::Atomic });
            if room == MshrRoom::New {
                self.misses.push(DramRequest { sector: local, atoms: 1, is_write: false, kernel, ..DramRequest::default() });
            }
        }
        let counters = counters.of(kernel);
        match (probe, is_write) {
            (Probe::HitReserved(_), _) => counters.l2_pending_hits += 1,
            (_, true) => counters.l2_write_misses += 1,
            (_, false) => counters.l2_read_misses += 1,
        }
        if let Some(Evicted { line, modified }) = evicted {
            let atoms = modified.count_ones() as u8;
            counters.l2_write_back_sectors += u64::from(atoms);
            self.misses.push(DramRequest { sector: line * self.line_sectors, atoms, is_write: true, kernel, ..DramRequest::default() });
            self.data_port_free_at = now + self.port_cycles(atoms);
        }
        true
    }
}
