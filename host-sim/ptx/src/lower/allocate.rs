//! Register allocation by linear scan over live intervals (Poletto and Sarkar, 1999), so that the
//! timing model sees the program's dependencies.
//!
//! All classes of registers share one pool of 255 names: a 64-bit value has one name, as has a
//! predicate. The destinations of one vector load share a name, because a machine instruction has
//! one destination here; each reader then waits for the load. Names are reused oldest first. If a
//! program keeps more than 255 values alive (a GPU would spill), names are shared, which only adds
//! dependencies.
//!
//! The results of a matrix instruction share a name too. This also holds if they are set one by one
//! before, as for sums that a loop accumulates.

use super::copies;
use super::flow::{Flow, Step};
use super::fold::Folded;
use super::schedule::Segment;
use crate::exec::Op;
use crate::program::Program;
use std::collections::VecDeque;

/// Returns the name of each register by dense number; `None` for registers that no remaining
/// instruction accesses.
pub fn allocate(program: &Program, folded: &[Option<Folded>], segments: &[Segment]) -> Vec<Option<u8>> {
    let group = groups(program, folded);
    let intervals = intervals(program, folded, segments, &group);
    let mut by_start: Vec<usize> = (0..intervals.len()).filter(|&reg| intervals[reg].is_some()).collect();
    let bounds = |reg: usize| intervals[reg].unwrap_or_default();
    by_start.sort_by_key(|&reg| (bounds(reg).0, reg));
    // Name 255 is the zero register.
    let all = copies::names_left(program);
    let mut free: VecDeque<u8> = (0..all).map(|n| n as u8).collect();
    let mut active: Vec<(u32, u8)> = Vec::new();
    let mut names = vec![None; group.len()];
    for reg in by_start {
        let (start, end) = bounds(reg);
        active.retain(|&(until, name)| {
            // A value may take the name of a register that the instruction reads for the last time.
            let stays = until > start;
            if !stays {
                free.push_back(name);
            }
            stays
        });
        match free.pop_front() {
            Some(name) => {
                active.push((end, name));
                names[reg] = Some(name);
            }
            None => names[reg] = Some((reg % usize::from(all)) as u8),
        }
    }
    (0..group.len()).map(|reg| names[group[reg]]).collect()
}

/// Returns the representative of each register: itself, or the first destination of the vector load
/// or matrix instruction that defines it.
fn groups(program: &Program, folded: &[Option<Folded>]) -> Vec<usize> {
    let mut definitions = vec![0u32; program.dense_count()];
    for &reg in folded.iter().flatten().flat_map(|f| &f.defs) {
        definitions[reg] += 1;
    }
    let mut group: Vec<usize> = (0..program.dense_count()).collect();
    let mut taken = vec![false; group.len()];
    for (inst, f) in program.insts.iter().zip(folded) {
        let Some(f) = f.as_ref().filter(|f| f.defs.len() > 1) else { continue };
        let free = |reg: usize| group[reg] == reg && !taken[reg];
        if f.defs.iter().all(|&reg| definitions[reg] == 1 || matches!(inst.op, Op::Matrix(_)) && free(reg)) {
            f.defs.iter().for_each(|&reg| (group[reg], taken[reg]) = (f.defs[0], true));
        }
    }
    group
}

/// Returns the first and last position in the scheduled order at which a register holds a live
/// value.
fn intervals(program: &Program, folded: &[Option<Folded>], segments: &[Segment], group: &[usize]) -> Vec<Option<(u32, u32)>> {
    let Flow { blocks, successors } = Flow::new(program, folded, segments);
    let live_in = live_in(&blocks, &successors, group);
    let mut intervals: Vec<Option<(u32, u32)>> = vec![None; group.len()];
    let mut extend = |reg: usize, at: u32| {
        let (start, end) = intervals[reg].unwrap_or((at, at));
        intervals[reg] = Some((start.min(at), end.max(at)));
    };
    for (block, insts) in blocks.iter().enumerate() {
        for &Step { at, folded: f, .. } in insts {
            f.defs.iter().chain(&f.uses).for_each(|&reg| extend(group[reg], at));
        }
        let (Some(&Step { at: first, .. }), Some(&Step { at: last, .. })) = (insts.first(), insts.last()) else { continue };
        let registers = |live: &[bool]| -> Vec<usize> { (0..live.len()).filter(|&reg| live[reg]).collect() };
        registers(&live_in[block]).into_iter().for_each(|reg| extend(reg, first));
        for &next in &successors[block] {
            registers(&live_in[next]).into_iter().for_each(|reg| extend(reg, last));
        }
    }
    intervals
}

/// Returns the live registers at the start of each block, by backward data flow to the fixed point.
fn live_in(blocks: &[Vec<Step<'_>>], successors: &[Vec<usize>], group: &[usize]) -> Vec<Vec<bool>> {
    let mut live: Vec<Vec<bool>> = vec![vec![false; group.len()]; blocks.len()];
    let mut members = vec![0u32; group.len()];
    group.iter().for_each(|&reg| members[reg] += 1);
    // A shared name is dead only before an instruction that sets all of it.
    let whole =
        |f: &Folded, reg: usize| members[reg] == 1 || f.defs.iter().filter(|&&other| group[other] == reg).count() as u32 >= members[reg];
    let mut changed = true;
    while changed {
        changed = false;
        for block in (0..blocks.len()).rev() {
            let mut now = vec![false; group.len()];
            for &next in &successors[block] {
                now.iter_mut().zip(&live[next]).for_each(|(n, &l)| *n |= l);
            }
            for &Step { folded: f, .. } in blocks[block].iter().rev() {
                if !f.guarded {
                    f.defs.iter().filter(|&&reg| whole(f, group[reg])).for_each(|&reg| now[group[reg]] = false);
                }
                f.uses.iter().for_each(|&reg| now[group[reg]] = true);
            }
            if now != live[block] {
                live[block] = now;
                changed = true;
            }
        }
    }
    live
}
