//! The firmware on the register block, in one program.

mod common;
mod context_control;
mod firmware_cycle;
mod memory_limit;
mod reset_values;
