//! Maestro as a search: SMs divided or shared, whichever is measured to be better, with hill climbing over what shares an SM; and the same beside
//! what CD-search makes of dividing them (Zhao et al. 2018, sections 6 and 7.5, on Park et al. 2017; sources.md D153).
//!
//! How Maestro itself searches is not published in what we could read. Here SMK-P's vector is tried on all SMs, then its neighbours: one TB more of a
//! kernel for as few less of another as make room. Whatever is better than the best so far takes its place, and its neighbours follow.

use super::{CdSearch, Context, Mode, Plan, Policy, cd_search, smk};
use crate::configs::{ConfigTable, TbVector};
use crate::search::{Next, Search, Step};

/// Maestro with hill climbing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaestroSearch {
    /// SMs are divided as CD-search finds; otherwise evenly.
    pub divides: bool,
}

impl Policy for MaestroSearch {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        cd_search::one_each(context, table)
    }

    fn searches(&self) -> bool {
        true
    }

    #[inline(never)]
    fn search(&self, context: &Context<'_>, search: &mut Search) -> Next {
        match search.step {
            Step::Begin => search.try_even(),
            Step::Classify if !self.divides => {
                search.classify();
                together(context, search)
            }
            Step::Classify | Step::Shrink | Step::One | Step::Verify => match (CdSearch { mode: Mode::Chosen }).step(search) {
                next @ (Next::Measure | Next::Rest(_)) => next,
                // The last window was of other shares, or of SMs that were stalled.
                Next::Done => {
                    search.step = Step::Apart;
                    Next::Measure
                }
            },
            Step::Apart => together(context, search),
            Step::Together | Step::Climb => {
                if search.keep_if_better() {
                    search.neighbour = 0;
                }
                search.step = Step::Climb;
                climb(context, search)
            }
            Step::Alone | Step::Balance | Step::Tune | Step::Trial | Step::Done | Step::Rested => search.settle(),
        }
    }
}

/// Tries SMK-P's vector; if no SM holds a TB of each, the shares stay.
fn together(context: &Context<'_>, search: &mut Search) -> Next {
    match smk::quotas(context) {
        Some(vector) => search.try_together(vector),
        None => search.settle(),
    }
}

/// The next neighbour of the best vector that is one, or the end.
fn climb(context: &Context<'_>, search: &mut Search) -> Next {
    let kernels = context.kernels.len();
    loop {
        let number = usize::from(search.neighbour);
        let (Some(more), Some(less)) = (number.checked_div(kernels), number.checked_rem(kernels)) else { return search.settle() };
        if more >= kernels {
            return search.settle_for_the_better();
        }
        search.neighbour = search.neighbour.saturating_add(1);
        if more != less
            && let Some(vector) = neighbour(context, search.best(), more, less)
        {
            return search.try_neighbour(vector).unwrap_or_else(|| search.settle_for_the_better());
        }
    }
}

/// One TB more of a kernel, and as few less of another as make room for it; none if that would leave the other without any.
fn neighbour(context: &Context<'_>, mut vector: TbVector, more: usize, less: usize) -> Option<TbVector> {
    let most = context.kernels.get(more)?.max_tbs;
    vector.set(more, vector.get(more).checked_add(1).filter(|tbs| *tbs <= most)?);
    for left in (1..vector.get(less)).rev() {
        vector.set(less, left);
        let capacity = context.machine.limits.capacity;
        let mut held = context.kernels.iter().enumerate();
        if held.try_fold(capacity, |rest, (kernel, of)| rest.minus(&of.demand, vector.get(kernel).into())).is_some() {
            return Some(vector);
        }
    }
    None
}
