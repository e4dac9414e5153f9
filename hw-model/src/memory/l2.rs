//! L2 slice (memory sub-partition): a fixed delay, a write-back cache with MSHRs, and the queues
//! around it.
//!
//! The order within a cycle is GPGPU-Sim's: answer one request whose data have arrived; take one
//! fill from DRAM; send one miss to DRAM; look up one request; let one request out of the delay.
//! Lines are allocated on a miss. A write miss either does not fetch, and a later read of a sector
//! with unknown bytes does (lazy fetch on read); or it is forwarded to DRAM and fetches at once
//! ([`L2WriteMiss`]). Writes are acknowledged at their look-up, or by DRAM if they are forwarded. A
//! look-up that lacks a line slot, an MSHR, merge space or a miss-queue entry is a reservation
//! fail. It is retried in the next cycle.

use super::counters::{CounterTable, MemoryCounters};
use super::dram::DramRequest;
use super::packets::{L2Request, NO_PACKET, PacketId, Packets};
use super::{Request, RequestKind};
use crate::cache::{Evicted, Mshr, MshrRoom, Probe, TagArray, TagGeometry};
use crate::config::{L2Config, L2WriteMiss, LEAST_FETCHING_MISS_QUEUE};
use crate::queue::{Queue, QueuePair};

/// Number of free entries that GPGPU-Sim requires in the queue before the cache to accept a packet:
/// a packet could be divided into that many sectors.
const SECTORS_PER_PACKET: u32 = 4;

/// Request that waits for its sector. Its kind is stored, so that only an atomic is looked up again
/// when the sector arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    /// Packet, or [`NO_PACKET`] where a write's allocation fetches.
    id: PacketId,
    atomic: bool,
}

/// Answered request.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answer {
    pub(super) id: PacketId,
    /// True if the look-up hit: a bit of the reply, which the SM counts.
    pub(super) hit: bool,
}

/// Arrival from DRAM: a fetch, from this sector on, or the completion of a write, which answers a
/// packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrived {
    pub(super) sector: u64,
    pub(super) answers: PacketId,
}

/// L2 slice.
#[derive(Clone, Debug)]
pub(super) struct L2Slice {
    latency: u64,
    /// Logarithm of the bytes that a port moves per cycle, a power of two.
    port_bits: u32,
    /// Logarithm of the sectors per fetch, a power of two.
    fetch_bits: u32,
    write_miss: L2WriteMiss,
    line_sectors: u64,
    /// Requests in the fixed delay, and those that have left it for the look-up; with the cycle in
    /// which they may leave.
    requests: QueuePair<(u64, PacketId)>,
    /// Miss queue, and misses that the channel may take.
    pub(super) misses: QueuePair<DramRequest>,
    pub(super) from_dram: Queue<Arrived>,
    pub(super) to_crossbar: Queue<Answer>,
    pub(super) tags: TagArray,
    mshr: Mshr<Waiting>,
    data_port_free_at: u64,
    fill_port_free_at: u64,
    /// Cycles for which a fill occupies its port.
    fill_cycles: u64,
}

