//! Scheduling of instructions within a stretch that is always executed as a whole.
//!
//! nvcc leaves PTX in source order, and its assembler moves loads up, so that many are in flight
//! before the first result is needed. A replay of PTX order on an in-order GPU would expose every
//! latency. The rule applies within a basic block and between barriers: take the first instruction
//! in program order that is ready and is a load or leads to one. If there is none, take the first
//! that is ready. An instruction is ready once all earlier ones that it depends on are taken.
//! Dependencies are registers read and written, and memory of the same space unless both load.

use super::fold::Folded;
use crate::exec::Op;
use crate::exec::copy::Copy;
use crate::exec::matrix::Matrix;
use crate::exec::memory::{Memory, Space};
use crate::exec::surface;
use crate::exec::texture::Texturing;
use crate::program::Program;

/// A stretch of instructions with one entry and one exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// First PTX instruction.
    pub start: u32,
    /// One past the last PTX instruction.
    pub end: u32,
    /// Remaining instructions in the order in which a GPU executes them.
    pub order: Vec<u32>,
}

impl Segment {
    /// Returns whether the order is the program order.
    pub fn in_program_order(&self) -> bool {
        self.order.is_sorted()
    }
}

/// Divides the program into segments and orders each.
pub fn schedule(program: &Program, folded: &[Option<Folded>]) -> Vec<Segment> {
    let mut cuts: Vec<u32> = program.blocks.clone();
    // A barrier is a separate segment: other lanes may have to run between the code before it and
    // the barrier.
    cuts.extend((0u32..).zip(&program.insts).filter(|(_, inst)| inst.op.is_barrier()).flat_map(|(pc, _)| [pc, pc + 1]));
    cuts.push(program.insts.len() as u32);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|w| Segment { start: w[0], end: w[1], order: order(program, folded, w[0]..w[1]) }).collect()
}

fn order(program: &Program, folded: &[Option<Folded>], range: std::ops::Range<u32>) -> Vec<u32> {
    let kept: Vec<(u32, &Folded)> = range.filter_map(|pc| Some((pc, folded[pc as usize].as_ref()?))).collect();
    let op = |at: usize| &program.insts[kept[at].0 as usize].op;
    // before[b] lists the earlier positions that b must follow.
    let before: Vec<Vec<usize>> =
        (0..kept.len()).map(|b| (0..b).filter(|&a| depends(op(a), kept[a].1, op(b), kept[b].1)).collect()).collect();
    let mut urgent = vec![false; kept.len()];
    for at in (0..kept.len()).rev() {
        urgent[at] |= is_load(op(at)) || matches!(op(at), Op::Texture(Texturing::Fetch(_)));
        if urgent[at] {
            before[at].iter().for_each(|&a| urgent[a] = true);
        }
    }
    let mut taken = vec![false; kept.len()];
    let mut order = Vec::with_capacity(kept.len());
    while order.len() < kept.len() {
        let ready = |at: &usize| !taken[*at] && before[*at].iter().all(|&a| taken[a]);
        let next = (0..kept.len()).filter(|&at| urgent[at]).find(ready).or_else(|| (0..kept.len()).find(ready));
        // The first instruction that is not taken is always ready.
        let Some(next) = next else { break };
        taken[next] = true;
        order.push(kept[next].0);
    }
    order
}

fn depends(a_op: &Op, a: &Folded, b_op: &Op, b: &Folded) -> bool {
    if stays(a_op) || stays(b_op) || matches!((a_op, b_op), (Op::Copy(_), Op::Copy(_))) {
        return true;
    }
    let meet = |x: &[usize], y: &[usize]| x.iter().any(|reg| y.contains(reg));
    if meet(&a.defs, &b.uses) || meet(&a.uses, &b.defs) || meet(&a.defs, &b.defs) {
        return true;
    }
    let clash = |&(a_space, a_stores): &(Space, bool), &(b_space, b_stores): &(Space, bool)| {
        (a_space == b_space || [a_space, b_space].contains(&Space::Generic)) && (a_stores || b_stores)
    };
    let b_reach = reach(b_op);
    reach(a_op).iter().flatten().any(|a| b_reach.iter().flatten().any(|b| clash(a, b)))
}

/// Returns true for instructions that others must not pass: control, and waiting for copies or
/// other threads.
fn stays(op: &Op) -> bool {
    matches!(op, Op::Control(_) | Op::Copy(Copy::Wait(_) | Copy::WaitAll) | Op::Phase(_))
}

fn is_load(op: &Op) -> bool {
    match op {
        Op::Memory(Memory::Load { .. }) | Op::Copy(Copy::Start { .. }) => true,
        Op::Matrix(Matrix::Tile(tile)) => tile.loads(),
        Op::Matrix(Matrix::Rows(rows)) => rows.loads(),
        _ => false,
    }
}

/// Returns the memories that an instruction accesses, and whether it changes them.
fn reach(op: &Op) -> [Option<(Space, bool)>; 2] {
    match op {
        Op::Memory(Memory::Load { access, .. }) => [Some((access.space, false)), None],
        Op::Memory(Memory::Store { access, .. } | Memory::Atomic { access, .. }) => [Some((access.space, true)), None],
        Op::Matrix(Matrix::Tile(tile)) => [Some((tile.access.space, !tile.loads())), None],
        Op::Matrix(Matrix::Rows(rows)) => [Some((rows.access.space, !rows.loads())), None],
        Op::Copy(Copy::Start { from, to, .. }) => [Some((from.space, false)), Some((to.space, true))],
        // Texels are in device memory.
        Op::Texture(Texturing::Fetch(_)) => [Some((Space::Global, false)), None],
        Op::Texture(Texturing::Surface(surface)) => [Some((Space::Global, matches!(surface.moved, surface::Move::Store(_)))), None],
        _ => [None, None],
    }
}
