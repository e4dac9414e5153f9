//! TB issue, the fast path in hardware.
//!
//! At most one TB is issued per SM and cycle. SMs are visited round robin, within the quotas of the
//! firmware and the free resources (Nasef 2023, section 3.3.2; sources.md D73).

use super::Gpu;
use crate::sm::NewTb;
use std::sync::Arc;

/// Next TB for an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Next {
    slot: usize,
    /// Index among its kernel's suspended TBs, for a TB that returns; none for the next TB of the
    /// grid.
    returns: Option<usize>,
    /// True for a TB beyond those that fit.
    extra: bool,
}

/// State of TB issue.
#[derive(Clone, Debug)]
pub(super) struct Dispatcher {
    /// SM that received the last TB.
    last: usize,
    /// Slots in the order in which they are served.
    order: Vec<usize>,
    /// SMs to examine: capacity, a quota or a kernel may have been added since the last
    /// examination.
    look: Vec<bool>,
    looks: usize,
    generation: u32,
}

impl Dispatcher {
    pub(super) fn new(sms: usize) -> Self {
        Dispatcher { last: sms - 1, order: Vec::with_capacity(8), look: vec![false; sms], looks: 0, generation: 0 }
    }

    /// Inserts a slot before slot `before`, or last if that is none.
    pub(super) fn add(&mut self, slot: usize, before: Option<usize>) {
        let at = before.and_then(|before| self.order.iter().position(|&other| other == before)).unwrap_or(self.order.len());
        self.order.insert(at, slot);
    }

    /// Slots in the order in which they are served: higher priority first, then launch order.
    pub(super) fn order(&self) -> &[usize] {
        &self.order
    }

    pub(super) fn remove(&mut self, slot: usize) {
        self.order.retain(|&s| s != slot);
    }

    pub(super) fn room_on(&mut self, sm: usize) {
        self.looks += usize::from(!self.look[sm]);
        self.look[sm] = true;
    }

    pub(super) fn room_everywhere(&mut self) {
        self.look.fill(true);
        self.looks = self.look.len();
    }

    /// True if an SM is examined in the next cycle.
    pub(super) fn looks_at(&self, sm: usize) -> bool {
        self.look[sm]
    }

    /// True if a TB may be issued in the next cycle.
    pub(super) fn pending(&self) -> bool {
        self.looks > 0
    }
}

impl Gpu {
    /// Adds a kernel to TB issue, after all kernels of its priority.
    pub(super) fn add_in_turn(&mut self, slot: usize) {
        let priority = |slot: usize| self.slots[slot].as_ref().map_or(0, |state| state.priority);
        let before = self.dispatcher.order().iter().copied().find(|&other| priority(other) < priority(slot));
        self.dispatcher.add(slot, before);
    }

    /// Examines all SMs again after the firmware has changed a quota.
    pub(super) fn follow_quotas(&mut self) {
        if self.dispatcher.generation != self.registers.generation() {
            self.dispatcher.generation = self.registers.generation();
            self.dispatcher.room_everywhere();
            self.begin_transition();
            if self.registers.ideal_transition() {
                self.suspend_surplus();
            }
        }
    }

    /// Suspends every TB beyond its SM's quota; it resumes on another SM.
    fn suspend_surplus(&mut self) {
        for sm in 0..self.sms.len() {
            for slot in 0..self.slots.len() {
                let Some(state) = &mut self.slots[slot] else { continue };
                let quota = self.registers.quota(sm, slot);
                let mut changed = false;
                while self.sms[sm].resident(slot) > quota {
                    changed = true;
                    if let Some(tb) = self.sms[sm].suspend_tb(slot as u8, self.now) {
                        state.suspended.push_back(tb);
                    }
                }
                if changed {
                    self.no_end_before[sm] = 0;
                    self.sms.wake(sm, self.now);
                    self.registers.set_resident(sm, slot, quota);
                    self.occupancy.set(sm, self.now, !self.sms[sm].is_empty());
                    self.registers.set_unissued(slot, state.available());
                }
            }
        }
        self.retire_tbs(self.now);
    }

