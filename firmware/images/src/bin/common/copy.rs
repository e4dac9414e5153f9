//! `memcpy` and `memset` of the RV32IMAC images.
//!
//! The compiler calls them to copy and clear structures of a few words. Those of its own library
//! are optimized for long runs, and take ten times the flash. Both work by words if all operands
//! are whole words, else by bytes.

// SAFETY: both conform to C, access only the caller's memory, and change no callee-saved register.
core::arch::global_asm!(
    ".section .text.memcpy, \"ax\", @progbits",
    ".global memcpy",
    "memcpy:",
    "or t0, a0, a1",
    "or t0, t0, a2",
    "andi t0, t0, 3",
    "mv a3, a0",
    "add a2, a2, a0",
    "bnez t0, 2f",
    "1: bgeu a3, a2, 3f",
    "lw a4, 0(a1)",
    "sw a4, 0(a3)",
    "addi a1, a1, 4",
    "addi a3, a3, 4",
    "j 1b",
    "2: bgeu a3, a2, 3f",
    "lbu a4, 0(a1)",
    "sb a4, 0(a3)",
    "addi a1, a1, 1",
    "addi a3, a3, 1",
    "j 2b",
    "3: ret",
    ".section .text.memset, \"ax\", @progbits",
    ".global memset",
    "memset:",
    "or t0, a0, a2",
    "andi t0, t0, 3",
    // Only zeros: a word of other bytes would have to be assembled first.
    "or t0, t0, a1",
    "mv a3, a0",
    "add a2, a2, a0",
    "bnez t0, 2f",
    "1: bgeu a3, a2, 3f",
    "sw zero, 0(a3)",
    "addi a3, a3, 4",
    "j 1b",
    "2: bgeu a3, a2, 3f",
    "sb a1, 0(a3)",
    "addi a3, a3, 1",
    "j 2b",
    "3: ret",
);
