//! Registers saved in calls of recursive functions: those whose values are read after the call, by
//! backward data flow over the function's instructions. Their number determines the size of a
//! frame.

use super::frames::RETURN_BYTES;
use super::program::{Inst, Reg};
use super::subroutine::FRAME_ALIGN;
use std::collections::BTreeMap;
use std::ops::Range;

/// Sets the saved registers of each call in `range`, which is one recursive function. Blocks begin
/// at `blocks`, in ascending order.
///
/// Returns the maximum bytes over all calls for saved registers of 32 bits and the return.
/// Predicates share one register (assumption: as the compiler saves them).
pub(super) fn keep(insts: &mut [Inst], blocks: &[u32], range: Range<u32>) -> u32 {
    let calls: Vec<u32> = range.clone().filter(|&pc| insts[pc as usize].op.enters().is_some()).collect();
    let live = Liveness::of(insts, blocks, range);
    let mut most = 0;
    for pc in calls {
        let kept = live.behind(insts, pc);
        most = most.max(bytes(&kept));
        if let Some(call) = insts[pc as usize].op.enters_mut() {
            call.kept = kept.into();
        }
    }
    most + RETURN_BYTES
}

/// Returns the size of a whole frame in bytes, from the size of its local variables.
pub(super) fn frame_bytes(local_bytes: u32, kept_bytes: u32) -> u32 {
    local_bytes.next_multiple_of(8).saturating_add(kept_bytes).next_multiple_of(FRAME_ALIGN)
}

fn bytes(kept: &[Reg]) -> u32 {
    let predicates = kept.iter().any(|reg| matches!(reg, Reg::Pred(_)));
    let of = |reg: &Reg| match reg {
        Reg::Pred(_) => 0,
        Reg::Word(_) => 4,
        Reg::Double(_) => 8,
    };
    kept.iter().map(of).sum::<u32>() + if predicates { 4 } else { 0 }
}

/// A set of numbered registers.
type Set = Vec<u64>;

/// Live registers at the end of each block.
struct Liveness {
    numbers: BTreeMap<Reg, usize>,
    /// First and one past the last instruction of each block.
    blocks: Vec<Range<u32>>,
    at_end: Vec<Set>,
}

impl Liveness {
    fn of(insts: &[Inst], blocks: &[u32], range: Range<u32>) -> Self {
        let mut numbers = BTreeMap::new();
        for inst in &insts[range.start as usize..range.end as usize] {
            for &reg in inst.defs.iter().chain(&inst.uses) {
                let next = numbers.len();
                numbers.entry(reg).or_insert(next);
            }
        }
        let starts: Vec<u32> = blocks.iter().copied().filter(|at| range.contains(at)).collect();
        let ends = starts.iter().skip(1).copied().chain([range.end]);
        let blocks: Vec<Range<u32>> = starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect();
        let empty: Set = vec![0; numbers.len().div_ceil(64)];
        let mut live = Liveness { numbers, at_end: vec![empty; blocks.len()], blocks };
        let mut at_start = live.at_end.clone();
        let successors: Vec<Vec<usize>> = live.blocks.iter().map(|block| live.successors(insts, block)).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for number in (0..live.blocks.len()).rev() {
                for &next in &successors[number] {
                    live.at_end[number].iter_mut().zip(&at_start[next]).for_each(|(all, more)| *all |= more);
                }
                let mut set = live.at_end[number].clone();
                live.blocks[number].clone().rev().for_each(|pc| live.step(&insts[pc as usize], &mut set));
                changed |= set != at_start[number];
                at_start[number] = set;
            }
        }
        live
    }

    fn successors(&self, insts: &[Inst], block: &Range<u32>) -> Vec<usize> {
        let inst = &insts[block.end as usize - 1];
        let falls = inst.guard.is_some() || !inst.op.ends() && inst.op.targets().is_empty();
        let next = inst.op.targets().iter().copied().chain(falls.then_some(block.end));
        next.filter_map(|at| self.block_of(at)).collect()
    }

    fn block_of(&self, pc: u32) -> Option<usize> {
        let number = self.blocks.partition_point(|block| block.end <= pc);
        self.blocks.get(number).filter(|block| block.contains(&pc)).map(|_| number)
    }

    /// Converts the live registers after an instruction to those before it.
    fn step(&self, inst: &Inst, set: &mut Set) {
        if inst.guard.is_none() {
            inst.defs.iter().for_each(|reg| {
                let number = self.numbers[reg];
                set[number / 64] &= !(1 << (number % 64));
            });
        }
        inst.uses.iter().for_each(|reg| {
            let number = self.numbers[reg];
            set[number / 64] |= 1 << (number % 64);
        });
    }

    /// Returns the registers that are read after the call at `pc` and not set by it, in order.
    fn behind(&self, insts: &[Inst], pc: u32) -> Vec<Reg> {
        let Some(number) = self.block_of(pc) else { return Vec::new() };
        let mut set = self.at_end[number].clone();
        (pc + 1..self.blocks[number].end).rev().for_each(|pc| self.step(&insts[pc as usize], &mut set));
        let call = &insts[pc as usize];
        let read =
            |reg: &Reg, number: usize| set[number / 64] >> (number % 64) & 1 == 1 && !(call.guard.is_none() && call.defs.contains(reg));
        self.numbers.iter().filter(|&(reg, &number)| read(reg, number)).map(|(&reg, _)| reg).collect()
    }
}
