//! Table of the configurations in use: their assignment to SMs, and their measurements.

use heapless::Vec;

use super::{MAX_KERNELS, Measurement, Pool, TbVector};

/// Sums of the counters of the SMs that ran a configuration.
///
/// Replicas are averaged by storing the sum and the count, without division. Bounds for 256 SMs and
/// windows of 2^17 - 1 cycles: 25 bits for cycles and misses, 32 for instructions, 33 for
/// outstanding misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// SMs that finished their window.
    pub sms: u16,
    /// `C`, core cycles.
    pub cycles: u32,
    /// Cycles with an issue.
    pub issue_cycles: u32,
    /// `M`, memory-stalled cycles.
    pub memory_stall_cycles: u32,
    /// Load requests that left the SM.
    pub load_requests: u32,
    /// `I`, thread or warp instructions.
    pub instructions: u32,
    /// `A`, accumulated outstanding misses.
    pub outstanding_misses: u64,
    /// Set if a counter of one of the SMs saturated.
    pub saturated: bool,
}

/// Totals over all SMs of a round: `|SM|` and the sum over `A` of Nasef 2023, eq. 3.6 and 3.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTotals {
    /// SMs that finished their window in this round.
    pub sms: u16,
    /// Sum of the accumulated outstanding misses of the finished SMs.
    pub outstanding_misses: u64,
}

impl RoundTotals {
    /// Totals of no SM.
    pub const NONE: Self = Self { sms: 0, outstanding_misses: 0 };
}

/// Value of [`Entry::position`] for a configuration that all SMs try at once.
pub const TRIAL: u32 = u32::MAX - 1;
/// Value of [`Entry::position`] in the warm-up window before a trial.
///
/// This window is not judged, because caches, queues and TBs are still those of the previous
/// configuration.
pub const WARM_UP: u32 = u32::MAX - 2;

/// A configuration that was assigned to SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// TBs per kernel.
    pub vector: TbVector,
    /// Position among all admitted configurations, in lexicographic order; [`WARM_UP`] or [`TRIAL`]
    /// if all SMs try it.
    pub position: u32,
    /// Profiling round, from 0.
    pub round: u8,
    /// Sums of the measured counters.
    pub sums: Sums,
    /// Additional measurement that the policy requested, or a value that it derived from all
    /// measurements.
    pub extra: Measurement,
}

/// Source of the configurations in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The policy itself.
    #[default]
    Policy,
    /// Spatial, because no multi-kernel configuration fits (sources.md D20).
    SpatialFallback,
    /// Left-over, because Spatial was not possible either, or because of an impossible event.
    LeftOverFallback,
}

/// Up to `C` configurations over the scheduled kernels, tried in at most two rounds, optionally
/// followed by trials on all SMs.
///
/// SM `i` runs configuration `i mod n` of the current round's `n`, so replica counts differ by at
/// most one.
#[derive(Clone, Debug)]
pub struct ConfigTable<const C: usize> {
    entries: Vec<Entry, C>,
    slots: [u8; MAX_KERNELS],
    kernels: u8,
    round: u8,
    /// Index of the current round's first entry.
    first: usize,
    total: u32,
    /// Whether the current round follows from the rounds before it and is not profiled.
    settled: bool,
    origin: Origin,
    /// Totals of each round.
    totals: [RoundTotals; 2],
    /// Index of the best of the rounds before the current one.
    leader: u16,
    /// All admitted configurations. They persist across schedulings of the same kernels.
    pool: Pool<C>,
}

impl<const C: usize> Default for ConfigTable<C> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const C: usize> ConfigTable<C> {
    /// A table without configurations or kernels.
    pub const EMPTY: Self = Self {
        entries: Vec::new(),
        slots: [0; MAX_KERNELS],
        kernels: 0,
        round: 0,
        first: 0,
        total: 0,
        settled: false,
        origin: Origin::Policy,
        totals: [RoundTotals::NONE; 2],
        leader: 0,
        pool: Pool::EMPTY,
    };

    /// Empties the table for the kernels in these slots, in launch order.
    pub fn reset(&mut self, slots: impl Iterator<Item = u8>) {
        self.entries.clear();
        (self.kernels, self.total) = (0, 0);
        self.restart(Origin::Policy);
        for (entry, slot) in self.slots.iter_mut().zip(slots) {
            *entry = slot;
            self.kernels = self.kernels.saturating_add(1);
        }
    }

    /// Adds a configuration to the current round; false if the table is full.
    pub fn push(&mut self, vector: TbVector, position: u32) -> bool {
        self.entries.push(Entry { vector, position, round: self.round, sums: Sums::default(), extra: Measurement::NONE }).is_ok()
    }

    /// Drops all configurations and records the origin of their successors.
    pub fn restart(&mut self, origin: Origin) {
        self.entries.clear();
        (self.round, self.first, self.settled, self.origin) = (0, 0, false, origin);
    }

    /// Starts the final placement after profiling. The measurements stay for the report.
    pub fn settle(&mut self, origin: Origin) {
        self.next_round();
        (self.settled, self.origin) = (true, origin);
    }

