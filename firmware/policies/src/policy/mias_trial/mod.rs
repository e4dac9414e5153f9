//! MIAS-Trial: one TB of each kernel, then SMK-P's configuration, and then fewer TBs of the kernel
//! with the least gain per TB (own; sources.md D209).
//!
//! Each is tried on the whole GPU, and the best stays. SMK-P divides SMs by the resources of TBs,
//! and not by their performance. The speedup of n TBs over one shows a kernel's need. A kernel
//! below 3/8 n times the rate is saturated, and needs about as many TBs as its speedup. The others
//! get the freed space. A kernel that became slower with more TBs does not show its need, because
//! others slow it down. SMs start with one TB of each kernel, and the others are added. No TB has
//! to leave for this. The cost is therefore low if no kernel is saturated, which is where SMK-P is
//! good.
//!
//! After a while, one kernel after the other gives the space of half of its TBs to the next, in
//! long trials, regardless of saturation (sources.md D213).

mod long;
mod trial;

use super::smk;
use crate::search::{ONE, Parameters, QUOTIENT_BITS, Search, Searches};
use mias_firmware::configs::{ConfigTable, TbVector};
use mias_firmware::policy::Next;
use mias_firmware::policy::{Context, Plan, beside_one_of_each, fall_back, spatial};
use trial::{Trial, Tries, ones};

/// Eighths of linear growth below which a kernel is saturated.
///
/// Assumption, from the kernels of its design: those that need fewer TBs reach up to 0.36 of linear
/// growth, and all others with three TBs or more at least 0.44.
const SATURATED_EIGHTHS: u32 = 3;
/// Eighths of its rate with one TB below which a kernel with more TBs counts as slower.
const SLOWER_EIGHTHS: u32 = 7;

/// State of MIAS-Trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiasTrial {
    trial: Trial,
}

impl Searches for MiasTrial {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        if beside_one_of_each(context).is_none() {
            return fall_back(context, table);
        }
        // A search has one entry per kernel, and at least one SM each.
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

    fn begin(&mut self) {
        *self = Self::NEW;
    }

    #[inline(never)]
    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        let trial = &mut self.trial;
        match trial.tries {
            Tries::Nothing => begin(context, trial, search),
            Tries::One => match smk::quotas(context) {
                Some(usual) if usual != ones(search) => trial.try_usual(search, usual),
                // No kernel has TBs to give.
                _ => search.settle(),
            },
            Tries::Usual => {
                let usual = search.on_all.unwrap_or_default();
                trial.note_usual(search);
                match saturated(&usual, trial).map(|(kernel, needed)| less_of(context, usual, kernel, needed, None)) {
                    Some(vector) if vector != usual => trial.try_fewer(search, vector),
                    _ => trial.settle_for_a_while(search),
                }
            }
            Tries::Fewer => trial.keep_or_look_again(search),
            Tries::Rests => trial.begin_long(search),
            Tries::Best => {
                trial.note_best(search);
                half(context, trial, search)
            }
            Tries::Half => trial.look_longer(search).unwrap_or_else(|| half(context, trial, search)),
            Tries::Sure => {
                trial.keep(search);
                half(context, trial, search)
            }
        }
    }

    fn settled(&mut self, search: &mut Search) {
        self.trial.settled(search);
    }

    fn give_up(&mut self, search: &mut Search) {
        self.trial.keep_best(search);
    }

    fn settle_cycles(&self, parameters: &Parameters) -> u32 {
        self.trial.settle_cycles(parameters)
    }

    fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        self.trial.measure_cycles(parameters)
    }
}

impl MiasTrial {
    /// A policy without any trial.
    pub const NEW: Self = Self { trial: Trial::NONE };
}

/// Tries one TB of each kernel. SMK-P's configuration, which takes longer to find, is needed first
/// only if hardware has no kernel counters.
fn begin(context: &Context<'_>, trial: &mut Trial, search: &mut Search) -> Next {
    let ones = ones(search);
    let first = if search.parameters.able { ones } else { smk::quotas(context).unwrap_or(ones) };
    trial.begin(search, first)
}

/// Returns the saturated kernel with the least gain per TB, and the TBs that it needs: its speedup,
/// rounded to nearest.
fn saturated(usual: &TbVector, trial: &Trial) -> Option<(usize, u8)> {
    let mut least: Option<(usize, u32, u32)> = None;
    for kernel in 0..usual.present() {
        let (tbs, growth) = (u32::from(usual.get(kernel)), trial.growth(kernel));
        // 18 bits and 3; 8, 14 and 2. Then 18 and 8.
        let is = growth << 3 < tbs * (SATURATED_EIGHTHS << QUOTIENT_BITS) && growth << 3 >= SLOWER_EIGHTHS << QUOTIENT_BITS;
        if is && least.is_none_or(|(_, least, of)| growth * of < least * tbs) {
            least = Some((kernel, growth, tbs));
        }
    }
    // At most 15.
    least.map(|(kernel, growth, _)| (kernel, (growth.saturating_add(ONE / 2) >> QUOTIENT_BITS).max(1) as u8))
}

/// Lets the next kernel give half of its TBs, in a long trial, if there is one and others have
/// space for more then.
fn half(context: &Context<'_>, trial: &mut Trial, search: &mut Search) -> Next {
    while let Some((giver, taker)) = trial.next_exchange(search) {
        let best = trial.best;
        let vector = less_of(context, best, giver, best.get(giver) / 2, Some(taker));
        if vector != best {
            return trial.try_half(search, vector);
        }
        trial.pass();
    }
    trial.settle_for_a_while(search)
}

/// Recipient of the space that a kernel frees on an SM.
#[derive(Clone, Copy)]
enum Turn {
    Taker,
    Others,
    Giver,
}

/// Returns the vector with `tbs` TBs of a kernel. The `taker` gets the freed space while it fits,
/// then all others get one TB each in turn, and then the kernel itself.
#[inline(never)]
fn less_of(context: &Context<'_>, mut vector: TbVector, kernel: usize, tbs: u8, taker: Option<usize>) -> TbVector {
    vector.set(kernel, tbs.min(vector.get(kernel)));
    let capacity = context.gpu.limits.capacity;
    let mut held = context.kernels.iter().enumerate();
    let Some(mut rest) = held.try_fold(capacity, |rest, (kernel, of)| rest.minus(&of.demand, vector.get(kernel).into())) else {
        return vector;
    };
    for turn in [Turn::Taker, Turn::Others, Turn::Giver] {
        let may = |index: usize| match turn {
            Turn::Taker => taker == Some(index),
            Turn::Others => index != kernel,
            Turn::Giver => index == kernel,
        };
        let mut any = true;
        while any {
            any = false;
            for (index, of) in context.kernels.iter().enumerate().filter(|(index, _)| may(*index)) {
                let share_of_grid = of.grid_tbs.div_ceil(u32::from(context.gpu.sm_count).max(1));
                let has = vector.get(index);
                if u32::from(has) < share_of_grid.min(of.max_tbs.into())
                    && let Some(left) = rest.minus(&of.demand, 1)
                {
                    (rest, any) = (left, true);
                    vector.set(index, has.saturating_add(1));
                }
            }
        }
    }
    vector
}
