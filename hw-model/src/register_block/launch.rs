//! Kernel slots from the hardware's side: launch, progress, completion, release.

use mias_registers::{fault, interrupt};

use super::RegisterBlock;
use super::activity::ActivityEvent;
use super::description::KernelDescriptor;
use super::state::SlotState;

impl RegisterBlock {
    /// Launches a kernel into the lowest free slot and queues it for the firmware.
    ///
    /// Returns none if all slots are taken and raises [`fault::LAUNCH_OVERRUN`]; the launch must
    /// then wait for a release.
    pub fn post_launch(&mut self, kernel: KernelDescriptor) -> Option<usize> {
        let Some(slot) = self.slots.iter().position(|slot| slot.kernel.is_none()) else {
            self.raise_fault(fault::LAUNCH_OVERRUN);
            return None;
        };
        self.launch_into(slot, kernel);
        Some(slot)
    }

    /// Puts a launch into a free slot.
    pub(super) fn launch_into(&mut self, slot: usize, kernel: KernelDescriptor) {
        self.slots[slot] =
            SlotState { kernel: Some(kernel), unissued: kernel.grid_tbs, unfinished: kernel.grid_tbs, ..SlotState::default() };
        self.launches.push(slot);
        self.note(ActivityEvent::Launched { slot: slot as u8, stream: kernel.stream });
        self.raise(interrupt::LAUNCH);
    }

    /// True if a slot is free.
    #[must_use]
    pub fn has_free_slot(&self) -> bool {
        self.slots.iter().any(|slot| slot.kernel.is_none())
    }

    /// Kernel in a slot, until the firmware releases it.
    #[must_use]
    pub fn kernel(&self, slot: usize) -> Option<&KernelDescriptor> {
        self.slots.get(slot)?.kernel.as_ref()
    }

    /// Reports the number of TBs of a kernel that have not been issued. It can rise again, since a
    /// flushed TB returns to its kernel.
    pub fn set_unissued(&mut self, slot: usize, tbs: u32) {
        if let Some(state) = self.slots.get_mut(slot) {
            self.evaluate |= (state.unissued == 0) != (tbs == 0);
            state.unissued = tbs;
        }
    }

    /// Reports the number of TBs of a kernel that have not retired.
    pub fn set_unfinished(&mut self, slot: usize, tbs: u32) {
        if let Some(state) = self.slots.get_mut(slot) {
            state.unfinished = tbs;
        }
    }

    /// Reports that a kernel has no TB left to issue.
    pub fn post_drained(&mut self, slot: usize) {
        if let Some(state) = self.slots.get_mut(slot)
            && state.kernel.is_some()
        {
            state.unissued = 0;
            state.drained = true;
            self.drained |= 1 << slot;
            self.evaluate = true;
            self.raise(interrupt::DRAINED);
        }
    }

    /// Reports that the last TB of a kernel has retired. The slot stays taken until the firmware
    /// releases it.
    pub fn post_completed(&mut self, slot: usize) {
        if let Some(state) = self.slots.get_mut(slot)
            && state.kernel.is_some()
        {
            state.unissued = 0;
            state.unfinished = 0;
            state.drained = true;
            state.completed = true;
            self.completed |= 1 << slot;
            self.evaluate = true;
            self.raise(interrupt::COMPLETED);
        }
    }

    /// Takes the mask of slots whose kernel the firmware rejected since the last call.
    pub fn take_rejected(&mut self) -> u32 {
        std::mem::take(&mut self.rejected)
    }

    /// Frees a slot and zeroes its quotas on all SMs: staged, on the bus and active.
    pub(super) fn release(&mut self, slot: usize) {
        if let Some(state) = self.slots.get_mut(slot) {
            *state = SlotState::default();
        }
        self.note(ActivityEvent::Released(slot as u8));
        self.launches.retain(|waiting| *waiting != slot);
        self.drained &= !(1 << slot);
        self.completed &= !(1 << slot);
        for sm in &mut self.sms {
            for quotas in [&mut sm.staged, &mut sm.committed, &mut sm.active] {
                if let Some(quota) = quotas.get_mut(slot) {
                    *quota = 0;
                }
            }
        }
        self.changed();
    }
}
