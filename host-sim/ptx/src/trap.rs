//! Causes that stop a warp early, and their error messages.

use super::error::{AccessNotes, ExecError, Limit, Position};
use super::exec::access::LaneFault;
use super::exec::place::WarpPlace;
use super::exec::texture::TextureFault;
use super::memory::DeviceMemory;
use super::names::quoted;
use super::program::Program;

/// Cause that stops a warp; the TB adds names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A bad memory access by the instruction at an index.
    Access(u32, LaneFault),
    /// A bad access to a texture or surface by the instruction at an index.
    Texture(u32, TextureFault),
    /// A barrier at an index that is reached in an invalid way, with the cause.
    Barrier(u32, &'static str),
    /// A `trap` or failed assertion at an index, in a lane.
    Trap(u32, usize),
    /// A branch by a list at an index, in a lane whose value is beyond the end of the list.
    Table(u32, usize),
    /// A call through a pointer at an index, in a lane whose pointer is to no possible callee.
    Pointer(u32, usize),
    /// A call at an index, in a lane, that exceeds the stack: the nesting depth, and the bytes of
    /// the stack.
    Stack(u32, usize, usize, u32),
    /// A limit that was reached; with the next index, where it is known.
    Limit(Option<u32>, Limit),
    /// A barrier that will never open.
    Hang,
}

impl Trap {
    /// Builds the complete error message; the last arguments locate a bad access.
    pub(super) fn explain(self, program: &Program, place: &WarpPlace, (device, nearest): (&DeviceMemory, String)) -> ExecError {
        let (kernel, file, tb, warp) = (program.name.clone(), program.file.clone(), place.tb, place.warp);
        let place_of = |pc: u32| program.insts.get(pc as usize).map_or(Position::default(), |i| i.at);
        let at = |pc: u32| place_of(pc).line;
        let source = |pc: u32| program.source.note(place_of(pc));
        match self {
            Trap::Access(pc, fault) => ExecError::Access {
                kernel,
                file,
                line: at(pc),
                tb,
                thread: place.tid.map(|axis| axis[fault.lane]),
                fault: fault.fault,
                space: fault.space.name(),
                bytes: fault.bytes,
                address: fault.address,
                notes: Box::new(AccessNotes { source_line: source(pc), nearest }),
            },
            Trap::Texture(pc, fault) => ExecError::Thread {
                kernel,
                file,
                line: at(pc),
                source_line: source(pc),
                tb,
                thread: place.tid.map(|axis| axis[fault.lane]),
                message: fault.explain(device).into(),
            },
            Trap::Barrier(pc, message) => {
                ExecError::Barrier { kernel, file, line: at(pc), source_line: source(pc), tb, warp, message: message.into() }
            }
            Trap::Trap(pc, lane) | Trap::Table(pc, lane) | Trap::Pointer(pc, lane) => ExecError::Trap {
                kernel,
                file,
                line: at(pc),
                source_line: source(pc),
                tb,
                thread: place.tid.map(|axis| axis[lane]),
                what: match (self, program.insts.get(pc as usize).map(|i| i.opcode.as_str())) {
                    (Trap::Pointer(..), _) => "a call through a pointer to no function",
                    (Trap::Table(..), _) => "a branch beyond the end of its list",
                    (_, Some("trap")) => "trap",
                    (_, Some("brkpt")) => "a breakpoint",
                    _ => "a failed assertion",
                },
            },
            Trap::Stack(pc, lane, depth, stack_bytes) => ExecError::Thread {
                kernel,
                file,
                line: at(pc),
                source_line: source(pc),
                tb,
                thread: place.tid.map(|axis| axis[lane]),
                message: stack_is_full(program, pc, depth, stack_bytes).into(),
            },
            Trap::Hang => {
                ExecError::Barrier { kernel, file, line: 0, source_line: String::new(), tb, warp, message: "the TB hangs".into() }
            }
            // The caller continues the loop to find all of its lines.
            Trap::Limit(next, limit) => {
                let line = next.map_or(0, at);
                let source_line = next.map_or_else(String::new, source);
                ExecError::Endless { kernel, file, lines: (line, line), source_line, tb, warp, limit }
            }
        }
    }
}

fn stack_is_full(program: &Program, pc: u32, depth: usize, stack_bytes: u32) -> String {
    let called = program.insts.get(pc as usize).and_then(|inst| inst.op.enters()).and_then(|call| program.subroutines.get(call.callee));
    let (function, bytes) = called.map_or((String::new(), 0), |called| (quoted(&called.name), called.frame_bytes));
    format!(
        "nested call {depth}, of {function} with a frame of {bytes} bytes, does not fit the stack of {stack_bytes} \
         bytes; raise `stack_bytes` in the table [limits] of the kernel's file, or end the recursion sooner"
    )
}
