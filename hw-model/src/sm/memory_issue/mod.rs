//! Memory issue: arbitration among kernels for off-chip memory instructions (Dai et al. 2018,
//! section 3; sources.md D123).
//!
//! Kernels on an SM share one in-order load/store unit. An instruction is held back where a warp
//! scheduler issues, before it takes a collector and an entry of that unit. The state is one per SM
//! and shared by its schedulers, which query it in rotated order.
//!
//! A scheduler passes its issuable warps. It must not select
//! 1. warps that are too young in their kernel: beyond its [active warps](active_warps), for any
//!    instruction;
//! 2. warps of a kernel whose [share](warp_quota) of warp instructions is spent;
//! 3. warps at an off-chip memory instruction of a kernel with as many [in flight](in_flight) as
//!    its [limit](limit) allows;
//! 4. warps at an off-chip memory instruction of a kernel behind another in the [order](order) of
//!    the remaining ones.
//!
//! The scheduler's own order decides among the others, so a memory instruction has no priority over
//! other instructions. There is one file per mechanism. On a GPU without memory issue, only the
//! first mechanism exists, while a limit is set. [`steering`] and [`active_warps`] connect it to
//! the register block.
//!
//! In hardware: per SM and kernel slot 7 bits in flight, as many of their peak, 12 of reservation
//! fails, 10 of requests, 10 of memory instructions, 16 of quota, 7 of limit, 32 of the warp
//! instructions of a share and as many of its rest, 6 of active warps. For the energy report, each
//! change of such a number counts as one operation. It counts only if an active mechanism needs it,
//! and for a kernel that it holds back (sources.md D175). Comparisons are part of scheduling.

mod active_warps;
mod broadcast;
mod dynamic_limit;
mod global_limit;
mod in_flight;
mod limit;
mod order;
mod quota;
mod round_robin;
mod settings;
mod steering;
#[cfg(test)]
mod tests;
mod warp_quota;

pub(super) use active_warps::ActiveWarps;
pub(crate) use dynamic_limit::UNLIMITED;
pub(super) use in_flight::InFlight;
pub use settings::{KernelMemoryCounts, MemorySettings, WarpLimits, WarpQuotas};

use super::counters::KernelCounters;
use super::cycle_accounting::EVERY_SUB_CORE;
use super::inflight::MemKind;
use super::operands::MAX_SUB_CORES;
use super::sub_core::SubCore;
use super::{KERNEL_SLOTS, Programs, Sm};
use crate::config::MemoryIssueConfig;
use dynamic_limit::Rule;
use limit::Limits;
use order::Order;
use warp_quota::WarpQuota;

/// Memory-issue state of an SM.
#[derive(Clone, Debug)]
pub(super) struct MemoryIssue {
    order: Order,
    limits: Limits,
    warp_quota: Option<WarpQuota>,
    /// Settings from the register block.
    settings: MemorySettings,
    /// True if the settings have changed since reset.
    is_steered: bool,
    /// Options of hardware limits that the paper leaves open.
    rule: Rule,
    /// Number of off-chip memory instructions from issue to their last reply or acknowledgment, by
    /// kernel slot.
    in_flight: [u16; KERNEL_SLOTS],
    /// Peak number of off-chip memory instructions in flight since the register block last read it,
    /// by kernel slot.
    peak: [u16; KERNEL_SLOTS],
    /// Accesses and reservation fails at the last observation, by kernel slot.
    seen: [(u64, u64); KERNEL_SLOTS],
    /// Mask of kernels with an issuable off-chip memory instruction at the last query of a
    /// scheduler.
    open: u8,
    choices: MemoryChoices,
}

/// Number of issued off-chip memory instructions with a choice among kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MemoryChoices {
    /// Number of off-chip memory instructions issued.
    pub issues: u64,
    /// Number of issued off-chip memory instructions for which another kernel had one ready and
    /// within its limit at the same scheduler.
    pub contested: u64,
}

/// Limits of off-chip memory instructions in flight of a slot's kernel, over the SMs that hold its
/// TBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct MemoryLimits {
    /// Kernel slot: the order of launch, unless a kernel has taken the slot of a completed one.
    pub slot: usize,
    /// Number of SMs that hold TBs of the slot's kernel.
    pub sms: u32,
    /// Number of SMs that hold TBs of the slot's kernel and have no limit for it.
    pub unlimited: u32,
    /// Lowest limit of the SMs that have one; none if no SM has a limit.
    pub lowest: Option<u8>,
    /// Highest limit of the SMs that have one; none if no SM has a limit.
    pub highest: Option<u8>,
}

