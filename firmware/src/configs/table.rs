//! The configurations in use: which SM runs which, and what was measured.

use heapless::Vec;

use super::{MAX_KERNELS, Measurement, Pool, TbVector};

/// Counters of the SMs that ran a configuration, summed. Replicas are averaged by keeping sum and count; nothing is divided.
///
/// Bounds for 256 SMs and windows of 2^17 - 1 cycles: 25 bits for cycles and misses, 32 for instructions, 33 for outstanding
/// misses.
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
    /// A counter of one of the SMs saturated.
    pub saturated: bool,
}

/// What all SMs of a round did together: `|SM|` and the sum over `A` of Nasef 2023, eq. 3.6 and 3.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundTotals {
    /// SMs that finished their window in this round.
    pub sms: u16,
    /// Their accumulated outstanding misses.
    pub outstanding_misses: u64,
}

impl RoundTotals {
    /// Of no SM.
    pub const NONE: Self = Self { sms: 0, outstanding_misses: 0 };
}

/// [`Entry::position`] of a configuration that is tried on all SMs at once, whatever its place among the others.
pub const TRIAL: u32 = u32::MAX - 1;
/// The same in the window before, which is not judged: caches, queues and TBs are still those of what ran before.
pub const WARM_UP: u32 = u32::MAX - 2;

/// A configuration that was placed on SMs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// TBs per kernel.
    pub vector: TbVector,
    /// Position among all admitted configurations, in lexicographic order; [`WARM_UP`] and [`TRIAL`] of one that all SMs try.
    pub position: u32,
    /// Profiling round, from 0.
    pub round: u8,
    /// What was measured.
    pub sums: Sums,
    /// A further measurement that the policy asked for, or what the policy made of them all.
    pub extra: Measurement,
}

/// Where the configurations in the table come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Origin {
    /// The policy itself.
    #[default]
    Policy,
    /// Spatial, because no multi-kernel configuration fits (sources.md D20).
    SpatialFallback,
    /// Left-over, because Spatial was not possible either, or something that cannot happen did.
    LeftOverFallback,
}

/// Up to `C` configurations over the scheduled kernels, tried in at most two rounds, and then maybe some on all SMs. SM `i` runs configuration `i mod n` of
/// the current round's `n`, so that replica counts differ by at most one.
#[derive(Clone, Debug)]
pub struct ConfigTable<const C: usize> {
    entries: Vec<Entry, C>,
    slots: [u8; MAX_KERNELS],
    kernels: u8,
    round: u8,
    /// Index of the current round's first entry.
    first: usize,
    total: u32,
    /// The current round was not profiled: it is what follows from those before.
    settled: bool,
    origin: Origin,
    /// Of each round.
    totals: [RoundTotals; 2],
    /// Index of the best of the rounds before the current one.
    leader: u16,
    /// What configurations there are: known from one scheduling to the next, where the kernels are the same.
    pool: Pool<C>,
}

impl<const C: usize> Default for ConfigTable<C> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const C: usize> ConfigTable<C> {
    /// No configuration of no kernel.
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

    /// Drops all configurations and notes where their successors come from.
    pub fn restart(&mut self, origin: Origin) {
        self.entries.clear();
        (self.round, self.first, self.settled, self.origin) = (0, 0, false, origin);
    }

    /// Begins what is placed for good after profiling; what was measured stays for the report.
    pub fn settle(&mut self, origin: Origin) {
        self.next_round();
        (self.settled, self.origin) = (true, origin);
    }

    /// Whether the current round follows from what was profiled before it.
    #[must_use]
    pub fn settled(&self) -> bool {
        self.settled
    }

    /// The configurations that were profiled, or are placed without profiling.
    #[must_use]
    pub fn tried(&self) -> &[Entry] {
        if self.settled { self.entries.get(..self.first).unwrap_or_default() } else { &self.entries }
    }

    /// What configurations there are.
    pub fn pool(&self) -> &Pool<C> {
        &self.pool
    }

    /// The same, to find them.
    pub fn pool_mut(&mut self) -> &mut Pool<C> {
        &mut self.pool
    }

    /// Those among whom the best is, in two parts: in a first round all but the first `references`; in a second one the best of the first, and its
    /// own.
    // A call on the RISC-V core, whose image has the least flash to spare.
    #[cfg_attr(not(target_arch = "riscv32"), inline(always))]
    #[cfg_attr(target_arch = "riscv32", inline(never))]
    pub fn contenders(&self, references: u8) -> (&[Entry], &[Entry]) {
        if self.round == 0 {
            return (self.entries.get(usize::from(references)..).unwrap_or_default(), &[]);
        }
        let leader = usize::from(self.leader);
        (self.entries.get(leader..leader.wrapping_add(1)).unwrap_or_default(), self.current())
    }

