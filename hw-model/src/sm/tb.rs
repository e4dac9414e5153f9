//! TBs on an SM: their acceptance, and the retirement of finished warps.

use super::MissWeights;
use super::cycle_accounting::EVERY_SUB_CORE;
use super::warp::{Wait, Warp};
use super::{Program, Programs, Resources, Sm};
use crate::cache::{Shares, WaysStats};

/// TB slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TbSlot {
    pub live: bool,
    /// True for a suspended TB: only its results in flight are left, and its resources are already
    /// free.
    pub evicted: bool,
    /// True for an extra TB: no quota counts it, and it takes no free resources.
    pub extra: bool,
    pub kernel: u8,
    pub first_warp: u8,
    pub warps: u8,
    /// Number of warps that have not left.
    pub remaining: u8,
    /// Number of warps with instructions left to issue.
    pub issuing: u8,
    pub at_barrier: u8,
    pub demand: Resources,
    /// Index of the TB in its grid.
    pub index: u32,
    /// Part of the kernel's trace that contains the TB.
    pub part: u32,
    /// True in a later pass, see [`NewTb::again`].
    pub again: bool,
    /// Order of arrival of the TB's first warp on the SM, smaller is older; 0 if that warp had
    /// finished before.
    pub age: u32,
}

/// TB to start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewTb {
    /// Index of the TB in its grid.
    pub index: u32,
    /// Part of the kernel's trace that contains the TB.
    pub part: u32,
    /// True in a pass over the grid after the first.
    pub again: bool,
}

/// TB that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinishedTb {
    pub kernel: u8,
    pub index: u32,
    /// True in a later pass, see [`NewTb::again`].
    pub again: bool,
}

impl TbSlot {
    /// Creates the slot of a TB that starts at its beginning, with its first warp at this number.
    pub(super) fn new(kernel: u8, first_warp: u32, tb: NewTb, demand: &Resources, age: u32) -> Self {
        let NewTb { index, part, again } = tb;
        let warps = (demand.threads / 32) as u8;
        TbSlot {
            live: true,
            kernel,
            first_warp: first_warp as u8,
            warps,
            remaining: warps,
            demand: *demand,
            index,
            part,
            again,
            age,
            ..TbSlot::default()
        }
    }
}

impl Sm {
    /// Accepts a TB of the kernel in slot `kernel`. Ignored unless [`Sm::can_take_tb`].
    pub(crate) fn take_tb(&mut self, kernel: u8, tb: NewTb, demand: &Resources, program: &Program, now: u64) {
        let count = demand.threads / 32;
        let (Some(first), Some(tb_slot)) = (self.find_warps(count), self.find_tb_slot()) else { return };
        self.account_sleep(now + 1);
        self.occupy(kernel, first, count, demand, now + 1);
        self.kernels[usize::from(kernel)].tbs_issued += 1;
        self.tbs[tb_slot] = TbSlot::new(kernel, first, tb, demand, self.next_age);
        self.takes_place(tb_slot, 0, program, now + 1);
        if self.switches() {
            self.place_tb(tb_slot, u32::MAX >> (32 - count));
        }
        self.tbs[tb_slot].issuing = self.start_warps(kernel, tb_slot, first, program, now);
    }

    /// Allocates the resources of a new or resumed TB, from cycle `from` on.
    pub(super) fn occupy(&mut self, kernel: u8, first: u32, count: u32, demand: &Resources, from: u64) {
        if self.turns_with_tbs && self.resident_kernels == 0 {
            self.turns_from += from - self.empty_from;
        }
        self.free.take(demand);
        self.warp_slots_used |= u128::MAX >> (128 - count) << first;
        self.resident[usize::from(kernel)] += 1;
        self.resident_kernels |= 1 << kernel;
        self.accounting.changed = EVERY_SUB_CORE;
        self.residents_changed(from);
        if self.takes_extra {
            self.count_tbs(kernel, from);
        }
    }

