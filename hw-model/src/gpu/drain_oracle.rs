//! Drain oracle: end times of the resident TBs if they drain, found by running a copy of the GPU
//! ahead (the oracle of Shieh 2016, section 4.2).

use super::{Gpu, Microcontroller, RunEnd};
use crate::register_block::RegisterBlock;
use mias_registers::preempt::MAX_PLACES;
use mias_registers::{interrupt, technique};

/// End of a TB if nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbEnd {
    /// SM of the TB.
    pub sm: usize,
    /// Kernel slot.
    pub slot: u8,
    /// TB index in its grid. A relaunched grid has several TBs with this index, rarely two on one
    /// SM.
    pub tb: u32,
    /// Cycle of the end.
    pub ends: u64,
}

/// Known future ends, and ends that a copy is searching.
#[derive(Clone, Debug, Default)]
pub(super) struct DrainOracle {
    /// Cycles to look ahead each time the firmware is about to choose victims; none: the firmware
    /// gets no end times.
    cycles: Option<u64>,
    told: Vec<TbEnd>,
    /// SM, kernel slot and index of TBs whose ends are searched, in a copy of the GPU.
    watched: Vec<(usize, (u8, u32))>,
}

impl DrainOracle {
    /// Records that a TB has ended or left by cycle `cycle`.
    pub(super) fn ended(&mut self, sm: usize, (slot, tb): (u8, u32), cycle: u64) {
        if let Some(found) = self.watched.iter().position(|&watched| watched == (sm, (slot, tb))) {
            self.watched.swap_remove(found);
            self.told.push(TbEnd { sm, slot, tb, ends: cycle });
        }
    }

    /// Cycles from `now` until a TB ends, if known.
    pub(super) fn left(&self, sm: usize, (slot, tb): (u8, u32), now: u64) -> Option<u64> {
        let found = self.told.iter().find(|told| told.sm == sm && told.slot == slot && told.tb == tb);
        found.map(|told| told.ends.saturating_sub(now))
    }
}

/// Firmware that never acts.
struct Asleep;

impl Microcontroller for Asleep {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        registers.sleep();
    }
}

impl Gpu {
    /// Sets the end times of TBs, which the firmware reads as [`mias_registers::preempt::TB_LEFT`].
    pub fn set_tb_ends(&mut self, ends: Vec<TbEnd>) {
        self.preemptions.drain_oracle.told = ends;
    }

    /// Enables the drain oracle: a look-ahead of `cycles` ([`Gpu::look_ahead`]) before each request
    /// for capacity is reported to the firmware, as in Shieh 2016, section 4.2.
    #[must_use]
    pub fn with_drain_oracle(mut self, cycles: u64) -> Self {
        self.preemptions.drain_oracle.cycles = Some(cycles);
        self
    }

    /// Looks ahead if the oracle is enabled and the firmware is about to choose victims.
    pub(super) fn consult_drain_oracle(&mut self) {
        let wanted = || self.registers.preempts() && self.registers.pending_events() & interrupt::PREEMPT != 0;
        if let Some(cycles) = self.preemptions.drain_oracle.cycles.filter(|_| wanted()) {
            self.preemptions.drain_oracle.told = self.look_ahead(cycles);
        }
    }

    /// End times of the resident TBs if each drains and nothing else changes. A copy of the GPU
    /// runs ahead for at most `cycles`. TBs that take longer are not in the list.
    #[must_use]
    pub fn look_ahead(&self, cycles: u64) -> Vec<TbEnd> {
        let mut ahead = self.clone();
        ahead.validation = None;
        ahead.registers.sleep();
        ahead.preemptions.drain_oracle = DrainOracle::default();
        let programs = ahead.programs.clone();
        for sm in 0..ahead.sms.len() {
            for place in 0..MAX_PLACES {
                if let Some(status) = ahead.sms[sm].tb_status(place, self.now, false, &programs) {
                    ahead.preemptions.drain_oracle.watched.push((sm, (status.kernel, status.index)));
                    // This is refused for a TB that leaves in another way; its end is still
                    // observed.
                    let _ = ahead.sms[sm].preempt(place, technique::DRAIN, self.now, &programs);
                }
            }
        }
        ahead.retire_tbs(self.now);
        let until = self.now + cycles;
        // The copy runs in steps, to stop as soon as all ends are known.
        while !ahead.preemptions.drain_oracle.watched.is_empty() && ahead.now < until {
            let step = (ahead.now + LOOK_AHEAD_STEP).min(until);
            if ahead.run(&mut Asleep, step) != RunEnd::CycleLimit {
                break;
            }
        }
        ahead.preemptions.drain_oracle.told
    }
}

/// Cycles per step of a look-ahead (assumption: short compared with a TB).
const LOOK_AHEAD_STEP: u64 = 1_000;