impl MemoryIssue {
    /// Creates the state as the GPU file configures it. It may be off; then the register block can
    /// turn it on.
    pub(super) fn new(config: &MemoryIssueConfig) -> Self {
        let (settings, rule) = (MemorySettings::of(config), Rule { no_fails: config.no_fails, wide: config.wide_fails });
        MemoryIssue {
            order: Order::new(config.order),
            limits: Limits::of(&settings, rule),
            warp_quota: WarpQuota::new(settings.warp_quotas),
            settings,
            is_steered: false,
            rule,
            in_flight: [0; KERNEL_SLOTS],
            peak: [0; KERNEL_SLOTS],
            seen: [(0, 0); KERNEL_SLOTS],
            open: 0,
            choices: MemoryChoices::default(),
        }
    }

    /// Sets the kernels with TBs on the SM.
    fn reside(&mut self, resident: u8) {
        self.order.reside(resident);
        if let Some(quota) = &mut self.warp_quota {
            quota.reside(resident);
        }
    }

    /// Places of the issuable warps that are allowed to issue.
    fn allowed(&mut self, issuable: u32, memory: impl Fn(u32) -> bool, kernel: impl Fn(u32) -> u8, by_unit: u32) -> u32 {
        self.open = 0;
        if !self.settings.active {
            return issuable;
        }
        let mut allowed = issuable;
        if let Some(quota) = &self.warp_quota {
            each(issuable, |place| {
                if !quota.has_left(kernel(place)) {
                    allowed &= !(1 << place);
                }
            });
        }
        let (mut places, mut kernels) = ([0u32; KERNEL_SLOTS], 0u8);
        each(allowed & by_unit, |place| {
            if memory(place) {
                let slot = usize::from(kernel(place)) & (KERNEL_SLOTS - 1);
                places[slot] |= 1 << place;
                kernels |= 1 << slot;
            }
        });
        let mut open = 0u8;
        for slot in 0..KERNEL_SLOTS as u8 {
            if kernels >> slot & 1 != 0 {
                let room = self.limits.room(slot, self.in_flight[usize::from(slot)]);
                open |= u8::from(room) << slot;
            }
        }
        self.open = open;
        let first = self.order.first(open);
        for (slot, places) in places.into_iter().enumerate() {
            if first >> slot & 1 == 0 {
                allowed &= !places;
            }
        }
        allowed
    }

    /// Records an issued instruction of the kernel. Returns the number of counter operations.
    fn issued(&mut self, kernel: u8, off_chip: bool) -> u64 {
        let mut counts = self.warp_quota.as_mut().map_or(0, |quota| quota.issued(kernel));
        if off_chip {
            let in_flight = &mut self.in_flight[usize::from(kernel) & (KERNEL_SLOTS - 1)];
            debug_assert!(!self.settings.active || self.limits.room(kernel, *in_flight), "slot {kernel} is at its limit: {in_flight}");
            *in_flight += 1;
            let peak = &mut self.peak[usize::from(kernel) & (KERNEL_SLOTS - 1)];
            *peak = (*peak).max(*in_flight);
            self.choices.issues += 1;
            self.choices.contested += u64::from(self.open.count_ones() > 1);
            self.limits.issued(kernel, *in_flight);
            counts += self.order.issued(kernel) + u64::from(self.counts_in_flight(kernel)) + u64::from(self.counts_fails(kernel));
        }
        counts
    }

    /// Records that an off-chip memory instruction of the kernel is complete. Returns the number of
    /// counter operations.
    fn ended(&mut self, kernel: u8) -> u64 {
        self.in_flight[usize::from(kernel) & (KERNEL_SLOTS - 1)] -= 1;
        u64::from(self.counts_in_flight(kernel))
    }

    /// True if any mechanism needs the kernel's number in flight.
    fn counts_in_flight(&self, kernel: u8) -> bool {
        self.settings.watched || self.limits.limit(kernel).is_some()
    }

    /// True if any mechanism needs the kernel's peak in flight, requests and reservation fails.
    fn counts_fails(&self, kernel: u8) -> bool {
        self.settings.watched || self.limits.are_found_here(kernel)
    }

    /// Observes the load/store unit's counts since the last call, and adds the counter operations.
    fn observe(&mut self, counters: &mut [KernelCounters; KERNEL_SLOTS]) {
        for (slot, kernel) in (0u8..).zip(counters) {
            let seen = &mut self.seen[usize::from(slot)];
            let now = (kernel.requests(), kernel.reservation_fails());
            if now == *seen {
                continue;
            }
            let (requests, fails) = (now.0 - seen.0, now.1 - seen.1);
            *seen = now;
            let (limits, order) = (self.counts_fails(slot), self.order.counts_requests());
            kernel.sharing_counts += if limits || order { requests } else { 0 } + if limits { fails } else { 0 };
            kernel.sharing_counts += self.limits.observe(slot, requests, fails, self.in_flight[usize::from(slot)]);
            kernel.sharing_counts += self.order.observe(slot, requests);
        }
    }

    /// Validation: checks that fixed limits hold, and that nothing is in flight on an empty SM.
    pub(super) fn check(&self, empty: bool) {
        for (slot, &in_flight) in (0u8..).zip(&self.in_flight) {
            assert!(!empty || in_flight == 0, "{in_flight} memory instructions of slot {slot} in flight on an empty SM");
            assert!(self.is_steered || self.limits.is_kept(slot, in_flight), "{in_flight} memory instructions of slot {slot} in flight");
        }
    }

