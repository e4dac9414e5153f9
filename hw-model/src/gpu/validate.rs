//! Validation hook: a second bookkeeping, independent of the one that it checks. Tests enable it.
//!
//! Checks in every cycle:
//!
//! - A stalled SM issues nothing, and a gated SM holds nothing.
//! - No SM exceeds its resources, and its free resources plus those of its TBs are its total.
//! - The scheduling state of one SM's warps, another SM in each cycle, matches what they wait for.
//! - With extra TBs, TB issue examines that SM if it could receive one.
//!
//! At every TB issue, the quota holds. For every launch, each TB of the grid is issued once and
//! ends once per pass over the grid (docs/porting/guarantees.md, invariants 19 and 20).

use super::Gpu;
use crate::sm::{KERNEL_SLOTS, Resources, Sm};

/// State of a kernel slot.
#[derive(Clone, Debug, Default)]
struct Kernel {
    /// Number of passes over the grid in which each TB was issued, and in which it ended.
    issued: Vec<u32>,
    ended: Vec<u32>,
    /// True for TBs that were preempted and have not returned.
    away: Vec<bool>,
}

/// State of the hook.
#[derive(Clone, Debug)]
pub(super) struct Validation {
    kernels: Vec<Kernel>,
    /// Warp instructions of each SM at the end of the last cycle.
    insts: Vec<u64>,
}

impl Validation {
    pub(super) fn new(slots: usize) -> Self {
        Validation { kernels: vec![Kernel::default(); slots], insts: Vec::new() }
    }

    /// Records that a kernel takes a slot.
    pub(super) fn launched(&mut self, slot: usize, grid: u32) {
        self.kernels[slot] = Kernel { issued: vec![0; grid as usize], ended: vec![0; grid as usize], away: vec![false; grid as usize] };
    }

    /// Records the first issue of TB `index` in this pass; `resident` TBs are then on the SM, of
    /// `quota` allowed.
    pub(super) fn issued(&mut self, slot: usize, index: u32, resident: u32, quota: u32) {
        assert!(resident <= quota, "slot {slot}: {resident} TBs on an SM with a quota of {quota}");
        let kernel = &mut self.kernels[slot];
        kernel.issued[index as usize] += 1;
        let passes = kernel.issued[index as usize];
        let before = (index as usize).checked_sub(1).map_or(passes, |before| kernel.issued[before]);
        assert_eq!(before, passes, "slot {slot}: TB {index} issued out of turn");
    }

    /// Records that TB `index` has left before its end.
    pub(super) fn left(&mut self, slot: usize, index: u32) {
        let kernel = &mut self.kernels[slot];
        let index = index as usize;
        assert!(kernel.ended[index] < kernel.issued[index] && !kernel.away[index], "slot {slot}: TB {index} left and was not there");
        kernel.away[index] = true;
    }

    /// Records that TB `index` has returned to an SM.
    pub(super) fn returned(&mut self, slot: usize, index: u32) {
        // Ideal transitions suspend TBs without a report.
        self.kernels[slot].away[index as usize] = false;
    }

    /// Records that TB `index` has ended.
    pub(super) fn ended(&mut self, slot: usize, index: u32) {
        let kernel = &mut self.kernels[slot];
        assert!(!kernel.away[index as usize], "slot {slot}: TB {index} ended and was not there");
        kernel.ended[index as usize] += 1;
        let (ended, issued) = (kernel.ended[index as usize], kernel.issued[index as usize]);
        assert!(ended <= issued, "slot {slot}: TB {index} ended {ended} times, issued {issued} times");
    }

    /// Checks, when the kernel leaves its slot, that each TB was issued once and ended once.
    pub(super) fn completed(&self, slot: usize) {
        let kernel = &self.kernels[slot];
        assert!(kernel.issued.iter().all(|&n| n == 1), "slot {slot}: a TB was not issued exactly once");
        assert!(kernel.ended.iter().all(|&n| n == 1), "slot {slot}: a TB did not end exactly once");
    }
}

impl Gpu {
    /// Checks every SM's resources, and the warps of one SM, another one in each cycle.
    pub(super) fn check_sms(&mut self) {
        self.check_resources();
        self.check_states();
        let turn = self.now as usize % self.sms.len().max(1);
        self.check_look(turn);
        self.sms.iter().skip(turn).take(1).for_each(Sm::check_readiness);
        self.sms.iter().for_each(Sm::check_in_flight);
        self.sms.iter().for_each(Sm::check_places);
        self.sms.iter().for_each(Sm::check_oversubscription);
    }

    /// Checks, with extra TBs, that TB issue examines an SM again where it could issue a TB
    /// (sources.md D199).
    fn check_look(&self, sm: usize) {
        if self.oversubscription.is_some() && !self.dispatcher.looks_at(sm) && !self.registers.quota_bus_is_busy() {
            assert_eq!(self.next_for(sm), None, "SM {sm} has room for a TB and is not looked at in cycle {}", self.now);
        }
    }

    /// Checks that the activity of each SM conforms to its state.
    fn check_states(&mut self) {
        let Some(validation) = &mut self.validation else { return };
        validation.insts.resize(self.sms.len(), 0);
        for (id, (sm, before)) in self.sms.iter().zip(&mut validation.insts).enumerate() {
            let insts = (0..KERNEL_SLOTS).map(|slot| sm.kernel_counters(slot).warp_insts).sum();
            let before = std::mem::replace(before, insts);
            assert!(!self.states.is_stalled(id) || insts == before, "SM {id} is stalled and issues in cycle {}", self.now);
            assert!(!self.states.is_off(id) || sm.is_quiet(), "SM {id} has no power and is at work in cycle {}", self.now);
        }
    }

    /// Checks every SM's resources.
    fn check_resources(&self) {
        let all = Resources::of_sm(&self.config.sm);
        for (id, sm) in self.sms.iter().enumerate() {
            let mut held = Resources::default();
            for (slot, state) in self.slots.iter().enumerate() {
                let Some(state) = state else { continue };
                let count = sm.resident(slot);
                held.threads += count * state.demand.threads;
                held.registers += count * state.demand.registers;
                held.shared_bytes += count * state.demand.shared_bytes;
                held.tbs += count;
            }
            assert!(all.fits(&held), "SM {id} holds {held:?} in cycle {}, it has {all:?}", self.now);
            let free = sm.free();
            let sum = Resources {
                threads: free.threads + held.threads,
                registers: free.registers + held.registers,
                shared_bytes: free.shared_bytes + held.shared_bytes,
                tbs: free.tbs + held.tbs,
            };
            assert_eq!(sum, all, "resources of SM {id} in cycle {}", self.now);
        }
    }
}
