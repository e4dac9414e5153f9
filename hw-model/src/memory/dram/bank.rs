//! What a controller knows of a bank and of a bank group: the request served, the open row, and per command the first
//! cycle in which it may issue (GPGPU-Sim's down-counters as points in time).

use super::DramRequest;

/// One bank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bank {
    /// The request being served, and the atoms it has transferred.
    pub(super) request: DramRequest,
    pub(super) sent: u8,
    pub(super) row: u32,
    pub(super) is_open: bool,
    /// First cycles in which these commands may issue, as far as the bank itself is concerned.
    pub(super) read_at: u64,
    pub(super) write_at: u64,
    pub(super) precharge_at: u64,
    pub(super) activate_at: u64,
}

/// One bank group.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) column_at: u64,
    pub(super) precharge_at: u64,
}
