//! L1 data cache: a latency pipeline per bank, sectored tags, MSHRs and the miss queue to the
//! crossbar (sources.md D62 and D87).
//!
//! An access waits `latency` cycles in its bank's pipeline and is then looked up. If it lacks a
//! line, an MSHR or a miss-queue entry, it stays at the head of its bank and retries in the next
//! cycle: a reservation fail, which changes no state. By option ([`L1Lookup::AtHead`]) the pipeline
//! before the look-up has one entry. A refused access then blocks the load/store unit, and the data
//! of a hit takes the latency.

mod partition;

use super::counters::KernelCounters;
use super::miss_resources::MissResources;
use super::refused::{Lack, Refused};
use crate::cache::{Mshr, MshrRoom, Probe, TagArray, TagGeometry};
use crate::config::{L1Config, L1Lookup, L1Write};
use crate::memory::{Port, Request, RequestKind};
use crate::queue::Queue;

/// Maximum number of banks ([`GpuConfig::check`](crate::config::GpuConfig::check)).
const MAX_BANKS: usize = 32;

/// Due cycle of a bank without accesses.
const EMPTY: u64 = u64::MAX;

/// Access to a sector, or to a part of a line in a cache without sectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Access {
    /// First sector of the access.
    pub sector: u64,
    pub byte_mask: u32,
    pub more_sectors: u8,
    pub kernel: u8,
    pub store: bool,
    /// Waiting load, or the warp of a store.
    pub token: u32,
}

/// Result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    /// The data of the load with this token is present.
    Hit(u32),
    /// The load waits for its sector, or the store was sent on.
    Accepted,
    /// The access must retry in the next cycle.
    Failed,
}

#[derive(Clone, Debug)]
struct Bank {
    /// Accesses with the first cycle of their look-up.
    pipeline: Queue<(Access, u64)>,
    /// Cycle of the last entry; one per cycle.
    entered: u64,
}

/// L1 data cache.
#[derive(Clone, Debug)]
pub(super) struct L1 {
    sm: u16,
    /// Tag of the requests that fill the cache.
    fill_tag: u32,
    /// Logarithm of the sectors per fetch, a power of two.
    fetch_bits: u32,
    /// Cycles before a look-up, and after one that hits.
    latency: u64,
    hit_latency: u64,
    write: L1Write,
    bank_mask: u64,
    banks: Vec<Bank>,
    /// Hits in flight: cycle of arrival and token.
    hits: Queue<(u64, u32)>,
    refused: Refused,
    /// Per bank, the cycle in which the head of its pipeline is due; [`EMPTY`] if there is none.
    due: [u64; MAX_BANKS],
    /// Earliest cycle in which the head of a bank's pipeline is due.
    first_due: u64,
    tags: TagArray,
    used: bool,
    mshr: Mshr<u32>,
    misses: Queue<Request>,
    /// Division of the miss resources among kernels; none: first come, first served.
    divided: Option<Box<MissResources>>,
    /// Tokens of loads that have missed since the last query; none where this is not needed.
    missed: Option<Vec<u32>>,
}

// Code that runs in every cycle is inlined into the SM's code, as if it had one caller. The texture
// cache, which few GPUs have, calls it (lsu/texels.rs).
impl L1 {
    /// Creates the cache; `fill_tag` marks the requests that fill it.
    pub(super) fn new(config: &L1Config, sm: u16, fill_tag: u32) -> Self {
        let geometry = TagGeometry {
            sets: config.sets,
            ways: config.ways,
            sectors_per_line: config.line_bytes / config.sector_bytes,
            index: config.index,
            modified_floor_percent: config.modified_floor_percent,
        };
        let before = match config.lookup {
            L1Lookup::AfterLatency => config.latency,
            L1Lookup::AtHead => 1,
        };
        let after = config.latency - before;
        let bank = Bank { pipeline: Queue::new(before), entered: u64::MAX };
        let divided = MissResources::new(config).map(Box::new);
        let tags = TagArray::new(geometry).with_partition(config.partition.as_ref(), config.most_ways());
        L1 {
            sm,
            fill_tag,
            fetch_bits: config.fetch_bits(),
            latency: before.into(),
            hit_latency: after.into(),
            write: config.write,
            bank_mask: u64::from(config.banks) - 1,
            banks: vec![bank; config.banks as usize],
            hits: Queue::new(after * config.banks),
            refused: Refused::default(),
            due: [EMPTY; MAX_BANKS],
            first_due: EMPTY,
            tags: if divided.is_some() { tags.with_awaited() } else { tags },
            used: false,
            mshr: Mshr::new(config.mshrs, config.mshr_merges),
            misses: Queue::new(config.miss_queue),
            divided,
            missed: None,
        }
    }

    /// Records loads that have missed ([`L1::take_missed`]).
    pub(super) fn with_misses_told(mut self) -> Self {
        self.missed = Some(Vec::with_capacity(self.banks.len()));
        self
    }

    /// Takes the token of a load that has missed.
    pub(super) fn take_missed(&mut self) -> Option<u32> {
        self.missed.as_mut().and_then(Vec::pop)
    }

