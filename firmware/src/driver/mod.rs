//! The driver: turns the register block's events into scheduler events, and scheduler commands into register writes.
//!
//! The same code runs on the target, over the model's register block, and over a remote bus (docs/architecture.md). Every loop
//! is bounded by the number of SMs, slots or kernels.

mod counters;
mod extension;
mod observer;
mod search;
mod slots;
mod start;

pub use extension::{Attends, Extension, Precedence, Waiting, refuse_preemption};
pub use observer::{Observer, Strobe};
pub use start::StartError;

use crate::configs::TbVector;
use crate::counters::{CounterSet, Reading};
use crate::policy::{Policy, ShippedPolicy};
use crate::scheduler::{Command, Commands, Event, Report, Scheduler};
use crate::sm_set::SmWord;
use mias_registers::bus::{Error, TryBus, can_fail, read, write};
use mias_registers::counters::Counter;
use mias_registers::{PhaseCode, fault, global, interrupt, slot, slot_control};

/// Configurations that the firmware has room for by default (two rounds on 32 SMs, sources.md D21).
pub const DEFAULT_CONFIGS: usize = 64;

/// Events that the driver handles.
const ENABLED: u32 =
    interrupt::LAUNCH | interrupt::DRAINED | interrupt::COMPLETED | interrupt::PARTITION | interrupt::PROFILE_DONE | interrupt::TIMER;

/// Events that hardware raises only if the firmware was asked for what they are for.
const SELDOM: u32 = interrupt::MEMORY | interrupt::PREEMPT | interrupt::CONTEXTS | interrupt::QUEUE;

/// Events that hardware raises whatever the firmware was asked to do.
const OFTEN: u32 = interrupt::ALL & !SELDOM;

/// Core cycles after which the firmware looks at everything again if nothing called it: what an interrupt that was lost would have
/// said waits no longer. Assumption: a millisecond or so, short beside a kernel and long beside a decision.
pub const POLL_CYCLES: u32 = 1 << 20;

/// The firmware: scheduler and driver, with policy `P`, what `E` does beside it, and room for `C` configurations.
#[derive(Clone, Debug)]
pub struct Firmware<P = ShippedPolicy, E = (), const C: usize = DEFAULT_CONFIGS> {
    scheduler: Scheduler<P, C>,
    /// Slots that were occupied when the firmware started, and are not scheduled yet: one bit each.
    orphans: u8,
    /// Started, and the bus has not failed since: else the firmware leaves the block alone. Neither read nor written for a bus that cannot
    /// fail.
    alive: bool,
    extension: E,
}

