//! Launch queue under the firmware's management (sources.md D200).
//!
//! Due launches are shown in the register block's window, in the order in which they became due.
//! Those that the firmware admits get their slots. The launch latency is the time to bring a launch
//! to the GPU. It starts in the cycle in which a launch is shown; under hardware management, it
//! starts when the launch gets its slot.

use super::Gpu;

impl Gpu {
    /// Shows the due launches while the window has free entries.
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

    /// Earliest due launch that is not shown; the first of several.
    fn first_due(&self) -> Option<usize> {
        let waiting = self.queue.launches.iter().enumerate().filter(|(_, queued)| queued.waits() && !queued.shown);
        waiting.filter_map(|(index, queued)| Some((queued.due?, index))).min().map(|(_, index)| index)
    }

    /// Updates the slots that are unavailable because of requests in flight.
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

    /// Assigns slots to the admitted launches.
    pub(super) fn take_admitted(&mut self) {
        for admitted in self.registers.take_admitted() {
            let queued = &mut self.queue.launches[admitted.launch];
            let shown = queued.due.take().unwrap_or(self.now);
            self.take_slot(admitted.launch, admitted.slot, shown);
        }
    }

    /// Admits launches left in the window after a change to hardware management; they come first.
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

    /// Next cycle in which a launch could be shown, or a slot become available again; none while
    /// the window is full.
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
