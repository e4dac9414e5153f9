//! The queue of launches where the firmware says which is next: launches that are due are shown in
//! the register block's window, in the order in which they became due, and those that the firmware
//! lets in get their slots (sources.md D200).
//!
//! Launch latency is what it takes to bring a launch to the GPU. It runs from the cycle in which a
//! launch is shown, as it runs from the slot where hardware says who is next.

use super::Gpu;

impl Gpu {
    /// Shows the launches that are due, as far as there is room for them.
    pub(super) fn show_launches(&mut self) {
        self.follow_leaving();
        for index in 0..self.queue.launches.len() {
            let queued = &self.queue.launches[index];
            let waits = queued.waits() && !queued.shown && queued.due.is_none();
            if waits && queued.launch.arrival_cycle <= self.now && self.queue.stream_is_free(index) {
                self.queue.launches[index].due = Some(self.now);
            }
        }
        while let Some(next) = self.first_due() {
            if !self.registers.enter_queue(self.descriptor(next), next) {
                return;
            }
            let queued = &mut self.queue.launches[next];
            (queued.due, queued.shown) = (Some(self.now), true);
            queued.start.get_or_insert(self.now);
        }
    }

    /// The launch that has been due for longest and is not shown, the first of several.
    fn first_due(&self) -> Option<usize> {
        let waiting = self.queue.launches.iter().enumerate().filter(|(_, queued)| queued.waits() && !queued.shown);
        waiting.filter_map(|(index, queued)| Some((queued.due?, index))).min().map(|(_, index)| index)
    }

    /// Slots of which something is in flight cannot be had.
    fn follow_leaving(&mut self) {
        if self.leaving == 0 {
            return;
        }
        for slot in 0..self.slots.len() {
            let bit = 1_u8 << slot;
            if self.leaving & bit != 0 && !self.sms.iter().any(|sm| sm.drains(bit.into())) {
                self.leaving &= !bit;
            }
        }
        self.registers.set_occupied_slots(self.leaving);
    }

    /// Launches that were let in have slots from now on.
    pub(super) fn take_admitted(&mut self) {
        for admitted in self.registers.take_admitted() {
            let queued = &mut self.queue.launches[admitted.launch];
            let shown = queued.due.take().unwrap_or(self.now);
            self.take_slot(admitted.launch, admitted.slot, shown);
        }
    }

    /// Hardware says who is next, and launches are in the window still: they come first.
    pub(super) fn finish_window(&mut self) {
        while self.registers.queue_len() > 0 {
            self.follow_leaving();
            self.registers.admit_oldest();
            let before = self.registers.queue_len();
            self.take_admitted();
            if before == self.registers.queue_len() {
                return;
            }
        }
    }

    /// The next cycle in which a launch could be shown, or a slot be had again; none while the window is full.
    pub(super) fn next_shown(&self) -> Option<u64> {
        if self.leaving != 0 {
            return Some(self.now);
        }
        if self.registers.queue_len() == mias_registers::queue::ENTRIES {
            return None;
        }
        let waiting = self.queue.launches.iter().enumerate().filter(|(_, queued)| queued.waits() && !queued.shown);
        let free = waiting.filter(|(index, _)| self.queue.stream_is_free(*index));
        free.map(|(_, queued)| queued.launch.arrival_cycle.max(self.now)).min()
    }
}
