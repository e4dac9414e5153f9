//! Preemption over a fake register block: the victims on each SM, and kernels with a priority in
//! addition to the policy (Shieh 2016, chapter 3; sources.md D134 to D136).

mod choice;
mod need;
mod register_block;
mod reservation;
mod schemes;
mod special;
mod straps;
mod urgent;
mod whole;
mod yielding;
