//! Memory controller of a channel: selection of the command of each command cycle.
//!
//! In every cycle, data that have crossed the bus leave, and one waiting request is assigned to an
//! idle bank. Then the banks are scanned from a rotating priority. The first column command that
//! may issue does, and before it the first row command. Each constraint is stored as the cycle in
//! which it ends, instead of a counter. So cycles in which nothing can happen need not run: see
//! [`Controller::next_event`].
//!
//! Start reading with the plain twin, `controller/plain.rs`: it examines every bank in every cycle.

mod commands;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;

use super::super::counters::CounterTable;
use super::super::packets::NO_PACKET;
use super::bank::{Bank, PerCommand};
use super::candidates::Candidates;
use super::four_activates::FourActivates;
use super::refresh::{Refresh, Step};
use super::scheduler::{DramSettings, RequestQueue};
use super::timing::Timing;
use super::{DramRequest, Finished};
use crate::config::DramConfig;
use crate::queue::Queue;

/// Command on the command bus, as tests record it.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Activate,
    Precharge,
    Read,
    Write,
    Refresh,
}

/// Last data of a request on the bus, and their arrival. Earlier data of the request have no
/// effect.
#[derive(Clone, Copy, Debug, Default)]
struct Transfer {
    due: u64,
    finishes: Finished,
}

/// Memory controller.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    timing: Timing,
    refresh: Refresh,
    four_activates: FourActivates,
    queue: RequestQueue,
    /// Request that arrived in the last cycle and joins the queue in the next.
    arrived: Option<DramRequest>,
    banks: Vec<Bank>,
    candidates: Candidates,
    /// Set of banks that serve a request.
    busy: u64,
    /// Bank at which the scans start.
    priority: u32,
    /// First cycle in which each command may issue, by constraints of the channel; precharges have
    /// none.
    at: PerCommand,
    /// Bus turn-around: first cycle of a read after a write, and of a write after a read.
    read_at: u64,
    write_at: u64,
    transfers: Queue<Transfer>,
    last_due: u64,
    /// Number of cycles in which the bus was stalled by a full return queue; `due` counts the
    /// others.
    stalled: u64,
    returned: Queue<Finished>,
    /// First cycle in which a command can issue; some commands may be later.
    command_at: u64,
    #[cfg(test)]
    pub(super) log: Vec<(u64, Command, u32, u32)>,
}

impl Controller {
    pub(super) fn new(config: &DramConfig) -> Self {
        Controller {
            timing: Timing::new(config),
            refresh: Refresh::new(&config.timing),
            four_activates: FourActivates::new(config.timing.t_faw),
            queue: RequestQueue::new(config),
            arrived: None,
            banks: vec![Bank::default(); config.banks as usize],
            candidates: Candidates::new(config.banks, config.bank_groups),
            busy: 0,
            priority: 0,
            at: PerCommand::default(),
            read_at: 0,
            write_at: 0,
            transfers: Queue::new(config.timing.t_cl.max(config.timing.t_wl) + 2),
            last_due: 0,
            stalled: 0,
            returned: Queue::new(config.return_queue),
            command_at: u64::MAX,
            #[cfg(test)]
            log: Vec::new(),
        }
    }

    /// Changes the order of requests from the next cycle on. `config` is that of
    /// [`Controller::new`].
    pub(super) fn set_scheduler(&mut self, settings: &DramSettings, config: &DramConfig) {
        self.queue.set(settings, config);
    }

    /// First cycle with an event that needs no request: a refresh, or [`u64::MAX`].
    pub(super) fn first_event(&self) -> u64 {
        self.refresh.due()
    }

    /// True if the queue is full.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Adds a request; at most one per cycle, after [`Controller::cycle`], and only if not full.
    #[inline]
    pub(super) fn push(&mut self, request: DramRequest) {
        debug_assert!(self.arrived.is_none() && !self.is_full());
        self.arrived = Some(request);
    }

    /// Finished reads, and acknowledged writes, oldest first.
    #[inline]
    pub(super) fn returned(&mut self) -> &mut Queue<Finished> {
        &mut self.returned
    }

