//! Experiments: the runs that answer a question, and the evaluation of their results.
//!
//! ```text
//! workload (kernels, arrivals) + options -> plan of runs -> GPU, in parallel -> metrics, oracle, regret
//! ```

pub mod compare;
pub mod comparison;
mod controller;
pub mod custom_policy;
mod decider;
mod decision_time;
pub mod faults;
pub mod fit;
pub mod fits;
mod fixed_in_turn;
pub mod gpu_runner;
pub mod judge;
pub mod least_squares;
pub mod levels;
pub mod mechanisms;
pub mod options;
pub mod oversubscription;
mod palette;
pub mod parameters;
pub mod placement_latency;
pub mod policies;
pub mod policy;
pub mod precision;
pub mod queue;
pub mod rate;
pub mod recorded;
pub mod request;
pub mod requests;
pub mod sequential;
pub mod shape;
pub mod shares;
pub mod simulated;
pub mod static_config;
pub mod sweep;
#[cfg(test)]
mod tests;
pub mod threads;
pub mod time;
mod transition;
pub mod victims;
pub mod workload;
