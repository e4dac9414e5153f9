//! Preemption victims chosen by the firmware, with the candidates, for reports.

use mias_firmware::driver::Observer;
use mias_policies::extras::WatchesPreemption;
use mias_policies::preempt::Selection;
use mias_policies::preempt::select::Victims;

/// Maximum number of choices kept per run (assumption: more are not read).
pub const MOST_CHOICES: usize = 1_000;

/// TBs that leave together, by their places on the SM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimSet {
    /// Position that they free.
    pub position: u8,
    /// Places, ascending, with the technique for each.
    pub places: Vec<(usize, String)>,
    /// Expected latency in cycles.
    pub latency: u32,
    /// Expected loss in warp instructions.
    pub overhead: u64,
}

/// One choice of victims, with its candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VictimChoice {
    /// Core cycle of the choice.
    pub cycle: u64,
    /// SM of the victims.
    pub sm: u16,
    /// Slot of the kernel that needs the capacity.
    pub slot: u8,
    /// Latency limit in cycles.
    pub limit: u32,
    /// Chosen set of victims.
    pub chosen: VictimSet,
    /// All candidates, in the order of positions.
    pub candidates: Vec<VictimSet>,
}

/// Observer that keeps the firmware's choices.
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
