//! Scheduling policies behind the thesis' three operations (seed 000 section 3.3.3). One file per policy.

mod any;
mod fixed_config;
mod left_over;
mod mias;
mod spatial;

pub use any::AnyPolicy;
pub use fixed_config::FixedConfig;
pub use left_over::LeftOver;
pub use mias::Mias;
pub use spatial::Spatial;

use crate::configs::{ConfigTable, Origin, TbVector};
use crate::counters::CounterSet;
use crate::kernel::Kernel;
use crate::machine::{Machine, Settings};
use crate::metric::Score;

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
    pub machine: &'a Machine,
    /// Parameters.
    pub settings: &'a Settings,
    /// The scheduled kernels in launch order, at most [`crate::configs::MAX_KERNELS`].
    pub kernels: &'a [Kernel],
}

impl Context<'_> {
    /// Most TBs per SM of a kernel: what fits, and no more than it has left where that counts (algorithms.md section 9 item
    /// 20). At least 1 for a kernel that fits at all.
    #[must_use]
    pub fn cap(&self, kernel: &Kernel) -> u8 {
        let all_sms = u32::from(self.machine.sm_count).saturating_mul(kernel.max_tbs.into());
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
}

/// What profiling led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Broadcast this configuration to all SMs.
    Broadcast(TbVector),
    /// Profile the configurations of the table's next round.
    NextRound,
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

    /// Fills the empty table with configurations of at least one scheduled kernel, and says what to do with them.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan;

    /// Chooses among the configurations whose counters have been read. Nothing to choose, by default.
    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let _ = (context, table);
        Verdict::NoSamples
    }

    /// Counters to read after profiling, beside the instruction counter. None, by default.
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[])
    }

    /// Score of a configuration in the table; none if it was not measured or the policy does not rank.
    fn score<const C: usize>(&self, table: &ConfigTable<C>, index: usize) -> Option<Score> {
        let _ = (table, index);
        None
    }

    /// Whether the kernels after the current one get their quotas when it is drained (Left-over).
    fn follows_drain(&self) -> bool {
        false
    }
}

/// Falls back to Left-over over the scheduled kernels.
pub fn fall_back_to_left_over<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) {
    table.restart(Origin::LeftOverFallback);
    table.push(left_over::vector(context.kernels), 0);
}
