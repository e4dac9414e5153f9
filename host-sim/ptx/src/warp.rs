//! Execution of one warp: 32 lanes in lockstep, an active mask, and a reconvergence stack
//! (`stack.rs`).

use super::barrier::Arrival;
use super::error::Limit;
use super::exec::access::{Memories, lanes};
use super::exec::control::{Barrier, Control, Reduction};
use super::exec::place::WarpPlace;
use super::exec::{self, Op};
use super::frames::Frames;
use super::limits::Limits;
use super::memory::LocalMemory;
use super::program::{Inst, Program, Src32};
use super::registers::{Lanes, RegFile};
use super::stack::{Stack, Way};
use super::trap::Trap;
use crate::LANES;

/// An executed instruction, as reported to an [`Observer`].
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Index of the warp in its TB.
    pub warp: u32,
    /// Index of the instruction in the program.
    pub pc: u32,
    /// Lanes that executed it. For a branch or an exit, the lanes that reached it.
    pub mask: u32,
    /// Byte addresses of the executing lanes of a load or store, ascending by lane; empty
    /// otherwise. For a texture fetch, the addresses of all words of its texels, any number per
    /// lane.
    pub addresses: &'a [u64],
    /// True for the warp's last instruction.
    pub last: bool,
}

/// Observer of the execution of a TB.
pub trait Observer {
    /// Receives each instruction in the order of execution. Warps interleave only at barriers.
    fn executed(&mut self, event: Event<'_>);

    /// Receives text printed by the threads of a warp, and the number of their calls.
    fn printed(&mut self, _text: &str, _calls: u32) {}

    /// Checks that the recorded data fit into memory, of which the launch permits `most_bytes`.
    /// Called before every instruction; may wait for memory.
    ///
    /// # Errors
    /// [`Limit`], which ends the TB.
    #[inline]
    fn room(&mut self, _most_bytes: u64) -> Result<(), Limit> {
        Ok(())
    }
}

/// Observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    #[inline]
    fn executed(&mut self, _: Event<'_>) {}
}

/// Cause why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Arrival at a barrier.
    Barrier(Arrival),
    /// End of its slice of instructions; other warps may run.
    Slice,
    /// Exit of all lanes.
    Done,
}

/// Instructions after which a warp yields, so that warps can wait for each other without a barrier.
/// Assumption: longer than any kernel of the thesis runs between two barriers.
pub(super) const SLICE: u64 = 1 << 16;

/// State of one warp.
#[derive(Clone, Debug)]
pub struct Warp {
    regs: RegFile,
    local: LocalMemory,
    stack: Stack,
    frames: Frames,
    /// Stack bytes per thread, for recursive functions.
    stack_bytes: u32,
    /// Lanes that have not exited.
    live: u32,
    /// Values of the special registers.
    pub place: WarpPlace,
}

impl Warp {
    /// Creates a warp that has not started, with a stack of `stack_bytes` per thread for recursive
    /// functions.
    pub fn new(program: &Program, place: WarpPlace, stack_bytes: u32) -> Self {
        let local = LocalMemory::new(program.local_with(stack_bytes));
        let (regs, stack, frames) = (RegFile::new(program), Stack::default(), Frames::default());
        Warp { regs, local, stack, frames, stack_bytes, live: 0, place }
    }

    /// Restarts the warp at the kernel's first instruction with the given lanes, as warp `number`
    /// of the grid.
    pub fn start(&mut self, program: &Program, lanes: u32, number: u64) {
        self.regs.clear();
        self.local.start(number);
        self.stack.start(lanes, program.insts.len() as u32);
        self.frames.clear();
        self.live = lanes;
        self.place.executed = 0;
    }

