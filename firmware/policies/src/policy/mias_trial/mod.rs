//! MIAS-Trial: a TB of each kernel, then SMK-P's configuration, and then fewer TBs of whoever gained least from having more; each on the whole GPU, and the best stays (own; sources.md D209).
//!
//! SMK-P divides SMs by what TBs take, and not by what they do. How much faster n TBs are than one says who needs them: a kernel that makes less than 3/8 n times as much is
//! saturated, and does with about as many TBs as it was times faster. What that leaves, the others get. A kernel that became slower with more TBs does not say what it needs: others keep it from it.
//! SMs begin with one TB of each kernel, and the others are added: nobody has to go for it, so that it costs little where nobody is saturated, which is where SMK-P is good.
//!
//! When that has stayed for a while, one kernel after the other gives the room of half of its TBs to the next, for long, whoever is saturated (sources.md D213).

mod long;
mod trial;

use super::smk;
use crate::search::{ONE, Parameters, QUOTIENT_BITS, Search, Searches};
use mias_firmware::configs::{ConfigTable, TbVector};
use mias_firmware::policy::Next;
use mias_firmware::policy::{Context, Plan, beside_one_of_each, fall_back, spatial};
use trial::{Trial, Tries, ones};

/// A kernel is saturated if it makes less than so many eighths of what as many TBs would that are each as fast as one (assumption: on kernels that it was made from, those that could do with fewer make
/// up to 0.36 of that, and all others with three TBs or more at least 0.44).
const SATURATED_EIGHTHS: u32 = 3;
/// A kernel with more TBs is slower than with one if it does less than so many eighths of that.
const SLOWER_EIGHTHS: u32 = 7;

/// Trials on the whole GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiasTrial {
    trial: Trial,
}

impl Searches for MiasTrial {
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
    /// Nothing tried yet.
    pub const NEW: Self = Self { trial: Trial::NONE };
}

/// A TB of each. SMK-P's configuration, which takes longer to find, is not needed before, but on hardware that cannot tell what kernels do.
fn begin(context: &Context<'_>, trial: &mut Trial, search: &mut Search) -> Next {
    let ones = ones(search);
    let first = if search.parameters.able { ones } else { smk::quotas(context).unwrap_or(ones) };
    trial.begin(search, first)
}

/// The kernel that gained least from each of its TBs, of those that are saturated, and how many TBs it needs: as many as it was times faster, to the nearest.
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
    // 15 at most.
    least.map(|(kernel, growth, _)| (kernel, (growth.saturating_add(ONE / 2) >> QUOTIENT_BITS).max(1) as u8))
}

/// The next kernel gives half of its TBs, for long, if there is one and others have room for more then.
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

/// Who gets what a kernel leaves of an SM.
#[derive(Clone, Copy)]
enum Turn {
    Taker,
    Others,
    Giver,
}

/// The vector with so many TBs of a kernel; what that leaves of an SM the `taker` gets as long as there is room, then all others, a TB each in turn, and then it again.
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
