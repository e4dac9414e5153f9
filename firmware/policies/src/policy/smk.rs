//! SMK-P: TBs per SM by dominant resource fairness over threads, registers, shared memory and TB
//! slots (Dai et al. 2018, section 1; sources.md D52).
//!
//! A kernel's dominant share is the largest part of an SM's resource that its TBs hold. TBs are
//! given one by one to the kernel with the smallest dominant share. A kernel is done if its next TB
//! does not fit, or if it has as many as its grid gives every SM. Nothing is measured. Equal shares
//! go to the first kernel in launch order.

use mias_firmware::configs::{ConfigTable, MAX_KERNELS, TbVector};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Plan, Policy, fall_back};
use mias_firmware::resources::Resources;

/// Static partition of SMK, without its warp-instruction quotas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smk;

impl Policy for Smk {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        match quotas(context) {
            Some(vector) => {
                table.push(vector, 0);
                Plan::Place
            }
            None => fall_back(context, table),
        }
    }
}

/// Returns the TBs of each kernel; none if a kernel would get no TB, and starve.
#[inline(never)]
pub(super) fn quotas(context: &Context<'_>) -> Option<TbVector> {
    let capacity = &context.gpu.limits.capacity;
    let mut dominant = [(0, 1); MAX_KERNELS];
    for (dominant, kernel) in dominant.iter_mut().zip(context.kernels) {
        *dominant = dominant_part(capacity, &kernel.demand);
    }
    let mut rest = *capacity;
    let mut vector = TbVector::default();
    let mut done = 0_u32;
    // The kernel that is not done with the smallest dominant share, the first of equals.
    while let Some((index, kernel)) = poorest(context.kernels, &dominant, &vector, done) {
        let has = vector.get(index);
        let share_of_grid = kernel.grid_tbs.div_ceil(u32::from(context.gpu.sm_count).max(1));
        let next = if u32::from(has) < share_of_grid.min(kernel.max_tbs.into()) { rest.minus(&kernel.demand, 1) } else { None };
        match next {
            Some(left) => {
                rest = left;
                vector.set(index, has.saturating_add(1));
            }
            None => done |= 1_u32.wrapping_shl(index as u32),
        }
    }
    (vector.present() == context.kernels.len()).then_some(vector)
}

/// Returns the largest part of an SM's resource that one TB takes: demand and capacity.
fn dominant_part(capacity: &Resources, tb: &Resources) -> (u32, u32) {
    let parts = [(tb.threads, capacity.threads), (tb.registers, capacity.registers), (tb.shared_bytes, capacity.shared_bytes)];
    let mut most = (tb.tbs, capacity.tbs);
    for part in parts {
        if less(most, part) {
            most = part;
        }
    }
    most
}

/// Returns whether a part is smaller than another, by cross multiplication.
fn less(part: (u32, u32), other: (u32, u32)) -> bool {
    u64::from(part.0) * u64::from(other.1) < u64::from(other.0) * u64::from(part.1)
}

fn poorest<'a>(kernels: &'a [Kernel], dominant: &[(u32, u32); MAX_KERNELS], vector: &TbVector, done: u32) -> Option<(usize, &'a Kernel)> {
    let mut least: Option<(usize, &Kernel, (u32, u32))> = None;
    for ((index, kernel), (demand, capacity)) in kernels.iter().enumerate().zip(dominant) {
        // TBs that fit take at most the capacity.
        let share = (demand.wrapping_mul(vector.get(index).into()), *capacity);
        if done >> index & 1 == 0 && least.is_none_or(|(_, _, least)| less(share, least)) {
            least = Some((index, kernel, share));
        }
    }
    least.map(|(index, kernel, _)| (index, kernel))
}
