//! What a controller knows of a bank and of a bank group: the request served, the open row, and per command the first
//! cycle in which it may issue (GPGPU-Sim's down-counters as points in time).

use super::DramRequest;
use std::ops::{Index, IndexMut};

/// One bank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bank {
    /// The request being served, and the atoms it has transferred.
    pub(super) request: DramRequest,
    pub(super) sent: u8,
    pub(super) row: u32,
    pub(super) is_open: bool,
    /// The command that the request needs next; kept by [`Bank::plan`].
    pub(super) next: Next,
    /// First cycles in which these commands may issue, as far as the bank itself is concerned.
    pub(super) at: PerCommand,
}

impl Bank {
    /// Finds the command that the request needs next, after the request or the row has changed.
    pub(super) fn plan(&mut self) {
        self.next = match (self.is_open, self.row == self.request.row, self.request.is_write) {
            (false, ..) => Next::Activate,
            (true, false, _) => Next::Precharge,
            (true, true, true) => Next::Write,
            (true, true, false) => Next::Read,
        };
    }
}

/// A command of a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Next {
    #[default]
    Activate,
    Precharge,
    Read,
    Write,
}

/// A cycle for each command.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PerCommand([u64; 4]);

impl Index<Next> for PerCommand {
    type Output = u64;

    #[inline]
    fn index(&self, command: Next) -> &u64 {
        &self.0[command as usize]
    }
}

impl IndexMut<Next> for PerCommand {
    #[inline]
    fn index_mut(&mut self, command: Next) -> &mut u64 {
        &mut self.0[command as usize]
    }
}

/// One bank group: the first cycles in which commands may issue, as far as the group is concerned. No bound for an activation.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// Reads and writes.
    pub(super) column_at: u64,
    /// Precharges.
    pub(super) precharge_at: u64,
}

impl Group {
    /// The bound for a command.
    #[inline]
    pub(super) fn at(&self, command: Next) -> u64 {
        match command {
            Next::Activate => 0,
            Next::Precharge => self.precharge_at,
            Next::Read | Next::Write => self.column_at,
        }
    }
}
