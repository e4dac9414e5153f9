#![no_std]
//! MIAS firmware.
