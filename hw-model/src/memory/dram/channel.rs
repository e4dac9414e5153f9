//! A memory channel: its controller, and the way between it and the L2 slices that share it.
//!
//! Per DRAM cycle, as in GPGPU-Sim's memory partition: one finished read goes back to its slice; the controller runs;
//! one request leaves a slice, the slices taking turns, and enters a delay of fixed length; one request that has served
//! its delay enters the controller. A slice needs a credit per request: one of its own, or one of the shared ones, of
//! which there are as many as the scheduler and return queues hold, less one per further slice.

use super::super::address::AddressMapper;
use super::super::counters::CounterTable;
use super::super::l2::L2Slice;
use super::DramRequest;
use super::controller::Controller;
use crate::config::GpuConfig;
use crate::queue::Queue;

/// One channel.
#[derive(Clone, Debug)]
pub(in crate::memory) struct Channel {
    pub(super) controller: Controller,
    /// Requests in the fixed delay, with the core cycle in which they may enter the controller.
    delay: Queue<(u64, DramRequest)>,
    delay_cycles: u64,
    /// Slice that was served last.
    last_slice: usize,
    /// Per slice, whether its own credit is out.
    private_out: Vec<bool>,
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
            last_slice: slices as usize - 1,
            private_out: vec![false; slices as usize],
            shared_out: 0,
            shared_limit,
        }
    }

    /// Runs DRAM cycle `t` during core cycle `core`. Returns the next DRAM cycle in which something may happen unless a
    /// slice or [`Channel::delay_ends`] calls before, and the slice that received data.
    pub(in crate::memory) fn cycle(
        &mut self,
        t: u64,
        core: u64,
        slices: &mut [L2Slice],
        mapper: &AddressMapper,
        counters: &mut CounterTable,
    ) -> (u64, Option<usize>) {
        let mut filled = None;
        if let Some(&request) = self.controller.returned().front() {
            let slice = request.slice as usize;
            if !slices[slice].from_dram.is_full() {
                slices[slice].from_dram.push(request);
                filled = Some(slice);
                self.return_credit(slice);
                self.controller.returned().pop();
            }
        }
        if let Some(done) = self.controller.cycle(t, counters) {
            self.return_credit(done.slice.into());
        }
        self.accept(core, slices, mapper);
        if !self.controller.is_full()
            && self.delay.front().is_some_and(|&(ready, _)| ready <= core)
            && let Some((_, request)) = self.delay.pop()
        {
            self.controller.push(request);
        }
        let again = self.can_return(slices) || self.next_slice(slices).is_some();
        (if again { t + 1 } else { self.controller.next_event(t) }, filled)
    }

    /// The first DRAM cycle in which something happens without a request.
    pub(in crate::memory) fn first_event(&self) -> u64 {
        self.controller.first_event()
    }

    /// The core cycle from which the oldest delayed request could enter the controller.
    #[inline]
    pub(in crate::memory) fn delay_ends(&self) -> u64 {
        match self.delay.front() {
            Some(&(ready, _)) if !self.controller.is_full() => ready,
            _ => u64::MAX,
        }
    }

    /// Requests in the channel: credits that are out.
    #[cfg(test)]
    pub(in crate::memory) fn outstanding(&self) -> u64 {
        u64::from(self.shared_out) + self.private_out.iter().filter(|&&out| out).count() as u64
    }

    /// Nothing in the channel.
    pub(in crate::memory) fn is_idle(&self) -> bool {
        self.delay.is_empty() && self.controller.is_idle()
    }

    fn can_return(&mut self, slices: &[L2Slice]) -> bool {
        self.controller.returned().front().is_some_and(|request| !slices[request.slice as usize].from_dram.is_full())
    }

    fn has_credit(&self, slice: usize) -> bool {
        !self.private_out[slice] | (self.shared_out < self.shared_limit)
    }

    fn return_credit(&mut self, slice: usize) {
        if self.private_out[slice] {
            self.private_out[slice] = false;
        } else {
            self.shared_out -= 1;
        }
    }

    /// The slice whose request would be taken now.
    #[inline]
    fn next_slice(&self, slices: &[L2Slice]) -> Option<usize> {
        if self.controller.is_full() {
            return None;
        }
        let mut s = self.last_slice;
        for _ in 0..slices.len() {
            s = if s + 1 == slices.len() { 0 } else { s + 1 };
            if !slices[s].to_dram.is_empty() & self.has_credit(s) & !slices[s].from_dram.is_full() {
                return Some(s);
            }
        }
        None
    }

    fn accept(&mut self, core: u64, slices: &mut [L2Slice], mapper: &AddressMapper) {
        let Some(slice) = self.next_slice(slices) else { return };
        let Some(mut request) = slices[slice].to_dram.pop() else { return };
        (request.bank, request.row) = mapper.bank_and_row(request.sector, slice as u32);
        request.slice = slice as u8;
        if self.private_out[slice] {
            self.shared_out += 1;
        } else {
            self.private_out[slice] = true;
        }
        self.last_slice = slice;
        self.delay.push((core + self.delay_cycles, request));
    }
}
