//! What an SM counts in a window: likely numbers, and those on which decisions could go wrong.

use mias_firmware::counters::Counter;
use mias_hw_model::register_file::RawCounters;
use mias_workloads::random::Random;

/// Kinds of windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Consistent with each other, as an SM counts.
    Likely,
    /// Nothing was counted, cycles included.
    Zero,
    /// The same on every SM: all configurations tie.
    Tie,
    /// Every counter at its largest value or beyond: saturated.
    Full,
    /// Anything that the register shows.
    Any,
}

impl Kind {
    /// All of them; likely ones are more frequent.
    const ALL: [Kind; 6] = [Kind::Likely, Kind::Likely, Kind::Zero, Kind::Tie, Kind::Full, Kind::Any];

    pub(super) fn pick(random: &mut Random) -> Self {
        Self::ALL[(random.bits() % Self::ALL.len() as u64) as usize]
    }

    /// Counts of one SM in a window of so many cycles.
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
                RawCounters {
                    cycles: window,
                    issue_cycles,
                    memory_stall_cycles,
                    load_requests,
                    warp_insts,
                    thread_insts: warp_insts * (1 + up_to(31)),
                    l1_accesses,
                    outstanding_misses: up_to(memory_stall_cycles * 256),
                    l1_reservation_fails: up_to(window),
                    l2_accesses,
                    l2_hits: up_to(l2_accesses),
                    ..RawCounters::default()
                }
            }
            Kind::Zero => RawCounters::default(),
            Kind::Tie => RawCounters {
                cycles: window,
                issue_cycles: window,
                thread_insts: 32 * window,
                warp_insts: window,
                load_requests: 1,
                ..RawCounters::default()
            },
            Kind::Full => {
                let beyond = up_to(1);
                each(|counter| u64::from(counter.max()) + beyond)
            }
            Kind::Any => each(|counter| up_to(counter.max().into())),
        }
    }
}

/// Counters one by one.
fn each(mut count: impl FnMut(Counter) -> u64) -> RawCounters {
    RawCounters {
        cycles: count(Counter::Cycles),
        issue_cycles: count(Counter::IssueCycles),
        memory_stall_cycles: count(Counter::MemoryStallCycles),
        load_requests: count(Counter::LoadRequests),
        warp_insts: count(Counter::WarpInsts),
        thread_insts: count(Counter::ThreadInsts),
        l1_accesses: count(Counter::L1Accesses),
        outstanding_misses: count(Counter::OutstandingMisses),
        l1_reservation_fails: count(Counter::L1ReservationFails),
        l2_accesses: count(Counter::L2Accesses),
        l2_hits: count(Counter::L2Hits),
        ..RawCounters::default()
    }
}

/// What an SM had counted, and a window more.
pub(super) fn sum(before: &RawCounters, window: &RawCounters) -> RawCounters {
    each(|counter| before.get(counter) + window.get(counter))
}
