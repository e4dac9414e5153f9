//! What is run: kernels that come with the simulator and the user's own ([`kernels`]), the files that they take as input ([`graph`],
//! [`picture`]), their execution while they are simulated ([`ahead`]), recorded launches that are read
//! meanwhile ([`launches`]), where they lie in memory ([`span`]), and their traces, kept on disk between runs ([`trace_store`]).

pub mod ahead;
pub mod budget;
pub mod graph;
pub mod input;
pub mod kernels;
pub mod launches;
pub mod liveness;
mod parts;
pub mod picture;
pub mod random;
pub mod span;
pub mod trace_store;