    /// Releases the resources of one TB of the kernel from cycle `from` on.
    pub(super) fn vacate(&mut self, kernel: u8, demand: &Resources, from: u64) {
        self.free.give_back(demand);
        let resident = &mut self.resident[usize::from(kernel)];
        *resident -= 1;
        // Extra TBs may stay after the last native one was preempted.
        let others = *resident != 0 || self.takes_extra && self.switches() && self.has_extras();
        self.resident_kernels &= !(u8::from(!others) << kernel);
        if self.resident_kernels == 0 {
            self.empty_from = from;
        }
        if let Some(preemption) = &mut self.preemption {
            preemption.vacated(kernel, others);
        }
        self.accounting.changed = EVERY_SUB_CORE;
        self.residents_changed(from);
        if self.takes_extra {
            self.count_tbs(kernel, from);
        }
    }

    /// Handles the departure of the last TB of a kernel, an extra one, from cycle `from` on.
    pub(super) fn last_has_gone(&mut self, kernel: u8, from: u64) {
        self.resident_kernels &= !(1 << kernel);
        if self.resident_kernels == 0 {
            self.empty_from = from;
        }
        if let Some(preemption) = &mut self.preemption {
            preemption.vacated(kernel, false);
        }
        self.residents_changed(from);
    }

    /// Handles a change of the resident TBs, from cycle `from` on.
    fn residents_changed(&mut self, from: u64) {
        self.lsu.l1.reside(self.resident_kernels, from);
        if self.takes_extra {
            self.lend_l1(from);
        }
        self.memory_issue_resides();
    }

    /// Resets a slot for a new kernel, from cycle `from` on.
    pub(crate) fn kernel_placed(&mut self, kernel: u8, from: u64) {
        self.lsu.l1.forget(kernel, from);
        self.memory_issue_forgets(kernel);
        self.forget_ended(kernel);
    }

    /// Free TB slot.
    pub(super) fn find_tb_slot(&self) -> Option<usize> {
        self.tbs.iter().position(|tb| !tb.live)
    }

    /// First run of `count` free warp slots. Spare slots are used only while suspended TBs drain,
    /// and on SMs that preempt, where they are assigned by number and not by place.
    pub(super) fn find_warps(&self, count: u32) -> Option<u32> {
        let real = self.real_warps;
        if count == 0 || count > real {
            return None;
        }
        let spare = || self.preemption.is_some() || self.tbs.iter().any(|tb| tb.live && tb.evicted);
        let total = || match &self.oversubscription {
            Some(oversubscription) if oversubscription.is_switching() => Some(self.numbers_where_switched()),
            _ => spare().then_some(self.plain_slots),
        };
        self.find_run(count, real).or_else(|| self.find_run(count, total()?))
    }

    /// First run of `count` free warp slots among the first `total`.
    pub(super) fn find_run(&self, count: u32, total: u32) -> Option<u32> {
        let run = u128::MAX.checked_shr(128 - count)?;
        (0..=total.checked_sub(count)?).find(|&first| self.warp_slots_used & run << first == 0)
    }

    /// True if a TB of the kernel in `slot` fits now, including contiguous warp slots.
    pub(crate) fn can_take_tb(&self, slot: u8, demand: &Resources) -> bool {
        let fits = self.free.fits(demand) && self.find_warps(demand.threads / 32).is_some() && self.find_tb_slot().is_some();
        fits && self.has_place(slot, demand) && self.has_context_places(slot, demand.threads / 32)
    }

    /// Starts the warps of a TB at its first instructions.
    pub(super) fn start_warps(&mut self, kernel: u8, tb_slot: usize, first: u32, program: &Program, now: u64) -> u8 {
        let TbSlot { warps, index, part, .. } = self.tbs[tb_slot];
        let (count, part) = (u32::from(warps), program.part(part));
        let Some((trace, first_tb)) = part else { return 0 };
        let mut issuing = 0;
        for w in 0..count {
            let reference = trace.warp(index - first_tb, w);
            let shape = trace.shape(reference.shape);
            let number = first + w;
            issuing += u8::from(!shape.is_empty());
            self.warps[number as u8] = Warp {
                live: true,
                issued_all: shape.is_empty(),
                wait: Wait::Fetch,
                kernel,
                tb_slot: tb_slot as u8,
                next: shape.start,
                end: shape.end,
                next_mem: reference.first_mem,
                ..Warp::EMPTY
            };
            if self.is_in_place(number as u8) {
                self.arrive(number as u8);
                self.fetch_first(number as u8, now);
            }
        }
        issuing
    }