    /// Runs one cycle of TB issue.
    pub(super) fn issue_tbs(&mut self) {
        if self.issue_round() {
            (0..self.sms.len()).for_each(|sm| self.flush_idle_l1(sm));
        }
    }

    /// Issues up to one TB to every SM to examine. Returns true if any SM was examined.
    pub(super) fn issue_round(&mut self) -> bool {
        if self.slots.iter().flatten().any(|slot| slot.ready == self.now) {
            self.dispatcher.room_everywhere();
        }
        if self.dispatcher.looks == 0 || self.registers.quota_bus_is_busy() {
            return false;
        }
        let count = self.sms.len();
        let first = self.dispatcher.last + 1;
        for i in 0..count {
            let sm = (first + i) % count;
            if !self.dispatcher.look[sm] {
                continue;
            }
            // An SM that received a TB may receive another one in the next cycle.
            if !self.issue_tb_to(sm) {
                self.dispatcher.look[sm] = false;
                self.dispatcher.looks -= 1;
                if self.registers.preempts() && self.states.takes_tbs(sm) {
                    self.look_for_victims(sm);
                }
            }
        }
        true
    }

    /// Next TB for `sm` in this cycle: from the first kernel, in launch order, that has one within
    /// its quota and the cap.
    pub(super) fn next_for(&self, sm: usize) -> Option<Next> {
        if sm >= self.open_sms || !self.states.takes_tbs(sm) {
            return None;
        }
        self.dispatcher.order.iter().find_map(|&slot| {
            let state = self.slots[slot].as_ref()?;
            let most = self.registers.quota(sm, slot).min(self.tb_cap);
            if state.available() == 0 || state.ready > self.now {
                return None;
            }
            let fits = self.sms[sm].resident(slot) < most && self.sms[sm].can_take_tb(slot as u8, &state.demand);
            let extra = !fits && self.oversubscription.is_some() && state.suspended.is_empty() && self.may_take_extra(sm, slot, most);
            if !fits && !extra {
                return None;
            }
            let returns = state.suspended.iter().position(|tb| {
                // A TB would wait forever for an SM on which its kernel may have no TB any more.
                let lost = |home: usize| self.registers.quota(home, slot) == 0 || !self.states.takes_tbs(home);
                tb.may_return_to(sm) || tb.home().is_some_and(lost)
            });
            (returns.is_some() || state.unissued() > 0).then_some(Next { slot, returns, extra })
        })
    }

