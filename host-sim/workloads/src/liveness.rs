//! How many registers of a kernel are live where its warps may be switched: found in its PTX when somebody asks, once (sources.md D166). No trace
//! has it, so that it depends on no trace's format.

use crate::kernels::Prepared;
use mias_ptx::Program;
use mias_ptx::lower::live::LiveRegisters;
use std::sync::{Arc, OnceLock};

/// A kernel's live registers, found at most once.
#[derive(Clone)]
pub struct Liveness(Arc<Kernel>);

struct Kernel {
    program: Program,
    /// Registers per thread that the assembler gave it.
    registers: u32,
    found: OnceLock<LiveRegisters>,
}

impl std::fmt::Debug for Liveness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Liveness").field(&self.0.program.name).field(&self.0.found).finish()
    }
}

impl Liveness {
    /// Of a kernel to which the assembler gave so many registers per thread.
    pub fn new(program: &Program, registers: u32) -> Self {
        Liveness(Arc::new(Kernel { program: program.clone(), registers, found: OnceLock::new() }))
    }

    /// As they are in the PTX.
    pub fn in_ptx(&self) -> LiveRegisters {
        *self.0.found.get_or_init(|| LiveRegisters::of(&self.0.program))
    }

    /// Registers of a thread that move when its warp is switched, out of those that the assembler gave it.
    pub fn registers(&self) -> u32 {
        self.in_ptx().scaled(self.0.registers)
    }
}

impl Prepared {
    /// Registers of the kernel that are live where its warps may be switched.
    pub fn liveness(&self) -> Liveness {
        Liveness::new(&self.program, self.info.registers_per_thread)
    }
}
