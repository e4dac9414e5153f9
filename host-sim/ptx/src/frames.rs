//! Executing functions that call themselves: the frames of the calls under way in a warp. PTX ISA 7.8 section 9.7.12 "call", "ret".
//!
//! Lanes that call together return together: whoever takes other ways inside meets again before the function's end, as in a
//! kernel. So all lanes of a call have their frames at the same place of their local memory, one call's behind the other's, and lanes
//! that call more deeply run while the others wait. `subroutine.rs` says what a call hands over, `kept.rs` what it keeps for the caller.

use super::memory::LocalMemory;
use super::program::{DoubleReg, Program, Reg, Src};
use super::registers::RegFile;
use crate::LANES;

/// Bytes of the stack per thread, if the launch does not say otherwise: the default of `cudaLimitStackSize` (CUDA runtime API,
/// "Device Management").
pub const DEFAULT_STACK_BYTES: u32 = 1024;

/// What a chip keeps of a call besides local variables and registers: the address to return to. Assumption: one 64-bit value.
pub(super) const RETURN_BYTES: u32 = 8;

/// A function that calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subroutine {
    /// Its name.
    pub name: String,
    /// Bytes of a frame: local variables, registers kept for calls, the address to return to.
    pub frame_bytes: u32,
}

/// A place in local memory: of the kernel's, or of a frame's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// In the frame of its function.
    pub in_frame: bool,
    /// Bytes from the beginning of either.
    pub offset: u32,
}

/// Something that a call copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// A register to another of its width.
    Register {
        /// Read.
        from: Reg,
        /// Written.
        to: Reg,
    },
    /// Local memory.
    Memory {
        /// Read.
        from: Spot,
        /// Written.
        to: Spot,
        /// How many bytes.
        bytes: u32,
    },
}

/// A decoded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enter {
    /// Which of the program's functions that call themselves.
    pub callee: usize,
    /// Its first instruction.
    pub target: u32,
    /// Where it finds the address of its frame.
    pub base: DoubleReg,
    /// From the caller to the function.
    pub arguments: Box<[Handed]>,
    /// From the function to the caller.
    pub results: Box<[Handed]>,
    /// Registers of the caller that other calls of it may change before it reads them again.
    pub kept: Box<[Reg]>,
}

/// A call under way.
#[derive(Clone, Debug)]
struct Frame {
    /// The index of its instruction.
    call: u32,
    /// How many entries the warp's stack has below that of the call.
    below: usize,
    /// Where its frame begins and ends in local memory.
    start: u32,
    end: u32,
    /// The caller's registers, in the order of [`Enter::kept`].
    kept: Vec<[u64; LANES]>,
}

/// The calls under way, the innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
}

impl Frames {
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Forgets calls of which all lanes have ended: those whose entry is gone from the warp's stack, which had only so many for a while.
    pub(super) fn forget(&mut self, entries: usize) {
        while self.frames.last().is_some_and(|frame| frame.below >= entries) {
            self.frames.pop();
        }
    }

    /// True if lanes are in a call.
    pub(super) fn any(&self) -> bool {
        !self.frames.is_empty()
    }

    /// The lanes of `mask` call, at the instruction `pc`, with `entries` on the warp's stack. The error is the number of calls inside
    /// of each other that this would be, if `stack_bytes` do not suffice.
    pub(super) fn enter(
        &mut self,
        program: &Program,
        (call, pc): (&Enter, u32),
        (mask, entries): (u32, usize),
        stack_bytes: u32,
        (regs, local): (&mut RegFile, &mut LocalMemory),
    ) -> Result<(), usize> {
        let (caller, start) = self.frames.last().map_or((0, program.local_bytes), |frame| (frame.start, frame.end));
        let bytes = program.subroutines.get(call.callee).map_or(0, |subroutine| subroutine.frame_bytes);
        let end = start.checked_add(bytes).filter(|&end| end - program.local_bytes <= stack_bytes).ok_or(self.frames.len() + 1)?;
        let kept = call.kept.iter().map(|&reg| read(regs, reg)).collect();
        hand(&call.arguments, mask, [caller, start], (regs, local));
        regs.set_double(call.base, mask, &[start.into(); LANES]);
        self.frames.push(Frame { call: pc, below: entries, start, end, kept });
        Ok(())
    }

    /// The lanes of `mask`, all that are left of the innermost call, return from it.
    pub(super) fn leave(&mut self, program: &Program, mask: u32, (regs, local): (&mut RegFile, &mut LocalMemory)) {
        let Some(frame) = self.frames.pop() else { return };
        let Some(call) = program.insts.get(frame.call as usize).and_then(|inst| inst.op.enters()) else { return };
        let caller = self.frames.last().map_or(0, |frame| frame.start);
        let results: Vec<_> = call.results.iter().map(|handed| taken(handed, regs)).collect();
        call.kept.iter().zip(&frame.kept).for_each(|(&reg, values)| write(regs, reg, mask, values));
        results.into_iter().flatten().for_each(|(reg, values)| write(regs, reg, mask, &values));
        move_bytes(&call.results, mask, [frame.start, caller], local);
    }
}

/// Copies what a call hands over, between frames that begin at these two addresses.
fn hand(all: &[Handed], mask: u32, starts: [u32; 2], (regs, local): (&mut RegFile, &mut LocalMemory)) {
    // All is read before any is written.
    let values: Vec<_> = all.iter().map(|handed| taken(handed, regs)).collect();
    values.into_iter().flatten().for_each(|(reg, values)| write(regs, reg, mask, &values));
    move_bytes(all, mask, starts, local);
}

fn taken(handed: &Handed, regs: &RegFile) -> Option<(Reg, [u64; LANES])> {
    match *handed {
        Handed::Register { from, to } => Some((to, read(regs, from))),
        Handed::Memory { .. } => None,
    }
}

fn move_bytes(all: &[Handed], mask: u32, [from_start, to_start]: [u32; 2], local: &mut LocalMemory) {
    let at = |spot: Spot, start: u32| u64::from(spot.offset) + if spot.in_frame { u64::from(start) } else { 0 };
    for handed in all {
        let Handed::Memory { from, to, bytes } = *handed else { continue };
        let (from, to) = (at(from, from_start), at(to, to_start));
        for lane in super::exec::access::lanes(mask) {
            for byte in 0..u64::from(bytes) {
                // Both places are in the frames, which are in local memory.
                let moved = local.load(lane, from + byte, 1, 0, 1).and_then(|value| local.store(lane, to + byte, 1, 0, 1, value));
                debug_assert_eq!(moved, Ok(()));
            }
        }
    }
}

fn read(regs: &RegFile, reg: Reg) -> [u64; LANES] {
    match reg {
        Reg::Pred(pred) => {
            let bits = regs.pred(pred);
            std::array::from_fn(|lane| u64::from(bits >> lane & 1))
        }
        Reg::Word(word) => regs.word(Src::Reg(word)).map(u64::from),
        Reg::Double(double) => regs.double(Src::Reg(double)),
    }
}

fn write(regs: &mut RegFile, reg: Reg, mask: u32, values: &[u64; LANES]) {
    match reg {
        Reg::Pred(pred) => regs.set_pred(pred, mask, super::registers::mask_of(|lane| values[lane] != 0)),
        Reg::Word(word) => regs.set_word(word, mask, &values.map(|value| value as u32)),
        Reg::Double(double) => regs.set_double(double, mask, values),
    }
}
