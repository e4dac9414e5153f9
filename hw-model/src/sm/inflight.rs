//! Instructions in flight in the SM: contents of the pipelines, and units.

use super::lanes::LaneClass;
use super::operands::bank_reads;
use super::warp::RegSet;
use mias_warp_trace::ShapeInst;
use mias_warp_trace::isa::{Class, MAX_SOURCES, Space, StaticInst};

/// Pipelines of a sub-core, in the order in which Accel-Sim's operand collector serves them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Unit {
    Sp,
    Sfu,
    Mem,
    Tensor,
    Dp,
    Int,
    Branch,
    Texture,
    Uniform,
}

/// Number of [`Unit`]s.
pub(super) const UNITS: usize = 9;

impl Unit {
    pub(super) fn index(self) -> usize {
        self as usize
    }
}

/// Action of the load/store unit for an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemKind {
    /// No memory instruction.
    None,
    /// Access through the L1, or past it.
    OffChip { store: bool, atomic: bool, bypass: bool, texels: bool },
    /// Access to the banks of shared memory.
    Shared { store: bool },
    /// Access to the constant cache, which always hits.
    Constant,
    /// Wait until the warp's own stores are acknowledged.
    Fence,
}

/// Effect of an instruction on its warp when it issues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    None,
    Barrier,
    Fence,
}

/// No destination register.
pub(super) const NO_REG: u16 = u16::MAX;

/// Decoded static instruction: unit chosen, duplicate sources removed (a register is read once, as
/// in Accel-Sim's operand collector).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    pub unit: Unit,
    pub mem: MemKind,
    pub control: Control,
    pub dst: u16,
    /// Reads per register bank, for warp 0 (see [`bank_reads`]).
    pub reads: u32,
    /// Lane counter of the instruction.
    pub cost: LaneClass,
    /// All registers of the instruction; one of them pending is a hazard (read-after-write or
    /// write-after-write).
    pub registers: RegSet,
    /// True if the instruction takes one cycle in its unit, regardless of the unit's timing:
    /// control instructions that compute nothing.
    pub quick: bool,
}

impl Decoded {
    /// Decodes for an SM with `banks` register banks per sub-core.
    pub(crate) fn new(inst: &StaticInst, banks: u32) -> Self {
        let mut sources = [0; MAX_SOURCES];
        let mut count = 0;
        for &reg in inst.sources() {
            if !sources[..count].contains(&reg) {
                sources[count] = reg;
                count += 1;
            }
        }
        let texels = inst.class.space() == Some(Space::Texture);
        let off_chip = |store, atomic| MemKind::OffChip { store, atomic, bypass: inst.bypass_l1 || atomic, texels };
        let (unit, mem, control) = match inst.class {
            Class::Int | Class::Exit => (Unit::Int, MemKind::None, Control::None),
            Class::Barrier => (Unit::Int, MemKind::None, Control::Barrier),
            Class::Sp => (Unit::Sp, MemKind::None, Control::None),
            Class::Dp => (Unit::Dp, MemKind::None, Control::None),
            Class::Sfu => (Unit::Sfu, MemKind::None, Control::None),
            Class::Tensor => (Unit::Tensor, MemKind::None, Control::None),
            Class::Branch => (Unit::Branch, MemKind::None, Control::None),
            Class::Texture => (Unit::Texture, MemKind::None, Control::None),
            Class::Uniform => (Unit::Uniform, MemKind::None, Control::None),
            Class::MemoryBarrier => (Unit::Mem, MemKind::Fence, Control::Fence),
            Class::Load(Space::Constant) | Class::Store(Space::Constant) | Class::Atomic(Space::Constant) => {
                (Unit::Mem, MemKind::Constant, Control::None)
            }
            Class::Load(Space::Shared) | Class::Atomic(Space::Shared) => (Unit::Mem, MemKind::Shared { store: false }, Control::None),
            Class::Store(Space::Shared) => (Unit::Mem, MemKind::Shared { store: true }, Control::None),
            Class::Load(_) => (Unit::Mem, off_chip(false, false), Control::None),
            Class::Store(_) => (Unit::Mem, off_chip(true, false), Control::None),
            Class::Atomic(_) => (Unit::Mem, off_chip(false, true), Control::None),
        };
        let mut registers = RegSet::default();
        for reg in sources[..count].iter().copied().chain(inst.dst) {
            registers.insert(reg.into());
        }
        let quick = matches!(inst.class, Class::Barrier | Class::Exit);
        let dst = inst.dst.map_or(NO_REG, u16::from);
        let cost = LaneClass::new(unit.index(), count, inst.dst.is_some());
        Decoded { unit, mem, control, dst, reads: bank_reads(&sources[..count], banks), cost, registers, quick }
    }
}

/// Warp instruction between issue and completion, in 16 bytes, since it is copied from latch to
/// latch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inflight {
    /// Issue order within the SM; smaller is older.
    pub seq: u32,
    /// Memory reference of the warp, if off-chip.
    pub mem_ref: u32,
    pub executed: ShapeInst,
    pub dst: u16,
    pub warp: u8,
    /// Single-cycle flag, as in [`Decoded`].
    pub quick: bool,
}

impl Inflight {
    /// Content of empty latches.
    pub(super) const EMPTY: Inflight = Inflight { seq: 0, mem_ref: 0, executed: ShapeInst::NONE, dst: NO_REG, warp: 0, quick: false };
}