    /// Returns whether the current round follows from earlier rounds and is not profiled.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.settled
    }

    /// Returns the configurations that were profiled, or are placed without profiling.
    #[must_use]
    pub fn tried(&self) -> &[Entry] {
        if self.settled { self.entries.get(..self.first).unwrap_or_default() } else { &self.entries }
    }

    /// Returns the pool of all admitted configurations.
    pub fn pool(&self) -> &Pool<C> {
        &self.pool
    }

    /// Returns the pool for a search.
    pub fn pool_mut(&mut self) -> &mut Pool<C> {
        &mut self.pool
    }

    /// Returns the candidates for the best configuration, in two parts.
    ///
    /// In a first round they are all but the first `references`. In a second round they are the
    /// best of the first round, and the second round's own.
    // Not inlined on the RISC-V core, whose image has the least flash to spare.
    #[cfg_attr(not(target_arch = "riscv32"), inline(always))]
    #[cfg_attr(target_arch = "riscv32", inline(never))]
    pub fn contenders(&self, references: u8) -> (&[Entry], &[Entry]) {
        if self.round == 0 {
            return (self.entries.get(usize::from(references)..).unwrap_or_default(), &[]);
        }
        let leader = usize::from(self.leader);
        (self.entries.get(leader..leader.wrapping_add(1)).unwrap_or_default(), self.current())
    }

    /// Starts the next round.
    pub fn next_round(&mut self) {
        self.round = self.round.saturating_add(1);
        self.first = self.entries.len();
        self.leader = 0;
    }

    /// Stores the index of the best entry of the earlier rounds, at the start of a round.
    pub fn set_leader(&mut self, index: usize) {
        // Cannot truncate: the index is within the table.
        self.leader = index as u16;
    }

    /// Returns the best entry of the earlier rounds, if it was stored.
    #[must_use]
    pub fn leader(&self) -> Option<&Entry> {
        self.entries.get(usize::from(self.leader))
    }

    /// Returns the index of the best entry of the earlier rounds.
    pub fn leader_index(&self) -> usize {
        self.leader.into()
    }

    /// Returns the number of trials on all SMs so far.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.entries.iter().filter(|entry| entry.position == TRIAL).count()
    }

    /// Returns the configuration that all SMs try in the current round; none if they try several.
    #[must_use]
    pub fn tried_on_all(&self) -> Option<&Entry> {
        self.current().first().filter(|entry| matches!(entry.position, WARM_UP | TRIAL))
    }

    /// Sets the number of all configurations, tried or not.
    pub fn set_total(&mut self, total: u32) {
        self.total = total;
    }

    /// Returns the number of all admitted configurations, tried or not.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Returns the current round, from 0.
    #[must_use]
    pub fn round(&self) -> u8 {
        self.round
    }

    /// Returns the source of the configurations.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Returns all configurations placed so far, those of earlier rounds first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns all configurations placed so far, for annotation.
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// Returns the slots of the scheduled kernels: element `k` is the slot of the vectors'
    /// component `k`.
    #[must_use]
    pub fn slots(&self) -> &[u8] {
        self.slots.get(..usize::from(self.kernels)).unwrap_or(&self.slots)
    }

    /// Returns the index of the configuration that an SM runs in the current round; none in an
    /// empty round.
    #[must_use]
    pub fn assigned(&self, sm: usize) -> Option<usize> {
        Some(self.first.saturating_add(sm.checked_rem(self.current_len())?))
    }

    /// Returns the counter sums of a configuration.
    pub fn sums_mut(&mut self, index: usize) -> Option<&mut Sums> {
        self.entries.get_mut(index).map(|entry| &mut entry.sums)
    }

    /// Measures the configurations of the current round.
    ///
    /// `sum` is called once per configuration, with its first SM and the distance between its SMs.
    /// It returns the sums over the SMs that finished.
    ///
    /// # Errors
    /// The first error of `sum`.
    #[inline(always)]
    pub fn measure<E>(&mut self, mut sum: impl FnMut(usize, usize) -> Result<Sums, E>) -> Result<(), E> {
        let placed = self.entries.get_mut(self.first..).unwrap_or_default();
        let step = placed.len();
        for (first, entry) in placed.iter_mut().enumerate() {
            entry.sums = sum(first, step)?;
        }
        Ok(())
    }

    /// Takes an additional measurement of each configuration of the current round.
    ///
    /// `sum` is called as in [`ConfigTable::measure`], with the kernels' slots and the entry in
    /// addition.
    ///
    /// # Errors
    /// The first error of `sum`.
    pub fn measure_extra<E>(&mut self, mut sum: impl FnMut(&[u8], &Entry, usize, usize) -> Result<Measurement, E>) -> Result<(), E> {
        let slots = self.slots.get(..usize::from(self.kernels)).unwrap_or(&self.slots);
        let placed = self.entries.get_mut(self.first..).unwrap_or_default();
        let step = placed.len();
        for (first, entry) in placed.iter_mut().enumerate() {
            entry.extra = sum(slots, entry, first, step)?;
        }
        Ok(())
    }

    /// Returns the configurations of the current round.
    #[must_use]
    pub fn current(&self) -> &[Entry] {
        self.entries.get(self.first..).unwrap_or_default()
    }

    /// Returns the number of configurations of the current round.
    #[must_use]
    pub fn current_len(&self) -> usize {
        self.entries.len().saturating_sub(self.first)
    }

    /// Sets the totals of the current round.
    pub fn set_totals(&mut self, totals: RoundTotals) {
        let [first, second] = &mut self.totals;
        *(if self.round == 0 { first } else { second }) = totals;
    }

    /// Returns the totals of a round, as of the last measurement.
    #[must_use]
    pub fn totals(&self, round: u8) -> &RoundTotals {
        let [first, second] = &self.totals;
        if round == 0 { first } else { second }
    }
}