    /// Resets the slot for a new kernel.
    fn forget(&mut self, kernel: u8) {
        self.limits.forget(kernel);
        self.order.forget(kernel);
    }
}

/// Calls `f` with each bit of a set.
fn each(mut set: u32, mut f: impl FnMut(u32)) {
    while set != 0 {
        f(set.trailing_zeros());
        set &= set - 1;
    }
}

impl Sm {
    /// Issuable warps of a sub-core that are allowed to issue. If none is, the scheduler is held
    /// back.
    pub(super) fn allowed(&mut self, sub_core: usize, issuable: u32, programs: &Programs) -> u32 {
        let issuable_by_age = issuable & !self.beyond_active(sub_core, issuable);
        let Some(gate) = &mut self.memory_issue else {
            self.held |= u8::from(issuable_by_age == 0 && issuable != 0) << sub_core;
            return issuable_by_age;
        };
        let SubCore { readiness, residents, .. } = &self.sub_cores[sub_core & (MAX_SUB_CORES - 1)];
        let (warps, shift) = (&self.warps, self.sub_core_shift);
        let off_chip = |place: u32| {
            let warp = &warps[(residents.local(place) << shift) as u8 | sub_core as u8];
            programs.get(warp.kernel).is_some_and(|program| matches!(program.decoded(warp.executed).mem, MemKind::OffChip { .. }))
        };
        let allowed = gate.allowed(issuable_by_age, off_chip, |place| residents.kernel(place), readiness.for_memory());
        self.held |= u8::from(allowed == 0 && issuable != 0) << sub_core;
        allowed
    }

    /// Records that the warp is about to issue its next instruction.
    pub(super) fn memory_issued(&mut self, number: u8, programs: &Programs) {
        let Some(gate) = &mut self.memory_issue else { return };
        let warp = &self.warps[number];
        let mem = programs.get(warp.kernel).map(|program| program.decoded(warp.executed).mem);
        let counts = gate.issued(warp.kernel, matches!(mem, Some(MemKind::OffChip { .. })));
        self.kernels[usize::from(warp.kernel)].sharing_counts += counts;
        self.ask_again();
    }

    /// Handles the load/store unit's cycle: ended instructions, requests and reservation fails.
    pub(super) fn memory_served(&mut self) {
        let Some(gate) = &mut self.memory_issue else { return };
        let (warps, kernels) = (&self.warps, &mut self.kernels);
        self.lsu.take_ended(|warp| kernels[usize::from(warps[warp].kernel)].sharing_counts += gate.ended(warps[warp].kernel));
        gate.observe(&mut self.kernels);
        self.ask_again();
    }

    /// Adds the number of choices, if any mechanism may hold instructions back.
    pub(crate) fn add_choices(&self, choices: &mut Option<MemoryChoices>) {
        if let Some(gate) = &self.memory_issue {
            let sum = choices.get_or_insert_default();
            sum.issues += gate.choices.issues;
            sum.contested += gate.choices.contested;
        }
    }

    /// Adds the limits in effect of every slot with TBs on the SM, if it has limits.
    pub(crate) fn add_limits(&self, all: &mut Vec<MemoryLimits>) {
        let Some(gate) = self.memory_issue.as_ref().filter(|gate| !matches!(gate.limits, Limits::None)) else { return };
        for slot in (0..KERNEL_SLOTS).filter(|&slot| self.resident[slot] > 0) {
            let at = all.iter().position(|limits| limits.slot == slot).unwrap_or_else(|| {
                all.push(MemoryLimits { slot, sms: 0, unlimited: 0, lowest: None, highest: None });
                all.len() - 1
            });
            let limits = &mut all[at];
            limits.sms += 1;
            match gate.limits.limit(slot as u8).filter(|&limit| limit < UNLIMITED) {
                None => limits.unlimited += 1,
                Some(limit) => {
                    limits.lowest = Some(limits.lowest.map_or(limit, |lowest| lowest.min(limit)));
                    limits.highest = limits.highest.max(Some(limit));
                }
            }
        }
        all.sort_unstable_by_key(|limits| limits.slot);
    }

    /// Handles a change of the resident TBs.
    pub(super) fn memory_issue_resides(&mut self) {
        if let Some(gate) = &mut self.memory_issue {
            gate.reside(self.resident_kernels);
            self.ask_again();
        }
    }

    /// Resets the slot for a new kernel.
    pub(super) fn memory_issue_forgets(&mut self, kernel: u8) {
        if let Some(gate) = &mut self.memory_issue {
            gate.forget(kernel);
        }
    }

    /// Lets the schedulers that were held back try again.
    fn ask_again(&mut self) {
        self.hopeful |= self.held;
        self.accounting.changed |= if self.held != 0 { EVERY_SUB_CORE } else { 0 };
        self.held = 0;
    }
}
