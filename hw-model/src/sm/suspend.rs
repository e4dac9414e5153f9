//! Free suspension and resumption of a TB: the `ideal` transition mode, which separates the benefit
//! of a configuration from the cost of reaching it (sources.md D29 and D61).
//!
//! A suspended TB keeps its position in its trace. Its resources are free at once. Its results in
//! flight arrive in spare warp slots and are dropped, and the TB continues as if they had arrived.
//! If an SM has no spare slot left, the next TB waits until one has drained.
//!
//! Preempted TBs ([`super::preempt`]) are removed and restored by the same steps.

use super::tb::TbSlot;
use super::warp::{Wait, Warp};
use super::{FinishedTb, NewTb, Program, Resources, Sm};

/// Position at which a warp of a suspended TB continues.
#[derive(Clone, Copy, Debug)]
struct SuspendedWarp {
    next: u32,
    next_mem: u32,
    end: u32,
    at_barrier: bool,
}

/// Resumption of a TB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Return {
    /// The TB continues at once.
    AtOnce,
    /// The TB starts again from its beginning.
    Anew,
    /// The TB continues when its context has arrived. `cycles` is its earlier time on SMs; `home`
    /// is the SM to which it must return, if any.
    Restored { cycles: u64, home: Option<u16> },
}

/// TB between two SMs.
#[derive(Clone, Debug)]
pub(crate) struct SuspendedTb {
    pub index: u32,
    /// Part of the kernel's trace that contains the TB.
    pub part: u32,
    /// True in a later pass, see [`NewTb::again`].
    again: bool,
    /// One entry per warp; none for a warp that had issued everything.
    warps: Vec<Option<SuspendedWarp>>,
    pub back: Return,
}

impl SuspendedTb {
    /// Creates a TB of which only the index is left.
    pub(super) fn anew(tb: NewTb) -> Self {
        let NewTb { index, part, again } = tb;
        SuspendedTb { index, part, again, warps: Vec::new(), back: Return::Anew }
    }

    /// Next instruction of a warp, and the end of its instructions; none for one that had issued
    /// everything.
    pub(super) fn next(&self, warp: usize) -> Option<(u32, u32)> {
        self.warps.get(warp)?.map(|warp| (warp.next, warp.end))
    }

    /// True if the TB may resume on SM `sm`.
    pub(crate) fn may_return_to(&self, sm: usize) -> bool {
        self.home().is_none_or(|home| home == sm)
    }

    /// SM on which the TB must resume, if any.
    pub(crate) fn home(&self) -> Option<usize> {
        if let Return::Restored { home: Some(home), .. } = self.back { Some(usize::from(home)) } else { None }
    }
}

impl Sm {
    /// Suspends the youngest TB of `kernel`. A TB with nothing left to issue counts as ended
    /// instead, and is left for [`Sm::take_finished`]. None if the kernel has no TB on this SM, or
    /// if that TB had nothing left.
    pub(crate) fn suspend_tb(&mut self, kernel: u8, now: u64) -> Option<SuspendedTb> {
        let resident = self.tbs.iter().enumerate().filter(|(_, tb)| tb.live && !tb.evicted && !tb.extra && tb.kernel == kernel);
        let (tb_slot, _) = resident.max_by_key(|(_, tb)| tb.age)?;
        let TbSlot { index, again, issuing, .. } = self.tbs[tb_slot];
        let saved = self.stop(tb_slot, now);
        self.evict(tb_slot, now);
        if issuing == 0 {
            self.kernels[usize::from(kernel)].tbs_completed += 1;
            self.finished.push(FinishedTb { kernel, index, again });
            return None;
        }
        Some(saved)
    }

    /// Stops a TB from cycle `now` on and returns its state.
    pub(super) fn stop(&mut self, tb_slot: usize, now: u64) -> SuspendedTb {
        self.account_sleep(now);
        let TbSlot { first_warp, warps, index, part, again, .. } = self.tbs[tb_slot];
        let mut saved = Vec::with_capacity(usize::from(warps));
        for number in first_warp..first_warp + warps {
            let warp = &mut self.warps[number];
            // A warp that had issued everything before an earlier suspension does not exist.
            saved.push((warp.live && !warp.issued_all).then_some(SuspendedWarp {
                next: warp.next,
                next_mem: warp.next_mem,
                end: warp.end,
                at_barrier: warp.wait == Wait::Barrier,
            }));
            warp.issued_all = true;
            warp.wait = Wait::None;
            self.unschedule(number);
            if let Some(fetch) = &mut self.fetch {
                fetch.forget(number);
            }
        }
        self.fetching.retain(|&(_, number)| number < first_warp || number >= first_warp + warps);
        for number in first_warp..first_warp + warps {
            self.may_leave(number);
        }
        SuspendedTb { index, part, again, warps: saved, back: Return::AtOnce }
    }

