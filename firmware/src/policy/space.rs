//! The space that policies search: all admitted configurations of a set of kernels, streamed and never stored.

use heapless::Vec;

use super::Context;
use crate::configs::{Candidate, Generator, MAX_KERNELS, Rules, TbVector};

/// The kernels of a context as the generator wants them.
pub(super) struct Space {
    candidates: Vec<Candidate, MAX_KERNELS>,
}

impl Space {
    /// No kernel.
    pub(super) const fn new() -> Self {
        Self { candidates: Vec::new() }
    }

    /// Takes the kernels in. In place and out of line: a space is large for the stack.
    #[inline(never)]
    pub(super) fn gather(&mut self, context: &Context<'_>) {
        for kernel in context.kernels {
            // A context holds no more than MAX_KERNELS.
            if self.candidates.push(Candidate { demand: kernel.demand, cap: context.cap(kernel) }).is_err() {
                return;
            }
        }
    }

    /// All configurations that the rules admit with their positions, in lexicographic order.
    pub(super) fn configs(&self, context: &Context<'_>, rules: Rules) -> Admitted<'_> {
        let generator = Generator::new(context.machine.limits.capacity, &self.candidates);
        Admitted { generator, least: rules.least_present(self.candidates.len()), position: 0 }
    }
}

/// The configurations that may be tried. One iterator without adaptors: those would be moved about the stack.
pub(super) struct Admitted<'a> {
    generator: Generator<'a>,
    least: usize,
    position: u32,
}

impl Iterator for Admitted<'_> {
    type Item = (u32, TbVector);

    #[inline(always)]
    fn next(&mut self) -> Option<(u32, TbVector)> {
        loop {
            let vector = self.generator.next()?;
            if vector.present() >= self.least {
                let position = self.position;
                self.position = position.saturating_add(1);
                return Some((position, vector));
            }
        }
    }
}
