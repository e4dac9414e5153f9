//! Dependencies of a warp on asynchronous copies (PTX ISA 7.8 section 9.7.8.22 "Asynchronous
//! copy").
//!
//! A GPU counts copies; the model expresses waiting only by registers. Each copy therefore takes
//! one of 16 reserved register names, in turn. An instruction that waits reads the names of its
//! copies, four at a time. The 17th copy in flight waits for the first.

use crate::exec::Op;
use crate::exec::copy::Copy;
use crate::exec::phase::{Phase, Update};
use crate::program::{Inst, Program};
use mias_warp_trace::isa::{Class, MAX_SOURCES, StaticInst, ZERO_REG};
use std::collections::VecDeque;

/// Number of names for copies. Assumption: more copies than one warp has in flight in a loop with
/// three stages of four.
pub const NAMES: u8 = 16;

/// First name for copies; the last one precedes the zero register.
const FIRST: u8 = ZERO_REG - NAMES;

/// Number of names that one instruction can read.
const READ: u8 = MAX_SOURCES as u8;

/// Number of nonempty sets among the names that one instruction reads. Several instructions
/// together cover all names.
const SETS: usize = (1 << READ) - 1;

/// Effect of an instruction on copies in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Starts a copy.
    Start,
    /// Closes a group.
    Commit,
    /// Waits for all groups except this many.
    Wait(u32),
    /// Waits for all copies.
    WaitAll,
    /// Ties the copies in flight to a barrier in shared memory.
    Tie,
    /// Waits at such a barrier for the copies tied to any barrier.
    Test,
}

/// Returns the effect of each instruction on copies; empty if the program starts none.
pub fn usages(program: &Program) -> Vec<Option<Use>> {
    let any = names_left(program) < u16::from(ZERO_REG);
    program.insts.iter().map(|inst| usage(inst).filter(|_| any)).collect()
}

fn usage(inst: &Inst) -> Option<Use> {
    match &inst.op {
        Op::Copy(Copy::Start { .. }) => Some(Use::Start),
        Op::Copy(Copy::Commit) => Some(Use::Commit),
        Op::Copy(Copy::Wait(groups)) => Some(Use::Wait(*groups)),
        Op::Copy(Copy::WaitAll) => Some(Use::WaitAll),
        Op::Phase(Phase::Update(Update::Copied(_), ..)) => Some(Use::Tie),
        Op::Phase(Phase::Test { .. }) => Some(Use::Test),
        _ => None,
    }
}

/// Returns the number of names available to the program's values.
pub fn names_left(program: &Program) -> u16 {
    let copies = program.insts.iter().any(|inst| usage(inst) == Some(Use::Start));
    u16::from(if copies { FIRST } else { ZERO_REG })
}

/// Returns the forms of an instruction: one per name for a copy, or one per set of names for an
/// instruction that waits.
pub fn forms(usage: Use, inst: StaticInst) -> Vec<StaticInst> {
    match usage {
        Use::Start => (FIRST..ZERO_REG).map(|name| inst.writes(name)).collect(),
        Use::Commit | Use::Tie => Vec::new(),
        Use::Wait(_) | Use::WaitAll | Use::Test => {
            let form = |first: u8, set: usize| {
                let names: Vec<u8> = (0..READ).filter(|bit| set >> bit & 1 == 1).map(|bit| first + bit).collect();
                StaticInst::new(inst.pc, Class::Int).reads(&names)
            };
            (FIRST..ZERO_REG).step_by(READ.into()).flat_map(|first| (1..=SETS).map(move |set| form(first, set))).collect()
        }
    }
}

/// Returns the indices of the forms that read the names of a set.
pub fn reading(names: u16) -> impl Iterator<Item = usize> {
    (0..usize::from(NAMES / READ)).filter_map(move |quarter| {
        let set = usize::from(names) >> (quarter * usize::from(READ)) & SETS;
        (set > 0).then(|| quarter * SETS + set - 1)
    })
}

/// Copies in flight of one warp, as sets of names.
#[derive(Clone, Debug, Default)]
pub struct UnderWay {
    next: u8,
    /// Copies that are not in a group yet.
    open: u16,
    /// Groups, with the oldest first.
    groups: VecDeque<u16>,
    /// Copies tied to a barrier.
    tied: u16,
}

impl UnderWay {
    /// Starts a copy and returns the index of its name.
    pub fn start(&mut self) -> usize {
        let name = self.next;
        self.next = (self.next + 1) % NAMES;
        // The previous copy with this name is complete by then.
        self.forget(1 << name);
        self.open |= 1 << name;
        name.into()
    }

    /// Closes a group.
    pub fn commit(&mut self) {
        self.groups.push_back(self.open);
        self.open = 0;
        while self.groups.front() == Some(&0) {
            self.groups.pop_front();
        }
    }

    /// Returns the names that an instruction reads to wait.
    pub fn wait(&mut self, usage: Use) -> u16 {
        let names = match usage {
            Use::Wait(groups) => {
                let done = self.groups.len().saturating_sub(groups as usize);
                self.groups.drain(..done).fold(0, |all, group| all | group)
            }
            Use::WaitAll => self.all(),
            Use::Test => self.tied,
            Use::Start | Use::Commit | Use::Tie => 0,
        };
        self.forget(names);
        names
    }

    /// Ties all copies in flight to a barrier.
    pub fn tie(&mut self) {
        self.tied |= self.all();
    }

    fn all(&self) -> u16 {
        self.groups.iter().fold(self.open, |all, group| all | group)
    }

    fn forget(&mut self, names: u16) {
        self.open &= !names;
        self.tied &= !names;
        self.groups.iter_mut().for_each(|group| *group &= !names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the names that some forms read.
    fn read(names: u16) -> u16 {
        let forms = forms(Use::WaitAll, StaticInst::new(0, Class::Int));
        let bits = reading(names).flat_map(|form| forms[form].sources().to_vec());
        bits.fold(0, |all, name| all | 1 << (name - FIRST))
    }

    proptest! {
        #[test]
        fn the_forms_read_what_they_should(names: u16) {
            prop_assert_eq!(read(names), names);
        }

        /// With fewer copies in flight than names, each is waited for once, by the first wait that
        /// covers its group.
        #[test]
        fn groups_are_waited_for_in_order(sizes in prop::collection::vec(0usize..4, 1..20), left in 0u32..3) {
            let (mut under_way, mut pending) = (UnderWay::default(), VecDeque::new());
            for size in sizes {
                pending.push_back((0..size).fold(0u16, |all, _| all | 1 << under_way.start()));
                under_way.commit();
                let done = pending.len().saturating_sub(left as usize);
                let expected: u16 = pending.drain(..done).fold(0, |all, group| all | group);
                prop_assert_eq!(under_way.wait(Use::Wait(left)), expected);
            }
            let rest = pending.into_iter().fold(0, |all, group| all | group);
            prop_assert_eq!(under_way.wait(Use::WaitAll), rest);
            prop_assert_eq!(under_way.wait(Use::WaitAll), 0);
        }
    }

    #[test]
    fn a_barrier_waits_for_what_was_tied() {
        let mut under_way = UnderWay::default();
        let first = 1u16 << under_way.start();
        under_way.tie();
        let second = 1u16 << under_way.start();
        assert_eq!(under_way.wait(Use::Test), first);
        assert_eq!(under_way.wait(Use::Test), 0);
        assert_eq!(under_way.wait(Use::WaitAll), second);
    }
}
