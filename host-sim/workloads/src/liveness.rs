//! Number of live registers of a kernel at the points where its warps may be switched. It is
//! computed from the PTX once, at the first request (sources.md D166). Traces do not contain it, so
//! it is independent of their format.

use crate::kernels::Prepared;
use mias_ptx::Program;
use mias_ptx::lower::live::LiveRegisters;
use std::sync::{Arc, OnceLock};

/// Live registers of a kernel, computed at most once.
#[derive(Clone)]
pub struct Liveness(Arc<Kernel>);

struct Kernel {
    program: Program,
    /// Registers per thread assigned by the assembler.
    registers: u32,
    found: OnceLock<LiveRegisters>,
}

impl std::fmt::Debug for Liveness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Liveness").field(&self.0.program.name).field(&self.0.found).finish()
    }
}

impl Liveness {
    /// Creates the data of a kernel with this number of registers per thread from the assembler.
    pub fn new(program: &Program, registers: u32) -> Self {
        Liveness(Arc::new(Kernel { program: program.clone(), registers, found: OnceLock::new() }))
    }

    /// Returns the live registers in the PTX.
    pub fn in_ptx(&self) -> LiveRegisters {
        *self.0.found.get_or_init(|| LiveRegisters::of(&self.0.program))
    }

    /// Returns the registers per thread that move when a warp is switched, out of those assigned by
    /// the assembler.
    pub fn registers(&self) -> u32 {
        self.in_ptx().scaled(self.0.registers)
    }
}

impl Prepared {
    /// Returns the live registers of the kernel at the points where its warps may be switched.
    pub fn liveness(&self) -> Liveness {
        Liveness::new(&self.program, self.info.registers_per_thread)
    }
}
