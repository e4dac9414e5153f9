//! The driver: turns the register block's events into scheduler events, and scheduler commands into register writes.
//!
//! The same code runs on the target, over the model's register file, and over a remote bus (DESIGN.md section 3). Every loop
//! is bounded by the number of SMs, slots or kernels.

use crate::bus::Bus;
use crate::configs::Sums;
use crate::counters::{Counter, CounterSet};
use crate::kernel::Kernel;
use crate::machine::{Machine, Settings};
use crate::policy::{AnyPolicy, Policy};
use crate::regs::{
    ID_VALUE, MAX_SLOTS, MAX_SMS, MAX_WINDOW, VERSION_VALUE, fault, feature, global, interrupt, mode, slot, slot_control, sm,
};
use crate::scheduler::{Command, Commands, Event, Report, Scheduler};

/// Configurations that the firmware has room for by default (two rounds on 32 SMs, DESIGN.md section 4).
pub const DEFAULT_CONFIGS: usize = 64;

/// Events that the driver handles.
const ENABLED: u32 =
    interrupt::LAUNCH | interrupt::DRAINED | interrupt::COMPLETED | interrupt::PARTITION | interrupt::PROFILE_DONE | interrupt::TIMER;

/// Why the firmware did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartError {
    /// The register block's ID or version is not the one that this firmware knows.
    WrongMap {
        /// What the ID register holds.
        id: u32,
        /// What the version register holds.
        version: u32,
    },
    /// The policy strap holds an unknown code.
    UnknownPolicy(u32),
}

/// The firmware: scheduler and driver, with policy `P` and room for `C` configurations.
#[derive(Clone, Debug)]
pub struct Firmware<P = AnyPolicy, const C: usize = DEFAULT_CONFIGS> {
    scheduler: Scheduler<P, C>,
}

impl<const C: usize> Firmware<AnyPolicy, C> {
    /// Starts the policy that the straps ask for, with the strapped parameters.
    ///
    /// # Errors
    /// [`StartError`], also raised as [`fault::WRONG_MAP`].
    pub fn from_straps(bus: &mut impl Bus) -> Result<Self, StartError> {
        let machine = check_map(bus)?;
        let settings = Settings::read(bus);
        let Some(policy) = AnyPolicy::read(bus, &machine, &settings) else {
            bus.write32(global::FAULT_SET, fault::WRONG_MAP);
            return Err(StartError::UnknownPolicy(bus.read32(global::STRAP_POLICY)));
        };
        Ok(Self::set_up(bus, policy, machine, settings))
    }
}

impl<P: Policy, const C: usize> Firmware<P, C> {
    /// Starts a policy of one's own: `policy` is given the machine that the register block describes.
    ///
    /// # Errors
    /// [`StartError::WrongMap`], also raised as [`fault::WRONG_MAP`].
    pub fn start(bus: &mut impl Bus, settings: Settings, policy: impl FnOnce(&Machine) -> P) -> Result<Self, StartError> {
        let machine = check_map(bus)?;
        let policy = policy(&machine);
        Ok(Self::set_up(bus, policy, machine, settings))
    }

    fn set_up(bus: &mut impl Bus, policy: P, machine: Machine, settings: Settings) -> Self {
        let settings = Settings { profile_window: settings.profile_window.clamp(1, MAX_WINDOW), ..settings };
        let ideal = settings.ideal_transition && bus.read32(global::FEATURES) & feature::IDEAL_TRANSITION != 0;
        bus.write32(global::MODE, if ideal { mode::IDEAL } else { mode::DRAIN });
        bus.write32(global::PROFILE_WINDOW, settings.profile_window);
        if bus.read32(global::SM_COUNT) > MAX_SMS as u32 {
            bus.write32(global::FAULT_SET, fault::MACHINE_TOO_LARGE);
        }
        bus.write32(global::INT_ENABLE, ENABLED);
        Self { scheduler: Scheduler::new(policy, machine, settings) }
    }

    /// Handles all pending events. To be called when the interrupt line is high; a call without cause does no harm.
    pub fn on_interrupt(&mut self, bus: &mut impl Bus) {
        // Cleared first: what happens from here on raises the line again.
        let status = bus.read32(global::INT_STATUS);
        bus.write32(global::INT_STATUS, status & ENABLED);
        let now = read_cycle(bus);
        if status & interrupt::COMPLETED != 0 {
            self.slot_events(bus, now, global::COMPLETED, Event::Completed);
        }
        if status & interrupt::DRAINED != 0 {
            self.slot_events(bus, now, global::DRAINED, Event::Drained);
        }
        // Whatever the status says: a launch may have waited for room.
        self.take_launches(bus, now);
        if status & interrupt::PARTITION != 0 {
            self.sm_events(bus, now, global::PARTITION, Event::PartitionReached);
        }
        if status & interrupt::PROFILE_DONE != 0 {
            self.sm_events(bus, now, global::PROFILE_DONE, Event::ProfileDone);
        }
        let due = self.scheduler.phase().deadline().is_some_and(|deadline| deadline <= now);
        if due {
            self.refresh_kernels(bus);
        }
        if due || status & interrupt::TIMER != 0 {
            self.dispatch(bus, Event::Timer, now);
        }
    }

