//! Plain controller: every command cycle examines every bank, and a command may issue if enough
//! cycles have passed since each command that it must follow.
//!
//! Start reading here. [`super::Controller`] keeps bounds and sets of banks instead and skips idle
//! cycles; `issues_what_the_plain_controller_does` compares both.
//!
//! Refresh is not included; `option_tests.rs` tests it.

use super::super::timing::Timing;
use super::{Command, DramRequest, Finished};
use crate::config::DramConfig;
use crate::memory::packets::NO_PACKET;
use std::collections::VecDeque;

/// Last cycle of an event; none if it has not occurred.
type Last = Option<u64>;

/// True if `distance` cycles have passed since `last`.
fn since(last: Last, distance: u64, now: u64) -> bool {
    last.is_none_or(|last| now >= last + distance)
}

#[derive(Clone, Default)]
struct PlainBank {
    /// Request being served, and number of atoms transferred.
    serving: Option<(DramRequest, u8)>,
    open: bool,
    /// Row that is open, or was last.
    row: u32,
    activated: Last,
    precharged: Last,
    read: Last,
    written: Last,
}

#[derive(Clone, Default)]
struct PlainGroup {
    column: Last,
    read: Last,
}

/// Data on the bus: arrival of the last data of a request, in bus time.
#[derive(Clone, Copy)]
struct OnBus {
    due: u64,
    finishes: Finished,
}

/// Plain controller.
pub(super) struct PlainController {
    config: DramConfig,
    timing: Timing,
    arrived: Option<DramRequest>,
    /// Waiting requests in order of arrival, each with the number of younger ones of its bank
    /// served while it was the oldest.
    queue: Vec<(DramRequest, u32)>,
    banks: Vec<PlainBank>,
    groups: Vec<PlainGroup>,
    column: Last,
    read: Last,
    written: Last,
    activates: Vec<u64>,
    /// Bank at which the scans start.
    priority: usize,
    bus: VecDeque<OnBus>,
    last_due: u64,
    /// Number of cycles in which the bus was stalled by a full return queue. Bus time does not
    /// count them.
    stalled: u64,
    pub(super) returned: VecDeque<Finished>,
    pub(super) log: Vec<(u64, Command, u32, u32)>,
}

