//! What the load/store unit says of loads to those who switch contexts: which have missed, and how many of a warp are on their way.

use super::super::warp::MAX_WARPS;

/// Loads and atomics of an SM that have left the operand collectors for the L1, or past it.
#[derive(Clone, Debug)]
pub(super) struct Loads {
    /// By warp, those that have not all their data.
    on_their_way: [u16; MAX_WARPS],
    /// Warps and registers of those that have missed since they were taken.
    missed: Vec<(u8, u16)>,
}

impl Loads {
    pub(super) fn new() -> Self {
        Loads { on_their_way: [0; MAX_WARPS], missed: Vec::with_capacity(MAX_WARPS) }
    }

    /// One of a warp begins.
    pub(super) fn begins(&mut self, warp: u8) {
        self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)] += 1;
    }

    /// One has all its data.
    pub(super) fn ended(&mut self, warp: u8) {
        let loads = &mut self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)];
        *loads = loads.saturating_sub(1);
    }

    /// One has missed the L1, or passes it by, and will write `dst`.
    pub(super) fn missed(&mut self, warp: u8, dst: u16) {
        self.missed.push((warp, dst));
    }

    /// Those of a warp that have not all their data.
    pub(super) fn of(&self, warp: u8) -> u16 {
        self.on_their_way[usize::from(warp) & (MAX_WARPS - 1)]
    }

    /// Takes one that has missed.
    pub(super) fn take_missed(&mut self) -> Option<(u8, u16)> {
        self.missed.pop()
    }
}
