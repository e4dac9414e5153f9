//! A choice of victims, for who watches ([`crate::extras::WatchesPreemption::preemption`]).

use super::Scheme;
use super::candidates::Places;
use super::residents::{Residents, Tb};
use super::select::{Choice, Victims, cost};
use super::slots::Slots;
use mias_firmware::gpu::GpuProperties;
use mias_registers::preempt::MAX_PLACES;

/// What was chosen on an SM, and among what.
#[derive(Clone, Copy, Debug)]
pub struct Selection<'a> {
    /// The SM.
    pub sm: u16,
    /// The slot of the kernel that is to have room.
    pub slot: u8,
    /// The scheme.
    pub scheme: Scheme,
    /// Cycles that it may take.
    pub limit: u32,
    /// Who is to leave.
    pub chosen: Victims,
    /// Positions that are reserved for it, one bit each: one, or those of a whole SM.
    pub positions: u64,
    pub(super) residents: &'a Residents,
    pub(super) choices: &'a [Choice; MAX_PLACES],
    pub(super) gpu: &'a GpuProperties,
    pub(super) slots: &'a Slots,
}

impl Selection<'_> {
    /// All candidates, in the order of their positions, and what each would cost. A whole SM is the only one of it.
    pub fn candidates(&self) -> impl Iterator<Item = Victims> {
        let whole = self.scheme.is_whole();
        let sets = self.residents.candidates(self.gpu, self.slots, self.slot).filter(move |_| !whole);
        let sets = sets.map(|(position, places)| Victims { position, places, cost: cost(places, self.choices) });
        sets.chain(whole.then_some(self.chosen))
    }

    /// The TB in a place, if it has to yield; how it would leave, and at what cost.
    #[must_use]
    pub fn tb(&self, place: usize) -> Option<(Tb, Choice)> {
        let yields =
            u32::try_from(place).ok().and_then(|place| self.residents.yielding().checked_shr(place)).is_some_and(|bits| bits & 1 != 0);
        self.choices.get(place).filter(|_| yields).map(|choice| (self.residents.tb(place), *choice))
    }

    /// The TBs that are to leave: place, TB, how it leaves, and at what cost.
    pub fn victims(&self) -> impl Iterator<Item = (usize, Tb, Choice)> {
        let places: Places = self.chosen.places;
        let all = self.choices.iter().enumerate().filter(move |(place, _)| places >> place & 1 != 0);
        all.map(|(place, choice)| (place, self.residents.tb(place), *choice))
    }
}
