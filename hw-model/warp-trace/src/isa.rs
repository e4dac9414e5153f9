//! Properties of an instruction that the timing model needs: unit, registers and memory space.
//!
//! The front ends lower machine instructions (SASS) and PTX to [`StaticInst`]. The classes are
//! those of the reference GPU (`configs/gpus/rtx2060-accelsim.toml`); its sub-cores have one
//! pipeline per [`Class`] group.

/// Register number: 0..=254 are general registers; 255 is the zero register, which is read like any
/// other but never written.
pub type Reg = u8;

/// Zero register (SASS `RZ`).
pub const ZERO_REG: Reg = 255;

/// Maximum number of source registers of an instruction.
pub const MAX_SOURCES: usize = 4;

/// Memory space of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Device memory, through L1 unless the instruction bypasses it.
    Global,
    /// Per-thread memory, cached like global memory.
    Local,
    /// On-chip memory of the TB; bank conflicts decide the duration of an access.
    Shared,
    /// Constant bank or kernel parameters, through a cache that always hits. The GPU file gives the
    /// cost of lanes that read different words.
    Constant,
    /// Texels of textures and surfaces in device memory, addressed by coordinates and cached like
    /// global memory.
    Texture,
}

/// Execution class, which selects the pipeline, its latency and its initiation interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Integer, logic, move, compare and special-register reads.
    Int,
    /// Single-precision and packed half-precision floating point.
    Sp,
    /// Double-precision floating point.
    Dp,
    /// Transcendentals, reciprocal, square root, conversions on the multi-function unit.
    Sfu,
    /// Matrix multiply-accumulate.
    Tensor,
    /// Branches, calls and returns.
    Branch,
    /// Texture-unit operation without memory: a query, or a fetch with unknown texels.
    Texture,
    /// Uniform data path.
    Uniform,
    /// TB-wide barrier: the warp waits until all live warps of its TB have arrived.
    Barrier,
    /// Memory fence: the warp waits until its own stores are acknowledged.
    MemoryBarrier,
    /// Last instruction of a warp.
    Exit,
    /// Load into registers.
    Load(Space),
    /// Store from registers.
    Store(Space),
    /// Read-modify-write at the L2 (global) or in shared memory.
    Atomic(Space),
}

impl Class {
    /// Memory space accessed, if any.
    #[inline]
    pub fn space(self) -> Option<Space> {
        match self {
            Class::Load(space) | Class::Store(space) | Class::Atomic(space) => Some(space),
            _ => None,
        }
    }

    /// True for loads, stores and atomics that go through the L1: global and local space, and
    /// texels.
    #[inline]
    pub fn is_offchip(self) -> bool {
        matches!(self.space(), Some(Space::Global | Space::Local | Space::Texture))
    }
}

/// One instruction of the program text, without the values that vary per execution (lanes,
/// addresses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StaticInst {
    /// Program counter in bytes, for reports only.
    pub pc: u32,
    /// Execution class.
    pub class: Class,
    /// Destination register, if one is written.
    pub dst: Option<Reg>,
    /// Source registers; the first `source_count` are valid.
    pub sources: [Reg; MAX_SOURCES],
    /// Number of valid entries of `sources`, 0..=4.
    pub source_count: u8,
    /// Bytes per lane of a memory access, 0 for other instructions.
    pub width_bytes: u8,
    /// True if the access skips the L1 (SASS `.STRONG.GPU`, PTX `.cg`, `.volatile`).
    pub bypass_l1: bool,
}

impl StaticInst {
    /// Creates an instruction of `class` at `pc` without registers; the builder methods below add
    /// them.
    pub fn new(pc: u32, class: Class) -> Self {
        StaticInst { pc, class, dst: None, sources: [0; MAX_SOURCES], source_count: 0, width_bytes: 0, bypass_l1: false }
    }

    /// Sets the destination register.
    #[must_use]
    pub fn writes(mut self, dst: Reg) -> Self {
        self.dst = Some(dst);
        self
    }

    /// Adds source registers; those beyond [`MAX_SOURCES`] are dropped, as in Accel-Sim's trace
    /// format.
    #[must_use]
    pub fn reads(mut self, sources: &[Reg]) -> Self {
        for &reg in sources {
            let at = usize::from(self.source_count);
            if at < MAX_SOURCES {
                self.sources[at] = reg;
                self.source_count += 1;
            }
        }
        self
    }

    /// Sets the access width in bytes per lane.
    #[must_use]
    pub fn width(mut self, bytes: u8) -> Self {
        self.width_bytes = bytes;
        self
    }

    /// Valid source registers.
    #[inline]
    pub fn sources(&self) -> &[Reg] {
        &self.sources[..usize::from(self.source_count)]
    }
}
