//! Miss resources: division of the resources of an L1 load miss among kernels (Dai et al. 2018,
//! sections 2.1 and 4.5; sources.md D125).
//!
//! The L1 queries it in the cycle of a look-up, for each resource in the order of its checks: a
//! line in flight in the set ([`MissResources::line`]), a miss-queue entry, an MSHR. A refusal is a
//! reservation fail like any other, and changes no state. The L1 reports each resource taken or
//! returned.
//!
//! There is one file per mechanism. Without a division (first come, first served), the L1 has its
//! own counts. [`divided`] has a share for each kernel on the SM, and states its cost in bits. A
//! GPU with this option can divide by weights from the register block at run time (sources.md
//! D176); it counts each kernel's use from the start.

mod divided;
#[cfg(test)]
mod tests;

use crate::config::{L1Config, MissDivision};
use crate::sm::KERNEL_SLOTS;
use divided::{Divided, Weights};

/// Counter operations per unit of a divided resource: one up, and one down at its return
/// (sources.md D175). For a line in flight they are those of its set.
const COUNTS_EACH: u64 = 2;

/// Weights of shares of miss resources, by kernel slot.
pub type MissWeights = [u16; KERNEL_SLOTS];

/// Division of the miss resources.
#[derive(Clone, Debug)]
pub(super) struct MissResources {
    lines: Divided,
    queue: Divided,
    mshrs: Divided,
    /// Weights of the GPU file, if it divides the resources.
    gpu: Option<Weights>,
    /// True if the resources are divided now.
    divides: bool,
}

impl MissResources {
    /// Creates the division; none for a GPU without this option.
    pub(super) fn new(config: &L1Config) -> Option<Self> {
        let division = config.miss_resources.as_ref()?;
        let weights: Weights = std::array::from_fn(|slot| division.weights.get(slot).copied().unwrap_or(1));
        let divided = |whole| Divided::new(whole, weights);
        let divides = division.by != MissDivision::Shared;
        let gpu = divides.then_some(weights);
        Some(MissResources { lines: divided(config.ways), queue: divided(config.miss_queue), mshrs: divided(config.mshrs), gpu, divides })
    }

    /// Divides by these weights, each at least 1; none restores the GPU file's division.
    pub(super) fn weigh(&mut self, given: Option<MissWeights>) {
        let weights = given.map(|weights| weights.map(u32::from)).or(self.gpu);
        self.divides = weights.is_some();
        if let Some(weights) = weights {
            [&mut self.lines, &mut self.queue, &mut self.mshrs].into_iter().for_each(|resource| resource.weigh(weights));
        }
    }

    /// Counter operations per resource taken; 0 while nothing is divided.
    pub(super) fn counts_each(&self) -> u64 {
        if self.divides { COUNTS_EACH } else { 0 }
    }

    /// Sets the kernels with TBs on the SM.
    pub(super) fn reside(&mut self, resident: u8) {
        [&mut self.lines, &mut self.queue, &mut self.mshrs].into_iter().for_each(|resource| resource.reside(resident));
    }

    /// Sets the number of ways of the L1.
    pub(super) fn resize(&mut self, ways: u32) {
        self.lines.resize(ways);
    }

    /// True if a kernel with `awaited` lines of a set in flight may reserve one more.
    pub(super) fn line(&self, kernel: u8, awaited: u32) -> bool {
        !self.divides || awaited < self.lines.share(kernel)
    }

    /// True if the kernel may take a miss-queue entry.
    pub(super) fn queue(&self, kernel: u8) -> bool {
        !self.divides || self.queue.has_room(kernel)
    }

    /// True if the kernel may take an MSHR.
    pub(super) fn mshr(&self, kernel: u8) -> bool {
        !self.divides || self.mshrs.has_room(kernel)
    }

    /// Records that a request of the kernel has entered the miss queue.
    pub(super) fn queued(&mut self, kernel: u8) {
        self.queue.take(kernel);
    }

    /// Records that a request of the kernel has left the miss queue.
    pub(super) fn sent(&mut self, kernel: u8) {
        self.queue.give_back(kernel);
    }

    /// Records that the kernel has taken an MSHR.
    pub(super) fn missed(&mut self, kernel: u8) {
        self.mshrs.take(kernel);
    }

    /// Records that the kernel has returned an MSHR.
    pub(super) fn served(&mut self, kernel: u8) {
        self.mshrs.give_back(kernel);
    }
}