    /// Runs the warp until a barrier, its end, or the first branch after `slice` instructions.
    /// `limits` apply to the warp and to the observer's data.
    pub(super) fn run<O: Observer>(
        &mut self,
        program: &Program,
        m: &mut Memories<'_>,
        (limits, slice): (&Limits, u64),
        observer: &mut O,
    ) -> Result<Stop, Trap> {
        let end = program.insts.len() as u32;
        let mut slice = self.place.executed + slice;
        while let Some(top) = self.stack.top(self.live, end) {
            let (pc, active) = (top.pc, top.mask);
            let inst = &program.insts[pc as usize];
            if self.place.executed == limits.warp_instructions {
                return Err(Trap::Limit(Some(pc), Limit::Warp(limits.warp_instructions)));
            }
            observer.room(limits.record_bytes).map_err(|limit| Trap::Limit(None, limit))?;
            self.place.executed += 1;
            top.pc += 1;
            let mask = active & guard(inst, &self.regs);
            let warp = self.place.warp;
            let mut event = Event { warp, pc, mask, addresses: &[], last: false };
            let mut lanes = Lanes { regs: &mut self.regs, mask };
            match &inst.op {
                Op::Memory(op) => {
                    exec::access::execute(op, &mut lanes, m, &mut self.local).map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                }
                Op::Texture(op) => {
                    exec::texture::execute(op, &mut lanes, m).map_err(|fault| Trap::Texture(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                }
                Op::Matrix(op) => {
                    if mask != 0 && mask != u32::MAX {
                        return Err(Trap::Barrier(pc, "only a part of a warp of 32 threads reaches a matrix instruction"));
                    }
                    exec::matrix::execute(op, &mut lanes, m, &mut self.local).map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                }
                Op::Copy(op) => {
                    event.mask = exec::copy::execute(op, &mut lanes, m, &mut self.local).map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                }
                Op::Phase(op) => {
                    let met = exec::phase::execute(op, &mut lanes, m, &mut self.local).map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(Event { addresses: m.addresses, ..event });
                    // A waiting warp yields before it polls again.
                    if !met {
                        slice = self.place.executed;
                    }
                }
                Op::Special(op) => {
                    exec::special::execute(op, &mut lanes, &self.place);
                    observer.executed(event);
                }
                Op::Control(Control::Branch { target }) => {
                    event.mask = active;
                    observer.executed(event);
                    self.stack.branch(&[(*target, mask)], program.reconverge[pc as usize]);
                    if self.place.executed >= slice {
                        return Ok(Stop::Slice);
                    }
                }
                Op::Control(Control::Table { index, targets }) => {
                    event.mask = active;
                    observer.executed(event);
                    let sides = sides(&lanes, *index, targets).map_err(|lane| Trap::Table(pc, lane))?;
                    self.stack.branch(&sides, program.reconverge[pc as usize]);
                    if self.place.executed >= slice {
                        return Ok(Stop::Slice);
                    }
                }
                Op::Control(Control::Barrier(barrier)) => {
                    if mask != self.live {
                        self.frames.forget(self.stack.least_depth());
                        let in_calls = self.frames.any();
                        let way = if mask == active && !in_calls { self.stack.make_way(program, pc, self.live) } else { Way::Closed };
                        match way {
                            Way::Others => {
                                self.place.executed -= 1;
                                continue;
                            }
                            Way::Arrived => (event.mask, lanes.mask) = (self.live, self.live),
                            Way::Closed => {
                                return Err(Trap::Barrier(pc, "only a part of the warp's threads reaches the barrier"));
                            }
                        }
                    }
                    let arrival = arrival(barrier, &lanes, pc)?;
                    observer.executed(event);
                    return Ok(Stop::Barrier(arrival));
                }
                Op::Control(Control::Enter(call)) => {
                    event.mask = active;
                    observer.executed(event);
                    if mask != 0 {
                        self.frames.forget(self.stack.least_depth());
                        let place = (mask, self.stack.depth());
                        let entered = self.frames.enter(program, (call, pc), place, self.stack_bytes, (&mut self.regs, &mut self.local));
                        entered.map_err(|depth| Trap::Stack(pc, mask.trailing_zeros() as usize, depth, self.stack_bytes))?;
                        self.stack.enter(call.target, mask, end);
                    }
                    if self.place.executed >= slice {
                        return Ok(Stop::Slice);
                    }
                }
                Op::Control(Control::Leave) => {
                    observer.executed(event);
                    self.frames.forget(self.stack.least_depth());
                    self.frames.leave(program, mask, (&mut self.regs, &mut self.local));
                    self.stack.leave();
                }
                Op::Control(Control::Fence | Control::Nothing | Control::Call) => observer.executed(event),
                Op::Control(Control::Unknown { pointer, known }) => {
                    let pointers = lanes.regs.double(*pointer);
                    if let Some(lane) = exec::access::lanes(mask).find(|&lane| !known.contains(&pointers[lane])) {
                        return Err(Trap::Pointer(pc, lane));
                    }
                    observer.executed(event);
                }
                Op::System(op) => {
                    let reached = exec::system::execute(op, &mut lanes, m, &mut self.local);
                    let printed = reached.map_err(|fault| Trap::Access(pc, fault))?;
                    observer.executed(event);
                    if !printed.is_empty() {
                        observer.printed(&printed, mask.count_ones());
                    }
                }
                Op::Control(Control::Trap) => {
                    if mask != 0 {
                        return Err(Trap::Trap(pc, mask.trailing_zeros() as usize));
                    }
                    observer.executed(event);
                }
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

    /// Writes the result of a reduction at the barrier where the warp waited.
    pub(super) fn reduced(&mut self, reduction: Reduction, result: u32) {
        match reduction {
            Reduction::Count(dst) => self.regs.set_word(dst, self.live, &[result; LANES]),
            Reduction::All(dst) | Reduction::Any(dst) => self.regs.set_pred(dst, self.live, if result == 0 { 0 } else { u32::MAX }),
        }
    }
}

/// Returns the lanes that go to each instruction of a list, with lower instructions later, so that
/// they run first. The error is a lane whose value is beyond the list.
fn sides(l: &Lanes<'_>, index: Src32, targets: &[u32]) -> Result<Vec<(u32, u32)>, usize> {
    let index = l.regs.word(index);
    let mut sides: Vec<(u32, u32)> = Vec::new();
    for lane in lanes(l.mask) {
        let &target = targets.get(index[lane] as usize).ok_or(lane)?;
        match sides.iter_mut().find(|(to, _)| *to == target) {
            Some((_, mask)) => *mask |= 1 << lane,
            None => sides.push((target, 1 << lane)),
        }
    }
    sides.sort_unstable_by(|a, b| b.cmp(a));
    Ok(sides)
}

/// Returns the operands of a barrier, which are equal for all threads.
fn arrival(barrier: &Barrier, l: &Lanes<'_>, pc: u32) -> Result<Arrival, Trap> {
    let uniform = |src: Src32| {
        let values = l.regs.word(src);
        let mut active = lanes(l.mask).map(|lane| values[lane]);
        let first = active.next().unwrap_or_default();
        if active.all(|v| v == first) { Ok(first) } else { Err(Trap::Barrier(pc, "the threads of a warp name different barriers")) }
    };
    let id = u8::try_from(uniform(barrier.id)?).unwrap_or(u8::MAX);
    let threads = barrier.threads.map(uniform).transpose()?;
    if threads.is_some_and(|n| n == 0 || !n.is_multiple_of(LANES as u32)) {
        return Err(Trap::Barrier(pc, "the number of threads is not a multiple of 32"));
    }
    let vote = barrier.reduction.map(|(reduction, pred, negated)| {
        let yes = (l.regs.pred(pred) ^ if negated { u32::MAX } else { 0 }) & l.mask;
        (reduction, l.mask.count_ones(), yes.count_ones())
    });
    Ok(Arrival { id, pc, threads, passes: barrier.arrive, vote })
}

#[inline]
fn guard(inst: &Inst, regs: &RegFile) -> u32 {
    match inst.guard {
        None => u32::MAX,
        Some(guard) if guard.negated => !regs.pred(guard.pred),
        Some(guard) => regs.pred(guard.pred),
    }
}
