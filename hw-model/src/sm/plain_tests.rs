//! Comparison of an SM with its plain twin. Random TBs of two kernels come and go. In every cycle
//! the scheduling masks must match the states of all warps. At the end the counters must be equal,
//! although the SM slept.

use super::plain::{PlainAccounting, PlainWarp, State};
use super::*;
use crate::hand_made::{Recipe, config, random_kernel};
use crate::memory::{MemorySystem, Outbox};
use crate::sm::sub_core::Readiness;
use proptest::prelude::*;

/// SM with its memory, and the twin.
struct Pair {
    sm: Sm,
    memory: MemorySystem,
    programs: Programs,
    /// Next cycle of the SM.
    wake: u64,
    warps: Vec<PlainWarp>,
    /// Number of warps that have arrived so far.
    came: u32,
    accounting: PlainAccounting,
}

impl Pair {
    fn new(config: &GpuConfig, kernels: &[&Recipe]) -> Self {
        let mut programs = Programs::default();
        for (slot, kernel) in (0..).zip(kernels) {
            // Each kernel has its own buffers.
            programs.set(slot, Program::new(kernel.trace(), None, u64::from(slot) << 20, &config.sm));
        }
        let (sm, memory) = (Sm::new(config, 0), MemorySystem::new(config));
        Pair { sm, memory, programs, wake: 0, warps: Vec::new(), came: 0, accounting: PlainAccounting::default() }
    }

    /// Runs cycle `now`: replies and memory, then the SM unless it sleeps, and the twin, which
    /// never sleeps.
    fn cycle(&mut self, now: u64) {
        if self.sm.can_take_reply()
            && let Some(reply) = self.memory.pop_reply(0)
        {
            self.sm.take_reply(reply, now);
            self.wake = self.wake.min(now + 1);
        }
        self.memory.tick();
        let next: Vec<u32> = self.warps.iter().map(|warp| self.sm.warps[warp.number].next).collect();
        let runs = self.wake <= now;
        if runs {
            self.sm.account_sleep(now);
            let mut outbox = Outbox::new(1);
            let mut port = outbox.port(self.memory.room(0).next().unwrap_or(0));
            if self.sm.plain {
                self.sm.advance::<true>(now, &self.programs, &mut port);
            } else {
                self.sm.advance::<false>(now, &self.programs, &mut port);
            }
            self.memory.inject_all(&mut outbox);
        }
        for (warp, next) in self.warps.iter_mut().zip(next) {
            let of_sm = &self.sm.warps[warp.number];
            (warp.state, warp.issued) =
                (State::of(of_sm, &self.sm.on_chip[usize::from(warp.number)], self.sm.part(of_sm), &self.programs), of_sm.next != next);
        }
        let resident: Vec<u8> = (0..KERNEL_SLOTS as u8).filter(|&slot| self.sm.resident(slot.into()) > 0).collect();
        self.accounting.cycle(self.sm.sub_cores_here(), &self.warps, &resident, self.sm.outstanding, self.sm.lsu.head_through_l1());
        if runs {
            self.sm.account(now, 1);
            self.sm.retire(now + 1);
            self.wake = self.sm.next_event::<false>(now).unwrap_or(u64::MAX);
            let warps = &self.sm.warps;
            self.warps.retain(|warp| warps[warp.number].live);
        }
    }

    /// Gives the SM a TB after cycle `now`, if it fits.
    fn take_tb(&mut self, slot: u8, index: u32, config: &GpuConfig, now: u64) -> bool {
        let Some(program) = self.programs.get(slot) else { return false };
        let demand = Resources::of_tb(program.trace(|| WHOLE).unwrap().info(), &config.sm);
        if !self.sm.can_take_tb(slot, &demand) {
            return false;
        }
        self.sm.take_tb(slot, NewTb { index, part: WHOLE, again: false }, &demand, program, now);
        self.wake = self.wake.min(now + 1);
        for number in 0..self.sm.warp_slots as u8 {
            if self.sm.warps[number].live && self.warps.iter().all(|warp| warp.number != number) {
                let sub_core = usize::from(number) % self.sm.sub_cores_here();
                let state = State::NoInstruction;
                self.warps.push(PlainWarp { number, sub_core, kernel: slot, age: self.came, state, issued: false });
                self.came += 1;
            }
        }
        true
    }

    /// Checks the masks of every sub-core, warp by warp, and that they contain only warps.
    fn check_masks(&self) -> Result<(), TestCaseError> {
        for number in 0..self.sm.sub_cores_here() {
            let mut plain = Readiness::default();
            let mut places = 0;
            for warp in self.warps.iter().filter(|warp| warp.sub_core == number) {
                let bit = self.sm.warps[warp.number].bit;
                prop_assert!(bit.is_power_of_two() && places & bit == 0, "warp {} has a place of its own", warp.number);
                places |= bit;
                let put = |mask: &mut u32, is: bool| *mask |= if is { bit } else { 0 };
                put(&mut plain.valid, warp.state.is_valid());
                put(&mut plain.ready, warp.state.is_ready());
                put(&mut plain.on_memory, warp.state.is_on_memory());
                if let State::Ready(unit) = warp.state {
                    put(&mut plain.by_unit[unit.index()], true);
                }
            }
            let masks = |readiness: &Readiness| (readiness.valid, readiness.ready, readiness.on_memory, readiness.by_unit);
            prop_assert_eq!(masks(&self.sm.sub_cores[number].readiness), masks(&plain), "sub-core {}", number);
        }
        Ok(())
    }

    /// Counters of the SM, in the form of the twin.
    fn counted(&mut self, now: u64) -> PlainAccounting {
        self.sm.settle(now);
        let SmCounters { cycles, issue_cycles, memory_stall_cycles, outstanding_misses, outstanding_cycles, issue_slots, .. } =
            self.sm.counters;
        let by_kernel = std::array::from_fn(|slot| self.sm.kernels[slot].issue_slots);
        PlainAccounting { cycles, issue_cycles, memory_stall_cycles, outstanding_misses, outstanding_cycles, issue_slots, by_kernel }
    }
}

/// Counters without the attribution of idle cycles. With TBs of several kernels, a warp that leaves
/// before the rest of its TB is noticed late (see [`super::cycle_accounting`]).
fn but_for_idle_charges(mut accounting: PlainAccounting) -> PlainAccounting {
    accounting.by_kernel.iter_mut().for_each(|slots| slots[IssueClass::IdleOrControl as usize] = 0);
    accounting
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_sm_schedules_and_accounts_as_its_warps_say(
        first in random_kernel(),
        second in prop::option::weighted(0.7, random_kernel()),
        every in 1u64..40,
    ) {
        let config = config();
        let kernels: Vec<&Recipe> = [&first].into_iter().chain(&second).collect();
        let mut pair = Pair::new(&config, &kernels);
        let mut issued = vec![0; kernels.len()];
        for now in 0..4_000 {
            pair.cycle(now);
            pair.check_masks()?;
            let slot = (now / every) as usize % kernels.len();
            let within = pair.sm.resident(slot) < kernels[slot].quota && issued[slot] < kernels[slot].tbs;
            if now % every == 0 && within && pair.take_tb(slot as u8, issued[slot], &config, now) {
                issued[slot] += 1;
            }
            if now % 500 == 499 {
                let (counted, plain) = (pair.counted(now + 1), pair.accounting.clone());
                prop_assert_eq!(but_for_idle_charges(counted.clone()), but_for_idle_charges(plain.clone()), "after cycle {}", now);
                prop_assert!(second.is_some() || counted == plain, "after cycle {now}: {counted:?}, not {plain:?}");
            }
        }
    }
}