impl<P: Policy, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Handles all pending events. To be called when the interrupt line is high; a call without cause does no harm.
    ///
    /// # Errors
    /// The bus failed. What was in hand is lost, so from here on the firmware leaves the block alone, until it is started again.
    pub fn on_interrupt<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error>
    where
        E: Attends<()>,
    {
        self.on_interrupt_watched(bus, &mut ())
    }

    /// The same under the eyes of an observer.
    ///
    /// # Errors
    /// The bus failed, as above. The observer has been told ([`Observer::bus_failed`]).
    pub fn on_interrupt_watched<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        if can_fail::<B::Error>() && !self.alive {
            return Ok(());
        }
        let outcome = self.handle_pending(bus, observer);
        self.mind(outcome, observer)
    }

    /// Passes on what an access came to. If the bus failed, the observer is told, and the block is left alone from here on.
    #[inline(always)]
    pub(crate) fn mind<T, F: Error>(&mut self, outcome: Result<T, F>, observer: &mut impl Observer) -> Result<T, F> {
        outcome.inspect_err(|error| {
            self.alive = false;
            observer.bus_failed(error.register());
        })
    }

    #[inline(always)]
    fn handle_pending<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        let (status, now) = (bus.try_read32(global::INT_STATUS)?, read_cycle(bus)?);
        if status & !OFTEN != 0 || now >> 32 == u64::from(u32::MAX) {
            return self.seldom(bus, observer, status, now);
        }
        // Cleared first: what happens from here on raises the line again.
        bus.try_write32(global::INT_STATUS, status & ENABLED)?;
        // The timer makes up for what was lost.
        let status = if status & interrupt::TIMER != 0 { ENABLED } else { status };
        if status & (interrupt::COMPLETED | interrupt::DRAINED) != 0 {
            self.slot_events(bus, observer, now)?;
        }
        self.extension.admit_launches(bus, &self.scheduler, self.orphans)?;
        // Whatever the status says: a launch may have waited for room.
        self.take_kernels(bus, observer, now)?;
        if status & interrupt::PARTITION != 0 {
            self.sm_events(bus, observer, now, global::PARTITION, Event::PartitionReached)?;
        }
        if status & interrupt::PROFILE_DONE != 0 {
            self.sm_events(bus, observer, now, global::PROFILE_DONE, Event::ProfileDone)?;
        }
        if let Some(deadline) = self.scheduler.phase().deadline() {
            let due = deadline <= now;
            if due {
                self.refresh_kernels(bus)?;
            }
            if due || status & interrupt::TIMER != 0 {
                self.dispatch(bus, observer, Event::Timer, now)?;
            }
        }
        if self.scheduler.phase().deadline().is_none() {
            set_timer(bus, now.wrapping_add(POLL_CYCLES.into()))?;
        }
        Ok(())
    }

    /// What is kept out of the way of a decision: a block that does not answer, limits of memory instructions, extra TBs, and preemption. Events of the
    /// scheduler that are pending too keep the line high, and wait as they would have for limits that had come a moment before.
    #[cold]
    #[inline(never)]
    fn seldom<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, status: u32, now: u64) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        if status & !interrupt::ALL != 0 || now >> 32 == u64::from(u32::MAX) {
            // Nothing was cleared: the line stays high.
            return raise(bus, observer, fault::WRONG_MAP);
        }
        // It is never told of what it does not handle.
        write(bus, global::INT_STATUS, status & E::INTERRUPTS)?;
        self.extension.attend(bus, observer, &self.scheduler, (status, self.orphans))
    }

    /// Does a part of the work of an event that is to come, without touching the block; false if there is nothing left to do ahead. To be
    /// called while the interrupt line is low, until it rises: an event that arrives meanwhile waits for one part, whose time has a budget
    /// (docs/decision-latency.md). It changes no decision.
    pub fn prepare(&mut self) -> bool {
        self.scheduler.prepare()
    }

    /// What was tried and why the winner won.
    #[must_use]
    pub fn report(&self) -> Report<'_, P, C> {
        self.scheduler.report()
    }

    /// What it does beside the policy.
    #[must_use]
    pub fn extension(&self) -> &E {
        &self.extension
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler<P, C> {
        &self.scheduler
    }

    /// Hands one event to the scheduler and carries out what it asks for, follow-up events included: counters read, then the
    /// broadcast written, and no more.
    fn dispatch<B: TryBus>(&mut self, bus: &mut B, observer: &mut impl Observer, event: Event, now: u64) -> Result<(), B::Error> {
        let mut commands = Commands::new();
        self.hand_over(bus, observer, &event, now, &mut commands)?;
        let mut decided = false;
        while let Some(follow_up) = self.execute(bus, observer, &commands)? {
            let event = match follow_up {
                FollowUp::CountersRead => {
                    decided = true;
                    Event::CountersRead
                }
                FollowUp::BroadcastDone => {
                    if decided {
                        stamp_decision(bus, now as u32)?;
                    }
                    Event::BroadcastDone
                }
            };
            self.hand_over(bus, observer, &event, now, &mut commands)?;
        }
        Ok(())
    }

    /// One event, and what it asks for.
    #[inline(always)]
    fn hand_over<B: TryBus>(
        &mut self,
        bus: &mut B,
        observer: &mut impl Observer,
        event: &Event,
        now: u64,
        commands: &mut Commands,
    ) -> Result<(), B::Error> {
        observer.event(event, now);
        let before = self.scheduler.reschedulings();
        commands.clear();
        self.scheduler.handle_into(event, now, commands);
        if matches!(event, Event::CountersRead) {
            observer.decision_made();
            observer.decision(&self.scheduler.report());
        }
        if self.scheduler.reschedulings() != before {
            write(bus, global::RESCHEDULINGS, self.scheduler.reschedulings())?;
        }
        Ok(())
    }

    fn execute<B: TryBus>(&mut self, bus: &mut B, observer: &mut impl Observer, commands: &Commands) -> Result<Option<FollowUp>, B::Error> {
        let mut follow_up = None;
        for command in commands {
            match *command {
                Command::SetPhase(phase) => {
                    bus.try_write32(global::PHASE, phase as u32)?;
                    observer.phase(phase);
                    if phase == PhaseCode::Broadcast {
                        follow_up = Some(FollowUp::BroadcastDone);
                    }
                }
                Command::ApplyQuotas => {
                    self.end_shares(bus)?;
                    self.apply_quotas(bus)?;
                    observer.quotas_committed();
                }
                // Windows that nobody asked for, of a life before a reset, end here too.
                Command::ArmAll | Command::DisarmAll => {
                    self.write_all_sms(bus, global::DISARM)?;
                    self.forget_sm_events(bus)?;
                    if matches!(command, Command::ArmAll) {
                        self.write_all_sms(bus, global::ARM)?;
                    }
                }
                Command::SetTimer(at) => set_timer(bus, at)?,
                Command::CancelTimer => bus.try_write32(global::TIMER_ARMED, 0)?,
                Command::ReadCounters => {
                    observer.decision_begins();
                    self.read_counters(bus)?;
                    follow_up = Some(FollowUp::CountersRead);
                }
                Command::Release(slot) => write(bus, slot::at(slot.into(), slot::CONTROL), slot_control::RELEASE)?,
                Command::Reject(slot) => write(bus, slot::at(slot.into(), slot::CONTROL), slot_control::REJECT)?,
                Command::Fault(faults) => raise(bus, observer, faults)?,
                Command::Search(command) => {
                    // Known when it is compiled where no policy searches: nothing of a search is in the image then.
                    if self.scheduler.policy().search().is_some() && self.search(bus, observer, command)? {
                        follow_up = Some(FollowUp::CountersRead);
                    }
                }
            }
        }
        Ok(follow_up)
    }

    /// Stages the quotas of all SMs, 0 for kernels that are not scheduled, and commits them.
    #[inline(never)]
    fn apply_quotas<B: TryBus>(&self, bus: &mut B) -> Result<(), B::Error> {
        self.clear_quotas(bus)?;
        let slots = self.scheduler.scheduled_slots();
        if let Some(vector) = self.scheduler.broadcast() {
            stage(bus, global::QUOTA_ALL, slots, vector)?;
        } else {
            let (sms, round) = (u32::from(self.scheduler.gpu().sm_count), self.scheduler.dealt());
            let step = round.len() as u32;
            for (first, entry) in (0..).zip(round) {
                // SMs `first`, `first + step`, ...
                let mut sm = first;
                for word in 0..sms.div_ceil(32) {
                    let (end, mut bits) = (sms.min(32 * word + 32), 0);
                    while sm < end {
                        bits |= 1 << (sm % 32);
                        sm += step;
                    }
                    write(bus, global::QUOTA_SMS + 4 * word, bits)?;
                }
                stage(bus, global::QUOTA_SOME, slots, entry.vector)?;
            }
        }
        write(bus, global::COMMIT, 1)
    }

    /// Stages 0 for every kernel but those that are the extension's.
    #[inline(always)]
    fn clear_quotas<B: TryBus>(&self, bus: &mut B) -> Result<(), B::Error> {
        for slot in 0..u32::from(self.scheduler.gpu().slot_count) {
            if self.extension.holds(slot) {
                continue;
            }
            bus.try_write32(global::QUOTA_ALL + 4 * slot, 0)?;
        }
        Ok(())
    }

    /// Adds the latched counters of every SM that is done to its configuration. Out of line: it is off the stack when configurations are
    /// generated.
    #[inline(never)]
    fn read_counters<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        let settings = self.scheduler.settings();
        let asked = self.scheduler.policy().counters();
        let wanted = if settings.read_all_counters { CounterSet::ALL } else { asked };
        // A policy that asks for warp instructions counts those.
        let instructions = if asked.contains(Counter::WarpInsts) { Counter::WarpInsts } else { settings.instructions() };
        // No copy of the machine: a decision would wait for it.
        let (table, done, policy, gpu) = self.scheduler.measured();
        let sms = gpu.sm_count;
        let reading = Reading { done, sms, wanted, instructions };
        counters::read_counters(table, bus, &reading)?;
        policy.read_more(table, bus, &reading, gpu)
    }

    #[inline(never)]
    fn write_all_sms<B: TryBus>(&self, bus: &mut B, register: u32) -> Result<(), B::Error> {
        let sms = u32::from(self.scheduler.gpu().sm_count);
        for word in 0..sms.div_ceil(32) {
            let rest = sms.saturating_sub(word * 32);
            let bits = 1_u32.checked_shl(rest).map_or(u32::MAX, |bit| bit - 1);
            write(bus, register + 4 * word, bits)?;
        }
        Ok(())
    }

    fn forget_sm_events<B: TryBus>(&self, bus: &mut B) -> Result<(), B::Error> {
        self.write_all_sms(bus, global::PARTITION)?;
        self.write_all_sms(bus, global::PROFILE_DONE)
    }

    /// One event per word of an SM bit map: SMs that finish together cost one event. An SM that is armed has no window behind it:
    /// the end of one that is told of is of an earlier attempt.
    fn sm_events<B: TryBus>(
        &mut self,
        bus: &mut B,
        observer: &mut impl Observer,
        now: u64,
        register: u32,
        event: impl Fn(SmWord) -> Event,
    ) -> Result<(), B::Error> {
        for word in 0..self.scheduler.gpu().sm_count.div_ceil(32) as u8 {
            let offset = register + 4 * u32::from(word);
            let bits = bus.try_read32(offset)?;
            bus.try_write32(offset, bits)?;
            let waiting = if register == global::PROFILE_DONE { bus.try_read32(global::ARM + 4 * u32::from(word))? } else { 0 };
            let bits = bits & !waiting;
            if bits != 0 {
                self.dispatch(bus, observer, event(SmWord { word, bits }), now)?;
            }
        }
        Ok(())
    }

    fn refresh_kernels<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        for kernel in self.scheduler.kernels_mut() {
            kernel.unfinished_tbs = read(bus, slot::at(kernel.slot.into(), slot::UNFINISHED_TBS))?;
        }
        Ok(())
    }
}

