//! Extensions of the driver beyond its policy: preemption, launch admission, control of extra TBs.
//!
//! The driver calls an [`Extension`] at defined points. `()` does nothing, costs nothing, and
//! raises a fault if the straps request preemption. The crate `mias-policies` has an extension that
//! does all of it.

use super::Observer;
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::scheduler::Scheduler;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{fault, global, preempt_scheme};

/// Time at which a waiting kernel is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precedence {
    /// The kernel is scheduled at once, without the policy.
    Urgent,
    /// The kernel's turn has come.
    Taken,
    /// The kernel waits for a free entry of the scheduler, and the search continues with other
    /// kernels.
    Later,
    /// The kernel waits for a free entry of the scheduler, and the search ends.
    Waits,
}

/// Properties of a waiting launch that determine its precedence.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Slot of the launch.
    pub slot: u32,
    /// Whether the launch was found in its slot. Otherwise it is the oldest in the launch FIFO.
    pub found: bool,
    /// Whether the scheduler has a free entry for it.
    pub has_room: bool,
    /// Slots of the GPU.
    pub slot_count: u8,
}

/// Mechanisms that work with any policy. Every method does nothing by default.
///
/// # Errors
/// All errors are those of the bus.
pub trait Extension {
    /// Value before a start: all zero, so that a static of it takes no flash.
    const IDLE: Self;

    /// Events that the extension handles, among those that hardware raises only on request of the
    /// firmware.
    const INTERRUPTS: u32;

    /// Sets registers before the start, and returns the events to enable in addition to the
    /// driver's own.
    fn set_up<B: TryBus>(&self, bus: &mut B, settings: &Settings) -> Result<u32, B::Error> {
        let _ = (bus, settings);
        Ok(0)
    }

    /// Starts as the straps request, and drops the previous state.
    fn start<B: TryBus>(&mut self, bus: &mut B, settings: &Settings) -> Result<(), B::Error>;

    /// Returns whether the extension schedules the launches of the queue.
    fn schedules_launches(&self) -> bool {
        false
    }

    /// Admits launches. `orphans` already have a slot, one bit each.
    fn admit_launches<P: Policy, B: TryBus, const C: usize>(
        &mut self,
        bus: &mut B,
        scheduler: &Scheduler<P, C>,
        orphans: u8,
    ) -> Result<(), B::Error> {
        let _ = (bus, scheduler, orphans);
        Ok(())
    }

    /// Returns whether the extension can preempt for a kernel without the policy.
    fn preempts(&self) -> bool {
        false
    }

    /// Returns the time at which a waiting launch is scheduled.
    ///
    /// `orphans` are slots that are checked first, one bit each. The extension may add the launch
    /// to them.
    fn precedence<B: TryBus>(&mut self, bus: &mut B, waiting: Waiting, orphans: &mut u8) -> Result<Precedence, B::Error> {
        let _ = (bus, waiting, orphans);
        Ok(Precedence::Taken)
    }

    /// Returns whether the extension controls the quota of a slot.
    fn holds(&self, slot: u32) -> bool {
        let _ = slot;
        false
    }

    /// Releases the extension's own kernels that have completed, after completions or drains.
    fn release_completed<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        let _ = bus;
        Ok(())
    }

    /// Handles the completion of a scheduled kernel, which is still in its slot.
    fn completed<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, slot: u8) -> Result<(), B::Error> {
        let _ = (bus, gpu, slot);
        Ok(())
    }

    /// Makes the TBs of the kernel in a slot leave a reassigned SM, if the extension preempts: by
    /// draining, or by a context switch.
    fn vacate<B: TryBus>(&self, bus: &mut B, sm: u16, slot: u8, drains: bool) -> Result<(), B::Error> {
        let _ = (bus, sm, slot, drains);
        Ok(())
    }
}

/// An extension that reports to an observer.
pub trait Attends<O: Observer>: Extension {
    /// Handles the extension's events in `status`, which are already cleared.
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

    /// Schedules a kernel without the policy.
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

/// Raises a fault if the straps request preemption.
///
/// # Errors
/// The bus failed.
pub fn refuse_preemption<B: TryBus>(bus: &mut B) -> Result<(), B::Error> {
    if read(bus, global::STRAP_PREEMPT)? != preempt_scheme::NONE {
        write(bus, global::FAULT_SET, fault::NO_PREEMPTION)?;
    }
    Ok(())
}
