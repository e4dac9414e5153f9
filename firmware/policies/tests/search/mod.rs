//! The search for how many SMs each kernel needs: its arithmetic against exact references and the paper's numbers, its steps on kernels whose
//! performance is known, and the driver under it on a register block of the test's own, under any counters.

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
