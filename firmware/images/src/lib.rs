#![no_std]
#![forbid(unsafe_code)]
//! What images have in common with the programs that run them.

pub mod rehearsal;
