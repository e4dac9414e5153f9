//! Reconvergence stack of a warp: the lanes that run, those that wait, and where they reconverge.
//!
//! Each entry has a program counter, the lanes that wait to run from it, and the point where they
//! rejoin the lanes below. A divergent branch leaves its entry at the immediate post-dominator and
//! pushes one entry per side. An entry that arrives at its reconvergence point is popped. Nasef
//! 2023, section 2.1.1 describes the SIMT model; the stack is that of the GPGPU-Sim manual, section
//! "SIMT stack".
//!
//! From Volta on, a barrier counts arriving threads, not warps, and does not wait for ended ones
//! (PTX ISA 7.8 section 9.7.12 "bar"). A plain stack would hang if some lanes arrive at a barrier
//! and the rest are elsewhere: [`Stack::make_way`] lets the others continue first.

use super::exec::Op;
use super::exec::control::{Barrier, Control};
use super::program::Program;

/// Lanes that run together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) pc: u32,
    pub(super) meet: u32,
    pub(super) mask: u32,
}

/// Outcome for lanes that arrived at a barrier without the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Others run first; the barrier is retried.
    Others,
    /// All others are at a barrier of the same kind: the warp has arrived.
    Arrived,
    /// The others wait for these lanes.
    Closed,
}

/// Stack of entries, with the running one last.
#[derive(Clone, Debug, Default)]
pub(super) struct Stack {
    entries: Vec<Entry>,
    /// Minimum depth since the last query.
    least: usize,
}

impl Stack {
    /// Starts all lanes at the first of `end` instructions.
    pub(super) fn start(&mut self, lanes: u32, end: u32) {
        self.entries.clear();
        self.entries.push(Entry { pc: 0, meet: end, mask: lanes });
    }

    /// Returns the next entry to run, with its live lanes. Completed entries are dropped.
    #[inline]
    pub(super) fn top(&mut self, live: u32, end: u32) -> Option<&mut Entry> {
        loop {
            let top = self.entries.last_mut()?;
            top.mask &= live;
            if top.mask != 0 && top.pc != top.meet && top.pc < end {
                break;
            }
            self.entries.pop();
            self.least = self.least.min(self.entries.len());
        }
        self.entries.last_mut()
    }

    /// Sends the lanes of each entry of `taken` to its target; all others continue after the
    /// branch. All reconverge at `meet`.
    pub(super) fn branch(&mut self, taken: &[(u32, u32)], meet: u32) {
        let Some(top) = self.entries.last_mut() else { return };
        let gone = taken.iter().fold(0, |all, (_, mask)| all | mask);
        if let [(target, _)] = taken
            && gone == top.mask
        {
            top.pc = *target;
            return;
        }
        if gone == 0 {
            return;
        }
        let (next, others) = (top.pc, top.mask & !gone);
        top.pc = meet;
        // An entry that would wait at the same point as the one below is dropped: a loop needs one
        // entry, not one per iteration.
        if top.pc == top.meet {
            self.entries.pop();
        }
        for &(pc, mask) in std::iter::once(&(next, others)).chain(taken) {
            if pc != meet && mask != 0 {
                self.entries.push(Entry { pc, meet, mask });
            }
        }
    }

    /// Returns the number of entries.
    pub(super) fn depth(&self) -> usize {
        self.entries.len()
    }

    /// Returns the minimum number of entries since the last call.
    pub(super) fn least_depth(&mut self) -> usize {
        std::mem::replace(&mut self.least, usize::MAX).min(self.entries.len())
    }

    /// Lets some of the running lanes execute a function first, from `pc` up to [`Stack::leave`].
    pub(super) fn enter(&mut self, pc: u32, mask: u32, end: u32) {
        self.entries.push(Entry { pc, meet: end, mask });
    }

    /// Ends the function of the running lanes.
    pub(super) fn leave(&mut self) {
        self.entries.pop();
    }

    /// Handles running lanes at the barrier at `pc` that are not all live lanes. Others go first if
    /// they can:
    ///
    /// * lanes on other sides of a branch, until they end, arrive at a barrier, or reconverge;
    /// * lanes that wait to rejoin them, if no barrier is on any path from there to the end.
    #[cold]
    pub(super) fn make_way(&mut self, program: &Program, pc: u32, live: u32) -> Way {
        let Some(top) = self.entries.last_mut() else { return Way::Closed };
        top.pc = pc;
        let mut above = top.mask;
        let mut arrived = vec![self.entries.len() - 1];
        for at in (0..self.entries.len().saturating_sub(1)).rev() {
            let entry = self.entries[at];
            let here = entry.mask & live;
            let present = here & !above;
            if present == 0 {
                above |= here;
                continue;
            }
            let beside = here & above == 0;
            above |= here;
            if beside && same_barrier(program, pc, entry.pc) {
                arrived.push(at);
            } else if beside && barrier(program, entry.pc).is_none() {
                self.entries.remove(at);
                self.entries.push(entry);
                return Way::Others;
            } else if !beside && !meets_a_barrier(program, entry.pc) {
                self.entries[at].mask &= !present;
                self.entries.push(Entry { pc: entry.pc, meet: program.insts.len() as u32, mask: present });
                return Way::Others;
            } else {
                return Way::Closed;
            }
        }
        for at in arrived {
            self.entries[at].pc += 1;
        }
        Way::Arrived
    }
}

/// Returns the barrier at an instruction, if all lanes execute it.
fn barrier(program: &Program, pc: u32) -> Option<&Barrier> {
    match program.insts.get(pc as usize) {
        Some(inst) if inst.guard.is_none() => match &inst.op {
            Op::Control(Control::Barrier(barrier)) => Some(barrier),
            _ => None,
        },
        _ => None,
    }
}

fn same_barrier(program: &Program, one: u32, other: u32) -> bool {
    one == other || barrier(program, one).is_some_and(|one| barrier(program, other) == Some(one))
}

/// Returns whether a barrier is reachable from an instruction.
fn meets_a_barrier(program: &Program, from: u32) -> bool {
    let mut seen = vec![false; program.insts.len()];
    let mut open = vec![from];
    while let Some(pc) = open.pop() {
        let Some(inst) = program.insts.get(pc as usize) else { continue };
        if std::mem::replace(&mut seen[pc as usize], true) {
            continue;
        }
        if inst.op.is_barrier() {
            return true;
        }
        open.extend(inst.op.targets());
        open.extend(inst.op.enters().map(|enter| enter.target));
        let goes_on = inst.guard.is_some() || !inst.op.ends() && inst.op.targets().is_empty();
        open.extend(goes_on.then_some(pc + 1));
    }
    false
}
