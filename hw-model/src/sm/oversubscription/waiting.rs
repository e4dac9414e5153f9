//! Warps that wait for a long event (Lin et al. 2018, sections 6.1, 6.3 and 6.6; sources.md D162).
//!
//! The next instruction of such a warp needs the result of a load that has missed or bypasses the
//! L1. Or the warp waits for an atomic. With mechanisms other than virtual thread, a wait at a
//! barrier counts too.
//!
//! A warp can be switched out when only such loads and atomics of it are in flight. Their data
//! arrives by warp number, wherever the context is. Stores were sent with their data.

use super::super::inflight::NO_REG;
use super::super::lsu::Done;
use super::super::tb::TbSlot;
use super::super::warp::Wait;
use super::plan::Level;
use super::{MAX_WARPS, Oversubscription, Sm};
use crate::config::OversubscriptionMechanism;

impl Oversubscription {
    /// True if waits at barriers count.
    fn takes_barriers(&self) -> bool {
        self.config.mechanism != OversubscriptionMechanism::Virtual && !self.keeps_one()
    }
}

impl Sm {
    /// Handles an event of a load or an atomic.
    pub(in crate::sm) fn note_arrival(&mut self, event: Done) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        oversubscription.look = true;
        if let Done::Loaded { warp, dst } | Done::Atomic { warp, dst } = event
            && dst != NO_REG
        {
            oversubscription.missed[usize::from(warp) & (MAX_WARPS - 1)].remove(dst);
        }
    }

    /// Handles a result in a warp's registers: perhaps only loads of it are in flight now.
    pub(in crate::sm) fn note_result(&mut self, number: u8) {
        let settled = self.warps[number].in_flight == self.lsu.loads_of(number);
        if let Some(oversubscription) = &mut self.oversubscription {
            oversubscription.look |= settled;
        }
    }

    /// Handles loads that have missed in this cycle.
    pub(in crate::sm) fn note_misses(&mut self) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        while let Some((warp, dst)) = self.lsu.take_missed() {
            oversubscription.look = true;
            // The data may have arrived in the same cycle.
            if dst != NO_REG && self.warps[warp].loading.contains(dst) {
                oversubscription.missed[usize::from(warp) & (MAX_WARPS - 1)].insert(dst);
            }
        }
    }

    /// True if a warp in place waits for a long event, and nothing else of it is in flight.
    fn is_stalled(&self, oversubscription: &Oversubscription, number: u8) -> bool {
        let warp = &self.warps[number];
        if oversubscription.holds(warp.tb_slot) || !warp.live || warp.issued_all || warp.in_flight != self.lsu.loads_of(number) {
            return false;
        }
        match warp.wait {
            Wait::None => !self.lacks_instruction(number) && oversubscription.missed[usize::from(number)].meets(&warp.needs),
            Wait::Atomic => true,
            Wait::Barrier => oversubscription.takes_barriers(),
            Wait::Fence | Wait::Drain | Wait::Fetch => false,
        }
    }

    /// True if an absent warp's wait is over.
    pub(super) fn is_unblocked(&self, number: u8) -> bool {
        let warp = &self.warps[number];
        match warp.wait {
            Wait::None => !warp.pending.meets(&warp.needs),
            Wait::Fetch => true,
            Wait::Barrier | Wait::Fence | Wait::Drain | Wait::Atomic => false,
        }
    }

    /// Range of the warp numbers of a switched unit.
    pub(super) fn warps_of(&self, level: Level, unit: u8) -> std::ops::Range<u8> {
        match level {
            Level::Warp => unit..unit + 1,
            Level::Tb => {
                let TbSlot { first_warp, warps, .. } = self.tbs[usize::from(unit)];
                first_warp..first_warp + warps
            }
        }
    }

    /// True if a warp waits, or all warps of a TB that have not ended do.
    pub(super) fn is_unit_stalled(&self, oversubscription: &Oversubscription, level: Level, unit: u8) -> bool {
        let mut any = false;
        for number in self.warps_of(level, unit) {
            if self.warps[number].live {
                if !self.is_stalled(oversubscription, number) {
                    return false;
                }
                any = true;
            }
        }
        any
    }

    /// True if an absent TB waits only at barriers.
    pub(super) fn is_tb_ready(&self, tb_slot: u8) -> bool {
        let mut any = false;
        for number in self.warps_of(Level::Tb, tb_slot) {
            if self.warps[number].live && self.warps[number].wait != Wait::Barrier {
                if !self.is_unblocked(number) {
                    return false;
                }
                any = true;
            }
        }
        any
    }
}