    /// What was tried and why the winner won.
    #[must_use]
    pub fn report(&self) -> Report<'_, P, C> {
        self.scheduler.report()
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler(&self) -> &Scheduler<P, C> {
        &self.scheduler
    }

    /// Hands one event to the scheduler and carries out what it asks for, follow-up events included: counters read, then the
    /// broadcast written, and no more.
    fn dispatch(&mut self, bus: &mut impl Bus, event: Event, now: u64) {
        let mut next = Some(event);
        while let Some(event) = next {
            let before = self.scheduler.reschedulings();
            let commands = self.scheduler.handle(event, now);
            if self.scheduler.reschedulings() != before {
                bus.write32(global::RESCHEDULINGS, self.scheduler.reschedulings());
            }
            next = self.execute(bus, &commands);
        }
    }

    fn execute(&mut self, bus: &mut impl Bus, commands: &Commands) -> Option<Event> {
        let mut follow_up = None;
        for command in commands {
            match *command {
                Command::SetPhase(phase) => {
                    bus.write32(global::PHASE, phase as u32);
                    if phase == crate::regs::PhaseCode::Broadcast {
                        follow_up = Some(Event::BroadcastDone);
                    }
                }
                Command::ApplyQuotas => self.apply_quotas(bus),
                Command::ArmAll => {
                    self.forget_sm_events(bus);
                    self.write_all_sms(bus, global::ARM);
                }
                Command::DisarmAll => {
                    self.write_all_sms(bus, global::DISARM);
                    self.forget_sm_events(bus);
                }
                Command::SetTimer(at) => {
                    bus.write32(global::TIMER_LOW, at as u32);
                    bus.write32(global::TIMER_HIGH, (at >> 32) as u32);
                }
                Command::CancelTimer => bus.write32(global::TIMER_ARMED, 0),
                Command::ReadCounters => {
                    self.read_counters(bus);
                    follow_up = Some(Event::CountersRead);
                }
                Command::Release(slot) => bus.write32(slot::at(slot.into(), slot::CONTROL), slot_control::RELEASE),
                Command::Reject(slot) => bus.write32(slot::at(slot.into(), slot::CONTROL), slot_control::REJECT),
                Command::Fault(faults) => bus.write32(global::FAULT_SET, faults),
            }
        }
        follow_up
    }

    /// Stages the quotas of all SMs, 0 for kernels that are not scheduled, and commits them.
    fn apply_quotas(&self, bus: &mut impl Bus) {
        (0..u32::from(self.scheduler.machine().slot_count)).for_each(|slot| bus.write32(global::QUOTA_ALL + 4 * slot, 0));
        let slots = self.scheduler.scheduled_slots();
        if let Some(vector) = self.scheduler.broadcast() {
            for (slot, tbs) in slots.iter().zip(vector.0) {
                bus.write32(global::QUOTA_ALL + 4 * u32::from(*slot), tbs.into());
            }
        } else {
            for sm in 0..usize::from(self.scheduler.machine().sm_count) {
                for (slot, tbs) in slots.iter().zip(self.scheduler.quotas(sm).0) {
                    bus.write32(sm::at(sm, sm::QUOTA + 4 * u32::from(*slot)), tbs.into());
                }
            }
        }
        bus.write32(global::COMMIT, 1);
    }

    /// Adds the latched counters of every SM that is done to its configuration.
    fn read_counters(&mut self, bus: &mut impl Bus) {
        let settings = *self.scheduler.settings();
        let wanted = if settings.read_all_counters { CounterSet::ALL } else { self.scheduler.policy().counters() };
        let instructions = settings.instructions();
        let done = *self.scheduler.done();
        for index in (0..self.scheduler.machine().sm_count).filter(|sm| done.contains(*sm)) {
            let Some(sums) = self.scheduler.sums_mut(index) else {
                bus.write32(global::FAULT_SET, fault::IMPOSSIBLE_INDEX);
                continue;
            };
            add_sm(sums, bus, index.into(), wanted, instructions);
        }
    }

