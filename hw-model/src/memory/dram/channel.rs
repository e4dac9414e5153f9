//! Memory channel: its controller, and the path between it and the L2 slices that share it.
//!
//! Per DRAM cycle, as in GPGPU-Sim's memory partition: one finished read returns to its slice; the
//! controller runs; one request leaves a slice, round robin, and enters a delay of fixed length;
//! one request that has passed the delay enters the controller. A slice needs a credit per request:
//! its own, or a shared one. There are as many shared credits as entries in the scheduler and
//! return queues, minus one per further slice.

use super::super::address::AddressMapper;
use super::super::counters::CounterTable;
use super::super::l2::{Arrived, L2Slice};
use super::controller::Controller;
use super::{DramRequest, DramSettings, Finished};
use crate::config::{DramConfig, GpuConfig};
use crate::queue::Queue;

/// Memory channel.
#[derive(Clone, Debug)]
pub(in crate::memory) struct Channel {
    pub(super) controller: Controller,
    /// Requests in the fixed delay, with the core cycle in which they may enter the controller.
    delay: Queue<(u64, DramRequest)>,
    delay_cycles: u64,
    /// Next slice in round-robin order.
    turn: u32,
    /// Set of slices whose own credit is in use.
    private_out: u32,
    /// Set of slices that have a request for the channel, and set of slices with a full data queue.
    /// They are kept here, so that a cycle without traffic to or from a slice reads no slice.
    offering: u32,
    full: u32,
    shared_out: u32,
    shared_limit: u32,
}

impl Channel {
    pub(in crate::memory) fn new(config: &GpuConfig) -> Self {
        let slices = config.l2.slices_per_channel;
        let shared_limit = (config.dram.queue + config.dram.return_queue).saturating_sub(slices - 1);
        Channel {
            controller: Controller::new(&config.dram),
            delay: Queue::new(shared_limit + slices),
            delay_cycles: config.dram.latency.into(),
            turn: 0,
            private_out: 0,
            offering: 0,
            full: 0,
            shared_out: 0,
            shared_limit,
        }
    }

    /// Runs DRAM cycle `t` during core cycle `core`. Returns the next DRAM cycle in which anything
    /// may happen unless a slice or [`Channel::delay_ends`] calls before, and the slice that
    /// received data.
    pub(in crate::memory) fn cycle(
        &mut self,
        t: u64,
        core: u64,
        slices: &mut [L2Slice],
        mapper: &AddressMapper,
        counters: &mut CounterTable,
    ) -> (u64, Option<usize>) {
        let mut filled = None;
        if let Some(&Finished { sector, answers, slice, .. }) = self.controller.returned().front()
            && self.full >> slice & 1 == 0
        {
            let to = &mut slices[usize::from(slice)];
            to.from_dram.push(Arrived { sector, answers });
            self.full |= u32::from(to.from_dram.is_full()) << slice;
            filled = Some(usize::from(slice));
            self.return_credit(slice);
            self.controller.returned().pop();
        }
        if let Some(done) = self.controller.cycle(t, counters) {
            self.return_credit(done.slice);
        }
        if let Some(slice) = self.next_slice() {
            self.accept(slice, core, &mut slices[slice as usize], mapper);
        }
        if !self.controller.is_full()
            && self.delay.front().is_some_and(|&(ready, _)| ready <= core)
            && let Some((_, request)) = self.delay.pop()
        {
            self.controller.push(request);
        }
        let again = self.can_return() || self.next_slice().is_some();
        (if again { t + 1 } else { self.controller.next_event(t) }, filled)
    }

    /// Changes the order of requests from the next DRAM cycle on. `config` is that of
    /// [`Channel::new`].
    pub(in crate::memory) fn set_scheduler(&mut self, settings: &DramSettings, config: &DramConfig) {
        self.controller.set_scheduler(settings, config);
    }

    /// Reads the queues of slice `s`. Call it when the slice has added or removed an entry.
    #[inline]
    pub(in crate::memory) fn look_at(&mut self, s: usize, slice: &L2Slice) {
        let put = |set: u32, member: bool| set & !(1 << s) | u32::from(member) << s;
        self.offering = put(self.offering, !slice.misses.second_is_empty());
        self.full = put(self.full, slice.from_dram.is_full());
    }

    /// First DRAM cycle with an event that needs no request.
    pub(in crate::memory) fn first_event(&self) -> u64 {
        self.controller.first_event()
    }

    /// First core cycle in which the oldest delayed request could enter the controller.
    #[inline]
    pub(in crate::memory) fn delay_ends(&self) -> u64 {
        match self.delay.front() {
            Some(&(ready, _)) if !self.controller.is_full() => ready,
            _ => u64::MAX,
        }
    }

    /// Number of requests in the channel: credits in use.
    #[cfg(test)]
    pub(in crate::memory) fn outstanding(&self) -> u64 {
        u64::from(self.shared_out + self.private_out.count_ones())
    }

    /// True if the channel is empty.
    pub(in crate::memory) fn is_idle(&self) -> bool {
        self.delay.is_empty() && self.controller.is_idle()
    }

    fn can_return(&mut self) -> bool {
        self.controller.returned().front().is_some_and(|finished| self.full >> finished.slice & 1 == 0)
    }

    fn return_credit(&mut self, slice: u8) {
        let of_slice = 1 << slice;
        if self.private_out & of_slice != 0 {
            self.private_out &= !of_slice;
        } else {
            self.shared_out -= 1;
        }
    }

    /// Slice whose request would be taken now.
    #[inline]
    fn next_slice(&self) -> Option<u32> {
        let without_credit = if self.shared_out < self.shared_limit { 0 } else { self.private_out };
        let may = if self.controller.is_full() { 0 } else { self.offering & !without_credit & !self.full };
        let in_turn = may & u32::MAX << self.turn;
        (may != 0).then(|| if in_turn != 0 { in_turn } else { may }.trailing_zeros())
    }

    fn accept(&mut self, number: u32, core: u64, slice: &mut L2Slice, mapper: &AddressMapper) {
        let Some(mut request) = slice.misses.pop() else { return };
        self.offering &= !(u32::from(slice.misses.second_is_empty()) << number);
        (request.bank, request.row) = mapper.bank_and_row(request.sector, number);
        request.slice = number as u8;
        let of_slice = 1 << number;
        self.shared_out += u32::from(self.private_out & of_slice != 0);
        self.private_out |= of_slice;
        self.turn = number + 1;
        self.delay.push((core + self.delay_cycles, request));
    }
}
