//! Search for the number of SMs that each kernel needs: arithmetic, steps and driver.
//!
//! The arithmetic is tested against exact references and the paper's numbers, the steps on kernels
//! of known performance, and the driver on a fake register block under any counters.

mod bandwidth;
mod chip;
mod fair;
mod rounds;
mod shares;
mod steps;
mod trial;
mod trial_rests;
mod tuning;
mod whole;
