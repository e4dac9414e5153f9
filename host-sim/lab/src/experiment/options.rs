//! Options shared by all runs of an experiment, and the end of a run.

#[cfg(doc)]
use super::gpu_runner::Outcome;
use super::levels::Levels;
use super::policy::{Counted, IpcUnit, Latency, Transition};
use super::precision::Precision;
use super::queue::Queue;
use super::requests::Requests;
use super::shares::Shares;
use mias_hw_model::register_block::SearchStraps;

/// Condition that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Ends after this many core cycles, including launch latency. Kernels that end earlier are
    /// relaunched in place if [`Options::relaunch`] is set; otherwise the run ends with the last
    /// kernel.
    Cycles(u64),
    /// Ends when every kernel has completed once.
    Done,
}

/// Options shared by all runs of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Condition that ends a run.
    pub end: End,
    /// Length of a profiling window, in cycles.
    pub profile_cycles: u32,
    /// Length of each of the two windows of a search step, in cycles, 1 to 131,071.
    pub search_cycles: u32,
    /// SMs of each kernel under Spatial; `None` for equal numbers.
    pub shares: Option<Shares>,
    /// Transition by which SMs change configuration.
    pub transition: Transition,
    /// Time that decisions take.
    pub latency: Latency,
    /// Unit of instructions, in decisions and in results.
    pub ipc: IpcUnit,
    /// Maximum number of TBs of a kernel on an SM, at least 1; `None` for no limit beyond quotas
    /// and resources. TB issue enforces it without the firmware's knowledge.
    pub tbs_per_sm: Option<u32>,
    /// Number of SMs, from the first, that accept TBs, at least 1; `None` for all. The firmware
    /// does not know of it.
    pub open_sms: Option<u32>,
    /// Whether kernels that end in a window are relaunched in place: they keep their slot, and the
    /// firmware gets no event (sources.md D8).
    pub relaunch: bool,
    /// Whether traces keep their recorded addresses and share the data there. Otherwise every
    /// kernel has its own address range.
    pub share_memory: bool,
    /// Whether data that the traced programs copied to the device is in the L2 at cycle 0.
    pub warm_l2: bool,
    /// Core cycles between two samples of each kernel's progress ([`Outcome::samples`]); `None` for
    /// no samples.
    pub sample_cycles: Option<u64>,
    /// Cycles over which IPC counts in results. Decisions count in their own windows.
    pub counted: Counted,
    /// Precision at which a window ends early; `None` to simulate it to its end.
    pub precision: Option<Precision>,
    /// Requests for which the last kernel is urgent and arrives repeatedly on copies of the run;
    /// `None` to run it as any other.
    pub requests: Option<Requests>,
    /// Levels that the firmware sets in addition to the policy.
    pub levels: Levels,
    /// Queue in which the kernels are launched repeatedly; `None` to launch each once.
    pub queue: Option<Queue>,
}

/// Default length of each window of a search step, in cycles (Zhao et al. 2018, sections 4.1.2 and
/// 4.2).
pub const SEARCH_CYCLES: u32 = SearchStraps::PUBLISHED.window_cycles;

impl Options {
    /// Creates the thesis' options for this end, with decisions that take time. Profiling windows
    /// have 45,000 cycles (sources.md D33), transitions drain, thread instructions count, there is
    /// no cap, and kernels are relaunched.
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
