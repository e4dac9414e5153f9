//! MIAS-Trial: SMK-P's configuration, and half of the TBs of one kernel after the other, each on the whole GPU; what is better stays (own; sources.md D209).
//!
//! SMK-P divides SMs by what TBs take, and not by what they do. Where that loses much, a kernel is saturated: half of its TBs do as much as all, and what they leave is worth more to others. Nothing
//! but a trial tells who that is, since with all of its TBs a saturated kernel looks like one that needs them. A trial costs little: who is given up for it loses what the others get.

use super::{Context, Plan, Policy, beside_one_of_each, fall_back, smk, spatial};
use crate::configs::{ConfigTable, TbVector};
use crate::search::{Next, Search, Step, Tries};

/// Trials on the whole GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasTrial;

impl Policy for MiasTrial {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        if beside_one_of_each(context).is_none() {
            return fall_back(context, table);
        }
        // A search has an entry for each kernel, and an SM.
        if context.kernels.len() > 1 && spatial::fill(context, table) {
            return Plan::Search;
        }
        match smk::quotas(context) {
            Some(vector) => {
                table.push(vector, 0);
                Plan::Place
            }
            None => fall_back(context, table),
        }
    }

    fn searches(&self) -> bool {
        true
    }

    #[inline(never)]
    fn search(&self, context: &Context<'_>, search: &mut Search) -> Next {
        match (search.step, search.trial.tries) {
            (Step::Begin, _) => search.begin_trials(smk::quotas(context).unwrap_or_else(|| search.ones())),
            (Step::Trial, Tries::Best) => {
                search.note_best(slots(context));
                less(context, search)
            }
            (Step::Trial, Tries::Quick) => search.look_longer(),
            (Step::Trial, Tries::Sure) => search.keep_or_give_up().unwrap_or_else(|| less(context, search)),
            _ => search.settle(),
        }
    }
}

/// Warp instructions that all SMs issue in a cycle at most.
fn slots(context: &Context<'_>) -> u32 {
    context.machine.schedulers.saturating_mul(context.machine.sm_count.into())
}

/// Half of the TBs of the next kernel are tried, if there is one.
fn less(context: &Context<'_>, search: &mut Search) -> Next {
    match search.who_has_less() {
        Some(kernel) => {
            let best = search.best_trial();
            search.try_less(kernel, with(context, best, kernel, best.get(kernel) / 2))
        }
        None => search.settle(),
    }
}

/// The vector with so many TBs of a kernel. What that leaves of an SM the others get, a TB each in turn as long as there is room.
#[inline(never)]
fn with(context: &Context<'_>, mut vector: TbVector, kernel: usize, tbs: u8) -> TbVector {
    vector.set(kernel, tbs);
    let capacity = context.machine.limits.capacity;
    let mut held = context.kernels.iter().enumerate();
    let Some(mut rest) = held.try_fold(capacity, |rest, (kernel, of)| rest.minus(&of.demand, vector.get(kernel).into())) else {
        return vector;
    };
    let mut any = true;
    while any {
        any = false;
        for (index, of) in context.kernels.iter().enumerate().filter(|(index, _)| *index != kernel) {
            let share_of_grid = of.grid_tbs.div_ceil(u32::from(context.machine.sm_count).max(1));
            let has = vector.get(index);
            if u32::from(has) < share_of_grid.min(of.max_tbs.into())
                && let Some(left) = rest.minus(&of.demand, 1)
            {
                (rest, any) = (left, true);
                vector.set(index, has.saturating_add(1));
            }
        }
    }
    vector
}
