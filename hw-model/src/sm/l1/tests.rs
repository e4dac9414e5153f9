//! A refused head is not looked up again until a resource has become free. The results equal those
//! of a cache that looks up every cycle.

use super::super::lsu::TAG_FILL;
use super::*;
use crate::config::{GpuConfig, MissDivision, MissResourcesConfig, Partition, PartitionConfig};
use crate::hand_made::config;
use crate::memory::{MemorySystem, Outbox};
use proptest::prelude::*;

/// GPU with so few resources that look-ups are refused for each reason.
fn tight(write: L1Write) -> GpuConfig {
    let mut config = config();
    (config.l1.sets, config.l1.ways, config.l1.mshrs, config.l1.mshr_merges) = (2, 2, 3, 2);
    (config.l1.miss_queue, config.l1.latency, config.l1.write) = (3, 2, write);
    config.interconnect.input_buffer = 1;
    config
}

/// Cache, its next level, and its counters.
struct Side {
    l1: L1,
    memory: MemorySystem,
    counters: [KernelCounters; 2],
}

impl Side {
    /// Runs a cycle, in the order of the load/store unit. Returns all visible results.
    fn cycle(&mut self, now: u64, access: Option<Access>, forget: bool) -> (Vec<Lookup>, Option<u32>, Option<bool>) {
        self.memory.tick();
        let filled = if self.l1.has_filled() { self.l1.pop_filled() } else { None };
        if let Some(reply) = self.memory.pop_reply(0)
            && reply.tag == TAG_FILL
        {
            self.l1.fill(reply.sector);
        }
        let mut outbox = Outbox::new(1);
        self.l1.send_miss(&mut outbox.port(self.memory.room(0).next().unwrap_or(0)));
        self.memory.inject_all(&mut outbox);
        let due = self.l1.banks_due(now);
        self.l1.turn(now + 1);
        let mut lookups = vec![];
        for bank in (0..self.l1.banks()).filter(|bank| due >> bank & 1 == 1) {
            if forget {
                self.l1.refused = Refused::default();
            }
            lookups.push(self.l1.look_up(bank, &mut self.counters));
        }
        (lookups, filled, access.map(|access| self.l1.enqueue(access, now)))
    }
}

proptest! {
    #[test]
    fn remembering_refusals_changes_nothing(
        evict: bool,
        by in prop::sample::select(vec![Partition::Shared, Partition::Fixed, Partition::Ucp]),
        divided: bool,
        accesses in prop::collection::vec(prop::option::weighted(0.7, (0u64..40, 0u8..2, any::<bool>())), 1..600),
    ) {
        let mut config = tight(if evict { L1Write::Evict } else { L1Write::ThroughAllocate });
        let ways = if by == Partition::Fixed { vec![1, 1] } else { vec![] };
        config.l1.partition = Some(PartitionConfig { by, ways, period_cycles: 100, ..PartitionConfig::default() });
        let miss_resources = MissResourcesConfig { by: MissDivision::Equal, ..MissResourcesConfig::default() };
        config.l1.miss_resources = divided.then_some(miss_resources);
        config.check().expect("a GPU");
        let side = || Side { l1: L1::new(&config.l1, 0, TAG_FILL), memory: MemorySystem::new(&config), counters: Default::default() };
        let (mut fast, mut plain) = (side(), side());
        let mut refusals = 0;
        for (now, access) in (0u64..).zip(accesses) {
            // The resident kernels change.
            if now % 50 == 0 {
                for side in [&mut fast, &mut plain] {
                    side.l1.reside([0b11, 0b01, 0b10][now as usize / 50 % 3], now);
                }
            }
            let access = access.map(|(sector, kernel, store)| Access { sector, byte_mask: 0xff, more_sectors: 0, kernel, store, token: now as u32 });
            let seen = fast.cycle(now, access, false);
            refusals += seen.0.iter().filter(|&&lookup| lookup == Lookup::Failed).count();
            prop_assert_eq!(seen, plain.cycle(now, access, true), "cycle {}", now);
        }
        prop_assert_eq!(fast.counters, plain.counters);
        let counted: u64 = fast.counters.iter().map(|kernel| kernel.l1_reservation_fails).sum();
        prop_assert_eq!(counted, refusals as u64);
    }
}
