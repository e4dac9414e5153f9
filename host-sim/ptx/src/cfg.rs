//! Basic blocks and immediate post-dominators, at which the lanes of a divergent branch reconverge.
//!
//! Post-dominators are found as dominators of the reversed graph from a virtual exit (Cooper,
//! Harvey and Kennedy, "A simple, fast dominance algorithm", 2001). Blocks that never reach the
//! exit (endless loops) reconverge at the end of the kernel.

use super::exec::Op;
use super::exec::control::Control;
use super::program::Inst;

/// Control flow of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cfg {
    /// First instruction of each block, ascending.
    pub blocks: Vec<u32>,
    /// Reconvergence point per instruction: the first instruction of the immediate post-dominator
    /// of its block; the instruction count for the end.
    pub reconverge: Vec<u32>,
}

/// Analyzes a list of instructions.
///
/// The last instruction is unguarded and ends the kernel or a recursive function. Recursive
/// functions follow the kernel, each with its own end; a call has no effect on the control flow of
/// its caller.
pub fn analyze(insts: &[Inst]) -> Cfg {
    let end = insts.len();
    let mut leader = vec![false; end + 1];
    leader[0] = true;
    for (at, inst) in insts.iter().enumerate() {
        for &target in inst.op.targets() {
            leader[(target as usize).min(end)] = true;
        }
        if !inst.op.targets().is_empty() || inst.op.ends() || inst.op.enters().is_some() {
            leader[at + 1] = true;
        }
    }
    let blocks: Vec<u32> = (0..end).filter(|&at| leader[at]).map(|at| at as u32).collect();
    let block_of = |at: u32| blocks.partition_point(|&first| first <= at) - 1;
    let exit = blocks.len();
    // Lanes that exit in a recursive function are at its end, for the lanes that wait there.
    let ends: Vec<usize> = (0..end).filter(|&at| matches!(insts[at].op, Op::Control(Control::Leave))).collect();
    let first_function = insts.iter().filter_map(|inst| inst.op.enters()).map(|enter| enter.target as usize).min().unwrap_or(end);
    let function_end = |at: usize| if at < first_function { None } else { ends.get(ends.partition_point(|&end| end < at)).copied() };
    let successors: Vec<Vec<usize>> = (0..exit)
        .map(|block| {
            let last = blocks.get(block + 1).map_or(end, |&next| next as usize) - 1;
            let inst = &insts[last];
            let falls = if last + 1 < end { block + 1 } else { exit };
            let mut next = Vec::new();
            if inst.op.ends() {
                next.push(function_end(last).map_or(exit, |end| if end == last { exit } else { block_of(end as u32) }));
            } else if inst.op.targets().is_empty() {
                next.push(falls);
            }
            for &target in inst.op.targets() {
                let block = if (target as usize) < end { block_of(target) } else { exit };
                if !next.contains(&block) {
                    next.push(block);
                }
            }
            if inst.guard.is_some() && !next.contains(&falls) {
                next.push(falls);
            }
            next
        })
        .collect();
    let post = post_dominators(&successors);
    // All remaining lanes of a call reach the end of the function.
    let last_place = |at: usize| function_end(at).unwrap_or(end) as u32;
    let reconverge =
        (0..end).map(|at| post[block_of(at as u32)].and_then(|block| blocks.get(block).copied()).unwrap_or(last_place(at))).collect();
    Cfg { blocks, reconverge }
}

/// Returns the immediate post-dominator of each block; the exit is block `successors.len()`. `None`
/// for blocks that never reach it.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let mut predecessors = vec![Vec::new(); exit + 1];
    for (block, next) in successors.iter().enumerate() {
        for &to in next {
            predecessors[to].push(block);
        }
    }
    // Post-order of the reversed graph, from the exit, without recursion.
    let mut order = Vec::new();
    let mut number = vec![None; exit + 1];
    let mut seen = vec![false; exit + 1];
    let mut stack = vec![(exit, 0)];
    seen[exit] = true;
    while let Some((node, at)) = stack.pop() {
        if let Some(&next) = predecessors[node].get(at) {
            stack.push((node, at + 1));
            if !std::mem::replace(&mut seen[next], true) {
                stack.push((next, 0));
            }
        } else {
            number[node] = Some(order.len());
            order.push(node);
        }
    }
    let mut dominator: Vec<Option<usize>> = vec![None; exit + 1];
    dominator[exit] = Some(exit);
    let mut changed = true;
    while changed {
        changed = false;
        for &node in order.iter().rev().filter(|&&node| node != exit) {
            let meet =
                successors[node].iter().copied().filter(|&s| dominator[s].is_some()).reduce(|a, b| intersect(a, b, &dominator, &number));
            if meet.is_some() && dominator[node] != meet {
                dominator[node] = meet;
                changed = true;
            }
        }
    }
    dominator.truncate(exit);
    dominator
}

fn intersect(mut a: usize, mut b: usize, dominator: &[Option<usize>], number: &[Option<usize>]) -> usize {
    while a != b {
        // The exit has the highest number, so the lower side climbs.
        let lower = if number[a] < number[b] { &mut a } else { &mut b };
        match dominator[*lower] {
            Some(up) => *lower = up,
            None => return dominator.len() - 1,
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn diamonds_and_loops_meet_where_they_should() {
        // 0 -> 1, 2; 1 -> 3; 2 -> 3; 3 -> 3, exit
        assert_eq!(post_dominators(&[vec![1, 2], vec![3], vec![3], vec![3, 4]]), [Some(3), Some(3), Some(3), Some(4)]);
        // 1 leaves early: 0 meets at the exit.
        assert_eq!(post_dominators(&[vec![1, 2], vec![3], vec![3]]), [Some(3), Some(3), Some(3)]);
        // 1 never ends.
        assert_eq!(post_dominators(&[vec![1, 2], vec![1], vec![3]]), [Some(2), None, Some(3)]);
    }

    /// Returns whether the exit can be reached from `from` without passing `without`. By
    /// definition, b post-dominates a if the exit cannot be reached from a without b.
    fn reaches_without(successors: &[Vec<usize>], from: usize, without: usize) -> bool {
        let exit = successors.len();
        let (mut seen, mut stack) = (vec![false; exit + 1], vec![from]);
        while let Some(node) = stack.pop() {
            if node == without || std::mem::replace(&mut seen[node], true) {
                continue;
            }
            if node == exit {
                return true;
            }
            stack.extend(&successors[node]);
        }
        false
    }

    proptest! {
        #[test]
        fn equal_to_the_definition(graph in (2usize..9).prop_flat_map(|n| prop::collection::vec(prop::collection::vec(0..=n, 1..3), n))) {
            let exit = graph.len();
            for (node, &found) in post_dominators(&graph).iter().enumerate() {
                if !reaches_without(&graph, node, usize::MAX) {
                    prop_assert_eq!(found, None);
                    continue;
                }
                let strict: Vec<usize> = (0..=exit).filter(|&b| b != node && !reaches_without(&graph, node, b)).collect();
                // The immediate one is the strict post-dominator that all others post-dominate.
                let immediate = strict.iter().copied().find(|&b| strict.iter().all(|&c| c == b || !reaches_without(&graph, b, c)));
                prop_assert_eq!(found, immediate, "node {}", node);
            }
        }
    }
}
