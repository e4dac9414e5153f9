//! Energy of a kernel's own events: count times coefficient, summed by part of the GPU. An
//! access to a sector in flight costs as much as a hit.

use super::Femtojoules;
use crate::config::EnergyConfig;
use crate::gpu::LaunchCounters;

/// Energy of a kernel by part, in femtojoules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DynamicEnergy {
    /// Energy of fetch, decode and scheduling of warp instructions.
    pub instructions: Femtojoules,
    /// Energy of the execution units.
    pub units: Femtojoules,
    /// Energy of the register file.
    pub registers: Femtojoules,
    /// Energy of shared memory.
    pub shared: Femtojoules,
    /// Energy of the L1 caches, and of the mechanisms that divide instructions, memory instructions
    /// and miss resources among kernels.
    pub l1: Femtojoules,
    /// Energy of the crossbar.
    pub crossbar: Femtojoules,
    /// Energy of the L2.
    pub l2: Femtojoules,
    /// Energy of DRAM.
    pub dram: Femtojoules,
    /// Energy of additional accesses to registers, shared memory and L1 for switched contexts.
    pub contexts: Femtojoules,
}

/// Divisor of a hit's energy for a monitor's tag access: tags and their order are read and written,
/// but no data (assumption; no source gives it).
const MONITORS_PER_HIT: u32 = 8;

/// Divisor of a hit's energy for reading the owners of a set's lines: 3 bits per tag of about 24
/// bits, so an eighth of a monitor's tag access (assumption; no source gives it; sources.md D175).
const OWNERS_PER_HIT: u32 = 8 * MONITORS_PER_HIT;

/// Counter updates per line fill: one more line of its owner in the set, and one less of another
/// owner. An update costs as much as a lane's integer operation, which adds at least as many bits
/// (assumption; no source gives it).
const COUNTS_PER_OWNER: u64 = 2;

fn cost(count: u64, each_fj: u32) -> Femtojoules {
    Femtojoules::from(count) * Femtojoules::from(each_fj)
}

impl DynamicEnergy {
    /// Energy of the counted events.
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

    /// Names and energies of the parts that instructions cost, in pipeline order. Contexts are not
    /// among them.
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

    /// Sum of all parts.
    pub fn total(&self) -> Femtojoules {
        self.parts().iter().map(|(_, energy)| energy).sum::<Femtojoules>() + self.contexts
    }
}
