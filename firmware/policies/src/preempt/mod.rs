//! Preemption: room on SMs for a kernel that has precedence, by taking TBs of others off (Shieh 2016, chapter 3; what it leaves open:
//! sources.md D134 to D136).
//!
//! It is no policy and goes with any. The hardware says on which SMs the kernel in some slot wants room, and carries out commands
//! ([`mias_registers::preempt`]); which TBs leave, and how, is decided here.
//!
//! | file | what it is |
//! |---|---|
//! | [`scheme`](self) | what is preempted, and how |
//! | [`candidates`] | which TBs are in the way of which position |
//! | [`cost`] | what it costs to take a TB off, by technique |
//! | [`select`] | algorithm 1: the technique for each TB, and the candidate |
//! | [`residents`] | an SM's TBs: who has to yield |
//! | `estimate` | the technique for each TB of an SM |
//! | `serve`, `whole` | over all SMs, until the need is covered; the same by whole SMs |
//! | `urgent` | kernels with a priority, beside the policy |
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
