//! Shared code of the cross-crate suites: synthetic kernels and small shipped ones, the firmware on
//! the GPU model under a reference model of its rules, and the same with faults.

pub(crate) mod clerk;
pub(crate) mod fault_rig;
pub(crate) mod faults;
pub(crate) mod hand_made;
pub(crate) mod rig;
pub(crate) mod workloads;

/// Returns the number of random schedules: `usual`, or that of the variable `MIAS_SCHEDULES`.
pub(crate) fn schedules(usual: u32) -> u32 {
    std::env::var("MIAS_SCHEDULES").map_or(usual, |text| text.parse().expect("MIAS_SCHEDULES is a number"))
}