    /// True if no request waits, is served or is on the bus.
    pub(super) fn is_idle(&self) -> bool {
        self.busy == 0 && self.queue.is_empty() && self.arrived.is_none() && self.transfers.is_empty() && self.returned.is_empty()
    }

    /// Runs command cycle `t`. Returns a finished write-back.
    pub(super) fn cycle(&mut self, t: u64, counters: &mut CounterTable) -> Option<Finished> {
        let finished = self.deliver(t);
        if let Some(request) = self.arrived.take() {
            self.queue.push(request, t);
        }
        if self.refresh.due() <= t {
            self.run_refresh(t, counters);
        } else {
            self.hand_out(t, counters);
            if self.command_at <= t {
                self.issue(t, counters);
            }
        }
        finished
    }

    /// Next cycle after `t` in which anything may happen without a new request; `u64::MAX` if none.
    #[inline]
    pub(super) fn next_event(&self, t: u64) -> u64 {
        if self.arrived.is_some() || self.queue.waiting() & !self.busy != 0 || self.returned.is_full() {
            return t + 1;
        }
        let data = self.transfers.front().map_or(u64::MAX, |transfer| transfer.due + self.stalled);
        data.min(self.command_at).min(self.refresh.due()).max(t + 1)
    }

    /// Runs a cycle in which a refresh is due: only commands that lead to it issue.
    fn run_refresh(&mut self, t: u64, counters: &mut CounterTable) {
        match self.refresh.step(t, &mut self.banks, self.candidates.groups(), self.timing.precharge_activate) {
            Step::Waits => {}
            Step::Precharge(mut banks) => {
                while banks != 0 {
                    let b = banks.trailing_zeros() as usize;
                    banks &= banks - 1;
                    counters.of(self.banks[b].request.kernel).dram_precharges += 1;
                    #[cfg(test)]
                    self.log.push((t, Command::Precharge, b as u32, self.banks[b].row));
                }
            }
            Step::Refresh => {
                #[cfg(test)]
                self.log.push((t, Command::Refresh, 0, 0));
                self.sort_again(t);
            }
        }
    }

    /// Sorts all busy banks again, after a refresh has moved their bounds.
    fn sort_again(&mut self, t: u64) {
        let mut rest = self.busy;
        while rest != 0 {
            let b = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let bank = &self.banks[b];
            self.candidates.set(b, bank.next, bank.at[bank.next], t);
        }
        self.plan(t);
    }

    fn deliver(&mut self, t: u64) -> Option<Finished> {
        if self.returned.is_full() {
            self.stalled += 1;
            return None;
        }
        if self.transfers.front()?.due + self.stalled > t {
            return None;
        }
        let Transfer { finishes, .. } = self.transfers.pop()?;
        if finishes.is_write && finishes.answers == NO_PACKET {
            return Some(finishes);
        }
        self.returned.push(finishes);
        None
    }

    /// Assigns one request to the first idle bank that has one, from the rotating priority on.
    fn hand_out(&mut self, t: u64, counters: &mut CounterTable) {
        let candidates = self.queue.waiting() & !self.busy;
        if candidates == 0 {
            return;
        }
        let from_priority = candidates >> self.priority << self.priority;
        let b = if from_priority != 0 { from_priority } else { candidates }.trailing_zeros() as usize;
        let bank = &mut self.banks[b];
        if let Some((request, waited)) = self.queue.take(b, bank.row, t) {
            let counters = counters.of(request.kernel);
            counters.dram_wait_cycles += waited;
            if bank.is_open && bank.row == request.row {
                counters.dram_row_hits += 1;
            } else {
                counters.dram_row_misses += 1;
            }
            (bank.request, bank.sent) = (request, 0);
            bank.plan();
            self.candidates.set(b, bank.next, bank.at[bank.next], t);
            self.busy |= 1 << b;
            self.priority = self.after(self.priority);
            self.command_at = self.command_at.min(self.ready_at(b, t));
        }
    }

    fn after(&self, bank: u32) -> u32 {
        if bank + 1 == self.banks.len() as u32 { 0 } else { bank + 1 }
    }
}
