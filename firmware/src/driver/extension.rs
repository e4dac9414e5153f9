//! What a driver can do beside its policy: preempt, admit launches, control extra TBs. The driver asks an [`Extension`] at the points that
//! matter; `()` does nothing of it, costs nothing, and raises a fault if the straps ask for preemption. The crate `mias-policies` has one that does all of it.

use super::Observer;
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::scheduler::Scheduler;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{fault, global, preempt_scheme};

/// When a kernel that waits is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// At once, past the policy.
    Urgent,
    /// In its turn, which it has.
    Taken,
    /// When the scheduler has room; others are looked at now.
    Later,
    /// When the scheduler has room.
    Waits,
}

/// A launch that waits, as far as precedence depends on it.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its slot.
    pub slot: u32,
    /// It was found in its slot; else it is the oldest in the launch FIFO.
    pub found: bool,
    /// The scheduler has room for it.
    pub has_room: bool,
    /// Slots of the machine.
    pub slot_count: u8,
}

/// What goes with any policy. Every method does nothing by default.
///
/// # Errors
/// All errors are the bus'.
pub trait Extension {
    /// Before a start: all zero, so that a static of it takes no flash.
    const IDLE: Self;

    /// Events that it handles, of those that hardware raises only if the firmware was asked for what they are for.
    const INTERRUPTS: u32;

    /// Sets registers before anything starts, and gives the events to enable beside the driver's own.
    fn set_up<B: TryBus>(&self, bus: &mut B, settings: &Settings) -> Result<u32, B::Error> {
        let _ = (bus, settings);
        Ok(0)
    }

    /// Does what the straps say of it, and forgets what was before.
    fn start<B: TryBus>(&mut self, bus: &mut B, settings: &Settings) -> Result<(), B::Error>;

    /// Whether it says which launch of the queue is next.
    fn schedules_launches(&self) -> bool {
        false
    }

    /// Lets launches in; `orphans` have a slot already, one bit each.
    fn admit_launches<P: Policy, B: TryBus, const C: usize>(
        &mut self,
        bus: &mut B,
        scheduler: &Scheduler<P, C>,
        orphans: u8,
    ) -> Result<(), B::Error> {
        let _ = (bus, scheduler, orphans);
        Ok(())
    }

    /// Whether a kernel may go past the policy.
    fn preempts(&self) -> bool {
        false
    }

    /// When a launch that waits is taken. `orphans` are slots that are looked at first, one bit each; it may put the launch there.
    fn precedence<B: TryBus>(&mut self, bus: &mut B, waiting: Waiting, orphans: &mut u8) -> Result<Precedence, B::Error> {
        let _ = (bus, waiting, orphans);
        Ok(Precedence::Taken)
    }

    /// Whether the quota of a slot is its own.
    fn holds(&self, slot: u32) -> bool {
        let _ = slot;
        false
    }

    /// Kernels have completed or drained: releases its own.
    fn release_completed<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        let _ = bus;
        Ok(())
    }

    /// A kernel of the scheduler has completed, and is in its slot still.
    fn completed<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, slot: u8) -> Result<(), B::Error> {
        let _ = (bus, gpu, slot);
        Ok(())
    }

    /// Makes the TBs of the kernel in a slot leave an SM that is another's now, if it preempts: by draining, or by a context switch.
    fn vacate<B: TryBus>(&self, bus: &mut B, sm: u16, slot: u8, drains: bool) -> Result<(), B::Error> {
        let _ = (bus, sm, slot, drains);
        Ok(())
    }
}

/// An extension under the eyes of an observer.
pub trait Attends<O: Observer>: Extension {
    /// Handles its events, of which some are in `status`. They have been cleared.
    fn attend<P: Policy, B: TryBus, const C: usize>(
        &mut self,
        bus: &mut B,
        observer: &mut O,
        scheduler: &Scheduler<P, C>,
        (status, orphans): (u32, u8),
    ) -> Result<(), B::Error> {
        let _ = (bus, observer, scheduler, status, orphans);
        Ok(())
    }

    /// Takes a kernel past the policy.
    fn admit<B: TryBus>(&mut self, bus: &mut B, observer: &mut O, kernel: &Kernel) -> Result<(), B::Error> {
        let _ = (bus, observer, kernel);
        Ok(())
    }
}

impl Extension for () {
    const IDLE: Self = ();
    const INTERRUPTS: u32 = 0;

    fn start<B: TryBus>(&mut self, bus: &mut B, _: &Settings) -> Result<(), B::Error> {
        refuse_preemption(bus)
    }
}

impl<O: Observer> Attends<O> for () {}

/// Raises a fault if the straps ask for preemption.
///
/// # Errors
/// The bus failed.
pub fn refuse_preemption<B: TryBus>(bus: &mut B) -> Result<(), B::Error> {
    if read(bus, global::STRAP_PREEMPT)? != preempt_scheme::NONE {
        write(bus, global::FAULT_SET, fault::NO_PREEMPTION)?;
    }
    Ok(())
}