    fn write_all_sms(&self, bus: &mut impl Bus, register: u32) {
        let sms = u32::from(self.scheduler.machine().sm_count);
        for word in 0..sms.div_ceil(32) {
            let rest = sms.saturating_sub(word * 32);
            let bits = 1_u32.checked_shl(rest).map_or(u32::MAX, |bit| bit - 1);
            bus.write32(register + 4 * word, bits);
        }
    }

    fn forget_sm_events(&self, bus: &mut impl Bus) {
        self.write_all_sms(bus, global::PARTITION);
        self.write_all_sms(bus, global::PROFILE_DONE);
    }

    fn slot_events(&mut self, bus: &mut impl Bus, now: u64, register: u32, event: impl Fn(u8) -> Event) {
        let bits = bus.read32(register);
        bus.write32(register, bits);
        for slot in (0..MAX_SLOTS as u8).filter(|slot| bits >> slot & 1 != 0) {
            self.dispatch(bus, event(slot), now);
        }
    }

    fn sm_events(&mut self, bus: &mut impl Bus, now: u64, register: u32, event: impl Fn(u16) -> Event) {
        for word in 0..self.scheduler.machine().sm_count.div_ceil(32) {
            let offset = register + 4 * u32::from(word);
            let bits = bus.read32(offset);
            bus.write32(offset, bits);
            for bit in (0..32).filter(|bit| bits >> bit & 1 != 0) {
                self.dispatch(bus, event(word * 32 + bit), now);
            }
        }
    }

    fn take_launches(&mut self, bus: &mut impl Bus, now: u64) {
        let waiting = bus.read32(global::LAUNCH_COUNT).min(MAX_SLOTS as u32);
        for _ in 0..waiting {
            if !self.scheduler.has_room() {
                return;
            }
            let slot = bus.read32(global::LAUNCH_SLOT);
            bus.write32(global::LAUNCH_POP, 1);
            match u8::try_from(slot) {
                Ok(slot) if usize::from(slot) < MAX_SLOTS => {
                    let kernel = Kernel::read(bus, slot, &self.scheduler.machine().limits);
                    self.dispatch(bus, Event::Launched(kernel), now);
                }
                _ => bus.write32(global::FAULT_SET, fault::IMPOSSIBLE_INDEX),
            }
        }
    }

    fn refresh_kernels(&mut self, bus: &mut impl Bus) {
        for kernel in self.scheduler.kernels_mut() {
            kernel.unfinished_tbs = bus.read32(slot::at(kernel.slot.into(), slot::UNFINISHED_TBS));
        }
    }
}

/// Adds one SM's latched counters; those that are not wanted are not read.
fn add_sm(sums: &mut Sums, bus: &mut impl Bus, index: usize, wanted: CounterSet, instructions: Counter) {
    let base = sm::at(index, 0);
    let mut read = |counter: Counter| if wanted.contains(counter) { bus.read32(base + counter.register()) } else { 0 };
    sums.sms = sums.sms.saturating_add(1);
    sums.cycles = sums.cycles.saturating_add(read(Counter::Cycles));
    sums.issue_cycles = sums.issue_cycles.saturating_add(read(Counter::IssueCycles));
    sums.memory_stall_cycles = sums.memory_stall_cycles.saturating_add(read(Counter::MemoryStallCycles));
    sums.misses = sums.misses.saturating_add(read(Counter::Misses));
    sums.outstanding_misses = sums.outstanding_misses.saturating_add(read(Counter::OutstandingMisses).into());
    sums.instructions = sums.instructions.saturating_add(bus.read32(base + instructions.register()));
    if wanted == CounterSet::ALL {
        sums.saturated |= bus.read32(base + sm::SATURATED) != 0;
    }
}

/// Whether this is a register block that the firmware knows; the machine behind it.
fn check_map(bus: &mut impl Bus) -> Result<Machine, StartError> {
    let (id, version) = (bus.read32(global::ID), bus.read32(global::VERSION));
    // The lower half of the version counts additions.
    if id == ID_VALUE && version >> 16 == VERSION_VALUE >> 16 {
        Ok(Machine::read(bus))
    } else {
        bus.write32(global::FAULT_SET, fault::WRONG_MAP);
        Err(StartError::WrongMap { id, version })
    }
}

/// The cycle counter, free of tearing: the low word latches the high one.
fn read_cycle(bus: &mut impl Bus) -> u64 {
    let low = bus.read32(global::CYCLE_LOW);
    u64::from(bus.read32(global::CYCLE_HIGH)) << 32 | u64::from(low)
}