    /// Issues the [next TB](Gpu::next_for) to `sm`. Returns true if there was one.
    fn issue_tb_to(&mut self, sm: usize) -> bool {
        let Some(Next { slot, returns, extra }) = self.next_for(sm) else { return false };
        let Some(state) = &mut self.slots[slot] else { return false };
        let demand = state.demand;
        if let Some(tb) = returns.and_then(|at| state.suspended.remove(at)) {
            if state.suspended.is_empty() && self.oversubscription.is_some() {
                // No extra TB is issued on any SM while a TB waits to return.
                self.dispatcher.room_everywhere();
            }
            let Some(program) = self.programs.get(slot as u8) else { return false };
            if let Some(validation) = &mut self.validation {
                validation.returned(slot, tb.index);
            }
            self.sms[sm].resume_tb(slot as u8, &tb, &demand, program, self.now);
        } else {
            let index = state.issued;
            let Some(program) = Arc::make_mut(&mut self.programs).get_mut(slot as u8) else { return false };
            let part = match program.reach(index) {
                Ok((part, came)) => {
                    if came {
                        self.release_parts(slot, part);
                    }
                    part
                }
                Err(message) => {
                    self.failure.get_or_insert(message);
                    return false;
                }
            };
            let Some(state) = &mut self.slots[slot] else { return false };
            state.issued += 1;
            state.running += 1;
            let whole = state.issued == state.grid;
            if whole && state.relaunch {
                state.issued = 0;
            }
            let (last, launch, issued) = (state.unissued() == 0, state.launch, if whole { state.grid } else { state.issued });
            let queued = &mut self.queue.launches[launch];
            queued.first_issue.get_or_insert(self.now);
            if queued.filled.is_none() {
                let fit = crate::sm::Resources::of_sm(&self.config.sm).count(&demand).min(self.tb_cap);
                if whole || issued >= fit.saturating_mul(self.sms.len().min(self.open_sms) as u32) {
                    queued.filled = Some(self.now);
                }
            }
            if whole {
                queued.all_issued.get_or_insert(self.now);
            }
            // A sequence of launches has run once when its last launch has.
            let closes = whole && queued.is_last_in_turn();
            self.carve_out(sm);
            let Some(program) = self.programs.get(slot as u8) else { return false };
            let again = self.first_runs.as_mut().is_some_and(|runs| runs.issued(launch, program, (index, part), closes));
            let tb = NewTb { index, part, again };
            if extra {
                self.sms[sm].take_extra(slot as u8, tb, &demand, program, self.now);
            } else {
                self.sms[sm].take_tb(slot as u8, tb, &demand, program, self.now);
            }
            if let Some(validation) = &mut self.validation {
                validation.issued(slot, index, self.sms[sm].resident(slot), self.registers.quota(sm, slot));
            }
            if last {
                self.registers.post_drained(slot);
            }
        }
        self.sms.wake(sm, self.now + 1);
        self.dispatcher.last = sm;
        self.no_end_before[sm] = 0;
        self.occupancy.set(sm, self.now + 1, true);
        let available = self.slots[slot].as_ref().map_or(0, super::launch::Slot::available);
        if available == 0 && self.registers.preempts() {
            self.forget_reserved(slot);
        }
        self.registers.set_unissued(slot, available);
        self.registers.set_resident(sm, slot, self.sms[sm].resident(slot));
        true
    }

    /// Releases the parts of a kernel's trace that no TB uses, except `next`.
    fn release_parts(&mut self, slot: usize, next: u32) {
        let Some(program) = Arc::make_mut(&mut self.programs).get_mut(slot as u8) else { return };
        let suspended = self.slots[slot].as_ref().map(|state| &state.suspended);
        program.release(|part| {
            let resident = || self.sms.iter().any(|sm| sm.uses(slot as u8, part));
            part == next || suspended.is_some_and(|tbs| tbs.iter().any(|tb| tb.part == part)) || resident()
        });
    }

    /// Sizes the SM's L1 for the shared memory that its quotas may use. Shared memory may grow
    /// while TBs are resident, which empties the L1. It shrinks only on an empty SM.
    fn carve_out(&mut self, sm: usize) {
        let steps = &self.config.l1.carve_out;
        if steps.is_empty() {
            return;
        }
        let mut shared = 0u32;
        for &slot in &self.dispatcher.order {
            if let Some(state) = &self.slots[slot] {
                let most = crate::sm::Resources::of_sm(&self.config.sm).count(&state.demand);
                let quota = self.registers.quota(sm, slot).min(most).min(self.tb_cap);
                shared = shared.saturating_add(quota.saturating_mul(state.demand.shared_bytes));
            }
        }
        let shared = shared.min(self.config.sm.shared_bytes);
        let Some(step) = steps.iter().find(|step| step.shared_up_to_bytes >= shared).or(steps.last()) else { return };
        let ways = self.sms[sm].l1_ways();
        if step.l1_ways < ways || (step.l1_ways > ways && self.sms[sm].is_empty()) {
            self.sms[sm].reset_l1(step.l1_ways, self.now + 1);
        }
    }

    /// Flushes the L1 of an SM without TBs, as Accel-Sim does between kernels.
    pub(super) fn flush_idle_l1(&mut self, sm: usize) {
        let from = self.now + 1;
        let sm = &mut self.sms[sm];
        if sm.is_empty() && sm.l1_used() {
            sm.reset_l1(sm.l1_ways(), from);
        }
    }
}
