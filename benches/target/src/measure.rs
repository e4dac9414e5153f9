//! All measurements, one line each on the host's standard output.

use mias_policies::policy::{Charged, NAMED};
use mias_registers::PolicyCode;
use semihosting::println;

use crate::block::Counts;
use crate::launches::{SETS, endless};
use crate::scenario::{GPUS, Way, schedule};
use crate::{block, board, commit, floor, generation, memory, thesis};

/// Time span of a measurement.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    /// Time in ticks at the start ([`board::now`]).
    pub(crate) from: u32,
    /// Time in ticks at the end ([`board::now`]).
    pub(crate) to: u32,
}

impl Span {
    /// Returns the instructions in the span, less those of reading the clock.
    pub(crate) fn instructions(self) -> u32 {
        board::instructions(board::ticks(self.from, self.to).saturating_sub(looking()))
    }

    /// Measures `body`.
    #[inline(always)]
    pub(crate) fn of<T>(body: impl FnOnce() -> T) -> (Self, T) {
        let from = board::now();
        let result = body();
        (Self { from, to: board::now() }, result)
    }
}

/// Returns the ticks between two reads of the clock.
fn looking() -> u32 {
    let from = board::now();
    let to = board::now();
    board::ticks(from, to)
}

/// Returns MIAS with its four metrics, with the names of the output.
pub(crate) fn metrics() -> impl Iterator<Item = (&'static str, PolicyCode)> + Clone {
    counted(Charged::Metric).map(|(name, code)| (name.strip_prefix("mias-").unwrap_or(name), code))
}

/// Returns the policies whose decisions are counted in the same situations. Of variants with one
/// code it returns the first.
pub(crate) fn counted(charged: Charged) -> impl Iterator<Item = (&'static str, PolicyCode)> + Clone {
    NAMED.iter().filter(move |named| named.charged == charged && named.option == 0).map(|named| (named.name, named.code))
}

/// Returns all other policies of the firmware that do not search.
fn others() -> impl Iterator<Item = (&'static str, PolicyCode)> {
    let named =
        NAMED.iter().filter(|named| !matches!(named.charged, Charged::Metric | Charged::Search | Charged::Trial) && named.option == 0);
    named.map(|named| (named.name, named.code)).chain([("fixed", PolicyCode::FixedConfig)])
}

/// Runs the measurements of the build with preemption, then ends.
#[cfg(feature = "preempt")]
pub(crate) fn run() -> ! {
    println!("stack {}", crate::victims::measure());
    semihosting::process::exit(0)
}

/// Runs the measurements of the build with searches, then ends.
#[cfg(all(feature = "search", not(feature = "preempt")))]
pub(crate) fn run() -> ! {
    println!("stack {}", crate::search::measure());
    semihosting::process::exit(0)
}

/// Runs the measurements of the build with control of extra TBs, then ends.
#[cfg(all(feature = "oversubscription", not(any(feature = "preempt", feature = "search"))))]
pub(crate) fn run() -> ! {
    println!("stack {}", crate::oversubscription::measure());
    semihosting::process::exit(0)
}

/// Runs all measurements, then ends.
#[cfg(not(any(feature = "preempt", feature = "search", feature = "oversubscription")))]
pub(crate) fn run() -> ! {
    let mut deepest = 0;
    for &sms in GPUS {
        // SAFETY: no scenario is running.
        let mut bus = unsafe { block::bus() };
        block::count(&mut bus, sms, Counts::Rising, 0, |_| 0);
        let floors = [floor::ipc, floor::ipm_ipc, floor::factor, floor::factor];
        for ((name, _), floor) in metrics().zip(floors) {
            let (span, sum) = Span::of(|| floor(&mut bus, core::hint::black_box(sms)));
            assert_ne!(sum, 0);
            println!("floor {sms} {name} {}", span.instructions());
        }
        for kernels in SETS {
            for (name, policy) in metrics().chain(others()) {
                let points = matches!(policy, PolicyCode::WarpedSlicer | PolicyCode::WarpedSlicerSum);
                let way = Way { counts: if points { Counts::ByTbs } else { Counts::Rising }, ..Way::USUAL };
                let costs = schedule(policy, sms, &endless(kernels), way);
                deepest = costs.stack.max(deepest);
                println!("partition {sms} {} {name} {} {}", kernels.len(), costs.total, costs.partition);
                for (round, cost) in (1..).zip(costs.rounds).filter(|(_, cost)| cost.configs != 0) {
                    let crate::scenario::Cost { configs, to_choice, decision, after, .. } = cost;
                    println!("decision {sms} {} {name} {round} {configs} {to_choice} {decision} {after}", kernels.len());
                }
                let ready = schedule(policy, sms, &endless(kernels), Way { prepared: true, ..way });
                deepest = ready.stack.max(deepest);
                let (all, longest) = ready.prepared;
                let whole = ready.rounds.iter().fold(ready.partition + all, |sum, cost| sum + cost.to_choice + cost.after);
                println!("prepared {sms} {} {name} {} {} {all} {longest} {whole}", kernels.len(), ready.total, ready.partition);
            }
        }
        deepest = commit::measure(sms).max(deepest);
        deepest = memory::measure(sms).max(deepest);
        thesis::measure(sms);
    }
    generation::measure();
    println!("stack {deepest}");
    semihosting::process::exit(0)
}
