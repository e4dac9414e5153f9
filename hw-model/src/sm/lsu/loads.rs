//! Loads in flight and loads that have missed, for the switching of contexts.

use super::super::warp::MAX_WARPS;

/// Loads and atomics of an SM that have left the operand collectors for the L1, or past it.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// Number of loads without all their data, by warp.
    on_their_way: [u16; MAX_WARPS],
    /// Warps and registers of loads that have missed since the last query.
    missed: Vec<(u8, u16)>,
}

impl Loads {
    pub(super) fn new() -> Self {
        Loads { on_their_way: [0; MAX_WARPS], missed: Vec::with_capacity(MAX_WARPS) }
    }

    /// Records the start of a load of a warp.
    pub(super) fn begins(&mut self, warp: u8) {
        self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)] += 1;
    }

    /// Records that a load has all its data.
    pub(super) fn ended(&mut self, warp: u8) {
        let loads = &mut self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)];
        *loads = loads.saturating_sub(1);
    }

    /// Records that a load to `dst` has missed or bypasses the L1.
    pub(super) fn missed(&mut self, warp: u8, dst: u16) {
        self.missed.push((warp, dst));
    }

    /// Number of a warp's loads without all their data.
    pub(super) fn of(&self, warp: u8) -> u16 {
        self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)]
    }

    /// Takes a load that has missed.
    pub(super) fn take_missed(&mut self) -> Option<(u8, u16)> {
        self.missed.pop()
    }
}
