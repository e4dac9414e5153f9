//! Execution of recursive functions: frames of the active calls in a warp (PTX ISA 7.8 section
//! 9.7.12 "call", "ret").
//!
//! Lanes that call together return together: divergent paths inside reconverge before the
//! function's end, as in a kernel. All lanes of a call therefore have their frames at the same
//! place of their local memory, with successive calls one after the other. Lanes in deeper calls
//! run while the others wait. `subroutine.rs` defines the data passed in a call, `kept.rs` the data
//! saved for the caller.

use super::memory::LocalMemory;
use super::program::{DoubleReg, Program, Reg, Src};
use super::registers::RegFile;
use crate::LANES;

/// Default stack size per thread in bytes: that of `cudaLimitStackSize` (CUDA runtime API, "Device
/// Management").
pub const DEFAULT_STACK_BYTES: u32 = 1024;

/// Bytes of a frame in addition to local variables and registers: the return address. Assumption:
/// one 64-bit value.
pub(super) const RETURN_BYTES: u32 = 8;

/// A recursive function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subroutine {
    /// Name of the function.
    pub name: String,
    /// Size of a frame in bytes: local variables, saved registers, and return address.
    pub frame_bytes: u32,
}

/// A place in local memory, of the kernel or of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// True for a place in the frame of its function.
    pub in_frame: bool,
    /// Offset from the start of either in bytes.
    pub offset: u32,
}

/// Data that a call copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// Copy between registers of the same width.
    Register {
        /// Source register.
        from: Reg,
        /// Destination register.
        to: Reg,
    },
    /// Copy within local memory.
    Memory {
        /// Source of the copy.
        from: Spot,
        /// Destination of the copy.
        to: Spot,
        /// Number of bytes.
        bytes: u32,
    },
}

/// A decoded call of a recursive function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enter {
    /// Index of the callee among the program's recursive functions.
    pub callee: usize,
    /// Index of the callee's first instruction.
    pub target: u32,
    /// Register for the address of the callee's frame.
    pub base: DoubleReg,
    /// Data passed from the caller to the function.
    pub arguments: Box<[Handed]>,
    /// Data passed from the function to the caller.
    pub results: Box<[Handed]>,
    /// Registers of the caller that other calls may change before it reads them again.
    pub kept: Box<[Reg]>,
}

/// An active call.
#[derive(Clone, Debug)]
struct Frame {
    /// Index of the call instruction.
    call: u32,
    /// Number of entries on the warp's stack below that of the call.
    below: usize,
    /// Start and end of the frame in local memory.
    start: u32,
    end: u32,
    /// Saved registers of the caller, in the order of [`Enter::kept`].
    kept: Vec<[u64; LANES]>,
}

/// Active calls, with the innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    frames: Vec<Frame>,
}

impl Frames {
    pub(super) fn clear(&mut self) {
        self.frames.clear();
    }

    /// Drops calls whose lanes have all ended: their entry is gone from the warp's stack, whose
    /// minimum depth since the last check is `entries`.
    pub(super) fn forget(&mut self, entries: usize) {
        while self.frames.last().is_some_and(|frame| frame.below >= entries) {
            self.frames.pop();
        }
    }

    /// Returns whether any lane is in a call.
    pub(super) fn any(&self) -> bool {
        !self.frames.is_empty()
    }

    /// Enters a call at the instruction `pc` for the lanes of `mask`, with `entries` on the warp's
    /// stack. The error is the nesting depth of the call, if `stack_bytes` are not sufficient.
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

    /// Returns the lanes of `mask`, all that remain of the innermost call.
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

/// Copies the data passed in a call between frames that begin at these two addresses.
fn hand(all: &[Handed], mask: u32, starts: [u32; 2], (regs, local): (&mut RegFile, &mut LocalMemory)) {
    // All data are read before any are written.
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
