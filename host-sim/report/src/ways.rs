//! Ownership of cache ways, in the JSON of `run`. Only if ways are owned.

use mias_hw_model::cache::WaysStats;
use serde::Serialize;
use std::collections::BTreeMap;

/// Ways of all L1s, or of all slices of the L2.
#[derive(Serialize)]
pub(super) struct Ways<'a> {
    repartitions: u64,
    slots: Vec<Slot<'a>>,
}

/// Ways of one kernel slot. Slots are in launch order, unless a kernel has taken the slot of a
/// completed one.
#[derive(Serialize)]
struct Slot<'a> {
    slot: usize,
    ways: &'a [u16],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    repartitions: BTreeMap<usize, u64>,
}

/// Returns the slots that ever had a way.
pub(super) fn row(stats: &WaysStats) -> Ways<'_> {
    let slots = stats.kernels.iter().enumerate().map(|(slot, kernel)| Slot {
        slot,
        ways: &kernel.last,
        repartitions: kernel.repartitions.iter().copied().enumerate().filter(|(_, times)| *times > 0).collect(),
    });
    let had = |slot: &Slot<'_>| !slot.repartitions.is_empty() || slot.ways.iter().any(|&ways| ways > 0);
    Ways { repartitions: stats.repartitions, slots: slots.filter(had).collect() }
}
