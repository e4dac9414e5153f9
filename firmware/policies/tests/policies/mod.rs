//! The policies beyond MIAS, each by the worked example or the invariant that its definition gives (sources.md,
//! "Policies"), and all policies together under arbitrary counters.

mod coordinated;
mod duel;
mod every;
mod references;
mod replicas;
mod roofline;
mod smk;
mod warped_slicer;
mod world;
