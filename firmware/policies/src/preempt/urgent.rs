//! Kernels with a priority, beside the policy, and the driver's part of preemption (sources.md D136).
//!
//! A launch whose priority is above 0 is urgent, if the firmware preempts. It takes no part in the policy: quotas stay what the policy decides
//! among the others, and nothing is scheduled anew. It gets as quota on every SM what an empty SM holds, at once, and its slot is released when
//! it has completed. Several are urgent at a time, up to as many as there are slots.

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

/// Who leaves an SM, and how; and kernels beside the policy.
#[derive(Clone, Debug)]
pub struct Preemption {
    scheme: Scheme,
    /// Slots of kernels that the scheduler does not know of, since they are urgent: one bit each.
    urgent: u8,
}

impl Preemption {
    /// No TB is preempted.
    pub(crate) const NONE: Self = Self { scheme: Scheme::None, urgent: 0 };

    /// The scheme by which the firmware preempts.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Slots of urgent kernels, a bit each: they have quotas that the scheduler does not know of.
    #[must_use]
    pub const fn urgent_slots(&self) -> u8 {
        self.urgent
    }

    /// Whether it preempts: then a kernel may be urgent.
    pub(crate) fn is_on(&self) -> bool {
        self.scheme != Scheme::None
    }

    /// Does what the straps say of preemption, and forgets whom it was for.
    pub(crate) fn start<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        (self.scheme, self.urgent) = (Scheme::None, 0);
        let code = read(bus, global::STRAP_PREEMPT)?;
        // As an image without preemption: its accesses are the same.
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

    /// SMs want room.
    pub(crate) fn serve<B: TryBus>(&self, bus: &mut B, observer: &mut impl WatchesPreemption, gpu: &GpuProperties) -> Result<(), B::Error> {
        serve(self.scheme, gpu, bus, observer)
    }

    /// When the kernel in a slot is taken, which was `found` there or is the oldest in the launch FIFO. If that has to wait for room and hides
    /// an urgent one, it is put aside: with what is found in slots, it comes before all that are in the FIFO, in the order of the slots.
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

    /// An urgent kernel was launched, or found in its slot.
    pub(crate) fn admit<B: TryBus>(&mut self, bus: &mut B, observer: &mut impl Observer, kernel: &Kernel) -> Result<(), B::Error> {
        let slot = u32::from(kernel.slot);
        if kernel.max_tbs == 0 {
            write(bus, slot::at(slot as usize, slot::CONTROL), slot_control::REJECT)?;
            return raise(bus, observer, fault::KERNEL_TOO_LARGE);
        }
        self.urgent |= 1_u8.checked_shl(slot).unwrap_or(0);
        write(bus, global::QUOTA_ALL + 4 * slot, kernel.max_tbs.into())?;
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

    /// Whether an urgent kernel is in a slot, and not known yet.
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

    /// Makes the TBs of a kernel leave an SM that is another's now, if it preempts: by draining, or by a context switch.
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
