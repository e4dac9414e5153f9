//! Warp traces in files: those of Accel-Sim, read and written ([`accelsim`]), our own compact file ([`trace_file`]), and what tells one
//! trace from another ([`fingerprint`]).

pub mod accelsim;
pub mod fingerprint;
pub mod trace_file;
