//! Options that all runs of an experiment share, and when a run ends.

#[cfg(doc)]
use super::gpu_runner::Outcome;
use super::levels::Levels;
use super::policy::{Counted, IpcUnit, Latency, Transition};
use super::precision::Precision;
use super::queue::Queue;
use super::requests::Requests;
use super::shares::Shares;
use mias_hw_model::register_block::SearchStraps;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// After so many core cycles, launch latency included; kernels that end before are launched again in place if
    /// [`Options::relaunch`] says so, and the run ends with the last kernel otherwise.
    Cycles(u64),
    /// When every kernel has completed once.
    Done,
}

/// Options that all runs of an experiment share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// When a run ends.
    pub end: End,
    /// Cycles of a profiling window.
    pub profile_cycles: u32,
    /// Cycles of each of the two windows of a search's step, 1 to 131,071.
    pub search_cycles: u32,
    /// SMs of each kernel under Spatial; none: as many of each.
    pub shares: Option<Shares>,
    /// How SMs change configuration.
    pub transition: Transition,
    /// The time that decisions take.
    pub latency: Latency,
    /// The instruction counted, in decisions and in results.
    pub ipc: IpcUnit,
    /// Most TBs of a kernel on an SM, at least 1; none: as many as quotas and resources allow. TB issue stops there, and the
    /// firmware does not know of it.
    pub tbs_per_sm: Option<u32>,
    /// TBs go to the first so many SMs only, at least 1; none: to all. The firmware does not know of it either.
    pub open_sms: Option<u32>,
    /// In a window, kernels that end are launched again in place: they keep their slot, and the firmware hears nothing of it
    /// (sources.md D8).
    pub relaunch: bool,
    /// Traces keep the addresses that they were recorded with, and share what lies there; otherwise every kernel has a range of its own.
    pub share_memory: bool,
    /// What the programs of traces had copied to the device is in the L2 at cycle 0.
    pub warm_l2: bool,
    /// Core cycles between two samples of what each kernel has done ([`Outcome::samples`]); none: there are no samples.
    pub sample_cycles: Option<u64>,
    /// Over what IPC counts, in results. Decisions count in windows of their own.
    pub counted: Counted,
    /// A window ends as soon as its results are known so well; none: it is simulated to its end.
    pub precision: Option<Precision>,
    /// The last kernel is urgent, and comes again and again on copies of the run; none: it runs as any other.
    pub requests: Option<Requests>,
    /// Levels that the firmware sets beside the policy.
    pub levels: Levels,
    /// The kernels are launched again and again, in a queue; none: each once.
    pub queue: Option<Queue>,
}

/// Cycles of each window of a search's step, if nothing else is said (Zhao et al. 2018, sections 4.1.2 and 4.2).
pub const SEARCH_CYCLES: u32 = SearchStraps::PUBLISHED.window_cycles;

impl Options {
    /// The thesis' way to this end: windows of 45,000 cycles (sources.md D33), drained transitions, thread
    /// instructions, no cap, kernels relaunched; and decisions that take their time.
    pub fn new(end: End) -> Self {
        let (transition, latency, ipc) = (Transition::Drain, Latency::default(), IpcUnit::Thread);
        Options {
            end,
            profile_cycles: 45_000,
            search_cycles: SEARCH_CYCLES,
            shares: None,
            transition,
            latency,
            ipc,
            tbs_per_sm: None,
            open_sms: None,
            relaunch: true,
            share_memory: false,
            warm_l2: false,
            sample_cycles: None,
            counted: Counted::Window,
            precision: None,
            requests: None,
            levels: Levels::None,
            queue: None,
        }
    }
}
