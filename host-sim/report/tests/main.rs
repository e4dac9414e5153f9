//! Reports of random evaluations: their figures' geometry, their files, and what they depend on.

mod decisions;
mod figures;
mod plans;
mod random;
mod urgent;
