//! What ends the execution of a warp before its time, and the message that names it.

use super::error::{AccessNotes, ExecError, Limit, Position};
use super::exec::access::LaneFault;
use super::exec::place::WarpPlace;
use super::exec::texture::TextureFault;
use super::memory::DeviceMemory;
use super::names::quoted;
use super::program::Program;

/// What a warp cannot go on after; the TB adds names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A bad access by the instruction at an index.
    Access(u32, LaneFault),
    /// A bad access to a texture or surface by the instruction at an index.
    Texture(u32, TextureFault),
    /// A barrier at an index, and what is wrong with how it is reached.
    Barrier(u32, &'static str),
    /// `trap` or a failed assertion at an index, in a lane.
    Trap(u32, usize),
    /// A branch by a list at an index, in a lane whose number is beyond its end.
    Table(u32, usize),
    /// A call through a pointer at an index, in a lane whose pointer is to no function that it can call.
    Pointer(u32, usize),
    /// A call at an index, in a lane, for which the stack has no room: the calls that would be inside of each other, and the bytes of the
    /// stack.
    Stack(u32, usize, usize, u32),
    /// It runs on at a limit; the next index, where it is known.
    Limit(Option<u32>, Limit),
    /// It waits at a barrier that nobody will open.
    Hang,
}

impl Trap {
    /// The error that names everything; the last says where a bad access went.
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
                    (Trap::Pointer(..), _) => "a call through a pointer that is to no function",
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
            // All lines of the loop are found by whoever lets it run on.
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
        "call number {depth} inside of each other, of {function}, whose frame has {bytes} bytes, does not fit the stack of {stack_bytes} \
         bytes; raise `stack_bytes` in the table [limits] of the kernel's file, or end the recursion sooner"
    )
}
