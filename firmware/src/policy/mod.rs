//! Scheduling policies behind the thesis' three operations (Nasef 2023, section 3.3.3), one file
//! each.

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
    /// The set of all kernels.
    pub const ALL: Self = Self(u8::MAX);

    /// Returns the set of the first `count` kernels in launch order.
    #[must_use]
    pub fn first(count: usize) -> Self {
        Self((0..count.min(8)).fold(0, |bits, kernel| bits | 1 << kernel))
    }

    /// Returns whether the n-th kernel is in the set.
    #[must_use]
    pub fn contains(self, kernel: usize) -> bool {
        kernel < 8 && self.0 >> kernel & 1 != 0
    }
}

/// Input of a policy's decision.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Properties of the GPU.
    pub gpu: &'a GpuProperties,
    /// Parameters of the scheduler.
    pub settings: &'a Settings,
    /// The scheduled kernels in launch order, at most [`crate::configs::MAX_KERNELS`].
    pub kernels: &'a [Kernel],
}

impl Context<'_> {
    /// Returns the most TBs per SM of a kernel: those that fit, limited by its remaining TBs if
    /// that cap applies (sources.md D17).
    ///
    /// It is at least 1 for a kernel that fits an empty SM.
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

/// Use of the configurations in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Assign the configurations to the SMs, without profiling.
    Place,
    /// Assign the configurations to the SMs, profile, and call [`Policy::on_done_profiling`].
    Profile,
    /// Start from one configuration per kernel, as in Spatial, and find the number of SMs of each
    /// with [`Policy::search_mut`].
    Search,
}

/// Result of profiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Broadcast this configuration to all SMs.
    Broadcast(TbVector),
    /// Profile the configurations of the table's next round.
    NextRound,
    /// Assign the [settled](ConfigTable::settle) configurations to the SMs, without profiling.
    Settled,
    /// No SM has finished its window.
    NoSamples,
}

/// A scheduling policy.
pub trait Policy {
    /// Selects the launched kernels to schedule. The default is all of them.
    fn update_scheduled_kernels(&self, launched: &[Kernel]) -> KernelSet {
        let _ = launched;
        KernelSet::ALL
    }

    /// Does a bounded part of the work of [`Policy::generate_configs`] in advance; returns false if
    /// none is left.
    ///
    /// It must not change the visible content of the table. It is called while the processor is
    /// idle, any number of times or never. The default has no work.
    fn prepare<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
        let _ = (context, table);
        false
    }

    /// Fills the empty table with configurations of at least one scheduled kernel, and returns the
    /// plan for them.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan;

    /// Chooses among the configurations whose counters have been read. The default chooses nothing.
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let _ = (context, table);
        Verdict::NoSamples
    }

    /// Returns the counters to read after profiling, in addition to the instruction counter. The
    /// default is none.
    ///
    /// A policy that requests warp instructions uses those as its instruction counter, regardless
    /// of the settings.
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[])
    }

    /// Returns the score of a configuration in the table; none if it was not measured or the policy
    /// does not rank.
    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        let _ = (table, index);
        None
    }

    /// Takes additional measurements of every configuration of the current round whose counters
    /// have been read. The default takes none.
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

    /// Returns the search of the policy; none if it never plans one.
    fn search(&self) -> Option<&impl Search> {
        None::<&NoSearch>
    }

    /// Returns the search of the policy to continue it; none if it never plans one.
    fn search_mut(&mut self) -> Option<&mut impl Search> {
        None::<&mut NoSearch>
    }

    /// Returns whether later kernels get their quotas when the current one is drained (Left-over).
    fn follows_drain(&self) -> bool {
        false
    }
}

/// Policy that the straps can select.
pub trait Strapped: Policy {
    /// Value for a scheduler that has not started: all zero, so that a static of it takes no flash.
    const IDLE: Self;

    /// Becomes the policy that the straps select; returns false if their code is unknown.
    ///
    /// It works in place, because a policy may be large.
    ///
    /// # Errors
    /// The bus failed.
    fn read<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties, settings: &Settings) -> Result<bool, B::Error>;
}

/// Falls back to Spatial, and to Left-over if there are fewer SMs than kernels (sources.md D20).
#[inline(never)]
pub fn fall_back<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
    table.restart(Origin::SpatialFallback);
    if !spatial::fill(context, table) {
        fall_back_to_left_over(context, table);
    }
    Plan::Place
}

/// Falls back to Spatial after profiling, if at least one sample exists.
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

/// Returns the resources of an SM after one TB of every kernel; none if they do not fit together.
#[inline(never)]
pub fn beside_one_of_each(context: &Context<'_>) -> Option<Resources> {
    let capacity = context.gpu.limits.capacity;
    context.kernels.iter().try_fold(capacity, |rest, kernel| rest.minus(&kernel.demand, 1))
}

/// Profiles Spatial: every kernel alone on SMs of its own.
///
/// There is nothing to decide for one kernel alone, or if no SM can hold one TB of each kernel.
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
