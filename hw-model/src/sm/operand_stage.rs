//! The operand stage: rounds of collection over all sub-cores, and the collectors' allocation, which couples them.

use super::Sm;

/// Instructions of one latch kind that the operand collectors take up per round (the peer's number of input ports).
const COLLECTOR_PORTS: u32 = 8;

impl Sm {
    /// The rounds of operand collection. Within a round, collectors are given out unit by unit to the oldest issued
    /// instruction of the SM; one that finds its sub-core's collectors taken holds up its unit in all sub-cores.
    pub(super) fn collect_operands(&mut self) {
        for round in 0..self.register_rounds {
            for sub_core in &mut self.sub_cores {
                sub_core.operands.collect();
                if round == 0 {
                    sub_core.operands.end_writes();
                }
            }
            let mut units: u32 = 0;
            for (unit, latches) in self.issue_latches.iter().enumerate() {
                units |= u32::from(*latches != 0) << unit;
            }
            // Port by port, each unit's oldest instruction; a unit that is held up stays so for the round.
            for _ in 0..COLLECTOR_PORTS {
                let mut rest = units;
                while rest != 0 {
                    let unit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    let sub_core = self.oldest_issued(unit);
                    let operands = &mut self.sub_cores[sub_core].operands;
                    if operands.has_free_collector() {
                        operands.allocate(unit);
                        self.issue_latches[unit] &= !(1 << sub_core);
                        if self.issue_latches[unit] != 0 {
                            continue;
                        }
                    }
                    units &= !(1 << unit);
                }
                if units == 0 {
                    break;
                }
            }
        }
    }

    /// The sub-core whose instruction in `unit`'s issue latch is the oldest; there is one.
    fn oldest_issued(&self, unit: usize) -> usize {
        let mut latches = self.issue_latches[unit];
        let mut oldest = latches.trailing_zeros() as usize;
        latches &= latches - 1;
        while latches != 0 {
            let sub_core = latches.trailing_zeros() as usize;
            latches &= latches - 1;
            if self.sub_cores[sub_core].operands.issue_seq(unit) < self.sub_cores[oldest].operands.issue_seq(unit) {
                oldest = sub_core;
            }
        }
        oldest
    }
}
