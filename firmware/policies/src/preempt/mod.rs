//! Preemption: space on SMs for a kernel of higher priority, by removing TBs of others (Shieh 2016,
//! chapter 3; open details: sources.md D134 to D136).
//!
//! The mechanism is independent of the policy. The hardware reports the SMs on which the kernel in
//! some slot needs space, and executes commands ([`mias_registers::preempt`]). This module selects
//! the victims and their techniques.
//!
//! | file | content |
//! |---|---|
//! | [`scheme`](self) | the preemption schemes |
//! | [`candidates`] | the TBs that block each position |
//! | [`cost`] | the cost of removing a TB, by technique |
//! | [`select`] | algorithm 1: the technique for each TB, and the candidate |
//! | [`residents`] | an SM's TBs, and those that must yield |
//! | `estimate` | the technique for each TB of an SM |
//! | `serve`, `whole` | over all SMs, until the need is covered; the same by whole SMs |
//! | `urgent` | kernels with a priority, in addition to the policy |
//! | [`quotient`] | ratios without a 64-bit division |

pub mod candidates;
pub mod cost;
mod estimate;
pub mod quotient;
pub mod residents;
mod scheme;
pub mod select;
mod selection;
mod serve;
mod slots;
mod urgent;
mod whole;

pub use scheme::Scheme;
pub use selection::Selection;
pub use slots::{SlotInfo, Slots};

use serve::serve;
pub use urgent::Preemption;
