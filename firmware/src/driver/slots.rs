//! The driver's view of the kernel slots: new launches, drained and completed kernels, and kernels
//! found after a reset.
//!
//! A slot is valid until the kernel is released. The driver therefore trusts the slots, and treats
//! the launch FIFO and the event registers only as hints to check them. A lost event is found
//! later, and a repeated one changes nothing.

use super::{Attends, Extension, Firmware, Observer, Precedence, Waiting, raise};
use crate::kernel::Kernel;
use crate::policy::Policy;
use crate::scheduler::Event;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{KERNEL_SLOTS, fault, global, slot, slot_status};

/// Status of a slot whose kernel has no TB left to issue.
const DRAINED: u32 = slot_status::OCCUPIED | slot_status::DRAINED;
/// Status of a slot whose kernel has completed: every bit is set. A block that does not answer
/// shows a larger value.
const COMPLETED: u32 = DRAINED | slot_status::COMPLETED;

impl<P: Policy, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Reports the kernels that have completed or drained since the last check, in the order of
    /// their slots.
    #[inline(always)]
    pub(super) fn slot_events<B: TryBus>(&mut self, bus: &mut B, observer: &mut impl Observer, now: u64) -> Result<(), B::Error> {
        write(bus, global::COMPLETED, u32::MAX)?;
        write(bus, global::DRAINED, u32::MAX)?;
        self.extension.release_completed(bus)?;
        for slot in 0..KERNEL_SLOTS as u8 {
            let Some(kernel) = self.scheduler.kernels().iter().find(|kernel| kernel.slot == slot) else { continue };
            let drained = kernel.drained;
            let status = read_status(bus, slot)?;
            if status == COMPLETED {
                self.extension.completed(bus, self.scheduler.gpu(), slot)?;
            }
            let event = match status {
                COMPLETED => Event::Completed(slot),
                DRAINED if !drained => Event::Drained(slot),
                _ => continue,
            };
            self.dispatch(bus, observer, event, now)?;
        }
        Ok(())
    }

    /// Takes kernels while the scheduler has free entries: first those found in their slots at the
    /// start, then those in the launch FIFO. A kernel is taken once.
    pub(super) fn take_kernels<B: TryBus, O: Observer>(&mut self, bus: &mut B, observer: &mut O, now: u64) -> Result<(), B::Error>
    where
        E: Attends<O>,
    {
        let first = if self.orphans == 0 { KERNEL_SLOTS as u32 } else { 0 };
        let waiting = bus.try_read32(global::LAUNCH_COUNT)?.min(KERNEL_SLOTS as u32);
        for turn in first..KERNEL_SLOTS as u32 + waiting {
            let found = turn < KERNEL_SLOTS as u32;
            if found && self.orphans >> turn & 1 == 0 {
                continue;
            }
            // Without preemption no kernel overtakes a waiting one.
            if !self.extension.preempts() && !self.scheduler.has_room() {
                return Ok(());
            }
            let slot = if found { turn } else { read(bus, global::LAUNCH_SLOT)? };
            let (has_room, slot_count) = (self.scheduler.has_room(), self.scheduler.gpu().slot_count);
            let urgent = match self.extension.precedence(bus, Waiting { slot, found, has_room, slot_count }, &mut self.orphans)? {
                Precedence::Urgent => true,
                Precedence::Taken => false,
                Precedence::Later => continue,
                Precedence::Waits => return Ok(()),
            };
            let launched = Event::Launched(Kernel::read(bus, (slot % KERNEL_SLOTS as u32) as u8, &self.scheduler.gpu().limits)?);
            // Read last, so that a block that stopped answering meanwhile is detected here.
            if slot >= KERNEL_SLOTS as u32 || read_status(bus, slot as u8)? > COMPLETED {
                return raise(bus, observer, fault::IMPOSSIBLE_INDEX);
            }
            if found {
                self.orphans &= !(1 << turn);
            } else {
                write(bus, global::LAUNCH_POP, 1)?;
            }
            if let (true, Event::Launched(kernel)) = (urgent, &launched) {
                self.extension.admit(bus, observer, kernel)?;
                continue;
            }
            if self.scheduler.kernels().iter().all(|known| u32::from(known.slot) != slot) {
                self.dispatch(bus, observer, launched, now)?;
            }
        }
        Ok(())
    }

    /// Finds the occupied slots.
    pub(super) fn find_orphans<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        self.orphans = 0;
        for slot in (0..KERNEL_SLOTS as u8).rev() {
            let occupied = slot < self.scheduler.gpu().slot_count && read_status(bus, slot)? & slot_status::OCCUPIED != 0;
            self.orphans = self.orphans << 1 | u8::from(occupied);
        }
        Ok(())
    }
}

/// Reads the status of a slot. A slot number beyond the map wraps into it.
fn read_status<B: TryBus>(bus: &mut B, slot: u8) -> Result<u32, B::Error> {
    read(bus, slot::at(usize::from(slot) % KERNEL_SLOTS, slot::STATUS))
}
