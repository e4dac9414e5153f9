//! Which commands issue in a cycle: the scan of the banks, and what a column or row command does to the constraints.

#[cfg(test)]
use super::Command;
use super::{Controller, Transfer};
use crate::memory::counters::CounterTable;
use crate::memory::dram::bank::Next;

impl Controller {
    #[inline]
    fn group_of(&self, bank: usize) -> usize {
        bank & (self.groups.len() - 1)
    }

    /// The first cycle, not before `t`, in which the bank's next command may issue. Which command it is is close to random, so that
    /// it is looked up and not branched on.
    #[inline]
    pub(super) fn ready_at(&self, b: usize, t: u64) -> u64 {
        let (bank, group) = (&self.banks[b], &self.groups[self.group_of(b)]);
        bank.at[bank.next].max(group.at[bank.next]).max(self.at[bank.next]).max(t)
    }

    pub(super) fn issue(&mut self, t: u64, counters: &mut CounterTable) {
        let banks = self.banks.len() as u32;
        let mut row_issued = false;
        let mut rest = self.busy_in_turn();
        while rest != 0 {
            let turn = rest.trailing_zeros();
            rest &= rest - 1;
            let b = turn + self.priority;
            let b = (if b >= banks { b - banks } else { b }) as usize;
            if self.ready_at(b, t) > t {
                continue;
            }
            let bank = &self.banks[b];
            if matches!(bank.next, Next::Read | Next::Write) {
                if !self.bus_is_full(t) {
                    self.column(t, b, counters);
                    break;
                }
            } else if !row_issued {
                self.row(t, b, counters);
                row_issued = true;
                // The priority moves when a row command issues, and the scan goes on from there.
                self.priority = self.after(b as u32);
                rest = self.busy_in_turn() & u64::MAX << turn << 1;
            }
        }
        self.plan(t);
    }

    /// Busy banks by their distance from the priority, bit per bank.
    fn busy_in_turn(&self) -> u64 {
        let before = self.busy & !(u64::MAX << self.priority);
        self.busy >> self.priority | before << (self.banks.len() as u32 - self.priority)
    }

    /// Finds the next cycle after `t` in which a bank's command may issue.
    pub(super) fn plan(&mut self, t: u64) {
        self.command_at = u64::MAX;
        let mut rest = self.busy;
        // It cannot be earlier than the next.
        while rest != 0 && self.command_at > t + 1 {
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
        let latency = if request.is_write {
            self.read_at = t + timing.write_read;
            bank.at[Next::Precharge] = bank.at[Next::Precharge].max(t + timing.write_precharge);
            counters.of(request.kernel).dram_writes += 1;
            timing.write_latency
        } else {
            self.write_at = t + timing.read_write;
            bank.at[Next::Precharge] = bank.at[Next::Precharge].max(t + timing.read_precharge);
            self.groups[group].at[Next::Precharge] = t + timing.read_precharge_group;
            counters.of(request.kernel).dram_reads += 1;
            timing.read_latency
        };
        for (command, turn_around) in [(Next::Read, self.read_at), (Next::Write, self.write_at)] {
            self.at[command] = turn_around.max(t + timing.column);
            self.groups[group].at[command] = t + timing.column_group;
        }
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
        #[cfg(test)]
        {
            let command = if self.banks[b].is_open { Command::Activate } else { Command::Precharge };
            self.log.push((t, command, b as u32, self.banks[b].row));
        }
    }
}
