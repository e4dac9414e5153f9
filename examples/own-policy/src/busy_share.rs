//! TBs in proportion to how busy a kernel keeps an SM: a kernel that stalls on memory half of the
//! time gets half of an SM's space, and leaves the rest to other kernels. Own; an example, and not
//! tuned.
//!
//! *Definition.* Every kernel is profiled alone, on SMs of its own. `w_k`, its weight, is the mean
//! number of cycles in which such an SM did not stall on memory. Each kernel starts with one TB.
//! Further TBs are given one by one while one more fits. The next goes to the kernel whose part
//! `n_k / N_k` of the TBs that an empty SM holds is smallest in proportion to `w_k`. Ties go to the
//! first in launch order.
//!
//! The code follows the firmware's rules: no allocation, no float, no panic, bounded loops. It can
//! move into the firmware unchanged.

use mias::custom_policy::CustomPolicy;
use mias_firmware::configs::{ConfigTable, MAX_KERNELS, Origin, TbVector};
use mias_firmware::counters::CounterSet;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, Spatial, Verdict};
use mias_firmware::resources::Resources;
use mias_registers::counters::Counter;

/// The policy, without parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusyShare;

impl CustomPolicy for BusyShare {
    const NAME: &'static str = "busy-share";
    const HELP: &'static str = "TBs in proportion to the cycles in which a kernel alone does not wait for memory";

    fn new(_: &GpuProperties, _: &Settings) -> Self {
        BusyShare
    }
}

impl Policy for BusyShare {
    /// Places every kernel alone on SMs of its own, as Spatial does. One kernel, or kernels that do
    /// not fit one SM together, need no measurement. Fewer SMs than kernels allow none. In these
    /// cases the placement of Spatial (or its fallback) stays.
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let plan = Spatial.generate_configs(context, table);
        let alone = table.origin() == Origin::Policy && context.kernels.len() > 1;
        if alone && one_of_each(context).is_some() { Plan::Profile } else { plan }
    }

    fn on_done_profiling<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Verdict {
        let measured = table.entries().iter().filter(|entry| entry.sums.sms != 0).count();
        if measured == 0 {
            return Verdict::NoSamples;
        }
        let mut weights = [0; MAX_KERNELS];
        // Entries are in launch order.
        for (weight, entry) in weights.iter_mut().zip(table.entries()) {
            let busy = entry.sums.cycles.saturating_sub(entry.sums.memory_stall_cycles);
            *weight = busy.checked_div(entry.sums.sms.into()).unwrap_or(0);
        }
        match shares(context, &weights) {
            Some(vector) if measured == context.kernels.len() => Verdict::Broadcast(vector),
            // If a kernel was not measured in time, the kernels keep their SMs.
            _ => {
                table.settle(Origin::SpatialFallback);
                Spatial.generate_configs(context, table);
                Verdict::Settled
            }
        }
    }

    /// Requests the counters that [`Policy::on_done_profiling`] reads from
    /// [`mias_firmware::configs::Sums`]. Others stay 0, unless the host requests all.
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[Counter::Cycles, Counter::MemoryStallCycles])
    }
}

/// Returns the resources of an SM after one TB of every kernel; none if they do not fit together.
fn one_of_each(context: &Context<'_>) -> Option<Resources> {
    let capacity = context.gpu.limits.capacity;
    context.kernels.iter().try_fold(capacity, |rest, kernel| rest.minus(&kernel.demand, 1))
}

/// Returns the TBs of each kernel by weight; none if one of each does not fit.
fn shares(context: &Context<'_>, weights: &[u32; MAX_KERNELS]) -> Option<TbVector> {
    let mut rest = one_of_each(context)?;
    let mut vector = TbVector::default();
    (0..context.kernels.len()).for_each(|kernel| vector.set(kernel, 1));
    // At most as many steps as an SM has TB slots, and one per kernel that is full.
    let mut full = 0_u32;
    while let Some((index, kernel)) = poorest(context.kernels, weights, &vector, full) {
        let has = vector.get(index);
        match rest.minus(&kernel.demand, 1) {
            Some(left) if has < context.cap(kernel) => {
                rest = left;
                vector.set(index, has.saturating_add(1));
            }
            _ => full |= 1 << index,
        }
    }
    Some(vector)
}

/// Returns the kernel that is not full with the smallest part of an SM for its weight; the first of
/// equals.
fn poorest<'a>(kernels: &'a [Kernel], weights: &[u32; MAX_KERNELS], vector: &TbVector, full: u32) -> Option<(usize, &'a Kernel)> {
    let mut least: Option<(usize, &Kernel, u64, u64)> = None;
    for ((index, kernel), weight) in kernels.iter().enumerate().zip(weights) {
        // n / (N w) as a fraction: 8 bits over 25, cross-multiplied. A weight of 0 counts as 1.
        let (has, due) = (u64::from(vector.get(index)), u64::from(kernel.max_tbs.max(1)) * u64::from(*weight.max(&1)));
        if full >> index & 1 == 0 && least.is_none_or(|(_, _, least_has, least_due)| has * least_due < least_has * due) {
            least = Some((index, kernel, has, due));
        }
    }
    least.map(|(index, kernel, _, _)| (index, kernel))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
