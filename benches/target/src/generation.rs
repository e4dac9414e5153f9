//! Configuration generation: the firmware's walk against the thesis' tree (Nasef 2023, algorithm 1,
//! a port with nodes in vectors).

use mias_firmware::configs::{Candidate, Generator, MAX_KERNELS};
use mias_firmware::resources::Resources;
use semihosting::println;

use crate::launches::SETS;
use crate::measure::Span;
use crate::{block, heap, tree};

/// Prints, per set of kernels, the maximal configurations, the leaves of the tree, and the
/// instructions of the firmware and of the tree.
pub(crate) fn measure() {
    for kernels in SETS {
        let mut demands = [Resources::NONE; MAX_KERNELS];
        let mut candidates = [Candidate { demand: Resources::NONE, cap: u8::MAX }; MAX_KERNELS];
        for ((demand, candidate), kernel) in demands.iter_mut().zip(&mut candidates).zip(kernels) {
            *demand = block::SM.demand(kernel);
            candidate.demand = *demand;
        }
        let (demands, candidates) = (&demands[..kernels.len()], &candidates[..kernels.len()]);
        let (ours, count) = Span::of(|| generate(candidates));
        // SAFETY: the heap is empty.
        unsafe { heap::reset() };
        let (theirs, tree) = Span::of(|| tree::generate(&block::SM.capacity, demands));
        assert_eq!(tree.configurations.len(), count, "both find the same configurations");
        println!("generation {} {count} {} {} {}", kernels.len(), tree.leaves.len(), ours.instructions(), theirs.instructions());
    }
}

/// Runs the firmware's generator to its end.
#[inline(never)]
fn generate(candidates: &[Candidate]) -> usize {
    Generator::new(block::SM.capacity, candidates).count()
}
