//! The firmware from outside, in one program.

extern crate alloc;

mod bodies;
mod bus_failure;
mod cases;
mod configs;
mod driver;
mod exact;
mod limits;
mod metrics;
mod phases;
mod policies;
mod preempt;
mod quantities;
mod scheduler;
mod search;
mod service;
mod sm_set;
mod transitions;
mod tree;
