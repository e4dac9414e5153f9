//! What the cross-crate suites share: kernels made by hand and shipped ones made small, the firmware on the GPU model with a clerk who
//! watches both, and the same with faults.

pub(crate) mod clerk;
pub(crate) mod fault_rig;
pub(crate) mod faults;
pub(crate) mod hand_made;
pub(crate) mod rig;
pub(crate) mod workloads;

/// Random schedules to try; the variable `MIAS_SCHEDULES` asks for another number than the usual one.
pub(crate) fn schedules(usual: u32) -> u32 {
    std::env::var("MIAS_SCHEDULES").map_or(usual, |text| text.parse().expect("MIAS_SCHEDULES is a number"))
}
