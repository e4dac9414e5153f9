//! Control flow of the scheduled program, over which registers are analyzed.

use super::fold::Folded;
use super::schedule::Segment;
use crate::program::Program;

/// An instruction that remains after folding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    /// Position in the scheduled order.
    pub(super) at: u32,
    /// Index in the program.
    pub(super) pc: u32,
    pub(super) folded: &'a Folded,
}

/// Control flow of a program in the scheduled order.
pub(super) struct Flow<'a> {
    /// Remaining instructions of each basic block.
    pub(super) blocks: Vec<Vec<Step<'a>>>,
    /// Successors of each basic block.
    pub(super) successors: Vec<Vec<usize>>,
}

impl<'a> Flow<'a> {
    pub(super) fn new(program: &Program, folded: &'a [Option<Folded>], segments: &[Segment]) -> Self {
        let mut blocks: Vec<Vec<Step<'a>>> = vec![Vec::new(); program.blocks.len()];
        let mut successors: Vec<Vec<usize>> = Vec::new();
        let block_of = |pc: u32| program.blocks.partition_point(|&first| first <= pc) - 1;
        let mut at = 0;
        for segment in segments {
            let block = block_of(segment.start);
            for &pc in &segment.order {
                if let Some(folded) = &folded[pc as usize] {
                    blocks[block].push(Step { at, pc, folded });
                }
                at += 1;
            }
        }
        for block in 0..blocks.len() {
            let end = program.blocks.get(block + 1).map_or(program.insts.len(), |&b| b as usize);
            let last = &program.insts[end - 1];
            let falls = last.guard.is_some() || !last.op.ends() && last.op.targets().is_empty();
            let mut next: Vec<usize> =
                last.op.targets().iter().filter(|&&t| (t as usize) < program.insts.len()).map(|&t| block_of(t)).collect();
            next.extend((falls && block + 1 < blocks.len()).then_some(block + 1));
            successors.push(next);
        }
        Flow { blocks, successors }
    }
}