    /// Adds the warp in slot `number` to its sub-core.
    pub(super) fn arrive(&mut self, number: u8) {
        let kernel = self.warps[number].kernel;
        let (sub_core, local) = (self.sub_core(number), self.local(number));
        let moves = self.sub_cores[sub_core].arrive(local, kernel, self.next_age);
        self.next_age = self.next_age.wrapping_add(1);
        if moves {
            for number in (sub_core as u32..self.warp_slots).step_by(usize::from(self.sub_core_mask) + 1) {
                self.warps[number as u8].bit = self.sub_cores[sub_core].residents.bit(number >> self.sub_core_shift);
            }
        }
        self.warps[number].bit = self.sub_cores[sub_core].residents.bit(local);
        self.ranks_change(sub_core);
    }

    /// Lets warps whose instructions have been fetched take part in scheduling.
    #[inline(never)]
    pub(super) fn fetched(&mut self, now: u64, programs: &Programs) {
        let mut at = 0;
        while at < self.fetching.len() {
            let (cycle, number) = self.fetching[at];
            if cycle > now {
                at += 1;
                continue;
            }
            self.fetching.swap_remove(at);
            if let Some(fetch) = &mut self.fetch {
                fetch.arrived(number);
            }
            if self.warps[number].wait == Wait::Fetch {
                self.warps[number].wait = Wait::None;
            }
            self.refresh(number, programs);
            self.may_leave(number);
        }
    }

    /// Retires finished warps; TBs whose warps have all left return their resources, from cycle
    /// `from` on.
    #[inline(never)]
    pub(super) fn retire(&mut self, from: u64) {
        let seen = self.may_be_seen();
        let mut at = self.leaving.len();
        while at > 0 {
            at -= 1;
            let number = self.leaving[at];
            if seen >> number & 1 == 0 {
                self.to_fetch = true;
                continue;
            }
            self.leaving.swap_remove(at);
            let warp = &mut self.warps[number];
            if !warp.finished() {
                continue;
            }
            // Its place may be reused before its slot.
            (warp.live, warp.bit) = (false, 0);
            let tb_slot = usize::from(warp.tb_slot);
            let (sub_core, local) = (self.sub_core(number), self.local(number));
            self.sub_cores[sub_core].leave(local);
            if self.takes_extra {
                self.context_ended(number);
            }
            let tb = &mut self.tbs[tb_slot];
            tb.remaining -= 1;
            if tb.remaining > 0 {
                continue;
            }
            let TbSlot { kernel, index, again, demand, evicted, .. } = *tb;
            if self.preemption.is_some() && !evicted && self.stays_in_place(tb_slot, from) {
                continue;
            }
            self.leave_slots(tb_slot);
            if evicted {
                self.drained = true;
                continue;
            }
            if !self.takes_extra || !self.extra_takes_over(tb_slot, from) {
                self.vacate(kernel, &demand, from);
            }
            self.kernels[usize::from(kernel)].tbs_completed += 1;
            self.finished.push(FinishedTb { kernel, index, again });
        }
    }

    /// Releases the slots of a TB whose warps have all left.
    pub(super) fn leave_slots(&mut self, tb_slot: usize) {
        let tb = &mut self.tbs[tb_slot];
        tb.live = false;
        self.warp_slots_used &= !(u128::MAX >> (128 - u32::from(tb.warps)) << tb.first_warp);
    }

    /// Passes the TBs that have ended since the last call to `each`.
    pub(crate) fn take_finished(&mut self, mut each: impl FnMut(FinishedTb)) {
        for tb in self.finished.drain(..) {
            each(tb);
        }
    }

    /// True if a suspended TB has drained since the last call: its warp slots are free, and another
    /// TB may have waited for them.
    pub(crate) fn take_drained(&mut self) -> bool {
        std::mem::take(&mut self.drained)
    }

