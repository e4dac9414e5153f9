//! MIAS on the host: what feeds the GPU model (traces, machine files), what drives it (experiments) and what is said about
//! the result (metrics, reports, the command line).

pub mod accelsim;
