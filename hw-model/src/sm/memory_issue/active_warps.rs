//! Limits of active warps: a warp scheduler issues only from the N oldest warps of a kernel (static
//! wavefront limiting, Rogers et al. 2012; as the TLP of each application in Wang et al. 2018;
//! sources.md D159).
//!
//! A warp counts while it has instructions left and waits at no barrier. A warp that waits for
//! memory, for a fence, or for its first instructions is active. A warp at a barrier or at its end
//! is not, so the next younger one becomes active. The warps that the barrier waits for can thus
//! reach it. So there is no deadlock: the oldest counted warp is always active, and it waits for no
//! other warp.
//!
//! The order is that of arrival on the SM, independent of the scheduler's order. The active warps
//! are recomputed when a warp arrives, ends, or reaches or leaves a barrier, and when a limit
//! changes.

use super::each;
use super::settings::WarpLimits;
use crate::sm::cycle_accounting::EVERY_SUB_CORE;
use crate::sm::operands::MAX_SUB_CORES;
use crate::sm::residents::Residents;
use crate::sm::sub_core::SubCore;
use crate::sm::warp::Wait;
use crate::sm::{GATED, KERNEL_SLOTS, Sm};

/// Limits of an SM, and the warps beyond them.
#[derive(Clone, Debug)]
pub(in crate::sm) struct ActiveWarps {
    /// Limits by kernel slot, per scheduler; 0: no limit.
    limits: WarpLimits,
    /// Places of counted warps that are not active, by sub-core.
    beyond: [u32; MAX_SUB_CORES],
    /// Mask of sub-cores whose active warps must be recomputed.
    stale: u8,
}

impl ActiveWarps {
    fn new(limits: WarpLimits) -> Self {
        ActiveWarps { limits, beyond: [0; MAX_SUB_CORES], stale: u8::MAX }
    }

    /// Places of a sub-core's counted warps that are not among the oldest of their kernel.
    fn find(&self, residents: &Residents, takes_part: impl Fn(u32) -> bool) -> u32 {
        let mut places = [0u32; KERNEL_SLOTS];
        each(residents.live(), |place| {
            let slot = usize::from(residents.kernel(place)) & (KERNEL_SLOTS - 1);
            places[slot] |= u32::from(self.limits[slot] != 0 && takes_part(place)) << place;
        });
        let mut beyond = 0;
        for (mut rest, limit) in places.into_iter().zip(self.limits) {
            for _ in 0..limit.min(rest.count_ones() as u8) {
                rest &= !(1 << residents.oldest(rest));
            }
            beyond |= rest;
        }
        beyond
    }
}

impl Sm {
    /// Sets the limits of active warps from cycle `now` on; false if nothing changes.
    pub(crate) fn limit_warps(&mut self, limits: WarpLimits, now: u64) -> bool {
        if self.active_warps.as_ref().map_or(WarpLimits::default(), |gate| gate.limits) == limits {
            return false;
        }
        self.account_sleep(now);
        self.constant_loads &= !GATED;
        self.active_warps = (limits != WarpLimits::default()).then(|| Box::new(ActiveWarps::new(limits)));
        if self.memory_issue.is_some() || self.active_warps.is_some() {
            self.constant_loads |= GATED;
        }
        self.settle_plain();
        self.ask_again();
        true
    }

    /// Issuable warps of a sub-core that the limits hold back.
    pub(super) fn beyond_active(&mut self, sub_core: usize, issuable: u32) -> u32 {
        let Some(gate) = &mut self.active_warps else { return 0 };
        let number = sub_core & (MAX_SUB_CORES - 1);
        if gate.stale >> number & 1 != 0 {
            gate.stale &= !(1 << number);
            let residents = &self.sub_cores[number].residents;
            let (warps, shift) = (&self.warps, self.sub_core_shift);
            gate.beyond[number] = gate.find(residents, |place| {
                let warp = &warps[(residents.local(place) << shift) as u8 | number as u8];
                warp.live && !warp.issued_all && warp.wait != Wait::Barrier
            });
        }
        gate.beyond[number] & issuable
    }

    /// Handles a change of the counted warps of a sub-core or of their order. The active warps must
    /// be recomputed, and a scheduler that was held back may have a warp to issue.
    #[inline]
    pub(in crate::sm) fn ranks_change(&mut self, sub_core: usize) {
        let Some(gate) = &mut self.active_warps else { return };
        gate.stale |= 1 << sub_core;
        let held = self.held & 1 << sub_core;
        self.hopeful |= held;
        self.accounting.changed |= if held != 0 { EVERY_SUB_CORE } else { 0 };
        self.held &= !held;
    }

    /// Validation: checks, against a list of the warps, that only the youngest warps of each kernel
    /// on each sub-core are held back.
    ///
    /// # Panics
    /// If the check fails.
    pub(crate) fn check_active_warps(&self) {
        let Some(gate) = &self.active_warps else { return };
        for sub_core in (0..self.sub_cores_here()).filter(|sub_core| gate.stale >> sub_core & 1 == 0) {
            let SubCore { residents, .. } = &self.sub_cores[sub_core];
            for (slot, &limit) in gate.limits.iter().enumerate().filter(|(_, limit)| **limit != 0) {
                let mut its: Vec<(u32, u32)> = Vec::new();
                for number in (sub_core as u32..self.warp_slots).step_by(self.sub_cores_here()) {
                    let warp = &self.warps[number as u8];
                    let takes_part = warp.bit != 0 && warp.live && !warp.issued_all && warp.wait != Wait::Barrier;
                    if takes_part && usize::from(warp.kernel) == slot {
                        its.push((residents.age(warp.bit.trailing_zeros()), warp.bit));
                    }
                }
                its.sort_unstable();
                for (rank, (_, bit)) in its.into_iter().enumerate() {
                    let held = gate.beyond[sub_core] & bit != 0;
                    assert_eq!(held, rank >= usize::from(limit), "rank {rank} of slot {slot} on sub-core {sub_core}, of {limit}");
                }
            }
        }
    }
}
