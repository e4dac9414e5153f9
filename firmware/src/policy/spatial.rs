//! Spatial multitasking: disjoint sets of SMs, one per kernel (Nasef 2023, section 3.3.3;
//! sources.md D46).

use super::{Context, Plan, Policy, fall_back_to_left_over};
use crate::configs::{ConfigTable, TbVector};

/// Even split of the SMs: each of K kernels gets the floor or ceiling of (SMs / K) SMs. The first
/// kernels in launch order get the remainder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spatial;

impl Policy for Spatial {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        if !fill(context, table) {
            fall_back_to_left_over(context, table);
        }
        Plan::Place
    }
}

/// Adds one configuration per kernel; returns false if there are fewer SMs than kernels, so that
/// one kernel would get none.
#[inline(never)]
pub fn fill<const C: usize>(context: &Context<'_>, table: &mut ConfigTable<C>) -> bool {
    let enough = usize::from(context.gpu.sm_count) >= context.kernels.len();
    enough
        && (0_u32..)
            .zip(context.kernels)
            .enumerate()
            .all(|(index, (position, kernel))| table.push(TbVector::single(index, kernel.max_tbs), position))
}
