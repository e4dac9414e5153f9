//! What the cross-crate suites share: hand-made kernels, and the firmware on the GPU model with a clerk who watches both.

pub(crate) mod clerk;
pub(crate) mod hand_made;
pub(crate) mod rig;
