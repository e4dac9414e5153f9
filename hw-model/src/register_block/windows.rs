//! Time: profiling windows, timer, watchdog, quota bus, memory-issue intervals, and ends of
//! decisions.

use mias_registers::{fault, interrupt, sm_bit};

use super::RegisterBlock;
use super::counters::RawCounters;

impl RegisterBlock {
    /// True if [`RegisterBlock::tick`] must be called in this cycle. It is cheap enough to call
    /// every cycle.
    #[must_use]
    pub fn needs_tick(&self, now: u64) -> bool {
        self.evaluate || self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Cycle of the next deadline: end of a window, timer, watchdog, interval or decision, or step
    /// of the quota bus.
    #[must_use]
    pub fn next_deadline(&self) -> Option<u64> {
        self.deadline
    }

    /// Advances the block to cycle `now`.
    ///
    /// It makes the writes of a finished decision, steps the quota bus, and runs timer and
    /// watchdog. It ends finished windows and starts those whose partition is reached. `counters`
    /// returns the cumulative counts of an SM as of the start of this cycle. It is called only for
    /// SMs whose window ends or starts, and for all SMs if a snapshot is among the writes.
    ///
    /// Windows, timer and watchdog take effect in the cycle of the call. Call it no later than at
    /// [`RegisterBlock::next_deadline`].
    pub fn tick(&mut self, now: u64, mut counters: impl FnMut(usize) -> RawCounters) {
        self.set_now(now);
        if self.busy.snapshots_at(now) {
            (0..self.sms.len()).for_each(|sm| self.load_counters(sm, counters(sm)));
        }
        self.make_held_writes();
        self.advance_quota_bus();
        self.end_windows(&mut counters);
        if std::mem::take(&mut self.evaluate) {
            self.start_windows(&mut counters);
        }
        if self.end_memory_interval() {
            self.raise(interrupt::MEMORY);
        }
        if self.timer.deadline().is_some_and(|deadline| deadline <= self.now) {
            self.timer.armed = false;
            self.raise(interrupt::TIMER);
        }
        if self.watchdog.deadline().is_some_and(|deadline| deadline <= self.now) {
            self.watchdog.expired = true;
            self.raise_fault(fault::WATCHDOG);
        }
        self.update_deadline();
    }

    /// True while an SM's window is running.
    #[must_use]
    pub fn profiling(&self, sm: usize) -> bool {
        self.sms.get(sm).is_some_and(|sm| sm.window_end.is_some())
    }

    /// True if an SM's window starts as soon as the SM has reached its partition.
    #[must_use]
    pub fn waits_for_partition(&self) -> bool {
        self.sms.iter().any(|sm| sm.armed && sm.window_end.is_none())
    }

    /// True if an SM has the quotas of the last commit and exactly their TBs. For every slot, the
    /// resident TBs equal the quota, or are fewer and the kernel has no TB left to issue.
    #[must_use]
    pub fn partition_reached(&self, sm: usize) -> bool {
        let Some(sm) = self.sms.get(sm) else { return false };
        let slots = self.slots.iter().map(|slot| slot.unissued == 0);
        sm.active == sm.committed
            && sm
                .resident
                .iter()
                .zip(&sm.active)
                .zip(slots)
                .all(|((resident, quota), exhausted)| resident == quota || resident < quota && exhausted)
    }

    fn end_windows(&mut self, counters: &mut impl FnMut(usize) -> RawCounters) {
        for index in 0..self.sms.len() {
            let state = &mut self.sms[index];
            if state.window_end.is_some_and(|end| end <= self.now) {
                state.counters.load(counters(index));
                state.counters.latch();
                state.window_end = None;
                state.armed = false;
                let (word, bit) = sm_bit(index);
                self.profile_done[word] |= bit;
                self.generation = self.generation.wrapping_add(1);
                self.raise(interrupt::PROFILE_DONE);
            }
        }
    }

    fn start_windows(&mut self, counters: &mut impl FnMut(usize) -> RawCounters) {
        for index in 0..self.sms.len() {
            let state = &self.sms[index];
            if state.armed && state.window_end.is_none() && self.partition_reached(index) {
                let state = &mut self.sms[index];
                state.counters.load(counters(index));
                state.counters.clear();
                state.window_end = Some(self.now.saturating_add(u64::from(self.profile_window)));
                let (word, bit) = sm_bit(index);
                self.partition[word] |= bit;
                self.raise(interrupt::PARTITION);
            }
        }
    }

    pub(super) fn arm(&mut self, sm: usize) {
        if let Some(state) = self.sms.get_mut(sm)
            && !state.armed
        {
            state.armed = true;
            self.memory.armed(sm);
            self.changed();
        }
    }

    pub(super) fn disarm(&mut self, sm: usize) {
        if let Some(state) = self.sms.get_mut(sm)
            && state.armed
        {
            state.armed = false;
            state.window_end = None;
            self.changed();
            self.update_deadline();
        }
    }

    pub(super) fn update_deadline(&mut self) {
        let windows = self.sms.iter().filter_map(|sm| sm.window_end);
        let devices = [self.timer.deadline(), self.watchdog.deadline(), self.busy.until, self.quota_bus.at, self.memory.at];
        self.deadline = windows.chain(devices.into_iter().flatten()).min();
    }
}
