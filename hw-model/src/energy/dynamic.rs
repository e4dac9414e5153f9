//! Energy of a kernel's own events: count times coefficient, summed by part of the machine. An access to a sector that is on its
//! way costs what a hit costs.

use super::Femtojoules;
use crate::config::EnergyConfig;
use crate::gpu::LaunchCounters;

/// A kernel's energy by part, in femtojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DynamicEnergy {
    /// Fetch, decode and scheduling of warp instructions.
    pub instructions: Femtojoules,
    /// Execution units.
    pub units: Femtojoules,
    /// Register file.
    pub registers: Femtojoules,
    /// Shared memory.
    pub shared: Femtojoules,
    /// L1 caches, and what shares instructions, memory instructions and miss resources out between kernels.
    pub l1: Femtojoules,
    /// Crossbar.
    pub crossbar: Femtojoules,
    /// L2.
    pub l2: Femtojoules,
    /// DRAM.
    pub dram: Femtojoules,
    /// Registers, shared memory and L1 once more, for contexts that are switched.
    pub contexts: Femtojoules,
}

/// A monitor's access of a tag, as a part of a hit's energy: tags and their order are read and written, no data (assumption; no source gives
/// it).
const MONITORS_PER_HIT: u32 = 8;

/// Reading whose a set's lines are, as a part of a hit's energy: 3 bits beside each tag of some 24, so an eighth of what a monitor takes for the tags
/// (assumption; no source gives it; sources.md D175).
const OWNERS_PER_HIT: u32 = 8 * MONITORS_PER_HIT;

/// A line that comes makes one more of its owner's in its set, and one less of another's. A count takes as much as a lane's integer operation, which
/// adds as many bits and more (assumption; no source gives it).
const COUNTS_PER_OWNER: u64 = 2;

fn cost(count: u64, each_fj: u32) -> Femtojoules {
    Femtojoules::from(count) * Femtojoules::from(each_fj)
}

impl DynamicEnergy {
    /// What the events counted cost.
    pub fn of(counters: &LaunchCounters, each: &EnergyConfig) -> Self {
        let LaunchCounters { sm, memory } = counters;
        let count_fj = each.lane.int_fj;
        let owners = |accesses: u64, hit_fj: u32| cost(accesses, hit_fj / OWNERS_PER_HIT) + cost(COUNTS_PER_OWNER * accesses, count_fj);
        // In the order of the SM's units.
        let lane = &each.lane;
        let by_unit = [
            lane.sp_fj,
            lane.sfu_fj,
            lane.memory_fj,
            lane.tensor_fj,
            lane.dp_fj,
            lane.int_fj,
            lane.branch_fj,
            lane.texture_fj,
            lane.uniform_fj,
        ];
        let front_end = u64::from(each.fetch_fj) + u64::from(each.decode_fj) + u64::from(each.schedule_fj);
        DynamicEnergy {
            instructions: Femtojoules::from(sm.warp_insts) * Femtojoules::from(front_end),
            units: by_unit.iter().enumerate().map(|(unit, &each_fj)| cost(sm.lanes.of_unit(unit), each_fj)).sum(),
            registers: cost(sm.lanes.register_reads(), each.register_read_fj) + cost(sm.lanes.register_writes(), each.register_write_fj),
            shared: cost(sm.shared_passes, each.shared_pass_fj),
            l1: cost(sm.l1_hits + sm.l1_pending_hits + sm.texture_hits, each.l1_hit_fj)
                + cost(sm.l1_misses + sm.texture_misses, each.l1_miss_fj)
                + cost(sm.l1_monitor_accesses, each.l1_hit_fj / MONITORS_PER_HIT)
                + owners(sm.l1_owner_accesses, each.l1_hit_fj)
                + cost(sm.sharing_counts, count_fj),
            crossbar: cost(memory.request_packets + memory.reply_packets, each.packet_fj),
            l2: cost(memory.l2_read_hits + memory.l2_pending_hits, each.l2_read_hit_fj)
                + cost(memory.l2_read_misses, each.l2_read_miss_fj)
                + cost(memory.l2_write_hits, each.l2_write_hit_fj)
                + cost(memory.l2_write_misses, each.l2_write_miss_fj)
                + cost(memory.l2_monitor_accesses, each.l2_read_hit_fj / MONITORS_PER_HIT)
                + owners(memory.l2_owner_accesses, each.l2_read_hit_fj),
            dram: cost(memory.dram_reads, each.dram_read_fj)
                + cost(memory.dram_writes, each.dram_write_fj)
                + cost(memory.dram_activates, each.dram_row_fj),
            contexts: cost(sm.context_register_reads, each.register_read_fj)
                + cost(sm.context_register_writes, each.register_write_fj)
                + cost(sm.context_shared_passes, each.shared_pass_fj)
                + cost(sm.context_l1_accesses, each.l1_hit_fj),
        }
    }

    /// Names of the parts of what instructions cost and their energies, in the order of the instruction's way. Contexts are beside them.
    pub fn parts(&self) -> [(&'static str, Femtojoules); 8] {
        [
            ("instructions", self.instructions),
            ("units", self.units),
            ("registers", self.registers),
            ("shared", self.shared),
            ("l1", self.l1),
            ("crossbar", self.crossbar),
            ("l2", self.l2),
            ("dram", self.dram),
        ]
    }

    /// All parts.
    pub fn total(&self) -> Femtojoules {
        self.parts().iter().map(|(_, energy)| energy).sum::<Femtojoules>() + self.contexts
    }
}
