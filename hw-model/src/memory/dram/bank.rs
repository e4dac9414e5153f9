//! Controller state of a bank and of a bank group: the request served, the open row, and per
//! command the first cycle in which it may issue (GPGPU-Sim's down-counters as points in time).

use super::DramRequest;
use std::ops::{Index, IndexMut};

/// State of one bank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bank {
    /// Request being served, and number of atoms transferred.
    pub(super) request: DramRequest,
    pub(super) sent: u8,
    pub(super) row: u32,
    pub(super) is_open: bool,
    /// Next command of the request; updated by [`Bank::plan`].
    pub(super) next: Next,
    /// First cycle in which each command may issue, by constraints of the bank.
    pub(super) at: PerCommand,
}

impl Bank {
    /// Determines the next command of the request, after the request or the row has changed.
    pub(super) fn plan(&mut self) {
        self.next = match (self.is_open, self.row == self.request.row, self.request.is_write) {
            (false, ..) => Next::Activate,
            (true, false, _) => Next::Precharge,
            (true, true, true) => Next::Write,
            (true, true, false) => Next::Read,
        };
    }
}

/// Command of a bank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Next {
    #[default]
    Activate,
    Precharge,
    Read,
    Write,
}

/// Cycle for each command.
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

/// Bank group: first cycles in which commands may issue, by constraints of the group. It does not
/// constrain activations.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    /// First cycle of reads and writes.
    pub(super) column_at: u64,
    /// First cycle of precharges.
    pub(super) precharge_at: u64,
}

impl Group {
    /// First cycle of a command.
    #[inline]
    pub(super) fn at(&self, command: Next) -> u64 {
        match command {
            Next::Activate => 0,
            Next::Precharge => self.precharge_at,
            Next::Read | Next::Write => self.column_at,
        }
    }
}
