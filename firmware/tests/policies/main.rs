//! The policies beyond MIAS, each by the worked example or the invariant that its definition gives (algorithms.md sections 1, 9
//! and 10.3), and all policies together under arbitrary counters.
#![allow(missing_docs)]

#[path = "../cases/mod.rs"]
mod cases;
mod coordinated;
mod every;
mod references;
mod roofline;
mod smk;
mod warped_slicer;
mod world;
