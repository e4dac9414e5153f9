#![no_std]
#![deny(unsafe_code)]
//! MIAS firmware.

pub mod bus;
pub mod counters;
pub mod regs;
