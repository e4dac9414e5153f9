//! Policies beyond MIAS, each by the worked example or the invariant of its definition (sources.md,
//! "Policies"), and all policies under arbitrary counters.

mod coordinated;
mod duel;
mod every;
mod references;
mod replicas;
mod roofline;
mod smk;
mod warped_slicer;
mod world;
