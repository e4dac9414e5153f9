//! The memory controller of a channel: which command issues in which command cycle.
//!
//! Every cycle: data that have come over the bus leave; one waiting request is handed to an idle bank; then the banks
//! are scanned from a rotating priority and the first column command that may issue does, and before it the first row
//! command. Instead of counters that tick down, each constraint is the cycle from which it no longer holds, so that
//! cycles in which nothing can happen need not be run: see [`Controller::next_event`].

use super::super::counters::CounterTable;
use super::DramRequest;
use super::frfcfs::FrFcfs;
use super::timing::Timing;
use crate::config::DramConfig;
use crate::queue::Queue;

/// A command on the command bus, as tests record it.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Activate,
    Precharge,
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bank {
    /// The request being served, and the atoms it has transferred.
    request: DramRequest,
    sent: u8,
    row: u32,
    is_open: bool,
    /// First cycles in which these commands may issue, as far as the bank itself is concerned.
    read_at: u64,
    write_at: u64,
    precharge_at: u64,
    activate_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Group {
    column_at: u64,
    precharge_at: u64,
}

/// Data on the bus: the request, whether these are its last, and when they have come.
#[derive(Clone, Copy, Debug)]
struct Transfer {
    due: u64,
    request: DramRequest,
    is_last: bool,
}

/// The controller.
#[derive(Clone, Debug)]
pub(super) struct Controller {
    timing: Timing,
    queue: FrFcfs,
    /// Came in the last cycle, joins the queue in the next.
    arrived: Option<DramRequest>,
    banks: Vec<Bank>,
    groups: Vec<Group>,
    /// Banks that serve a request, bit per bank.
    busy: u64,
    /// Bank at which the scans start.
    priority: u32,
    column_at: u64,
    activate_at: u64,
    read_at: u64,
    write_at: u64,
    transfers: Queue<Transfer>,
    last_due: u64,
    /// Cycles in which the bus stood still because the return queue was full; `due` counts the others.
    stalled: u64,
    returned: Queue<DramRequest>,
    /// No command can issue before this cycle.
    command_at: u64,
    #[cfg(test)]
    pub(super) log: Vec<(u64, Command, u32, u32)>,
}

impl Controller {
    pub(super) fn new(config: &DramConfig) -> Self {
        Controller {
            timing: Timing::new(config),
            queue: FrFcfs::new(config.queue, config.banks),
            arrived: None,
            banks: vec![Bank::default(); config.banks as usize],
            groups: vec![Group::default(); config.bank_groups as usize],
            busy: 0,
            priority: 0,
            column_at: 0,
            activate_at: 0,
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

    /// Whether the FR-FCFS queue takes no more.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.queue.is_full()
    }

    /// Gives a request; at most one per cycle, after [`Controller::cycle`], and only if not full.
    #[inline]
    pub(super) fn push(&mut self, request: DramRequest) {
        debug_assert!(self.arrived.is_none() && !self.is_full());
        self.arrived = Some(request);
    }

    /// Finished reads, oldest first.
    #[inline]
    pub(super) fn returned(&mut self) -> &mut Queue<DramRequest> {
        &mut self.returned
    }

    /// Nothing waits, is served or is on the bus.
    pub(super) fn is_idle(&self) -> bool {
        self.busy == 0 && self.queue.is_empty() && self.arrived.is_none() && self.transfers.is_empty() && self.returned.is_empty()
    }

    /// Runs command cycle `t`. Returns a write-back that was finished.
    pub(super) fn cycle(&mut self, t: u64, counters: &mut CounterTable) -> Option<DramRequest> {
        let finished = self.deliver(t);
        if let Some(request) = self.arrived.take() {
            self.queue.push(request);
        }
        self.hand_out(t, counters);
        if self.command_at <= t {
            self.issue(t, counters);
        }
        finished
    }

    /// The next cycle after `t` in which something may happen without a new request; `u64::MAX` if none.
    #[inline]
    pub(super) fn next_event(&self, t: u64) -> u64 {
        if self.arrived.is_some() || self.queue.waiting() & !self.busy != 0 || self.returned.is_full() {
            return t + 1;
        }
        let data = self.transfers.front().map_or(u64::MAX, |transfer| transfer.due + self.stalled);
        data.min(self.command_at).max(t + 1)
    }

    fn deliver(&mut self, t: u64) -> Option<DramRequest> {
        if self.returned.is_full() {
            self.stalled += 1;
            return None;
        }
        if self.transfers.front()?.due + self.stalled > t {
            return None;
        }
        let Transfer { request, is_last, .. } = self.transfers.pop()?;
        if !is_last {
            return None;
        }
        if request.is_write {
            return Some(request);
        }
        self.returned.push(request);
        None
    }

    /// Hands one request to the first idle bank that has one, from the rotating priority on.
    fn hand_out(&mut self, t: u64, counters: &mut CounterTable) {
        let candidates = self.queue.waiting() & !self.busy;
        if candidates == 0 {
            return;
        }
        let from_priority = candidates >> self.priority << self.priority;
        let b = if from_priority != 0 { from_priority } else { candidates }.trailing_zeros() as usize;
        let bank = &mut self.banks[b];
        if let Some(request) = self.queue.take(b, bank.row) {
            let counters = counters.of(request.kernel);
            if bank.is_open && bank.row == request.row {
                counters.dram_row_hits += 1;
            } else {
                counters.dram_row_misses += 1;
            }
            (bank.request, bank.sent) = (request, 0);
            self.busy |= 1 << b;
            self.priority = self.after(self.priority);
            self.command_at = self.command_at.min(self.ready_at(b, t));
        }
    }

    fn after(&self, bank: u32) -> u32 {
        if bank + 1 == self.banks.len() as u32 { 0 } else { bank + 1 }
    }

    #[inline]
    fn group_of(&self, bank: usize) -> usize {
        bank & (self.groups.len() - 1)
    }

    /// The first cycle, not before `t`, in which the bank's next command may issue.
    #[inline]
    fn ready_at(&self, b: usize, t: u64) -> u64 {
        let (bank, group) = (&self.banks[b], &self.groups[self.group_of(b)]);
        let at = if !bank.is_open {
            self.activate_at.max(bank.activate_at)
        } else if bank.row != bank.request.row {
            bank.precharge_at.max(group.precharge_at)
        } else {
            let turn = if bank.request.is_write { bank.write_at.max(self.write_at) } else { bank.read_at.max(self.read_at) };
            turn.max(self.column_at).max(group.column_at)
        };
        at.max(t)
    }

    fn issue(&mut self, t: u64, counters: &mut CounterTable) {
        let banks = self.banks.len() as u32;
        let mut row_issued = false;
        for i in 0..banks {
            // The priority moves when a row command issues, and the scan goes on from there.
            let b = i + self.priority;
            let b = (if b >= banks { b - banks } else { b }) as usize;
            if self.busy >> b & 1 == 0 || self.ready_at(b, t) > t {
                continue;
            }
            let bank = &self.banks[b];
            if bank.is_open && bank.row == bank.request.row {
                if !self.bus_is_full(t) {
                    self.column(t, b, counters);
                    break;
                }
            } else if !row_issued {
                self.row(t, b, counters);
                row_issued = true;
                self.priority = self.after(b as u32);
            }
        }
        self.command_at = u64::MAX;
        let mut rest = self.busy;
        while rest != 0 {
            self.command_at = self.command_at.min(self.ready_at(rest.trailing_zeros() as usize, t + 1));
            rest &= rest - 1;
        }
    }

    /// While data stand still, the bus takes one transfer more than it holds in motion.
    fn bus_is_full(&self, t: u64) -> bool {
        self.last_due > t - self.stalled + self.timing.read_latency
    }

    fn column(&mut self, t: u64, b: usize, counters: &mut CounterTable) {
        let group = self.group_of(b);
        let timing = self.timing;
        let bank = &mut self.banks[b];
        let request = bank.request;
        bank.sent += 1;
        let is_last = bank.sent >= request.atoms;
        self.column_at = t + timing.column;
        self.groups[group].column_at = t + timing.column_group;
        let latency = if request.is_write {
            self.read_at = t + timing.write_read;
            bank.precharge_at = bank.precharge_at.max(t + timing.write_precharge);
            counters.of(request.kernel).dram_writes += 1;
            timing.write_latency
        } else {
            self.write_at = t + timing.read_write;
            bank.precharge_at = bank.precharge_at.max(t + timing.read_precharge);
            self.groups[group].precharge_at = t + timing.read_precharge_group;
            counters.of(request.kernel).dram_reads += 1;
            timing.read_latency
        };
        let due = (t - self.stalled + latency).max(self.last_due + 1);
        self.last_due = due;
        self.transfers.push(Transfer { due, request, is_last });
        if is_last {
            self.busy &= !(1 << b);
        }
        #[cfg(test)]
        self.log.push((t, if request.is_write { Command::Write } else { Command::Read }, b as u32, request.row));
    }

    fn row(&mut self, t: u64, b: usize, counters: &mut CounterTable) {
        let timing = self.timing;
        let bank = &mut self.banks[b];
        let counters = counters.of(bank.request.kernel);
        if bank.is_open {
            bank.is_open = false;
            bank.activate_at = bank.activate_at.max(t + timing.precharge_activate);
            counters.dram_precharges += 1;
        } else {
            bank.is_open = true;
            bank.row = bank.request.row;
            bank.read_at = t + timing.activate_read;
            bank.write_at = t + timing.activate_write;
            bank.precharge_at = bank.precharge_at.max(t + timing.activate_precharge);
            bank.activate_at = t + timing.activate_bank;
            self.activate_at = t + timing.activate_any;
            counters.dram_activates += 1;
        }
        #[cfg(test)]
        {
            let command = if self.banks[b].is_open { Command::Activate } else { Command::Precharge };
            self.log.push((t, command, b as u32, self.banks[b].row));
        }
    }
}
