//! MIAS-Trial: SMK-P's configuration at once, then others on the whole GPU, one after the other, and whichever does most work stays (own; sources.md D209).
//!
//! SMK-P divides SMs by what kernels ask for, and not by what they do with it. Where one of them makes much more progress than another, it is given fewer TBs: one per SM
//! first, since that is as far as it goes, then as many as lie halfway between the better two. What it leaves is shared out as SMK-P does. The same for the kernel that does best then,
//! and so on, each once. Last come SMs apart: even parts, and if they are not far behind and there are two kernels, more of them for the one that is slower.
//!
//! Where nobody can be given less, nothing is tried, and nothing lost.

use super::{Context, Plan, Policy, fall_back, smk, spatial};
use crate::configs::{ConfigTable, TbVector};
use crate::search::{Ends, Next, Placed, Search, Step, Tries};

/// Whose progress is at least so many times that of another may have too much, in quarters.
const AHEAD_QUARTERS: u32 = 6;
/// Trials between the two ends of a range.
const HALVINGS: u8 = 2;
/// Even parts of the SMs that do less than the best by more than a part in so many are not looked at further.
const FAR_BEHIND: u32 = 8;

/// Trials on the whole GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MiasTrial;

impl Policy for MiasTrial {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        let Some(vector) = smk::quotas(context) else { return fall_back(context, table) };
        if context.kernels.len() > 1 && spatial::fill(context, table) {
            return Plan::Search;
        }
        table.push(vector, 0);
        Plan::Place
    }

    fn searches(&self) -> bool {
        true
    }

    #[inline(never)]
    fn search(&self, context: &Context<'_>, search: &mut Search) -> Next {
        match search.step {
            Step::Begin => begin(context, search),
            Step::Trial => next(context, search),
            _ => search.settle(),
        }
    }
}

fn begin(context: &Context<'_>, search: &mut Search) -> Next {
    let Some(first) = smk::quotas(context) else { return search.settle() };
    search.begin_trials(first);
    // Somebody may have less, or SMs may be told apart.
    let any = (0..context.kernels.len()).any(|kernel| fewer(context, search, kernel, 1).is_some()) || even(context).is_some();
    if any { search.try_placed(Placed::Together(first), Tries::First) } else { search.settle() }
}

/// A trial is over.
fn next(context: &Context<'_>, search: &mut Search) -> Next {
    match search.trial.tries {
        Tries::Nothing => search.settle(),
        Tries::First => {
            search.note_first();
            alone(context, search, 0)
        }
        Tries::Alone => {
            search.note_alone();
            alone(context, search, search.turn().saturating_add(1))
        }
        Tries::Fewer { kernel, tbs, end, more } => {
            let (kept, other) = if search.keep_if_it_is_better() {
                search.trial.most.set(kernel.into(), tbs);
                (tbs, end)
            } else {
                (end, tbs)
            };
            halfway(context, search, kernel, [kept, other], more)
        }
        Tries::Apart { first, end, more } => {
            let far = search.is_below_best_by(FAR_BEHIND);
            let better = search.keep_if_it_is_better();
            tell_apart(context, search, [first, end], more, better, far)
        }
    }
}

/// Leaves a kernel alone; if all have been, looks for one that has too much.
fn alone(context: &Context<'_>, search: &mut Search, turn: u8) -> Next {
    match context.kernels.get(usize::from(turn)) {
        Some(kernel) => search.try_alone(turn, kernel.max_tbs),
        None => {
            search.score_first();
            give_less(context, search)
        }
    }
}

/// Fewer TBs for the kernel that is furthest ahead, of those of which that was not tried; if there is none, SMs apart.
fn give_less(context: &Context<'_>, search: &mut Search) -> Next {
    loop {
        let progress = search.best_progress();
        let least = progress.iter().copied().min().unwrap_or(0);
        let untried = progress.iter().enumerate().filter(|(kernel, _)| search.trial.taken >> kernel & 1 == 0);
        let ahead = untried.max_by_key(|(kernel, progress)| (**progress, core::cmp::Reverse(*kernel)));
        // A progress is below 2^18.
        let Some((kernel, _)) = ahead.filter(|(_, progress)| progress.saturating_mul(4) >= least.saturating_mul(AHEAD_QUARTERS)) else {
            return apart(context, search);
        };
        search.trial.taken |= 1_u8.wrapping_shl(kernel as u32);
        if let Some(vector) = fewer(context, search, kernel, 1) {
            let end = search.best_vector().get(kernel);
            return search.try_placed(Placed::Together(vector), Tries::Fewer { kernel: kernel as u8, tbs: 1, end, more: HALVINGS });
        }
    }
}

/// As many TBs of a kernel as lie between the better number and another; if that was tried often enough or there is none, the next kernel.
fn halfway(context: &Context<'_>, search: &mut Search, kernel: u8, [kept, other]: [u8; 2], more: u8) -> Next {
    let tbs = kept.midpoint(other);
    if let Some(left) = more.checked_sub(1)
        && tbs != kept
        && tbs != other
        && let Some(vector) = fewer(context, search, kernel.into(), tbs)
    {
        return search.try_placed(Placed::Together(vector), Tries::Fewer { kernel, tbs, end: kept, more: left });
    }
    give_less(context, search)
}

/// The vector with at most so many TBs of a kernel; none if it is the best so far.
fn fewer(context: &Context<'_>, search: &Search, kernel: usize, tbs: u8) -> Option<TbVector> {
    let mut most = search.trial.most;
    most.set(kernel, tbs);
    smk::quotas_within(context, most).filter(|vector| *vector != search.best_vector())
}

/// Even parts of the SMs.
fn even(context: &Context<'_>) -> Option<Ends> {
    let parts: &[u16] = match context.kernels.len() {
        2 => &[4, 4],
        3 => &[3, 3, 2],
        4 => &[2, 2, 2, 2],
        _ => return None,
    };
    Ends::eighths(context.machine.sm_count, parts)
}

/// Even parts of the SMs are tried, or it is over.
fn apart(context: &Context<'_>, search: &mut Search) -> Next {
    match even(context) {
        Some(ends) => search.try_placed(Placed::Apart(ends), Tries::Apart { first: 4, end: 4, more: HALVINGS }),
        None => search.settle(),
    }
}

/// More SMs for the slower of two.
fn tell_apart(context: &Context<'_>, search: &mut Search, [first, end]: [u8; 2], more: u8, better: bool, far: bool) -> Next {
    let Some(left) = more.checked_sub(1).filter(|_| context.kernels.len() == 2 && !(far && first == end)) else {
        return search.settle();
    };
    let next = if first == end {
        let [one, other] = search.measured_progress().first_chunk().copied().unwrap_or([0; 2]);
        if one < other { 7 } else { 1 }
    } else if better {
        first.midpoint(end)
    } else {
        end.midpoint(first)
    };
    let kept = if better { first } else { end };
    match Ends::eighths(context.machine.sm_count, &[next.into(), 8_u16.saturating_sub(next.into())]) {
        Some(ends) if next != first && next != end => {
            search.try_placed(Placed::Apart(ends), Tries::Apart { first: next, end: kept, more: left })
        }
        _ => search.settle(),
    }
}