/// Writes the quotas of a vector into the registers from `first` on, one per slot.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub fn stage<B: TryBus>(bus: &mut B, first: u32, slots: &[u8], vector: TbVector) -> Result<(), B::Error> {
    for (kernel, slot) in slots.iter().enumerate() {
        bus.try_write32(first + 4 * u32::from(*slot), vector.get(kernel).into())?;
    }
    Ok(())
}

/// What the driver did that the scheduler waits for.
#[derive(Clone, Copy)]
enum FollowUp {
    CountersRead,
    BroadcastDone,
}

/// Says how long the decision took that began at the cycle with this low word: the difference is right below 2^32 cycles.
#[inline(never)]
fn stamp_decision<B: TryBus>(bus: &mut B, begin: u32) -> Result<(), B::Error> {
    let end = bus.try_read32(global::CYCLE_LOW)?;
    bus.try_write32(global::DECISION_BEGIN, begin)?;
    bus.try_write32(global::DECISION_CYCLES, end.wrapping_sub(begin))
}

/// Raises faults in the block, and tells the observer.
///
/// # Errors
/// The bus failed.
pub fn raise<B: TryBus>(bus: &mut B, observer: &mut impl Observer, faults: u32) -> Result<(), B::Error> {
    write(bus, global::FAULT_SET, faults)?;
    observer.fault(faults);
    Ok(())
}

fn set_timer<B: TryBus>(bus: &mut B, at: u64) -> Result<(), B::Error> {
    write(bus, global::TIMER_LOW, at as u32)?;
    write(bus, global::TIMER_HIGH, (at >> 32) as u32)
}

/// The cycle counter, free of tearing: the low word latches the high one.
fn read_cycle<B: TryBus>(bus: &mut B) -> Result<u64, B::Error> {
    let low = bus.try_read32(global::CYCLE_LOW)?;
    Ok(u64::from(bus.try_read32(global::CYCLE_HIGH)?) << 32 | u64::from(low))
}
