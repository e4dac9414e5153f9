//! Victims as the firmware chose them, and among what: its observer's view of preemption, for reports.

use mias_firmware::driver::Observer;
use mias_policies::extras::WatchesPreemption;
use mias_policies::preempt::Selection;
use mias_policies::preempt::select::Victims;

/// Most choices that are kept of a run (assumption: nobody reads more).
pub const MOST_CHOICES: usize = 1_000;

/// TBs that leave together, by the places that they have on their SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimSet {
    /// The position that they make free.
    pub position: u8,
    /// Their places, ascending, and how each leaves.
    pub places: Vec<(usize, String)>,
    /// Cycles that it is expected to take.
    pub latency: u32,
    /// Warp instructions that it is expected to lose.
    pub overhead: u64,
}

/// One choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimChoice {
    /// Cycle.
    pub cycle: u64,
    /// The SM.
    pub sm: u16,
    /// Slot of the kernel that was to have room.
    pub slot: u8,
    /// Cycles that it might take.
    pub limit: u32,
    /// Who is to leave.
    pub chosen: VictimSet,
    /// All candidates, in the order of positions.
    pub candidates: Vec<VictimSet>,
}

/// Keeps what the firmware says.
pub(super) struct Watcher<'a> {
    pub(super) cycle: u64,
    pub(super) kept: &'a mut Vec<VictimChoice>,
}

impl Observer for Watcher<'_> {}

impl WatchesPreemption for Watcher<'_> {
    fn preemption(&mut self, selection: &Selection<'_>) {
        if self.kept.len() >= MOST_CHOICES {
            return;
        }
        let set = |victims: Victims| VictimSet {
            position: victims.position,
            places: (0..u32::BITS as usize)
                .filter(|place| victims.places >> place & 1 != 0)
                .map(|place| {
                    (place, selection.tb(place).map_or_else(String::new, |(_, choice)| format!("{:?}", choice.technique).to_lowercase()))
                })
                .collect(),
            latency: victims.cost.latency,
            overhead: victims.cost.overhead.into(),
        };
        self.kept.push(VictimChoice {
            cycle: self.cycle,
            sm: selection.sm,
            slot: selection.slot,
            limit: selection.limit,
            chosen: set(selection.chosen),
            candidates: selection.candidates().map(set).collect(),
        });
    }
}
