//! The driver: turns the register block's events into scheduler events, and scheduler commands into
//! register writes.
//!
//! The same code runs on the target, over the model's register block, and over a remote bus
//! (docs/explanation/architecture.md). Every loop is bounded by the number of SMs, slots or
//! kernels.

mod counters;
mod extension;
mod observer;
mod search;
mod slots;
mod start;

pub use extension::{Attends, Extension, Precedence, Waiting, refuse_preemption};
pub use observer::{Observer, Progress, Strobe};
pub use start::StartError;

use crate::configs::TbVector;
use crate::counters::{CounterSet, Reading};
use crate::policy::{Policy, ShippedPolicy};
use crate::scheduler::{Command, Commands, Event, Report, Scheduler};
use crate::sm_set::SmWord;
use mias_registers::bus::{Error, TryBus, can_fail, read, write};
use mias_registers::counters::Counter;
use mias_registers::{PhaseCode, fault, global, interrupt, slot, slot_control};

/// Default capacity in configurations: two rounds on 32 SMs (sources.md D21).
pub const DEFAULT_CONFIGS: usize = 64;

/// Events that the driver handles.
const ENABLED: u32 =
    interrupt::LAUNCH | interrupt::DRAINED | interrupt::COMPLETED | interrupt::PARTITION | interrupt::PROFILE_DONE | interrupt::TIMER;

/// Events that hardware raises only on request of the firmware.
const SELDOM: u32 = interrupt::MEMORY | interrupt::PREEMPT | interrupt::OVERSUBSCRIPTION | interrupt::QUEUE;

/// Core cycles after which the firmware checks all state without an interrupt, so that a lost
/// interrupt only delays its work.
///
/// Assumption: about a millisecond, short relative to a kernel and long relative to a decision.
pub const POLL_CYCLES: u32 = 1 << 20;

/// The firmware: scheduler and driver, with policy `P`, extension `E` and a capacity of `C`
/// configurations.
#[derive(Clone, Debug)]
pub struct Firmware<P = ShippedPolicy, E = (), const C: usize = DEFAULT_CONFIGS> {
    scheduler: Scheduler<P, C>,
    /// Slots that were occupied when the firmware started, and are not scheduled yet: one bit each.
    orphans: u8,
    /// Whether the firmware has started and the bus has not failed since. Otherwise the firmware
    /// does not access the block. Unused for a bus that cannot fail.
    alive: bool,
    extension: E,
}