impl L2Slice {
    pub(super) fn new(config: &L2Config) -> Self {
        let queues = &config.queues;
        L2Slice {
            latency: config.latency.into(),
            port_bits: config.port_bytes.trailing_zeros(),
            fetch_bits: config.fetch_bits(),
            write_miss: config.write_miss,
            line_sectors: u64::from(config.line_bytes / config.sector_bytes) << config.fetch_bits(),
            // At one arrival per cycle the delay keeps its length; the queue after it stops
            // arrivals before it backs up.
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
            })
            .with_partition(config.partition.as_ref(), config.ways),
            mshr: Mshr::new(config.mshrs, config.mshr_merges),
            data_port_free_at: 0,
            fill_port_free_at: 0,
            fill_cycles: config.sector_bytes.div_ceil(config.port_bytes).into(),
        }
    }

    /// True if a packet can be accepted from the crossbar.
    #[inline]
    pub(super) fn can_accept(&self) -> bool {
        self.requests.second_room() >= SECTORS_PER_PACKET.min(self.requests.second_capacity())
    }

    /// Accepts a packet from the crossbar in cycle `now`. Returns the cycle in which it leaves the
    /// delay.
    #[inline]
    pub(super) fn accept(&mut self, request: PacketId, now: u64) -> u64 {
        self.requests.push((now + self.latency, request));
        now + self.latency
    }

    /// Runs cycle `now`. Returns true if the channel should read the queues again: there is a new
    /// entry for it, or new space.
    pub(super) fn cycle(&mut self, now: u64, packets: &Packets, counters: &mut CounterTable) -> bool {
        if self.mshr.has_ready()
            && !self.to_crossbar.is_full()
            && let Some((_, answered)) = self.mshr.pop_ready()
            && answered.id != NO_PACKET
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
            self.tags.turn(now + 1);
            if self.look_up(id, request, now, counters) {
                self.requests.pop();
            } else {
                counters.of(request.request.kernel).l2_reservation_fails += 1;
            }
        }
        self.requests.pass_if(|&(ready, _)| ready <= now);
        call_channel
    }

    /// Next cycle after `now` in which anything may happen unless a packet or data arrive.
    #[inline]
    pub(super) fn next_event(&self, now: u64) -> u64 {
        let has_miss = self.misses.first_front().is_some();
        if self.mshr.has_ready() | !self.from_dram.is_empty() | has_miss | !self.requests.second_is_empty() {
            return now + 1;
        }
        self.requests.first_front().map_or(u64::MAX, |&(ready, _)| ready.max(now + 1))
    }

    /// Cycles for which this number of sectors occupies a port.
    #[inline]
    fn port_cycles(&self, sectors: u8) -> u64 {
        (u64::from(sectors) * 32 + (1 << self.port_bits) - 1) >> self.port_bits
    }

    /// MSHRs of the slice.
    #[cfg(test)]
    pub(super) fn mshr(&self) -> &Mshr<Waiting> {
        &self.mshr
    }

    /// Loads a local sector at once, with the rest of its fetch unit.
    pub(super) fn preload(&mut self, sector: u64) {
        self.tags.preload(sector >> self.fetch_bits);
    }

    /// True if the slice holds nothing but tags.
    pub(super) fn is_idle(&self) -> bool {
        self.next_event(0) == u64::MAX && self.mshr.is_empty() && self.misses.is_empty() && self.to_crossbar.is_empty()
    }

    /// Takes one fill, or one write acknowledgment. Returns true if the queue from DRAM was full
    /// and is not any more.
    fn fill(&mut self, now: u64, packets: &Packets) -> bool {
        let Some(&Arrived { sector, answers }) = self.from_dram.front() else { return false };
        let busy = if answers == NO_PACKET { now < self.fill_port_free_at } else { self.to_crossbar.is_full() };
        if busy {
            return false;
        }
        let was_full = self.from_dram.is_full();
        self.from_dram.pop();
        if answers != NO_PACKET {
            self.to_crossbar.push(Answer { id: answers, hit: false });
            return was_full;
        }
        self.fill_port_free_at = now + self.fill_cycles;
        let sector = sector >> self.fetch_bits;
        let atomic = self.mshr.fill(sector).and_then(|mut requests| requests.find(|waiting| waiting.atomic));
        let atomic = atomic.map(|waiting| packets.get(waiting.id).request);
        if let (Some(slot), Some(atomic)) = (self.tags.fill(sector), atomic) {
            self.tags.write(sector, slot, atomic.byte_mask, Probe::Hit(slot));
        }
        was_full
    }

    /// Looks up a request. Returns true if it was accepted; otherwise nothing has changed.
    fn look_up(&mut self, id: PacketId, request: &L2Request, now: u64, counters: &mut CounterTable) -> bool {
        let &L2Request { request: Request { kind, byte_mask, more_sectors, kernel, .. }, local } = request;
        let is_write = kind == RequestKind::Write;
        let local = local >> self.fetch_bits;
        let probe = self.tags.probe(local, is_write, kernel);
        if probe == Probe::Full {
            return false;
        }
        if let Probe::Hit(slot) = probe {
            self.touch(local, probe, kernel, counters);
            if kind != RequestKind::Read {
                self.tags.write(local, slot, byte_mask, probe);
            }
            let counters = counters.of(kernel);
            *(if is_write { &mut counters.l2_write_hits } else { &mut counters.l2_read_hits }) += 1;
            self.data_port_free_at = now + self.port_cycles(1 + more_sectors);
            self.to_crossbar.push(Answer { id, hit: true });
            return true;
        }
        if is_write && self.write_miss == L2WriteMiss::Fetch {
            return self.write_and_fetch(id, request, probe, now, counters);
        }
        // A read miss may need two entries in the miss queue, for itself and for a write-back.
        // GPGPU-Sim requires the second even for a read that merges, and only one for a write.
        if self.misses.first_room() < if is_write { 1 } else { 2 } {
            return false;
        }
        let room = self.mshr.room(local);
        if !is_write && matches!(room, MshrRoom::EntriesFull | MshrRoom::MergesFull) {
            return false;
        }
        let (slot, evicted) = self.touch(local, probe, kernel, counters);
        if is_write {
            self.tags.write(local, slot, byte_mask, probe);
            self.to_crossbar.push(Answer { id, hit: false });
        } else {
            let has_come = self.wait(local, room, Waiting { id, atomic: kind == RequestKind::Atomic }, kernel);
            if has_come && kind == RequestKind::Atomic {
                self.tags.write(local, slot, byte_mask, Probe::Hit(slot));
            }
        }
        count_miss(counters.of(kernel), probe, is_write);
        self.write_back(evicted, kernel, now, counters);
        true
    }

    /// Performs the access of `kernel` that `probe` described. Returns its line's slot, and the
    /// evicted line.
    #[inline(always)]
    fn touch(&mut self, local: u64, probe: Probe, kernel: u8, counters: &mut CounterTable) -> (u32, Option<Evicted>) {
        if self.tags.is_watched(local) {
            counters.of(kernel).l2_monitor_accesses += 1;
        }
        if self.tags.is_owned() && probe == Probe::LineMiss {
            counters.of(kernel).l2_owner_accesses += 1;
        }
        self.tags.access(local, probe, kernel)
    }

    /// Forwards a write miss to DRAM and fetches its sector. Returns true if it was accepted;
    /// otherwise nothing has changed.
    #[inline(never)]
    fn write_and_fetch(&mut self, id: PacketId, request: &L2Request, probe: Probe, now: u64, counters: &mut CounterTable) -> bool {
        let &L2Request { request: Request { more_sectors, kernel, .. }, local: sector } = request;
        let local = sector >> self.fetch_bits;
        let room = self.mshr.room(local);
        if self.misses.first_room() < LEAST_FETCHING_MISS_QUEUE || matches!(room, MshrRoom::EntriesFull | MshrRoom::MergesFull) {
            return false;
        }
        let (_, evicted) = self.touch(local, probe, kernel, counters);
        let atoms = 1 + more_sectors;
        self.misses.push(DramRequest { sector, answers: id, atoms, is_write: true, kernel, ..DramRequest::default() });
        self.wait(local, room, Waiting { id: NO_PACKET, atomic: false }, kernel);
        count_miss(counters.of(kernel), probe, true);
        self.write_back(evicted, kernel, now, counters);
        true
    }

    /// Adds `waiting` to the MSHR of fetch `local`, for which `room` was returned. Returns true if
    /// the data has arrived: the line may have been evicted while its requests were still being
    /// answered.
    #[inline(always)]
    fn wait(&mut self, local: u64, room: MshrRoom, waiting: Waiting, kernel: u8) -> bool {
        let has_come = room == MshrRoom::Merge && self.mshr.has_arrived(local);
        if has_come {
            self.tags.fill(local);
        }
        self.mshr.add(local, waiting);
        if room == MshrRoom::New {
            let (sector, atoms) = (local << self.fetch_bits, 1 << self.fetch_bits);
            self.misses.push(DramRequest { sector, atoms, kernel, ..DramRequest::default() });
        }
        has_come
    }

    /// Writes the modified sectors of an evicted line to DRAM.
    #[inline(always)]
    fn write_back(&mut self, evicted: Option<Evicted>, kernel: u8, now: u64, counters: &mut CounterTable) {
        let Some(Evicted { line, modified }) = evicted else { return };
        let atoms = (modified.count_ones() << self.fetch_bits) as u8;
        counters.of(kernel).l2_write_back_sectors += u64::from(atoms);
        self.misses.push(DramRequest { sector: line * self.line_sectors, atoms, is_write: true, kernel, ..DramRequest::default() });
        self.data_port_free_at = now + self.port_cycles(atoms);
    }
}

/// Counts an accepted look-up that did not hit.
#[inline(always)]
fn count_miss(counters: &mut MemoryCounters, probe: Probe, is_write: bool) {
    match (probe, is_write) {
        (Probe::HitReserved(_), _) => counters.l2_pending_hits += 1,
        (_, true) => counters.l2_write_misses += 1,
        (_, false) => counters.l2_read_misses += 1,
    }
}
