//! Placement times of a kernel, and its deadline (Shieh 2016, section 4.2).
//!
//! Times are measured to its first TB, to as many TBs as fit, and to all TBs.
//!
//! All times count from the cycle in which its TBs may issue, one launch latency after arrival. The
//! deadline is the limit plus the time that the kernel takes alone, from its first TB to its end.

use super::gpu_runner::{End, Options, Outcome};
use super::policy::Transition;
use super::workload::Workload;
use mias_hw_model::config::GpuConfig;
use serde::{Deserialize, Serialize};

/// Placement times of one kernel in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PlacementTimes {
    /// Priority of the kernel.
    pub priority: u8,
    /// Latency limit in cycles for its placement; `None` if the launch has none.
    pub limit_cycles: Option<u32>,
    /// Cycle from which its TBs may issue; `None` if it had not arrived.
    pub ready_cycle: Option<u64>,
    /// Cycles from `ready_cycle` to its first TB; `None` without a TB.
    pub first_cycles: Option<u64>,
    /// Cycles until as many of its TBs were issued as fit on the GPU, or all of a smaller grid.
    #[serde(default)]
    pub room_cycles: Option<u64>,
    /// Cycles until the last TB of its grid was first issued.
    pub all_cycles: Option<u64>,
    /// Cycles until the kernel ended.
    pub end_cycles: Option<u64>,
    /// Cycles from `ready_cycle` to the end of the run, at most to the end of the kernel.
    pub seen_cycles: u64,
}

/// Placement times judged with the kernel's isolated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Latency {
    /// Priority of the kernel.
    pub priority: u8,
    /// Cycles from the cycle in which its TBs may issue to its first TB; `None` without a TB.
    pub first_tb_cycles: Option<u64>,
    /// Cycles until as many of its TBs were issued as fit on the GPU, or all of a smaller grid.
    pub room_cycles: Option<u64>,
    /// Cycles until all of its TBs were issued.
    pub all_tbs_cycles: Option<u64>,
    /// Latency limit in cycles for its placement, if its launch has one.
    pub limit_cycles: Option<u32>,
    /// Whether it was placed within the limit; `None` without a limit, and if the run ended before
    /// it.
    pub room_in_time: Option<bool>,
    /// Deadline in cycles: the limit plus its time alone from its first TB. `None` without a limit,
    /// and if it does not end alone.
    pub deadline_cycles: Option<u64>,
    /// Cycles until the kernel ended.
    pub end_cycles: Option<u64>,
    /// Whether it missed its deadline; `None` without one, and if the run ended before it.
    pub violated: Option<bool>,
}

impl PlacementTimes {
    /// Returns the times of each kernel of a finished run; empty without preemption and priorities.
    pub(super) fn of(outcome: &Outcome, workloads: &[&Workload], launch_latency: u64, preempts: bool) -> Vec<PlacementTimes> {
        if !preempts && !workloads.iter().any(|workload| workload.is_urgent()) {
            return Vec::new();
        }
        let of = |(workload, launch): (&&Workload, &mias_hw_model::gpu::LaunchStats)| {
            let ready_cycle = launch.start_cycle.map(|start| start + launch_latency);
            let since = |cycle: Option<u64>| Some(cycle?.saturating_sub(ready_cycle?));
            PlacementTimes {
                priority: workload.priority,
                limit_cycles: (workload.latency_limit != 0).then_some(workload.latency_limit),
                ready_cycle,
                first_cycles: since(launch.first_issue_cycle),
                room_cycles: since(launch.filled_cycle),
                all_cycles: since(launch.all_issued_cycle),
                end_cycles: since(launch.end_cycle),
                seen_cycles: since(launch.end_cycle.or(Some(outcome.cycles))).unwrap_or(0),
            }
        };
        workloads.iter().zip(&outcome.launches).map(of).collect()
    }

    /// Returns the time of a kernel alone from its first TB to its end, by its isolated run; `None`
    /// if unknown.
    pub fn takes(alone: &Outcome) -> Option<u64> {
        let room = alone.room.first()?;
        room.end_cycles?.checked_sub(room.first_cycles?)
    }