impl<P: Policy, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Handles all pending events. Call it when the interrupt line is high. A call without cause
    /// does no harm.
    ///
    /// # Errors
    /// The bus failed. The work in progress is lost, so the firmware does not access the block
    /// until it is restarted, and every further call returns an error ([`Error::stopped`]).
    pub fn on_interrupt<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error>
    where
        E: Attends<()>,
    {
        self.on_interrupt_watched(bus, &mut ())
    }

    /// Handles all pending events and reports to an observer.
    ///
    /// # Errors
    /// The bus failed, as in [`Firmware::on_interrupt`]. The observer was notified
    /// ([`Observer::bus_failed`]).
    pub fn on_interrupt_watched<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        self.check_running::<B>()?;
        let outcome = self.handle_pending(bus, observer);
        self.note_failure(outcome, observer)
    }

    /// Returns an error if the bus has failed since the firmware started, or it has not started.
    #[inline(always)]
    pub(crate) fn check_running<B: TryBus>(&self) -> Result<(), B::Error> {
        if can_fail::<B::Error>() && !self.alive { B::Error::stopped(global::INT_STATUS) } else { Ok(()) }
    }

    /// Passes on the outcome of an access. If the bus failed, it notifies the observer and stops
    /// accessing the block.
    #[inline(always)]
    pub(crate) fn note_failure<T, F: Error>(&mut self, outcome: Result<T, F>, observer: &mut impl Observer) -> Result<T, F> {
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
        if status & SELDOM != 0 || now >> 32 == u64::from(u32::MAX) {
            return self.seldom(bus, observer, status, now);
        }
        // Cleared first, so that any later event raises the line again.
        bus.try_write32(global::INT_STATUS, status & ENABLED)?;
        // The timer recovers lost events.
        let status = if status & interrupt::TIMER != 0 { ENABLED } else { status };
        if status & (interrupt::COMPLETED | interrupt::DRAINED) != 0 {
            self.slot_events(bus, observer, now)?;
        }
        self.extension.admit_launches(bus, &self.scheduler, self.orphans)?;
        // Independent of the status: a launch may have waited for a free entry.
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

    /// Does the work that is kept off the decision path: a block that answers all ones, limits of
    /// memory instructions, extra TBs, and preemption. Pending events of the scheduler keep the
    /// line high meanwhile, and wait as they would after an earlier limit update.
    #[cold]
    #[inline(never)]
    fn seldom<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, status: u32, now: u64) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        if status == u32::MAX || now >> 32 == u64::from(u32::MAX) {
            // Nothing was cleared, so the line stays high.
            return raise(bus, observer, fault::WRONG_MAP);
        }
        // The extension receives only events that it handles.
        write(bus, global::INT_STATUS, status & E::INTERRUPTS)?;
        self.extension.attend(bus, observer, &self.scheduler, (status, self.orphans))
    }

    /// Does a bounded part of the work for a future event without touching the block; returns false
    /// if none is left.
    ///
    /// Call it while the interrupt line is low, until the line rises. An event that arrives
    /// meanwhile waits for one part, whose time has a budget (docs/porting/decision-latency.md).
    /// The call changes no decision.
    pub fn prepare(&mut self) -> bool {
        self.scheduler.prepare()
    }

    /// Returns the tried configurations and the reason for the choice.
    #[must_use]
    pub fn report(&self) -> Report<'_, P, C> {
        self.scheduler.report()
    }

    /// Returns the extension.
    #[must_use]
    pub fn extension(&self) -> &E {
        &self.extension
    }

    /// Returns the scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler<P, C> {
        &self.scheduler
    }

    /// Passes one event to the scheduler and executes its commands, including follow-up events:
    /// counters read, then the broadcast written, and no more.
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

    /// Passes one event to the scheduler and executes its commands.
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
                // Windows from before a reset of the firmware also end here.
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
                    // A compile-time constant if no policy searches. The image then contains no
                    // search code.
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
        bus.try_barrier()?;
        write(bus, global::COMMIT, 1)
    }

    /// Stages 0 for every kernel except those that the extension controls.
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

    /// Adds the latched counters of every finished SM to its configuration. Out of line, so that it
    /// is off the stack when configurations are generated.
    #[inline(never)]
    fn read_counters<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        let settings = self.scheduler.settings();
        let asked = self.scheduler.policy().counters();
        let wanted = if settings.read_all_counters { CounterSet::ALL } else { asked };
        // A policy that requests warp instructions uses those as its instructions.
        let instructions = if asked.contains(Counter::WarpInsts) { Counter::WarpInsts } else { settings.instructions() };
        // Borrows the machine instead of copying it, because a decision would wait for the copy.
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

    /// Creates one event per word of an SM bit map, so that SMs that finish together cost one
    /// event. An armed SM has no finished window. If one is reported, it belongs to an earlier
    /// attempt.
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

/// Driver work that the scheduler waits for.
#[derive(Clone, Copy)]
enum FollowUp {
    CountersRead,
    BroadcastDone,
}

/// Writes the duration of the decision that started at the cycle with this low word. The difference
/// is correct below 2^32 cycles.
#[inline(never)]
fn stamp_decision<B: TryBus>(bus: &mut B, begin: u32) -> Result<(), B::Error> {
    let end = bus.try_read32(global::CYCLE_LOW)?;
    bus.try_write32(global::DECISION_BEGIN, begin)?;
    bus.try_write32(global::DECISION_CYCLES, end.wrapping_sub(begin))
}

/// Raises faults in the block, and notifies the observer.
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

/// Reads the cycle counter without tearing: the low word latches the high one.
fn read_cycle<B: TryBus>(bus: &mut B) -> Result<u64, B::Error> {
    let low = bus.try_read32(global::CYCLE_LOW)?;
    Ok(u64::from(bus.try_read32(global::CYCLE_HIGH)?) << 32 | u64::from(low))
}
