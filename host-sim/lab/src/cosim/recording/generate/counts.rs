//! Counters of an SM in a window: typical values, and corner cases of decisions.

use mias_hw_model::register_block::RawCounters;
use mias_registers::counters::Counter;
use mias_workloads::random::Random;

/// Kinds of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Consistent values, as an SM counts them.
    Likely,
    /// All counters 0, including cycles.
    Zero,
    /// Equal values on every SM: all configurations tie.
    Tie,
    /// Every counter at its largest value or beyond: saturated.
    Full,
    /// Any values that the registers can hold.
    Any,
}

impl Kind {
    /// All kinds; typical ones are more frequent.
    const ALL: [Kind; 6] = [Kind::Likely, Kind::Likely, Kind::Zero, Kind::Tie, Kind::Full, Kind::Any];

    pub(super) fn pick(random: &mut Random) -> Self {
        Self::ALL[(random.bits() % Self::ALL.len() as u64) as usize]
    }

    /// Returns the counts of one SM in a window of `window` cycles.
    pub(super) fn counts(self, window: u32, random: &mut Random) -> RawCounters {
        let mut up_to = |most: u64| random.bits() % (most + 1);
        let window = u64::from(window);
        match self {
            Kind::Likely => {
                let issue_cycles = up_to(window);
                let memory_stall_cycles = up_to(window - issue_cycles);
                let warp_insts = issue_cycles + up_to(3 * issue_cycles);
                let l1_accesses = up_to(issue_cycles);
                let load_requests = up_to(l1_accesses);
                let l2_accesses = up_to(4 * load_requests);
                RawCounters::of([
                    (Counter::Cycles, window),
                    (Counter::IssueCycles, issue_cycles),
                    (Counter::MemoryStallCycles, memory_stall_cycles),
                    (Counter::LoadRequests, load_requests),
                    (Counter::WarpInsts, warp_insts),
                    (Counter::ThreadInsts, warp_insts * (1 + up_to(31))),
                    (Counter::L1Accesses, l1_accesses),
                    (Counter::OutstandingMisses, up_to(memory_stall_cycles * 256)),
                    (Counter::L1ReservationFails, up_to(window)),
                    (Counter::L2Accesses, l2_accesses),
                    (Counter::L2Hits, up_to(l2_accesses)),
                ])
            }
            Kind::Zero => RawCounters::default(),
            Kind::Tie => RawCounters::of([
                (Counter::Cycles, window),
                (Counter::IssueCycles, window),
                (Counter::ThreadInsts, 32 * window),
                (Counter::WarpInsts, window),
                (Counter::LoadRequests, 1),
            ]),
            Kind::Full => {
                let beyond = up_to(1);
                each(|counter| u64::from(counter.max()) + beyond)
            }
            Kind::Any => each(|counter| up_to(counter.max().into())),
        }
    }
}

/// Creates counters one by one.
fn each(mut count: impl FnMut(Counter) -> u64) -> RawCounters {
    RawCounters::of(Counter::ALL.map(|counter| (counter, count(counter))))
}

/// Adds the counts of a window to earlier ones.
pub(super) fn sum(before: &RawCounters, window: &RawCounters) -> RawCounters {
    each(|counter| before[counter] + window[counter])
}
