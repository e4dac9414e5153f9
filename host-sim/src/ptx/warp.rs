//! One warp: 32 lanes in lockstep, an active mask, and a reconvergence stack.
//!
//! Each stack entry is a program counter, the lanes that wait to run from it, and where they meet the lanes below. A
//! divergent branch leaves its entry at the immediate post-dominator and pushes one entry per side; an entry that arrives
//! where it should meet is popped. Seed 000 section 2.1.1 for the SIMT model; the stack is that of the GPGPU-Sim manual,
//! section "SIMT stack".

use super::error::{ExecError, Position};
use super::exec::control::Control;
use super::exec::memory::{LaneFault, Memories};
use super::exec::special::WarpPlace;
use super::exec::{self, Op};
use super::program::{Inst, Program};
use super::registers::{Lanes, RegFile};

/// An executed instruction, as told to an [`Observer`].
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The warp's number in its TB.
    pub warp: u32,
    /// Index of the instruction in the program.
    pub pc: u32,
    /// Lanes that executed it. For a branch or an exit, the lanes that reached it.
    pub mask: u32,
    /// Byte addresses of the executing lanes of a load or store, ascending by lane; empty otherwise.
    pub addresses: &'a [u64],
    /// The warp's last instruction.
    pub last: bool,
}

/// Someone who watches the execution of a TB.
pub trait Observer {
    /// Called for each instruction in the order of execution. Warps interleave at barriers only.
    fn executed(&mut self, event: Event<'_>);
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    #[inline]
    fn executed(&mut self, _: Event<'_>) {}
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    pc: u32,
    meet: u32,
    mask: u32,
}

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It waits at a barrier: its number and the index of the instruction.
    Barrier {
        /// Barrier number.
        id: u8,
        /// Instruction index.
        pc: u32,
    },
    /// All its lanes have exited.
    Done,
}

/// What a warp cannot go on after; the TB adds names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// A bad access by the instruction at an index.
    Access(u32, LaneFault),
    /// A barrier at an index, reached by a part of the live lanes.
    PartialBarrier(u32),
    /// Too many instructions; the next index.
    Limit(u32),
}

/// The state of one warp.
#[derive(Clone, Debug)]
pub struct Warp {
    regs: RegFile,
    stack: Vec<Entry>,
    /// Lanes that have not exited.
    live: u32,
    /// What its special registers read as.
    pub place: WarpPlace,
    executed: u64,
}

impl Warp {
    /// A warp that has not started.
    pub fn new(program: &Program, place: WarpPlace) -> Self {
        Warp { regs: RegFile::new(program), stack: Vec::new(), live: 0, place, executed: 0 }
    }

    /// Back to the kernel's first instruction with the given lanes.
    pub fn start(&mut self, program: &Program, lanes: u32) {
        self.regs.clear();
        self.stack.clear();
        self.stack.push(Entry { pc: 0, meet: program.insts.len() as u32, mask: lanes });
        self.live = lanes;
        self.executed = 0;
    }

    /// Runs until a barrier or the end, at most `limit` instructions since the start.
    pub fn run<O: Observer>(&mut self, program: &Program, m: &mut Memories<'_>, limit: u64, observer: &mut O) -> Result<Stop, Trap> {
        let end = program.insts.len() as u32;
        while let Some(top) = self.stack.last_mut() {
            top.mask &= self.live;
            if top.mask == 0 || top.pc == top.meet || top.pc >= end {
                self.stack.pop();
                continue;
            }
            let (pc, active) = (top.pc, top.mask);
            let inst = &program.insts[pc as usize];
            if self.executed == limit {
                return Err(Trap::Limit(pc));
            }
            self.executed += 1;
            top.pc += 1;
            let mask = active & guard(inst, &self.regs);
            let warp = self.place.warp;
            let mut event = Event { warp, pc, mask, addresses: &[], last: false };
            let mut lanes = Lanes { regs: &mut self.regs, mask };
            match &inst.op {
                Op::Memory(op) => {
                    exec::memory::execute(op, &mut lanes, m).map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                }
                Op::Special(op) => {
                    exec::special::execute(op, &mut lanes, &self.place);
                    observer.executed(event);
                }
                Op::Control(Control::Branch { target }) => {
                    event.mask = active;
                    observer.executed(event);
                    self.branch(*target, mask, program.reconverge[pc as usize]);
                }
                Op::Control(Control::Barrier { id }) => {
                    if mask != self.live {
                        return Err(Trap::PartialBarrier(pc));
                    }
                    observer.executed(event);
                    return Ok(Stop::Barrier { id: *id, pc });
                }
                Op::Control(Control::Fence | Control::Nothing) => observer.executed(event),
                Op::Control(Control::Exit) => {
                    self.live &= !mask;
                    observer.executed(Event { mask: active, last: self.live == 0, ..event });
                }
                op => {
                    exec::execute(op, &mut lanes);
                    observer.executed(event);
                }
            }
        }
        Ok(Stop::Done)
    }

    /// Sends the lanes of `taken` to `target`; the others go on after the branch. Both meet at `meet`.
    fn branch(&mut self, target: u32, taken: u32, meet: u32) {
        let Some(top) = self.stack.last_mut() else { return };
        if taken == top.mask {
            top.pc = target;
            return;
        }
        if taken == 0 {
            return;
        }
        let (next, others) = (top.pc, top.mask & !taken);
        top.pc = meet;
        // An entry that would wait where the one below waits already is not kept: a loop needs one entry, not one per round.
        if top.pc == top.meet {
            self.stack.pop();
        }
        for (pc, mask) in [(next, others), (target, taken)] {
            if pc != meet {
                self.stack.push(Entry { pc, meet, mask });
            }
        }
    }
}

#[inline]
fn guard(inst: &Inst, regs: &RegFile) -> u32 {
    match inst.guard {
        None => u32::MAX,
        Some(guard) if guard.negated => !regs.pred(guard.pred),
        Some(guard) => regs.pred(guard.pred),
    }
}

impl Trap {
    /// The error that names everything.
    pub(super) fn explain(self, program: &Program, place: &WarpPlace, limit: u64) -> ExecError {
        let (kernel, file, tb, warp) = (program.name.clone(), program.file.clone(), place.tb, place.warp);
        let at = |pc: u32| program.insts.get(pc as usize).map_or(Position::default(), |i| i.at).line;
        match self {
            Trap::Access(pc, fault) => ExecError::Access {
                kernel,
                file,
                line: at(pc),
                tb,
                thread: place.tid.map(|axis| axis[fault.lane]),
                fault: fault.fault,
                space: fault.access.space.name(),
                bytes: fault.access.bytes(),
                address: fault.address,
            },
            Trap::PartialBarrier(pc) => ExecError::Barrier {
                kernel,
                file,
                line: at(pc),
                tb,
                warp,
                message: "the barrier is reached by only a part of the warp's threads",
            },
            Trap::Limit(pc) => ExecError::InstructionLimit { kernel, file, line: at(pc), tb, warp, limit },
        }
    }
}
