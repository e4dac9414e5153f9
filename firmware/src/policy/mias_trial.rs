//! MIAS-Trial: a TB of each kernel, then SMK-P's configuration, and then fewer TBs of whoever gained little from having more; each on the whole GPU, and the best stays (own; sources.md D209).
//!
//! SMK-P divides SMs by what TBs take, and not by what they do. How much faster n TBs are than one says who needs them: a kernel that makes less than 3/8 n times as much is
//! saturated, and does with about as many TBs as it was times faster. What that leaves is shared out as SMK-P does. A kernel that became slower with more TBs does not say what it needs: others keep it from it.
//! SMs begin with one TB of each kernel, and the others are added: nobody has to go for it, so that it costs little where nobody is saturated, which is where SMK-P is good.

use super::{Context, Plan, Policy, beside_one_of_each, fall_back, smk, spatial};
use crate::configs::{ConfigTable, TbVector};
use crate::search::{Next, ONE, QUOTIENT_BITS, Search, Step, Tries};

/// A kernel is saturated if it makes less than so many eighths of what as many TBs would that are each as fast as one (assumption: on kernels that it was made from, those that could do with fewer make
/// up to 0.36 of that, and all others more than 0.42).
const SATURATED_EIGHTHS: u32 = 3;
/// A kernel with more TBs is slower than with one if it does less than so many eighths of that.
const SLOWER_EIGHTHS: u32 = 7;

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
            (Step::Begin, _) => begin(context, search),
            (Step::Trial, Tries::One) => {
                search.note_one();
                match smk::quotas(context) {
                    Some(usual) if usual != search.trial.best => {
                        search.trial.best = usual;
                        search.try_on_all(usual, Tries::Usual)
                    }
                    _ => search.settle(),
                }
            }
            (Step::Trial, Tries::Usual) => {
                search.note_usual();
                fewer(context, search)
            }
            (Step::Trial, Tries::Fewer) => match search.keep_if_better_than_best() {
                Some(better) => {
                    if !better {
                        search.trial.most.set(search.trial.kernel.into(), u8::MAX);
                    }
                    fewer(context, search)
                }
                None => Next::Measure,
            },
            _ => search.settle(),
        }
    }
}

/// A TB of each. SMK-P's configuration, which takes longer to find, is not needed before, but on hardware that cannot tell what kernels do.
fn begin(context: &Context<'_>, search: &mut Search) -> Next {
    let ones = search.ones();
    let able = search.parameters.able;
    let first = if able { ones } else { smk::quotas(context).unwrap_or(ones) };
    search.begin_trials(first);
    search.try_on_all(first, Tries::One)
}

/// Fewer TBs of the kernel that is saturated most, of those of which that was not tried; if there is none, the best stays.
fn fewer(context: &Context<'_>, search: &mut Search) -> Next {
    let usual = smk::quotas(context).unwrap_or_default();
    for _ in 0..context.kernels.len() {
        let Some((kernel, growth)) = saturated(&usual, search) else { break };
        search.trial.tried |= 1_u8.wrapping_shl(kernel as u32);
        // As many as it was times faster: to the nearest.
        let needed = growth.saturating_add(ONE / 2) >> QUOTIENT_BITS;
        search.trial.most.set(kernel, u8::try_from(needed).unwrap_or(u8::MAX).max(1));
        match smk::quotas_within(context, search.trial.most) {
            Some(vector) if vector != usual && vector != search.trial.best => {
                search.trial.kernel = kernel as u8;
                return search.try_on_all(vector, Tries::Fewer);
            }
            _ => search.trial.most.set(kernel, u8::MAX),
        }
    }
    search.settle()
}

/// The kernel that gained least from each of its TBs, of those that are saturated, and what it gained.
fn saturated(usual: &TbVector, search: &Search) -> Option<(usize, u32)> {
    let mut least: Option<(usize, u32, u32)> = None;
    for kernel in 0..usual.present() {
        let (tbs, growth) = (u32::from(usual.get(kernel)), search.growth(kernel));
        // 18 bits and 3; 8, 14 and 2. Then 18 and 8.
        let is = growth << 3 < tbs * (SATURATED_EIGHTHS << QUOTIENT_BITS) && growth << 3 >= SLOWER_EIGHTHS << QUOTIENT_BITS;
        let less = least.is_none_or(|(_, least, of)| growth * of < least * tbs);
        if is && less && search.trial.tried >> kernel & 1 == 0 {
            least = Some((kernel, growth, tbs));
        }
    }
    least.map(|(kernel, growth, _)| (kernel, growth))
}
