//! Search space of policies: all admitted configurations of a set of kernels.

use super::Context;
use crate::configs::{Candidate, Pool, Rules};

/// Sets the kernels of a pool to those of a context, under these rules.
#[inline(never)]
pub fn gather<const C: usize>(pool: &mut Pool<C>, context: &Context<'_>, rules: Rules) {
    let candidates = context.kernels.iter().map(|kernel| Candidate { demand: kernel.demand, cap: context.cap(kernel) });
    pool.set(&context.gpu.limits.capacity, rules.least_present(context.kernels.len()), candidates);
}
