//! Tests of the firmware on the register block, in one program.

mod firmware_cycle;
mod memory_limit;
mod oversubscription_control;
mod reset_values;
