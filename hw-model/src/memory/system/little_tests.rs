//! Little's law per level (sources.md D110): the mean number outstanding is the throughput times
//! the mean latency.
//!
//! The number outstanding is read from the model's structures in every cycle. Throughput and
//! latency are observed externally, or follow from arithmetic. Each run starts and ends empty, so
//! that the law holds without an edge, unless stated otherwise.

use super::*;
use crate::hand_made::config;
use proptest::prelude::*;

impl MemorySystem {
    /// Number of requests and replies anywhere in the memory system.
    fn in_flight(&self) -> u64 {
        let in_partitions: u64 = self.partitions.iter().map(|partition| partition.packets.held()).sum();
        self.requests().held() + in_partitions + self.replies.held()
    }

    /// Number of sectors that the L2 waits for.
    fn l2_outstanding(&self) -> u64 {
        self.partitions.iter().flat_map(|partition| &partition.slices).map(|slice| u64::from(slice.mshr().len())).sum()
    }

    fn dram_outstanding(&self) -> u64 {
        self.partitions.iter().map(|partition| partition.channel.outstanding()).sum()
    }

    fn l2_waits_for(&self, sector: u64) -> bool {
        let location = self.mapper.locate(sector);
        let (partition, place) = self.place_of(location.slice as usize);
        self.partitions[partition].slices[place].mshr().contains(location.sector)
    }
}

fn read(sector: u64, sm: u16, tag: u32) -> Request {
    Request { sector, byte_mask: u32::MAX, sm, kernel: 0, kind: RequestKind::Read, tag, more_sectors: 0 }
}

/// Sums over the cycles of a run.
#[derive(Default)]
struct Sums {
    ticks: u64,
    in_flight: u64,
    l2: u64,
    dram: u64,
}

impl Sums {
    fn sample(&mut self, memory: &MemorySystem) {
        self.ticks += 1;
        self.in_flight += memory.in_flight();
        self.l2 += memory.l2_outstanding();
        self.dram += memory.dram_outstanding();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any load: packets held by queues, delays and crossbars against injections and replies;
    /// MSHR entries against the observed waiting times of sectors, and their number against the
    /// misses.
    #[test]
    fn holds_under_load(requests in prop::collection::vec((0u16..30, 0u64..3_000, 0u64..4), 50..500)) {
        let mut memory = MemorySystem::new(&config());
        let (mut sums, mut latencies, mut waits, mut intervals) = (Sums::default(), 0, 0, 0);
        let mut injected = vec![0; requests.len()];
        let mut awaited = std::collections::BTreeSet::new();
        let (mut next, mut due) = (0, 0);
        while next < requests.len() || !memory.is_idle() {
            prop_assert!(sums.ticks < 1_000_000, "no progress");
            memory.tick();
            for sm in 0..30 {
                if let Some(reply) = memory.pop_reply(sm) {
                    latencies += sums.ticks - injected[reply.tag as usize];
                }
            }
            while let Some(&(sm, sector, gap)) = requests.get(next)
                && due <= sums.ticks
                && memory.can_inject(sm, RequestKind::Read)
            {
                memory.inject(read(sector, sm, next as u32));
                injected[next] = sums.ticks;
                (next, due) = (next + 1, sums.ticks + gap);
            }
            for &(_, sector, _) in &requests[..next] {
                if memory.l2_waits_for(sector) {
                    intervals += u64::from(awaited.insert(sector));
                } else {
                    awaited.remove(&sector);
                }
            }
            waits += awaited.len() as u64;
            sums.sample(&memory);
        }
        prop_assert_eq!(sums.in_flight, latencies);
        prop_assert_eq!(sums.l2, waits);
        // A sector whose entry is freed and reused within one cycle would be counted once; no
        // eviction is that fast here.
        prop_assert_eq!(intervals, memory.counters(0).l2_read_misses);
    }
}

/// One read at a time, each of a closed bank, at a known rate. Mean outstanding x time per request
/// is the latency of the level, which is the sum of its parts. At either end it may be off by the
/// cycle in which clocks meet.
#[test]
fn holds_for_the_latency_that_arithmetic_gives() {
    let config = config();
    let timing = &config.dram.timing;
    let mut memory = MemorySystem::new(&config);
    let (mut sums, reads, period) = (Sums::default(), 64u64, 1_500);
    for number in 0..reads {
        // Each read has its own channel and bank: 12 channels of 256 bytes, banks above bit 12 of
        // the rest.
        let (channel, bank) = (number % 12, number / 12);
        let address = ((bank << 12 >> 8) * 12 + channel) << 8;
        memory.inject(read(address / 32, (number % 30) as u16, 0));
        for _ in 0..period {
            memory.tick();
            for sm in 0..30 {
                memory.pop_reply(sm);
            }
            sums.sample(&memory);
        }
    }
    assert_eq!((memory.counters(0).dram_row_misses, memory.counters(0).dram_reads), (reads, reads));
    // Throughput is reads / ticks, so the law gives latency = outstanding / throughput = sum /
    // reads.
    let mean = |sum: u64| sum as f64 / reads as f64;
    // The path: out of the fixed latency into the controller, acceptance, row, data, and out.
    let dram_cycles = f64::from(timing.t_rcd + timing.t_cl + 3) * 1365.0 / 3500.5;
    let dram = f64::from(config.dram.latency) + dram_cycles;
    assert!((mean(sums.dram) - dram).abs() <= 2.0, "DRAM: {} outstanding x time, {dram} expected", mean(sums.dram));
    // The L2 waits from the look-up: through the miss queue, and until the fill is answered.
    let l2 = dram + 3.0;
    assert!((mean(sums.l2) - l2).abs() <= 2.0, "L2: {} outstanding x time, {l2} expected", mean(sums.l2));
    // The total: two cycles to the slice, its latency, the look-up, and two back.
    let all = l2 + f64::from(config.l2.latency) + 4.0;
    assert!((mean(sums.in_flight) - all).abs() <= 3.0, "in all: {} outstanding x time, {all} expected", mean(sums.in_flight));
}
