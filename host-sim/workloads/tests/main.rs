//! Workloads against the library of kernels.

mod export;
mod opcodes;
