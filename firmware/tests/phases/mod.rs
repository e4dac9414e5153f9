//! A machine, kernels and a scheduler in every phase, shared by the tests of the state machine.

use mias_firmware::kernel::Kernel;
use mias_firmware::metric::Ipc;
use mias_firmware::policy::{Mias, Policy};
use mias_firmware::resources::TbShape;
use mias_firmware::scheduler::{Event, Scheduler};
use mias_firmware::sm_set::SmWord;
use mias_registers::PhaseCode;

pub(crate) use crate::bodies::gpu::{GPU, SETTINGS, SMS};

pub(crate) const COALESCE: u64 = SETTINGS.coalesce_window as u64;

pub(crate) const MIAS: Mias<Ipc> = Mias { metric: Ipc };

pub(crate) fn kernel(slot: u8, threads: u32) -> Kernel {
    Kernel::new(slot, &TbShape { threads, thread_registers: 16, shared_bytes: 0 }, 100_000, &GPU.limits)
}

pub(crate) fn scheduler<P: Policy>(policy: P) -> Scheduler<P, 64> {
    Scheduler::new(policy, GPU, SETTINGS)
}

/// Launches kernels of 256 threads together at cycle 0 and closes the batch.
pub(crate) fn launched<P: Policy>(policy: P, kernels: u8) -> Scheduler<P, 64> {
    let mut s = scheduler(policy);
    (0..kernels).for_each(|slot| drop(s.handle(Event::Launched(kernel(slot, 256)), 0)));
    s.handle(Event::Timer, COALESCE);
    s
}

/// Creates a scheduler in a phase.
pub(crate) fn in_phase(phase: PhaseCode) -> Scheduler<Mias<Ipc>, 64> {
    let mut s = match phase {
        PhaseCode::Idle => scheduler(MIAS),
        PhaseCode::Partition => {
            let mut s = scheduler(MIAS);
            s.handle(Event::Launched(kernel(0, 256)), 0);
            s.handle(Event::Launched(kernel(1, 256)), 0);
            s
        }
        _ => launched(MIAS, 2),
    };
    if phase >= PhaseCode::Profile {
        s.handle(Event::PartitionReached(SmWord::one(0)), 200);
    }
    if phase >= PhaseCode::Decide {
        (0..SMS).for_each(|sm| drop(s.handle(Event::ProfileDone(SmWord::one(sm as u8)), 1200)));
    }
    if phase >= PhaseCode::Broadcast {
        let sums = s.sums_mut(0).expect("assigned");
        (sums.sms, sums.cycles) = (1, 1000);
        s.handle(Event::CountersRead, 1200);
    }
    if phase >= PhaseCode::Steady {
        s.handle(Event::BroadcastDone, 1200);
    }
    assert_eq!(s.phase().code(), phase);
    s
}

/// A cycle after all deadlines.
pub(crate) const LATE: u64 = 1_000_000;

/// One event of each kind.
pub(crate) fn events() -> [Event; 8] {
    [
        Event::Launched(kernel(2, 256)),
        Event::Drained(0),
        Event::Completed(0),
        Event::PartitionReached(SmWord::one(1)),
        Event::ProfileDone(SmWord::one(1)),
        Event::Timer,
        Event::CountersRead,
        Event::BroadcastDone,
    ]
}
