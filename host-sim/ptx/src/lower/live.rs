//! Live registers at the points where a warp may be switched out: at the first use of data loaded
//! from device memory, and at barriers (Lin et al. 2018, section 6.6, after Lin et al. 2016;
//! sources.md D166).
//!
//! A register is live if it holds a value that is read later. A 64-bit value takes two registers, a
//! predicate none (predicates have a separate file), and each part of a vector its own. A pending
//! load has no value yet. The lowered program has about the same values as machine code. Its
//! maximum count is therefore equated with the registers assigned by the assembler, and other
//! counts are scaled likewise.

use super::flow::{Flow, Step};
use super::fold::{self, Folded};
use super::{class, schedule};
use crate::program::Program;
use mias_warp_trace::isa::{Class, Space};

/// Live registers of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveRegisters {
    /// Maximum number of live 32-bit registers at any point.
    pub peak: u32,
    /// Maximum number where a warp may be switched out; `None` if there is no such point.
    pub at_switch: Option<u32>,
}

/// A set of registers by dense number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn new(registers: usize) -> Self {
        Set(vec![0; registers.div_ceil(64)])
    }

    fn has(&self, register: usize) -> bool {
        self.0[register / 64] >> (register % 64) & 1 != 0
    }

    fn put(&mut self, register: usize, is: bool) {
        let (word, bit) = (&mut self.0[register / 64], 1 << (register % 64));
        *word = if is { *word | bit } else { *word & !bit };
    }

    fn join(&mut self, other: &Set) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine |= theirs);
    }

    fn all(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| 64 * at + bit))
    }
}

impl LiveRegisters {
    /// Computes the live registers of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let folded = fold::fold(program);
        let segments = schedule::schedule(program, &folded);
        let flow = Flow::new(program, &folded, &segments);
        let words = |registers: &Set| registers.all().map(|register| words(program, register)).sum::<u32>();
        let (live, waits) = (live_in(program, &flow), awaited_in(program, &flow));
        let mut found = LiveRegisters::default();
        for (block, steps) in flow.blocks.iter().enumerate() {
            // Live registers before each step, from the last one back.
            let mut now = live_out(program, &flow, &live, block);
            let mut before: Vec<Set> = steps
                .iter()
                .rev()
                .map(|step| {
                    let mut with = now.clone();
                    step.folded.defs.iter().for_each(|&register| with.put(register, true));
                    found.peak = found.peak.max(words(&with));
                    read_and_written(&mut now, step.folded);
                    found.peak = found.peak.max(words(&now));
                    now.clone()
                })
                .collect();
            before.reverse();
            let mut awaited = waits[block].clone();
            for (step, mut live) in steps.iter().zip(before) {
                let waits_for: Vec<usize> = touched(step.folded).filter(|&register| awaited.has(register)).collect();
                if !waits_for.is_empty() || program.insts[step.pc as usize].op.is_barrier() {
                    waits_for.iter().for_each(|&register| live.put(register, false));
                    found.at_switch = found.at_switch.max(Some(words(&live)));
                }
                await_loads(program, &mut awaited, step);
            }
        }
        found
    }

    /// Returns the registers per thread that move when a warp is switched, out of `registers`
    /// assigned by the assembler, rounded up.
    #[must_use]
    pub fn scaled(&self, registers: u32) -> u32 {
        let at_switch = self.at_switch.unwrap_or(0);
        (at_switch * registers).div_ceil(self.peak.max(1)).min(registers)
    }
}

/// Returns the number of 32-bit registers of a value.
fn words(program: &Program, register: usize) -> u32 {
    let predicates = usize::from(program.pred_count);
    if register < predicates {
        0
    } else if register < predicates + usize::from(program.word_count) {
        1
    } else {
        2
    }
}

fn touched(folded: &Folded) -> impl Iterator<Item = usize> + '_ {
    folded.uses.iter().chain(&folded.defs).copied()
}

/// Converts the live registers after an instruction to those before it.
fn read_and_written(live: &mut Set, folded: &Folded) {
    // If only some lanes write, the others keep their old values.
    if !folded.guarded {
        folded.defs.iter().for_each(|&register| live.put(register, false));
    }
    folded.uses.iter().for_each(|&register| live.put(register, true));
}

/// Converts the pending registers before an instruction to those after it: accessed ones have
/// arrived, and a load adds its results.
fn await_loads(program: &Program, awaited: &mut Set, step: &Step<'_>) {
    touched(step.folded).for_each(|register| awaited.put(register, false));
    let loads = matches!(
        class(&program.insts[step.pc as usize]),
        Class::Load(Space::Global | Space::Local | Space::Texture) | Class::Atomic(Space::Global)
    );
    if loads {
        step.folded.defs.iter().for_each(|&register| awaited.put(register, true));
    }
}

fn live_out(program: &Program, flow: &Flow<'_>, live: &[Set], block: usize) -> Set {
    let mut out = Set::new(program.dense_count());
    flow.successors[block].iter().for_each(|&next| out.join(&live[next]));
    out
}

/// Returns the live registers at the start of each block, backward to the fixed point.
fn live_in(program: &Program, flow: &Flow<'_>) -> Vec<Set> {
    let mut live = vec![Set::new(program.dense_count()); flow.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..flow.blocks.len()).rev() {
            let mut now = live_out(program, flow, &live, block);
            flow.blocks[block].iter().rev().for_each(|step| read_and_written(&mut now, step.folded));
            if now != live[block] {
                live[block] = now;
                changed = true;
            }
        }
    }
    live
}

/// Returns the possibly pending registers at the start of each block, forward to the fixed point.
fn awaited_in(program: &Program, flow: &Flow<'_>) -> Vec<Set> {
    let mut awaited = vec![Set::new(program.dense_count()); flow.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for block in 0..flow.blocks.len() {
            let mut now = awaited[block].clone();
            flow.blocks[block].iter().for_each(|step| await_loads(program, &mut now, step));
            for &next in &flow.successors[block] {
                let mut joined = awaited[next].clone();
                joined.join(&now);
                if joined != awaited[next] {
                    awaited[next] = joined;
                    changed = true;
                }
            }
        }
    }
    awaited
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
