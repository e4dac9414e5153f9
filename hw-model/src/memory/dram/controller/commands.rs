//! Command selection of a cycle: the first banks in turn that may issue, and the effect of column
//! and row commands on the constraints.

#[cfg(test)]
use super::Command;
use super::{Controller, Transfer};
use crate::memory::counters::CounterTable;
use crate::memory::dram::bank::Next;
use crate::memory::dram::{DramRequest, Finished};

impl Controller {
    /// First cycle, not before `t`, in which the bank's next command may issue.
    #[inline]
    pub(super) fn ready_at(&self, b: usize, t: u64) -> u64 {
        let (bank, group) = (&self.banks[b], self.candidates.group_of(b));
        bank.at[bank.next].max(group.at(bank.next)).max(self.at[bank.next]).max(t)
    }

    pub(super) fn issue(&mut self, t: u64, counters: &mut CounterTable) {
        self.candidates.release(t);
        let (columns, rows) = self.ready(t);
        let mut column_turns = self.in_turn(columns);
        let row_turn = self.in_turn(rows).trailing_zeros();
        if row_turn < column_turns.trailing_zeros() {
            let b = self.bank_of_turn(row_turn);
            self.row(t, b, counters);
            // The priority moves when a row command issues, and the scan continues from there.
            self.priority = self.after(b as u32);
            column_turns = self.in_turn(self.ready(t).0) & u64::MAX << row_turn << 1;
        }
        if column_turns != 0 {
            self.column(t, self.bank_of_turn(column_turns.trailing_zeros()), counters);
        }
        self.plan(t);
    }

    /// Sets of banks whose column command may issue in cycle `t`, and whose row command may.
    #[inline]
    fn ready(&self, t: u64) -> (u64, u64) {
        let (columns, rows) = self.candidates.ready(t, &self.at);
        (if self.bus_is_full(t) { 0 } else { columns }, rows)
    }

    /// Set of banks by their distance from the priority.
    #[inline]
    fn in_turn(&self, banks: u64) -> u64 {
        let before = banks & !(u64::MAX << self.priority);
        banks >> self.priority | before.wrapping_shl(self.banks.len() as u32 - self.priority)
    }

    /// Bank at a distance from the priority.
    #[inline]
    fn bank_of_turn(&self, turn: u32) -> usize {
        let (bank, banks) = (turn + self.priority, self.banks.len() as u32);
        (if bank >= banks { bank - banks } else { bank }) as usize
    }

    /// Determines the next cycle after `t` in which a bank's command may issue.
    #[inline]
    pub(super) fn plan(&mut self, t: u64) {
        self.command_at = self.candidates.next_after(t, &self.at);
    }

    /// True if the bus takes no further transfer in cycle `t`; while stalled, it takes one transfer
    /// more than when it moves.
    fn bus_is_full(&self, t: u64) -> bool {
        self.last_due > t - self.stalled + self.timing.read_latency
    }

    fn column(&mut self, t: u64, b: usize, counters: &mut CounterTable) {
        let timing = self.timing;
        let bank = &mut self.banks[b];
        let request = bank.request;
        bank.sent += 1;
        let is_last = bank.sent >= request.atoms;
        let latency = if request.is_write {
            self.read_at = t + timing.write_read;
            bank.at[Next::Precharge] = bank.at[Next::Precharge].max(t + timing.write_precharge);
            counters.of(request.kernel).dram_writes += 1;
            timing.write_latency
        } else {
            self.write_at = t + timing.read_write;
            bank.at[Next::Precharge] = bank.at[Next::Precharge].max(t + timing.read_precharge);
            self.candidates.hold_precharges(b, t + timing.read_precharge_group);
            counters.of(request.kernel).dram_reads += 1;
            timing.read_latency
        };
        self.at[Next::Read] = self.read_at.max(t + timing.column);
        self.at[Next::Write] = self.write_at.max(t + timing.column);
        self.candidates.hold_columns(b, t + timing.column_group);
        let due = (t - self.stalled + latency).max(self.last_due + 1);
        self.last_due = due;
        if is_last {
            let DramRequest { sector, answers, slice, is_write, .. } = request;
            self.transfers.push(Transfer { due, finishes: Finished { sector, answers, slice, is_write } });
            self.busy &= !(1 << b);
            self.candidates.remove(b);
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
            bank.at[Next::Activate] = bank.at[Next::Activate].max(t + timing.precharge_activate);
            counters.dram_precharges += 1;
        } else {
            bank.is_open = true;
            bank.row = bank.request.row;
            bank.at[Next::Read] = t + timing.activate_read;
            bank.at[Next::Write] = t + timing.activate_write;
            bank.at[Next::Precharge] = bank.at[Next::Precharge].max(t + timing.activate_precharge);
            bank.at[Next::Activate] = t + timing.activate_bank;
            self.at[Next::Activate] = (t + timing.activate_any).max(self.four_activates.record(t));
            counters.dram_activates += 1;
        }
        bank.plan();
        self.candidates.set(b, bank.next, bank.at[bank.next], t);
        #[cfg(test)]
        {
            let command = if self.banks[b].is_open { Command::Activate } else { Command::Precharge };
            self.log.push((t, command, b as u32, self.banks[b].row));
        }
    }
}
