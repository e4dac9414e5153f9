#![no_std]
#![forbid(unsafe_code)]
//! Code that the images share with the programs that run them.

pub mod rehearsal;
