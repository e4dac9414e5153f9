//! One executed instruction in 32 bits.

use crate::WARP_LANES;

/// One executed instruction of a shape, packed into 32 bits: static index, active lanes,
/// [passes](ShapeInst::passes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShapeInst(u32);

impl ShapeInst {
    /// Placeholder where no instruction was read yet: static instruction 0 with no lanes.
    pub const NONE: ShapeInst = ShapeInst(0);

    /// Packs a static index (16 bits), active lanes (0..=32) and passes (0..=63).
    #[inline]
    pub(crate) fn new(index: u16, lanes: u32, passes: u32) -> Self {
        debug_assert!(lanes <= 32 && passes < 64, "lanes {lanes}, passes {passes}");
        ShapeInst(u32::from(index) | lanes << 16 | passes << 22)
    }

    /// Packs a static index, active lanes and passes; none unless lanes are in 0..=32 and passes in
    /// 0..=63.
    pub fn packed(index: u16, lanes: u32, passes: u32) -> Option<Self> {
        (lanes <= WARP_LANES && passes < 64).then(|| ShapeInst::new(index, lanes, passes))
    }

    /// Index into [`KernelTrace::statics`](crate::KernelTrace::statics).
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & 0xffff) as usize
    }

    /// Active lanes, 0..=32.
    #[inline]
    pub fn lanes(self) -> u32 {
        self.0 >> 16 & 0x3f
    }

    /// Passes of a shared-memory access through the banks, 1 if conflict-free; or distinct words of
    /// a constant load.
    ///
    /// A constant load whose lanes read different words has 2..=32 words; older traces have 0.
    /// Other instructions have 0.
    #[inline]
    pub fn passes(self) -> u32 {
        self.0 >> 22
    }
}