    /// Begins the next round.
    pub fn next_round(&mut self) {
        self.round = self.round.saturating_add(1);
        self.first = self.entries.len();
        self.leader = 0;
    }

    /// Notes the index of the best of the rounds before the current one, which has begun.
    pub fn set_leader(&mut self, index: usize) {
        // Far from the end of the range: an index of the table.
        self.leader = index as u16;
    }

    /// The best of the rounds before the current one, as far as it was noted.
    #[must_use]
    pub fn leader(&self) -> Option<&Entry> {
        self.entries.get(usize::from(self.leader))
    }

    /// Its index.
    pub fn leader_index(&self) -> usize {
        self.leader.into()
    }

    /// Trials on all SMs so far.
    #[must_use]
    pub fn trials(&self) -> usize {
        self.entries.iter().filter(|entry| entry.position == TRIAL).count()
    }

    /// The configuration that all SMs try in the current round, if they do.
    #[must_use]
    pub fn tried_on_all(&self) -> Option<&Entry> {
        self.current().first().filter(|entry| matches!(entry.position, WARM_UP | TRIAL))
    }

    /// Notes how many configurations there are in all, tried or not.
    pub fn set_total(&mut self, total: u32) {
        self.total = total;
    }

    /// How many admitted configurations there are in all, tried or not.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.total
    }

    /// Current round, from 0.
    #[must_use]
    pub fn round(&self) -> u8 {
        self.round
    }

    /// Where the configurations come from.
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// All configurations placed so far, those of earlier rounds first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The same, to note something about each.
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// Slots of the scheduled kernels: element `k` is the slot of the vectors' component `k`.
    #[must_use]
    pub fn slots(&self) -> &[u8] {
        self.slots.get(..usize::from(self.kernels)).unwrap_or(&self.slots)
    }

    /// Index of the configuration that an SM runs in the current round; none if the round has no configuration.
    #[must_use]
    pub fn assigned(&self, sm: usize) -> Option<usize> {
        Some(self.first.saturating_add(sm.checked_rem(self.current_len())?))
    }

    /// The measurements of a configuration.
    pub fn sums_mut(&mut self, index: usize) -> Option<&mut Sums> {
        self.entries.get_mut(index).map(|entry| &mut entry.sums)
    }

    /// Measures the configurations of the current round. `sum` is called once per configuration, with the first of its SMs and
    /// the distance from one to the next, and returns the sums of those that finished.
    ///
    /// # Errors
    /// The first of `sum`.
    #[inline(always)]
    pub fn measure<E>(&mut self, mut sum: impl FnMut(usize, usize) -> Result<Sums, E>) -> Result<(), E> {
        let placed = self.entries.get_mut(self.first..).unwrap_or_default();
        let step = placed.len();
        for (first, entry) in placed.iter_mut().enumerate() {
            entry.sums = sum(first, step)?;
        }
        Ok(())
    }

    /// Measures something else about each configuration of the current round: `sum` as for [`ConfigTable::measure`], with the kernels'
    /// slots and what is known of the configuration.
    ///
    /// # Errors
    /// The first of `sum`.
    pub fn measure_extra<E>(&mut self, mut sum: impl FnMut(&[u8], &Entry, usize, usize) -> Result<Measurement, E>) -> Result<(), E> {
        let slots = self.slots.get(..usize::from(self.kernels)).unwrap_or(&self.slots);
        let placed = self.entries.get_mut(self.first..).unwrap_or_default();
        let step = placed.len();
        for (first, entry) in placed.iter_mut().enumerate() {
            entry.extra = sum(slots, entry, first, step)?;
        }
        Ok(())
    }

    /// The configurations of the current round.
    #[must_use]
    pub fn current(&self) -> &[Entry] {
        self.entries.get(self.first..).unwrap_or_default()
    }

    /// How many those are.
    #[must_use]
    pub fn current_len(&self) -> usize {
        self.entries.len().saturating_sub(self.first)
    }

    /// Notes the totals of the current round.
    pub fn set_totals(&mut self, totals: RoundTotals) {
        let [first, second] = &mut self.totals;
        *(if self.round == 0 { first } else { second }) = totals;
    }

    /// Totals of a round, as of the last measurement.
    #[must_use]
    pub fn totals(&self, round: u8) -> &RoundTotals {
        let [first, second] = &self.totals;
        if round == 0 { first } else { second }
    }
}
