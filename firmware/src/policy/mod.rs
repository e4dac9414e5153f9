//! Scheduling policies behind the thesis' three operations (Nasef 2023, section 3.3.3). One file per policy.

mod fixed_config;
mod left_over;
pub mod mias;
mod search;
mod shipped;
pub mod space;
pub mod spatial;

pub use fixed_config::FixedConfig;
pub use left_over::LeftOver;
pub use mias::Mias;
pub use search::{Next, NoSearch, Placement, Search};
pub use shipped::{ShippedPolicy, read_fixed};
pub use spatial::Spatial;

use mias_registers::bus::TryBus;

use crate::configs::{ConfigTable, Origin, TbVector};
use crate::counters::{CounterSet, Reading};
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::metric::Score;
use crate::resources::Resources;

/// A set of launched kernels: bit n for the n-th in launch order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSet(u8);

impl KernelSet {
    /// All kernels.
    pub const ALL: Self = Self(u8::MAX);

    /// The first `count` kernels in launch order.
    #[must_use]
    pub fn first(count: usize) -> Self {
        Self((0..count.min(8)).fold(0, |bits, kernel| bits | 1 << kernel))
    }

    /// Whether the n-th kernel is in the set.
    #[must_use]
    pub fn contains(self, kernel: usize) -> bool {
        kernel < 8 && self.0 >> kernel & 1 != 0
    }
}

/// What a policy decides on.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The machine.
    pub gpu: &'a GpuProperties,
    /// Parameters.
    pub settings: &'a Settings,
    /// The scheduled kernels in launch order, at most [`crate::configs::MAX_KERNELS`].
    pub kernels: &'a [Kernel],
}

impl Context<'_> {
    /// Most TBs per SM of a kernel: what fits, and no more than it has left where that counts (sources.md D17).
    /// At least 1 for a kernel that fits at all.
    #[must_use]
    pub fn cap(&self, kernel: &Kernel) -> u8 {
        let all_sms = u32::from(self.gpu.sm_count).saturating_mul(kernel.max_tbs.into());
        if self.settings.always_cap_remaining || kernel.grid_tbs < all_sms {
            u8::try_from(kernel.unfinished_tbs).unwrap_or(u8::MAX).max(1).min(kernel.max_tbs)
        } else {
            kernel.max_tbs
        }
    }
}

/// What to do with the configurations in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Deal them to the SMs and leave it at that.
    Place,
    /// Deal them to the SMs, profile, and ask [`Policy::on_done_profiling`].
    Profile,
    /// One per kernel, as Spatial has them: find out how many SMs each gets, with [`Policy::search_mut`].
    Search,
}

/// What profiling led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Broadcast this configuration to all SMs.
    Broadcast(TbVector),
    /// Profile the configurations of the table's next round.
    NextRound,
    /// Deal what was [settled](ConfigTable::settle) to the SMs and leave it at that.
    Settled,
    /// No SM finished its window.
    NoSamples,
}

/// A scheduling policy.
pub trait Policy {
    /// Which launched kernels are to be scheduled. All of them, by default.
    fn update_scheduled_kernels(&self, launched: &[Kernel]) -> KernelSet {
        let _ = launched;
        KernelSet::ALL
    }

    /// Does a part of what [`Policy::generate_configs`] would otherwise do, in bounded time, and nothing that shows in the table; false if
    /// there is nothing left to do so. Called while the processor has nothing else to do, any number of times or never. By default there
    /// is nothing.
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        let _ = (context, table);
        false
    }

    /// Fills the empty table with configurations of at least one scheduled kernel, and says what to do with them.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan;

    /// Chooses among the configurations whose counters have been read. Nothing to choose, by default.
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let _ = (context, table);
        Verdict::NoSamples
    }

    /// Counters to read after profiling, beside the instruction counter, and what else to measure. None, by default. A policy that
    /// asks for warp instructions has those as its instruction counter, whatever the settings.
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[])
    }

    /// Score of a configuration in the table; none if it was not measured or the policy does not rank.
    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        let _ = (table, index);
        None
    }

    /// Measures, of every configuration of the current round whose counters have been read, what the policy wants to know beside their
    /// sums. Nothing, by default.
    ///
    /// # Errors
    /// The bus failed.
    fn read_more<B: TryBus, const C: usize>(
        &self,
        table: &mut ConfigTable<C>,
        bus: &mut B,
        reading: &Reading<'_>,
        gpu: &GpuProperties,
    ) -> Result<(), B::Error> {
        let _ = (table, bus, reading, gpu);
        Ok(())
    }

    /// Its search; none for a policy that never plans one.
    fn search(&self) -> Option<&impl Search> {
        None::<&NoSearch>
    }

    /// The same, to go on with it.
    fn search_mut(&mut self) -> Option<&mut impl Search> {
        None::<&mut NoSearch>
    }

    /// Whether the kernels after the current one get their quotas when it is drained (Left-over).
    fn follows_drain(&self) -> bool {
        false
    }
}

/// A policy that the straps can name.
pub trait Strapped: Policy {
    /// For a scheduler that has not started: all zero, so that a static of it takes no flash.
    const IDLE: Self;

    /// Becomes the policy that the straps ask for; false if their code is unknown. In place: a policy may be large.
    ///
    /// # Errors
    /// The bus failed.
    fn read<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, settings: &Settings) -> Result<bool, B::Error>;
}

/// Falls back to Spatial, and to Left-over where there are fewer SMs than kernels (sources.md D20).
#[inline(never)]
pub fn fall_back<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    table.restart(Origin::SpatialFallback);
    if !spatial::fill(context, table) {
        fall_back_to_left_over(context, table);
    }
    Plan::Place
}

/// The same after profiling, if that gave a single sample.
#[inline(never)]
pub fn settle_for_spatial<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>, origin: Origin) -> Verdict {
    if table.entries().iter().all(|entry| entry.sums.sms == 0) {
        return Verdict::NoSamples;
    }
    table.settle(origin);
    if !spatial::fill(context, table) {
        fall_back(context, table);
    }
    Verdict::Settled
}

/// What an SM has left beside one TB of every kernel; none if they do not fit together.
#[inline(never)]
pub fn beside_one_of_each(context: &Context<'_>) -> Option<Resources> {
    let capacity = context.gpu.limits.capacity;
    context.kernels.iter().try_fold(capacity, |rest, kernel| rest.minus(&kernel.demand, 1))
}

/// Spatial, profiled: how every kernel does on SMs of its own. One kernel alone, or kernels of which no SM holds one TB each, leave
/// nothing to decide.
#[inline(never)]
pub fn profile_alone<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    if beside_one_of_each(context).is_none() || !spatial::fill(context, table) {
        return fall_back(context, table);
    }
    if context.kernels.len() < 2 { Plan::Place } else { Plan::Profile }
}

/// Falls back to Left-over over the scheduled kernels.
pub fn fall_back_to_left_over<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) {
    table.restart(Origin::LeftOverFallback);
    table.push(left_over::vector(context.kernels), 0);
}
