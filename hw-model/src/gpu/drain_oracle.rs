//! The drain oracle: when the TBs that are on SMs now will have left if they drain, found by running a copy of the GPU ahead (the oracle of
//! Shieh 2016, section 4.2).

use super::{Gpu, Microcontroller, RunEnd};
use crate::register_block::RegisterBlock;
use mias_registers::preempt::MAX_PLACES;
use mias_registers::{interrupt, technique};

/// When a TB will end if nothing changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TbEnd {
    /// SM that it is on.
    pub sm: usize,
    /// Kernel slot.
    pub slot: u8,
    /// Index in its grid. A grid that begins again has several such TBs, seldom two on one SM.
    pub tb: u32,
    /// The cycle.
    pub ends: u64,
}

/// What is known of ends to come, and what is being found out.
#[derive(Clone, Debug, Default)]
pub(super) struct DrainOracle {
    /// Cycles to look ahead each time the firmware is about to choose victims; none: it is told nothing.
    cycles: Option<u64>,
    told: Vec<TbEnd>,
    /// SM, kernel slot and index of TBs whose ends are waited for: those of the GPU that a copy has been made of.
    watched: Vec<(usize, (u8, u32))>,
}

impl DrainOracle {
    /// A TB has ended, or left, by cycle `cycle`.
    pub(super) fn ended(&mut self, sm: usize, (slot, tb): (u8, u32), cycle: u64) {
        if let Some(found) = self.watched.iter().position(|&watched| watched == (sm, (slot, tb))) {
            self.watched.swap_remove(found);
            self.told.push(TbEnd { sm, slot, tb, ends: cycle });
        }
    }

    /// Cycles from `now` until a TB ends, if that is known.
    pub(super) fn left(&self, sm: usize, (slot, tb): (u8, u32), now: u64) -> Option<u64> {
        let found = self.told.iter().find(|told| told.sm == sm && told.slot == slot && told.tb == tb);
        found.map(|told| told.ends.saturating_sub(now))
    }
}

/// A firmware that sleeps.
struct Asleep;

impl Microcontroller for Asleep {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        registers.sleep();
    }
}

impl Gpu {
    /// Tells when TBs will end if nothing changes; the firmware sees it as [`mias_registers::preempt::TB_LEFT`].
    pub fn set_tb_ends(&mut self, ends: Vec<TbEnd>) {
        self.preemptions.drain_oracle.told = ends;
    }

    /// Looks `cycles` ahead ([`Gpu::look_ahead`]) each time the firmware is to be told of SMs that want room, so that it knows when their TBs end:
    /// the oracle of Shieh 2016, section 4.2.
    #[must_use]
    pub fn with_drain_oracle(mut self, cycles: u64) -> Self {
        self.preemptions.drain_oracle.cycles = Some(cycles);
        self
    }

    /// Looks ahead if that is asked for and the firmware is about to choose victims.
    pub(super) fn consult_drain_oracle(&mut self) {
        let wanted = || self.registers.preempts() && self.registers.pending_events() & interrupt::PREEMPT != 0;
        if let Some(cycles) = self.preemptions.drain_oracle.cycles.filter(|_| wanted()) {
            self.preemptions.drain_oracle.told = self.look_ahead(cycles);
        }
    }

    /// When the TBs that are on SMs now will have left if each of them drains, and everything else goes on as it is: found by running a copy
    /// ahead, for at most `cycles`. TBs that take longer are not in the list.
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
                    // Refused if it leaves otherwise: then that is seen.
                    let _ = ahead.sms[sm].preempt(place, technique::DRAIN, self.now, &programs);
                }
            }
        }
        ahead.retire_tbs(self.now);
        let until = self.now + cycles;
        // In steps, to stop as soon as all is known.
        while !ahead.preemptions.drain_oracle.watched.is_empty() && ahead.now < until {
            let step = (ahead.now + LOOK_AHEAD_STEP).min(until);
            if ahead.run(&mut Asleep, step) != RunEnd::CycleLimit {
                break;
            }
        }
        ahead.preemptions.drain_oracle.told
    }
}

/// Cycles after which a look ahead sees whether all is known (assumption: short beside a TB).
const LOOK_AHEAD_STEP: u64 = 1_000;