    /// Number of sectors that can be accepted per cycle, one per bank.
    pub(super) fn banks(&self) -> usize {
        self.banks.len()
    }

    /// Logarithm of the sectors per fetch, a power of two.
    #[inline]
    pub(super) fn fetch_bits(&self) -> u32 {
        self.fetch_bits
    }

    /// True if anything was looked up since the last reset.
    pub(super) fn used(&self) -> bool {
        self.used
    }

    /// Number of sectors in flight (MSHR entries).
    pub(super) fn outstanding(&self) -> u32 {
        self.mshr.len()
    }

    /// True if there is work in the next cycle in any case.
    pub(super) fn is_busy(&self) -> bool {
        !self.misses.is_empty() || self.mshr.has_ready()
    }

    /// True if nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        self.next_lookup().is_none() && self.misses.is_empty() && self.mshr.is_empty()
    }

    /// Earliest cycle with a due look-up or the data of a hit.
    pub(super) fn next_lookup(&self) -> Option<u64> {
        let next = if self.hits.is_empty() { self.first_due } else { self.first_due.min(self.hits.front().map_or(EMPTY, |&(due, _)| due)) };
        (next != EMPTY).then_some(next)
    }

    /// Puts an access into its bank's pipeline; false if the bank took one this cycle or is full.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, access: Access, now: u64) -> bool {
        let number = (access.sector & self.bank_mask) as usize;
        let bank = &mut self.banks[number];
        if bank.entered == now || bank.pipeline.is_full() {
            return false;
        }
        bank.entered = now;
        let due = now + self.latency;
        bank.pipeline.push((access, due));
        self.due[number] = self.due[number].min(due);
        self.first_due = self.first_due.min(due);
        true
    }

    /// Mask of banks whose head is due.
    #[inline(always)]
    pub(super) fn banks_due(&self, now: u64) -> u32 {
        if self.first_due > now {
            return 0;
        }
        let due = self.due[..self.banks.len().min(MAX_BANKS)].iter();
        due.enumerate().fold(0, |set, (bank, &due)| set | u32::from(due <= now) << bank)
    }

    /// Looks up the head of a bank, which must be due, counts it, and removes it unless it failed.
    #[inline(always)]
    pub(super) fn look_up(&mut self, bank: usize, counters: &mut [KernelCounters]) -> Lookup {
        let access = self.banks[bank].pipeline.front().expect("a due bank has a head").0;
        let counters = &mut counters[usize::from(access.kernel)];
        if self.refused.has(bank) {
            counters.l1_reservation_fails += 1;
            return Lookup::Failed;
        }
        self.used = true;
        let fetched = access.sector >> self.fetch_bits;
        let probe = self.tags.probe(fetched, access.store, access.kernel);
        let lookup =
            if access.store { self.store(&access, fetched, probe, counters) } else { self.load(&access, fetched, probe, counters) };
        let lookup = match lookup {
            Ok(lookup) => lookup,
            Err(lack) => {
                counters.l1_reservation_fails += 1;
                self.refused.add(bank, lack);
                return Lookup::Failed;
            }
        };
        if access.store {
            self.refused.store_accepted();
        }
        counters.l1_accesses += 1;
        match probe {
            Probe::Hit(_) => counters.l1_hits += 1,
            Probe::HitReserved(_) => counters.l1_pending_hits += 1,
            Probe::SectorMiss(_) | Probe::LineMiss | Probe::Full => counters.l1_misses += 1,
        }
        if access.store {
            counters.store_requests += 1;
        }
        let queue = &mut self.banks[bank].pipeline;
        queue.pop();
        self.due[bank] = queue.front().map_or(EMPTY, |&(_, due)| due);
        self.first_due = self.due[..self.banks.len().min(MAX_BANKS)].iter().fold(EMPTY, |first, &due| first.min(due));
        lookup
    }

    /// Performs a load; `fetched` is the number of the fetched unit.
    #[inline(always)]
    fn load(&mut self, access: &Access, fetched: u64, probe: Probe, counters: &mut KernelCounters) -> Result<Lookup, Lack> {
        match probe {
            Probe::Hit(_) => {
                self.touch(fetched, probe, access.kernel, counters);
                return Ok(Lookup::Hit(access.token));
            }
            Probe::Full => return Err(Lack::Line),
            Probe::HitReserved(_) | Probe::SectorMiss(_) | Probe::LineMiss => {}
        }
        let mut counts = 0;
        if let Some(divided) = &self.divided
            && let Some(awaited) = self.tags.awaited(fetched, probe, access.kernel)
        {
            if !divided.line(access.kernel, awaited) {
                return Err(Lack::Line);
            }
            counts += divided.counts_each();
        }
        // Accel-Sim keeps one entry in reserve for every load that does not hit, including merges.
        if self.misses.room() < 2 {
            return Err(Lack::Queue);
        }
        let mut here = false;
        match self.mshr.room(fetched) {
            // The line may have been evicted while its requests were still being answered.
            MshrRoom::Merge => here = self.mshr.has_arrived(fetched),
            MshrRoom::New => {
                if let Some(divided) = &mut self.divided {
                    if !divided.queue(access.kernel) {
                        return Err(Lack::Queue);
                    }
                    if !divided.mshr(access.kernel) {
                        return Err(Lack::Mshr);
                    }
                    divided.queued(access.kernel);
                    divided.missed(access.kernel);
                    counts += 2 * divided.counts_each();
                }
                counters.load_requests += 1;
                counters.l1_load_misses += 1;
                self.misses.push(Request {
                    sector: fetched << self.fetch_bits,
                    byte_mask: u32::MAX,
                    more_sectors: (1 << self.fetch_bits) - 1,
                    sm: self.sm,
                    kernel: access.kernel,
                    kind: RequestKind::Read,
                    tag: self.fill_tag,
                });
            }
            MshrRoom::MergesFull | MshrRoom::EntriesFull => return Err(Lack::Mshr),
        }
        counters.sharing_counts += counts;
        self.touch(fetched, probe, access.kernel, counters);
        if here {
            self.tags.fill(fetched);
        }
        let room = self.mshr.add(fetched, access.token);
        if self.divided.is_some() {
            self.refused.line_awaited();
            if room == MshrRoom::New {
                self.mshr.own(fetched, access.kernel);
            }
        }
        if let Some(missed) = &mut self.missed {
            missed.push(access.token);
        }
        Ok(Lookup::Accepted)
    }

    /// Performs the access that `probe` described. Returns its line's slot.
    #[inline(always)]
    fn touch(&mut self, fetched: u64, probe: Probe, kernel: u8, counters: &mut KernelCounters) -> u32 {
        let (slot, _) = self.tags.access(fetched, probe, kernel);
        if self.tags.is_owned() {
            counters.l1_monitor_accesses += u64::from(self.tags.is_watched(fetched));
            counters.l1_owner_accesses += u64::from(probe == Probe::LineMiss);
            self.refused.line_taken();
        }
        slot
    }

    #[inline(always)]
    fn store(&mut self, access: &Access, fetched: u64, probe: Probe, counters: &mut KernelCounters) -> Result<Lookup, Lack> {
        if self.misses.is_full() || self.divided.as_ref().is_some_and(|divided| !divided.queue(access.kernel)) {
            return Err(Lack::Queue);
        }
        if probe == Probe::Full && self.write == L1Write::ThroughAllocate {
            return Err(Lack::Line);
        }
        match (self.write, probe) {
            (L1Write::ThroughAllocate, _) => {
                let slot = self.touch(fetched, probe, access.kernel, counters);
                self.tags.write(fetched, slot, access.byte_mask, probe);
            }
            (L1Write::Evict, Probe::Hit(_)) => self.tags.invalidate(fetched),
            (L1Write::Evict, _) => {}
        }
        if let Some(divided) = &mut self.divided {
            divided.queued(access.kernel);
            counters.sharing_counts += divided.counts_each();
        }
        self.misses.push(Request {
            sector: access.sector,
            byte_mask: access.byte_mask,
            more_sectors: access.more_sectors,
            sm: self.sm,
            kernel: access.kernel,
            kind: RequestKind::Write,
            tag: access.token,
        });
        Ok(Lookup::Accepted)
    }

    /// Sends the oldest miss if the crossbar has space.
    #[inline(always)]
    pub(super) fn send_miss(&mut self, port: &mut Port<'_>) {
        if let Some(&request) = self.misses.front()
            && port.can_inject(request.kind)
        {
            self.misses.pop();
            if let Some(divided) = &mut self.divided {
                divided.sent(request.kernel);
            }
            self.refused.miss_sent();
            port.inject(request);
        }
    }

    /// Handles the arrival of the fetch of `sector`.
    #[inline(always)]
    pub(super) fn fill(&mut self, sector: u64) {
        self.refused.sector_arrived();
        self.tags.fill(sector >> self.fetch_bits);
        self.mshr.fill(sector >> self.fetch_bits);
    }

    /// True if a load can be notified that its sector has arrived.
    pub(super) fn has_filled(&self) -> bool {
        self.mshr.has_ready()
    }

    /// Records a load hit. Returns true if its data is available now, else it comes later
    /// ([`L1::pop_hit`]).
    #[inline]
    pub(super) fn hit(&mut self, token: u32, now: u64) -> bool {
        if self.hit_latency > 0 {
            self.hits.push((now + self.hit_latency, token));
        }
        self.hit_latency == 0
    }

    /// Takes a load hit whose data is available.
    #[inline]
    pub(super) fn pop_hit(&mut self, now: u64) -> Option<u32> {
        self.hits.front().filter(|&&(due, _)| due <= now)?;
        self.hits.pop().map(|(_, token)| token)
    }

    /// Takes the next load whose sector has arrived.
    #[inline(always)]
    pub(super) fn pop_filled(&mut self) -> Option<u32> {
        self.refused.load_handed_out();
        if let Some(divided) = &mut self.divided
            && let Some(owner) = self.mshr.owner_leaving()
        {
            divided.served(owner);
        }
        self.mshr.pop_ready().map(|(_, token)| token)
    }
}

#[cfg(test)]
mod tests;
