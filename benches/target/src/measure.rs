//! All measurements, one line each on the host's standard output.

use mias_firmware::regs::PolicyCode;
use semihosting::println;

use crate::scenario::{Launches, MACHINES, SETS, Way, endless, extremes, schedule};
use crate::{block, board, floor, generation, thesis};

/// A stretch of time.
#[derive(Clone, Copy, Default)]
pub(crate) struct Span {
    /// [`board::now`] at its beginning.
    pub(crate) from: u32,
    /// At its end.
    pub(crate) to: u32,
}

impl Span {
    /// Instructions in it, less those that looking at the clock takes.
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

/// Ticks from one look at the clock to the next.
fn looking() -> u32 {
    let from = board::now();
    let to = board::now();
    board::ticks(from, to)
}

const MIAS: [(&str, PolicyCode); 4] = [
    ("ipc", PolicyCode::MiasIpc),
    ("ipm-ipc", PolicyCode::MiasIpmIpc),
    ("factor", PolicyCode::MiasFactor),
    ("linear", PolicyCode::MiasLinear),
];

const OTHERS: [(&str, PolicyCode); 12] = [
    ("left-over", PolicyCode::LeftOver),
    ("spatial", PolicyCode::Spatial),
    ("fixed", PolicyCode::FixedConfig),
    ("smk", PolicyCode::Smk),
    ("warped-slicer", PolicyCode::WarpedSlicer),
    ("warped-slicer-sum", PolicyCode::WarpedSlicerSum),
    ("mias-stp", PolicyCode::MiasStp),
    ("mias-guard", PolicyCode::MiasGuard),
    ("maestro", PolicyCode::Maestro),
    ("coordinated", PolicyCode::Coordinated),
    ("mias-roofline", PolicyCode::MiasRoofline),
    ("mias-roofline-stp", PolicyCode::MiasRooflineStp),
];

/// All of it, then the end.
pub(crate) fn run() -> ! {
    let mut deepest = 0;
    for &sms in MACHINES {
        // SAFETY: no scenario is running.
        let mut bus = unsafe { block::bus() };
        block::count(&mut bus, sms, false);
        let floors = [floor::ipc, floor::ipm_ipc, floor::factor, floor::factor];
        for ((name, _), floor) in MIAS.into_iter().zip(floors) {
            let (span, sum) = Span::of(|| floor(&mut bus, core::hint::black_box(sms)));
            assert_ne!(sum, 0);
            println!("floor {sms} {name} {}", span.instructions());
        }
        for kernels in SETS {
            for (name, policy) in MIAS.into_iter().chain(OTHERS) {
                let costs = schedule(policy, sms, &endless(kernels), Way::USUAL);
                deepest = costs.stack.max(deepest);
                println!("partition {sms} {} {name} {} {}", kernels.len(), costs.total, costs.partition);
                for (round, cost) in (1..).zip(costs.rounds).filter(|(_, cost)| cost.configs != 0) {
                    let crate::scenario::Cost { configs, to_choice, decision, after, .. } = cost;
                    println!("decision {sms} {} {name} {round} {configs} {to_choice} {decision} {after}", kernels.len());
                }
            }
        }
        for launches in SETS.map(endless).iter().chain(&extremes(sms)) {
            deepest = commits(sms, launches).max(deepest);
        }
        thesis::measure(sms);
    }
    generation::measure();
    println!("stack {deepest}");
    semihosting::process::exit(0)
}

/// From the interrupt to the commit, in time and late; returns the deepest stack.
fn commits(sms: u16, launches: &Launches) -> u32 {
    let mut deepest = 0;
    for (name, policy) in MIAS {
        for (late, peaked) in [(false, false), (true, false), (false, true), (true, true)] {
            let way = Way { drained: true, late, peaked };
            let costs = schedule(policy, sms, launches, way);
            deepest = costs.stack.max(deepest);
            let kernels = launches.kernels.len();
            let [first, second] = costs.rounds;
            // The first of two rounds ends with the generation of the second, which goes through all configurations.
            let generated = if second.configs == 0 { 0 } else { costs.total };
            let late = u8::from(late);
            if !peaked || generated != 0 {
                println!("commit {sms} {kernels} {name} {late} {} {generated} {}", first.configs, first.to_commit);
            }
            if !peaked && second.configs != 0 {
                let scored = first.configs + second.configs;
                println!("commit {sms} {kernels} {name} {late} {scored} 0 {}", second.to_commit);
            }
        }
    }
    deepest
}
