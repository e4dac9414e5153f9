//! Urgent kernels, which bypass the policy, and the driver's part of preemption (sources.md D136).
//!
//! A launch with a priority above 0 is urgent, if the firmware preempts. It takes no part in the
//! policy: the policy's quotas for the others stay, and nothing is rescheduled. Its quota on every
//! SM is at once the number of TBs that an empty SM holds. Its slot is released when it has
//! completed. Several kernels can be urgent at a time, up to the number of slots.

use super::{Scheme, serve};
use crate::extras::WatchesPreemption;
use mias_firmware::driver::{Observer, Precedence, Waiting, raise};
use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{
    KERNEL_SLOTS, fault, feature, global, interrupt, mode, preempt, preempt_command, preempt_tb, slot, slot_control, slot_status, technique,
};

/// Status of a slot whose kernel has completed.
const COMPLETED: u32 = slot_status::OCCUPIED | slot_status::DRAINED | slot_status::COMPLETED;

/// Preemption state: the scheme, and the urgent kernels.
#[derive(Clone, Debug)]
pub struct Preemption {
    scheme: Scheme,
    /// Slots of urgent kernels, which the scheduler does not manage: one bit each.
    urgent: u8,
}

impl Preemption {
    /// State without preemption.
    pub(crate) const NONE: Self = Self { scheme: Scheme::None, urgent: 0 };

    /// Returns the preemption scheme of the firmware.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the slots of urgent kernels, one bit each. The scheduler does not manage their
    /// quotas.
    #[must_use]
    pub const fn urgent_slots(&self) -> u8 {
        self.urgent
    }

    /// Returns whether the firmware preempts, so that a kernel may be urgent.
    pub(crate) fn is_on(&self) -> bool {
        self.scheme != Scheme::None
    }

    /// Reads the preemption straps, and drops the urgent kernels.
    pub(crate) fn start<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        (self.scheme, self.urgent) = (Scheme::None, 0);
        let code = read(bus, global::STRAP_PREEMPT)?;
        // The same accesses as in an image without preemption.
        if code == Scheme::None as u32 {
            return Ok(());
        }
        let able = read(bus, global::FEATURES)? & feature::PREEMPT != 0;
        match Scheme::from_code(code).filter(|_| able) {
            Some(scheme) => {
                self.scheme = scheme;
                write(bus, global::MODE, mode::PREEMPT)?;
                let enabled = read(bus, global::INT_ENABLE)?;
                write(bus, global::INT_ENABLE, enabled | interrupt::PREEMPT)
            }
            None => write(bus, global::FAULT_SET, fault::NO_PREEMPTION),
        }
    }

    /// Serves the SMs that request space.
    pub(crate) fn serve<B: TryBus>(&self, bus: &mut B, observer: &mut impl WatchesPreemption, gpu: &GpuProperties) -> Result<(), B::Error> {
        serve(self.scheme, gpu, bus, observer)
    }

    /// Returns the time at which the kernel in a slot is scheduled, which was `found` there or is
    /// the oldest in the launch FIFO. If it must wait for a free entry and hides an urgent one, it
    /// is set aside in `orphans`. Kernels found in slots precede all in the FIFO, in the order of
    /// the slots.
    pub(crate) fn precedence<B: TryBus>(&mut self, bus: &mut B, waiting: Waiting, orphans: &mut u8) -> Result<Precedence, B::Error> {
        let Waiting { slot, found, has_room, slot_count } = waiting;
        let preempts = self.is_on() && slot < KERNEL_SLOTS as u32;
        if preempts && read(bus, slot::at(slot as usize, slot::PRIORITY))? != 0 {
            return Ok(Precedence::Urgent);
        }
        if has_room {
            return Ok(Precedence::Taken);
        }
        if !preempts {
            return Ok(Precedence::Waits);
        }
        if found {
            return Ok(Precedence::Later);
        }
        if !self.urgent_waits(bus, slot_count)? {
            return Ok(Precedence::Waits);
        }
        *orphans |= 1_u8.checked_shl(slot).unwrap_or(0);
        write(bus, global::LAUNCH_POP, 1)?;
        Ok(Precedence::Later)
    }

    /// Admits an urgent kernel that was launched, or found in its slot.
    pub(crate) fn admit<B: TryBus>(&mut self, bus: &mut B, observer: &mut impl Observer, kernel: &Kernel) -> Result<(), B::Error> {
        let slot = u32::from(kernel.slot);
        if kernel.max_tbs == 0 {
            write(bus, slot::at(slot as usize, slot::CONTROL), slot_control::REJECT)?;
            return raise(bus, observer, fault::KERNEL_TOO_LARGE);
        }
        self.urgent |= 1_u8.checked_shl(slot).unwrap_or(0);
        write(bus, global::QUOTA_ALL + 4 * slot, kernel.max_tbs.into())?;
        bus.try_barrier()?;
        write(bus, global::COMMIT, 1)?;
        observer.quotas_committed();
        Ok(())
    }

    /// Releases urgent kernels that have completed.
    pub(crate) fn release_completed<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        for slot in 0..KERNEL_SLOTS {
            let bit = 1 << slot;
            if self.urgent & bit != 0 && read(bus, slot::at(slot, slot::STATUS))? == COMPLETED {
                self.urgent &= !bit;
                write(bus, slot::at(slot, slot::CONTROL), slot_control::RELEASE)?;
            }
        }
        Ok(())
    }

    /// Returns whether a slot has an urgent kernel that is not known yet.
    fn urgent_waits<B: TryBus>(&self, bus: &mut B, slot_count: u8) -> Result<bool, B::Error> {
        for slot in 0..slot_count.min(KERNEL_SLOTS as u8) {
            if self.urgent >> slot & 1 == 0
                && read(bus, slot::at(slot.into(), slot::STATUS))? & slot_status::OCCUPIED != 0
                && read(bus, slot::at(slot.into(), slot::PRIORITY))? != 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the TBs of a kernel leave a reassigned SM, if the firmware preempts: by draining, or
    /// by a context switch.
    pub(crate) fn vacate<B: TryBus>(&self, bus: &mut B, sm: u16, slot: u8, drains: bool) -> Result<(), B::Error> {
        if self.scheme == Scheme::None {
            return Ok(());
        }
        let how = if drains { technique::DRAIN } else { technique::SWITCH } << preempt_command::TECHNIQUE_SHIFT;
        let base = preempt::at(sm.into(), 0);
        for place in 0..preempt::MAX_PLACES as u32 {
            let tb = read(bus, base + preempt::TB + 4 * place)?;
            if tb & preempt_tb::LIVE != 0 && tb >> preempt_tb::SLOT_SHIFT & 7 == u32::from(slot) {
                write(bus, base + preempt::COMMAND + 4 * place, how)?;
            }
        }
        Ok(())
    }
}