    /// Releases the resources of a stopped TB; its results in flight drain in its warp slots.
    pub(super) fn evict(&mut self, tb_slot: usize, now: u64) {
        let TbSlot { kernel, demand, remaining, first_warp, warps, .. } = self.tbs[tb_slot];
        self.tbs[tb_slot].evicted = true;
        if self.oversubscription.is_some() {
            self.context_given_up(tb_slot);
        }
        if self.tbs[tb_slot].extra {
            self.extra_has_gone(tb_slot, now);
        } else {
            self.vacate(kernel, &demand, now);
        }
        if self.drains_without {
            for number in first_warp..first_warp + warps {
                if self.warps[number].live {
                    let (sub_core, local) = (self.sub_core(number), self.local(number));
                    self.warps[number].bit = 0;
                    self.sub_cores[sub_core].leave(local);
                }
            }
        }
        if remaining == 0 {
            self.leave_slots(tb_slot);
            self.drained = true;
        }
        self.retire(now);
    }

    /// True if a suspended TB of a kernel in the mask `slots` still has instructions in flight on
    /// this SM. They refer to their kernel's trace.
    pub(crate) fn drains(&self, slots: u32) -> bool {
        self.tbs.iter().any(|tb| tb.live && tb.evicted && slots >> tb.kernel & 1 != 0)
    }

    /// Resumes a suspended TB on the SM. Ignored unless [`Sm::can_take_tb`].
    pub(crate) fn resume_tb(&mut self, kernel: u8, tb: &SuspendedTb, demand: &Resources, program: &Program, now: u64) {
        if tb.back == Return::Anew {
            return self.take_tb(kernel, NewTb { index: tb.index, part: tb.part, again: tb.again }, demand, program, now);
        }
        let count = tb.warps.len() as u32;
        let (Some(first), Some(tb_slot)) = (self.find_warps(count), self.find_tb_slot()) else { return };
        self.account_sleep(now + 1);
        self.occupy(kernel, first, count, demand, now + 1);
        let mut slot = TbSlot {
            live: true,
            kernel,
            first_warp: first as u8,
            warps: count as u8,
            demand: *demand,
            index: tb.index,
            part: tb.part,
            again: tb.again,
            age: if tb.warps.first().is_some_and(Option::is_some) { self.next_age } else { 0 },
            ..TbSlot::default()
        };
        let mut live = 0u32;
        for (number, warp) in (first as u8..).zip(&tb.warps) {
            let Some(warp) = warp else {
                self.warps[number] = Warp::EMPTY;
                continue;
            };
            slot.remaining += 1;
            slot.issuing += 1;
            slot.at_barrier += u8::from(warp.at_barrier);
            self.warps[number] = Warp {
                live: true,
                wait: if warp.at_barrier { Wait::Barrier } else { Wait::Fetch },
                kernel,
                tb_slot: tb_slot as u8,
                next: warp.next,
                end: warp.end,
                next_mem: warp.next_mem,
                ..Warp::EMPTY
            };
            live |= 1 << (number - first as u8);
        }
        self.tbs[tb_slot] = slot;
        if self.switches() {
            self.place_tb(tb_slot, live);
        }
        let here = |sm: &Sm, number: u8| live >> (number - first as u8) & 1 != 0 && sm.is_in_place(number);
        for number in first as u8..(first + count) as u8 {
            if here(self, number) {
                self.arrive(number);
            }
        }
        let cycles = match tb.back {
            Return::Restored { cycles, .. } => cycles,
            Return::AtOnce | Return::Anew => 0,
        };
        self.takes_place(tb_slot, cycles, program, now + 1);
        if !matches!(tb.back, Return::Restored { .. }) || !self.fetches_context(tb_slot, now) {
            for number in first as u8..(first + count) as u8 {
                if here(self, number) {
                    self.fetch_first(number, now);
                }
            }
        }
    }
}
