//! Choice of victims, for observers ([`crate::extras::WatchesPreemption::preemption`]).

use super::Scheme;
use super::candidates::Places;
use super::residents::{Residents, Tb};
use super::select::{Choice, Victims, cost};
use super::slots::Slots;
use mias_firmware::gpu::GpuProperties;
use mias_registers::preempt::MAX_PLACES;

/// Choice on an SM, with its candidates.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// Index of the SM.
    pub sm: u16,
    /// Slot of the kernel that gets the space.
    pub slot: u8,
    /// Preemption scheme.
    pub scheme: Scheme,
    /// Latency limit in cycles.
    pub limit: u32,
    /// Chosen candidate.
    pub chosen: Victims,
    /// Reserved positions, one bit each: one, or those of a whole SM.
    pub positions: u64,
    pub(super) residents: &'a Residents,
    pub(super) choices: &'a [Choice; MAX_PLACES],
    pub(super) gpu: &'a GpuProperties,
    pub(super) slots: &'a Slots,
}

impl Selection<'_> {
    /// Returns all candidates in the order of their positions, with their costs. A whole SM is its
    /// only candidate.
    pub fn candidates(&self) -> impl Iterator<Item = Victims> {
        let whole = self.scheme.is_whole();
        let sets = self.residents.candidates(self.gpu, self.slots, self.slot).filter(move |_| !whole);
        let sets = sets.map(|(position, places)| Victims { position, places, cost: cost(places, self.choices) });
        sets.chain(whole.then_some(self.chosen))
    }

    /// Returns the TB in a place, if it must yield, with its technique and cost.
    #[must_use]
    pub fn tb(&self, place: usize) -> Option<(Tb, Choice)> {
        let yields =
            u32::try_from(place).ok().and_then(|place| self.residents.yielding().checked_shr(place)).is_some_and(|bits| bits & 1 != 0);
        self.choices.get(place).filter(|_| yields).map(|choice| (self.residents.tb(place), *choice))
    }

    /// Returns the victims: place, TB, and technique with cost.
    pub fn victims(&self) -> impl Iterator<Item = (usize, Tb, Choice)> {
        let places: Places = self.chosen.places;
        let all = self.choices.iter().enumerate().filter(move |(place, _)| places >> place & 1 != 0);
        all.map(|(place, choice)| (place, self.residents.tb(place), *choice))
    }
}
