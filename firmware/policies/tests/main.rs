//! Tests of all policies and mechanisms through their public interface, in one program.

extern crate alloc;

mod bodies;
mod bus_failure;
#[path = "../../tests/cases/mod.rs"]
mod cases;
mod driver;
#[path = "../../tests/phases/mod.rs"]
mod phases;
mod policies;
mod preempt;
mod rehearsal;
mod scheduler;
mod search;
mod transitions;
