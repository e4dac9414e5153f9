//! Tests of the firmware's public interface, in one program.

extern crate alloc;

mod bodies;
mod cases;
mod configs;
mod driver;
mod exact;
mod limits;
mod metrics;
mod phases;
mod quantities;
mod scheduler;
mod service;
mod sm_set;
mod tree;