    /// True if a resident TB of the kernel in slot `kernel` uses this part of its trace.
    pub(crate) fn uses(&self, kernel: u8, part: u32) -> bool {
        self.tbs.iter().any(|tb| tb.live && tb.kernel == kernel && tb.part == part)
    }

    /// Part of the trace of a warp's TB.
    #[inline]
    pub(super) fn part(&self, warp: &Warp) -> u32 {
        self.tbs[usize::from(warp.tb_slot)].part
    }

    /// True if no TB is resident.
    pub(crate) fn is_empty(&self) -> bool {
        self.warp_slots_used == 0
    }

    /// Empties the L1 and sets its number of ways, from cycle `from` on.
    pub(crate) fn reset_l1(&mut self, ways: u32, from: u64) {
        self.lsu.l1.reset(ways, from);
    }

    /// Assigns ways of the L1's sets to the kernel slots from cycle `from` on, with priority over
    /// the configured division. Each resident kernel has at least one. None restores the configured
    /// division.
    pub fn set_l1_ways(&mut self, ways: Option<Shares>, from: u64) {
        self.lsu.l1.set_ways(ways, self.resident_kernels, from);
    }

    /// Divides the L1's miss resources by these weights of kernel slots from the next cycle on, if
    /// the GPU supports it; none restores the configured division.
    pub(crate) fn weigh_misses(&mut self, weights: Option<MissWeights>) {
        self.lsu.l1.weigh_misses(weights);
    }

    /// Ways of the L1 of each resident kernel; none where they are shared.
    pub fn l1_ways_owned(&self) -> Option<Shares> {
        self.lsu.l1.ways_owned()
    }

    /// Counts of the L1's utility monitor of `kernel`, by recency position, up to the last
    /// [settled](Sm::settle) cycle; empty without a monitor.
    pub(crate) fn l1_monitor_hits(&self, kernel: usize) -> &[u32] {
        self.lsu.l1.monitor_hits(kernel)
    }

    /// Adds the statistics of the L1's ways, if they are owned.
    pub(crate) fn add_ways(&self, stats: &mut Option<WaysStats>) {
        self.lsu.l1.add_ways(stats);
    }

    /// True if the L1 may contain data.
    pub(crate) fn l1_used(&self) -> bool {
        self.lsu.l1.used()
    }

    /// Current number of ways of the L1.
    pub(crate) fn l1_ways(&self) -> u32 {
        self.lsu.l1.ways()
    }

    /// True if no TB is resident, drains, leaves or has ended unnoticed, and nothing is in flight.
    pub(crate) fn is_quiet(&self) -> bool {
        self.is_empty()
            && self.memory_idle()
            && self.operands.is_empty()
            && !self.is_preempting()
            && !self.has_ended_tbs()
            && !self.switches()
    }

    /// True if nothing is in flight between the SM and the memory system.
    pub(crate) fn memory_idle(&self) -> bool {
        self.lsu.is_idle()
    }

    /// Adds one line per TB on the waits of its warps, for the report of a stuck run.
    pub(crate) fn describe(&self, lines: &mut Vec<String>, id: usize) {
        for tb in self.tbs.iter().filter(|tb| tb.live) {
            let warps = self.warps.range(tb.first_warp..tb.first_warp + tb.warps);
            let count = |f: &dyn Fn(&Warp) -> bool| warps.iter().filter(|w| w.live && f(w)).count();
            lines.push(format!(
                "SM {id}: TB {} of kernel slot {}: {} of {} warps live, {} at a barrier, {} at a fence, {} on atomics, {} with instructions in flight, {} with stores unacknowledged (load/store latch {})",
                tb.index,
                tb.kernel,
                tb.remaining,
                tb.warps,
                count(&|w| w.wait == Wait::Barrier),
                count(&|w| matches!(w.wait, Wait::Fence | Wait::Drain)),
                count(&|w| w.wait == Wait::Atomic),
                count(&|w| w.in_flight > 0),
                count(&|w| w.stores > 0),
                if self.operands.mem_full() != 0 { "taken" } else { "free" },
            ));
        }
    }
}