impl PlainController {
    pub(super) fn new(config: &DramConfig) -> Self {
        PlainController {
            timing: Timing::new(config),
            arrived: None,
            queue: Vec::new(),
            banks: vec![PlainBank::default(); config.banks as usize],
            groups: vec![PlainGroup::default(); config.bank_groups as usize],
            column: None,
            read: None,
            written: None,
            activates: Vec::new(),
            priority: 0,
            bus: VecDeque::new(),
            last_due: 0,
            stalled: 0,
            returned: VecDeque::new(),
            log: Vec::new(),
            config: config.clone(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.queue.len() == self.config.queue as usize
    }

    pub(super) fn push(&mut self, request: DramRequest) {
        self.arrived = Some(request);
    }

    /// Runs command cycle `t`. Returns a finished write-back.
    pub(super) fn cycle(&mut self, t: u64) -> Option<Finished> {
        let finished = self.deliver(t);
        self.queue.extend(self.arrived.take().map(|request| (request, 0)));
        self.hand_out();
        self.issue(t);
        finished
    }

    /// Removes the data of one request per cycle that have crossed the bus.
    fn deliver(&mut self, t: u64) -> Option<Finished> {
        if self.returned.len() == self.config.return_queue as usize {
            self.stalled += 1;
            return None;
        }
        let OnBus { due, finishes } = *self.bus.front()?;
        if due > t - self.stalled {
            return None;
        }
        self.bus.pop_front();
        if finishes.is_write && finishes.answers == NO_PACKET {
            return Some(finishes);
        }
        self.returned.push_back(finishes);
        None
    }

    /// Assigns a request to the first idle bank from the priority on that has one.
    fn hand_out(&mut self) {
        let banks = self.banks.len();
        let mut in_turn = (self.priority..banks).chain(0..self.priority);
        let waits = |bank: usize| self.queue.iter().any(|(request, _)| request.bank as usize == bank);
        let Some(bank) = in_turn.find(|&bank| self.banks[bank].serving.is_none() && waits(bank)) else { return };
        let request = self.take(bank);
        self.banks[bank].serving = Some((request, 0));
        self.priority = (self.priority + 1) % banks;
    }

    /// Removes the request that a bank serves next by FR-FCFS. The oldest request to the open row
    /// goes first, else the oldest; the oldest also if it has been bypassed as often as the cap
    /// allows.
    fn take(&mut self, bank: usize) -> DramRequest {
        let of_bank = |(request, _): &(DramRequest, u32)| request.bank as usize == bank;
        let oldest = self.queue.iter().position(of_bank).expect("one waits");
        let row = self.banks[bank].row;
        let hit = self.queue.iter().position(|waiting| of_bank(waiting) && waiting.0.row == row);
        let may_pass = self.config.row_hit_cap == 0 || self.queue[oldest].1 < self.config.row_hit_cap;
        let taken = if may_pass { hit.unwrap_or(oldest) } else { oldest };
        self.queue[oldest].1 += 1;
        self.queue.remove(taken).0
    }

    /// Scans the banks from the priority on. The first column command that may issue does and ends
    /// the scan. Before it, the first row command issues, which moves the priority behind its bank;
    /// the scan continues from there.
    fn issue(&mut self, t: u64) {
        let mut row_issued = false;
        for step in 0..self.banks.len() {
            let b = (self.priority + step) % self.banks.len();
            let Some(command) = self.next_command(b).filter(|&command| self.may(b, command, t)) else { continue };
            match command {
                Command::Read | Command::Write => {
                    self.column_command(b, command, t);
                    return;
                }
                _ if row_issued => {}
                _ => {
                    self.row_command(b, command, t);
                    self.priority = (b + 1) % self.banks.len();
                    row_issued = true;
                }
            }
        }
    }

    /// Next command of a bank's request.
    fn next_command(&self, b: usize) -> Option<Command> {
        let bank = &self.banks[b];
        let (request, _) = bank.serving?;
        Some(match (bank.open, bank.row == request.row) {
            (false, _) => Command::Activate,
            (true, false) => Command::Precharge,
            (true, true) if request.is_write => Command::Write,
            (true, true) => Command::Read,
        })
    }

    /// True if a bank's command may issue: each line is a constraint; the last one of a column
    /// command is the capacity of the bus.
    fn may(&self, b: usize, command: Command, t: u64) -> bool {
        let (bank, group, timing) = (&self.banks[b], &self.groups[b % self.groups.len()], &self.timing);
        let column = || {
            since(self.column, timing.column, t)
                && since(group.column, timing.column_group, t)
                && self.last_due <= t - self.stalled + timing.read_latency
        };
        match command {
            Command::Activate => {
                let fourth_last = self.activates.iter().rev().nth(3).copied();
                since(bank.precharged, timing.precharge_activate, t)
                    && since(bank.activated, timing.activate_bank, t)
                    && since(self.activates.last().copied(), timing.activate_any, t)
                    && since(fourth_last, self.config.timing.t_faw.into(), t)
            }
            Command::Precharge => {
                since(bank.activated, timing.activate_precharge, t)
                    && since(bank.read, timing.read_precharge, t)
                    && since(bank.written, timing.write_precharge, t)
                    && since(group.read, timing.read_precharge_group, t)
            }
            Command::Read => since(bank.activated, timing.activate_read, t) && since(self.written, timing.write_read, t) && column(),
            Command::Write => since(bank.activated, timing.activate_write, t) && since(self.read, timing.read_write, t) && column(),
            Command::Refresh => false,
        }
    }

    fn row_command(&mut self, b: usize, command: Command, t: u64) {
        let bank = &mut self.banks[b];
        bank.open = command == Command::Activate;
        if bank.open {
            bank.activated = Some(t);
            bank.row = bank.serving.map_or(bank.row, |(request, _)| request.row);
            self.activates.push(t);
        } else {
            bank.precharged = Some(t);
        }
        self.log.push((t, command, b as u32, self.banks[b].row));
    }

    fn column_command(&mut self, b: usize, command: Command, t: u64) {
        let groups = self.groups.len();
        let (bank, group) = (&mut self.banks[b], &mut self.groups[b % groups]);
        let Some((request, sent)) = bank.serving else { return };
        (self.column, group.column) = (Some(t), Some(t));
        let latency = if command == Command::Write {
            (bank.written, self.written) = (Some(t), Some(t));
            self.timing.write_latency
        } else {
            (bank.read, group.read, self.read) = (Some(t), Some(t), Some(t));
            self.timing.read_latency
        };
        // The bus carries one transfer at a time.
        self.last_due = (t - self.stalled + latency).max(self.last_due + 1);
        let is_last = sent + 1 == request.atoms;
        bank.serving = (!is_last).then_some((request, sent + 1));
        if is_last {
            let DramRequest { sector, answers, slice, is_write, .. } = request;
            self.bus.push_back(OnBus { due: self.last_due, finishes: Finished { sector, answers, slice, is_write } });
        }
        self.log.push((t, command, b as u32, request.row));
    }
}