    /// Judges the times with the time that the kernel [takes](PlacementTimes::takes) alone, if
    /// known.
    pub fn judged(&self, takes: Option<u64>) -> Latency {
        let deadline_cycles = self.limit_cycles.zip(takes).map(|(limit, takes)| u64::from(limit) + takes);
        let violated = deadline_cycles.and_then(|deadline| match self.end_cycles {
            Some(end) => Some(end > deadline),
            None => (self.seen_cycles > deadline).then_some(true),
        });
        let room_in_time = self.limit_cycles.and_then(|limit| match self.room_cycles {
            Some(room) => Some(room <= u64::from(limit)),
            None => (self.seen_cycles > u64::from(limit)).then_some(false),
        });
        Latency {
            priority: self.priority,
            first_tb_cycles: self.first_cycles,
            room_cycles: self.room_cycles,
            all_tbs_cycles: self.all_cycles,
            limit_cycles: self.limit_cycles,
            room_in_time,
            deadline_cycles,
            end_cycles: self.end_cycles,
            violated,
        }
    }
}

/// Rejects a limit that has no effect in a run with these options, for a kernel that arrives at
/// cycle `arrival`; 0 is no limit.
///
/// # Errors
/// The reason and the remedy.
pub fn check_limit(limit_cycles: u32, arrival: u64, gpu: &GpuConfig, options: Options) -> Result<(), String> {
    if limit_cycles == 0 {
        return Ok(());
    }
    if options.transition == Transition::Ideal {
        return Err("a limit has no effect on an ideal transition, which takes no time: use preemption, or leave the limit out".into());
    }
    let due = arrival.saturating_add(gpu.launch.latency_cycles.into()).saturating_add(limit_cycles.into());
    match options.end {
        End::Cycles(window) if due >= window => {
            Err(format!("the limit ends at cycle {due}, the window at {window}: use a longer window or a shorter limit"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window of 20,000 and a launch latency of 5,000: due at 19,999 at the latest.
    #[test]
    fn a_limit_is_within_the_run() {
        let mut gpu = crate::gpus::load("rtx2060").unwrap();
        gpu.launch.latency_cycles = 5_000;
        let window = Options::new(End::Cycles(20_000));
        assert_eq!(check_limit(4_999, 10_000, &gpu, window), Ok(()));
        let said = check_limit(5_000, 10_000, &gpu, window).unwrap_err();
        assert!(said.contains("at cycle 20000, the window at 20000"), "{said}");
        assert_eq!(check_limit(u32::MAX, u64::MAX, &gpu, Options::new(End::Done)), Ok(()));
        let ideal = Options { transition: Transition::Ideal, ..window };
        assert!(check_limit(1, 0, &gpu, ideal).unwrap_err().contains("no effect on an ideal transition"));
        assert_eq!(check_limit(0, u64::MAX, &gpu, ideal), Ok(()), "no limit");
    }

    /// The limit applies to placement, whether or not the kernel ends.
    #[test]
    fn room_is_within_the_limit_or_late() {
        let of = |room_cycles, seen_cycles| {
            let room = PlacementTimes { limit_cycles: Some(1_000), room_cycles, seen_cycles, ..PlacementTimes::default() };
            room.judged(None).room_in_time
        };
        assert_eq!([of(Some(1_000), 9_000), of(Some(1_001), 9_000)], [Some(true), Some(false)]);
        assert_eq!(of(None, 1_000), None, "it may have it in the very next cycle");
        assert_eq!(of(None, 1_001), Some(false), "it has not had it, whatever comes");
        assert_eq!(PlacementTimes { room_cycles: Some(1), ..PlacementTimes::default() }.judged(None).room_in_time, None, "no limit");
    }

    /// A kernel that takes 7,000 cycles alone and has a limit of 1,000 has its deadline at 8,000.
    #[test]
    fn a_deadline_is_the_limit_and_the_time_alone() {
        let alone = PlacementTimes { first_cycles: Some(3), end_cycles: Some(7_003), ..PlacementTimes::default() };
        let alone = Outcome { room: vec![alone], ..Outcome::default() };
        let of = |end_cycles, seen_cycles| {
            let room = PlacementTimes { limit_cycles: Some(1_000), end_cycles, seen_cycles, ..PlacementTimes::default() };
            room.judged(PlacementTimes::takes(&alone))
        };
        assert_eq!(of(Some(8_000), 8_000).deadline_cycles, Some(8_000));
        assert_eq!(of(Some(8_000), 8_000).violated, Some(false));
        assert_eq!(of(Some(8_001), 8_001).violated, Some(true));
        assert_eq!(of(None, 8_000).violated, None, "it may end in this very cycle");
        assert_eq!(of(None, 8_001).violated, Some(true), "it has not ended, whatever comes");
        let room = PlacementTimes { end_cycles: Some(5), ..PlacementTimes::default() };
        assert_eq!((room.judged(Some(7_000)).deadline_cycles, room.judged(None).violated), (None, None), "no limit, no deadline");
    }
}
