//! Reports of random evaluations: geometry of figures, files, and dependencies.

mod decisions;
mod figures;
mod plans;
mod random;
mod urgent;
