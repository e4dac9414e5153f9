//! TBs in proportion to how busy a kernel keeps an SM: one that waits for memory half of the time gets half of an SM's room, and leaves
//! the rest to kernels that can use it. Own; an example, and not tuned.
//!
//! *Definition.* Every kernel is profiled alone, on SMs of its own. `w_k`, its weight, is the mean number of cycles in which such an SM did
//! not stall on memory. TBs are then given one by one, each kernel beginning with one, to the kernel whose part `n_k / N_k` of the TBs that
//! an empty SM holds is the smallest in proportion to `w_k`, as long as one more fits. Of equals, the first in launch order.
//!
//! Written as the firmware is: no allocation, no float, nothing that panics, bounded loops. So it can move into it as it stands.

use mias::custom_policy::CustomPolicy;
use mias_firmware::configs::{ConfigTable, MAX_KERNELS, Origin, TbVector};
use mias_firmware::counters::CounterSet;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, Spatial, Verdict};
use mias_firmware::resources::Resources;
use mias_registers::counters::Counter;

/// The policy. It has no parameters.
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
    /// Every kernel alone on SMs of its own: what Spatial places. One kernel, or kernels of which no SM holds one TB each, leave nothing to
    /// find out, and fewer SMs than kernels no way to: then what Spatial (or its own fall-back) places stays.
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
        // Entries are in the order of kernels.
        for (weight, entry) in weights.iter_mut().zip(table.entries()) {
            let busy = entry.sums.cycles.saturating_sub(entry.sums.memory_stall_cycles);
            *weight = busy.checked_div(entry.sums.sms.into()).unwrap_or(0);
        }
        match shares(context, &weights) {
            Some(vector) if measured == context.kernels.len() => Verdict::Broadcast(vector),
            // A kernel was not measured in time: they keep the SMs that they have.
            _ => {
                table.settle(Origin::SpatialFallback);
                Spatial.generate_configs(context, table);
                Verdict::Settled
            }
        }
    }

    /// What [`Policy::on_done_profiling`] finds in [`mias_firmware::configs::Sums`]; others stay 0, unless the host wants all.
    fn counters(&self) -> CounterSet {
        CounterSet::of(&[Counter::Cycles, Counter::MemoryStallCycles])
    }
}

/// What an SM has left beside one TB of every kernel; none if they do not fit together.
fn one_of_each(context: &Context<'_>) -> Option<Resources> {
    let capacity = context.gpu.limits.capacity;
    context.kernels.iter().try_fold(capacity, |rest, kernel| rest.minus(&kernel.demand, 1))
}

/// TBs of each kernel by weight; none if one of each does not fit.
fn shares(context: &Context<'_>, weights: &[u32; MAX_KERNELS]) -> Option<TbVector> {
    let mut rest = one_of_each(context)?;
    let mut vector = TbVector::default();
    (0..context.kernels.len()).for_each(|kernel| vector.set(kernel, 1));
    // At most as many steps as an SM has TB slots, and one per kernel that has enough.
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

/// The kernel that is not full and has the smallest part of an SM for its weight; the first of equals.
fn poorest<'a>(kernels: &'a [Kernel], weights: &[u32; MAX_KERNELS], vector: &TbVector, full: u32) -> Option<(usize, &'a Kernel)> {
    let mut least: Option<(usize, &Kernel, u64, u64)> = None;
    for ((index, kernel), weight) in kernels.iter().enumerate().zip(weights) {
        // n / (N w) as a fraction: 8 bits over 25, compared by cross-multiplication. A kernel that is never busy counts as hardly ever.
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
