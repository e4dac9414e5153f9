//! Miss resources: what a load that misses in the L1 needs, and which kernel may have how much of it (Dai et al. 2018, sections 2.1 and 4.5;
//! sources.md D125).
//!
//! The L1 asks in the cycle of a look-up, for each resource in the order in which it finds them lacking: a line of the set that is on its way
//! ([`MissResources::line`]), a place in the miss queue, an MSHR. What is refused is a reservation fail like any other, and changes no state.
//! It says when one was taken or given back.
//!
//! One file per mechanism. Shared, first come, first served, is none of this: the L1 has its own counts then. [`divided`] has a share for
//! each kernel on the SM; it says what it costs in bits. A machine that names miss resources can have them divided while it runs, by weights from the
//! register block (sources.md D176); it counts who has what from the beginning.

mod divided;
#[cfg(test)]
mod tests;

use crate::config::{L1Config, MissDivision};
use crate::sm::KERNEL_SLOTS;
use divided::{Divided, Weights};

/// Counts of a resource that is divided, for each that is taken: one up, and one down when it is
/// given back (sources.md D175). Of a line that is on its way they are those of its set.
const COUNTS_EACH: u64 = 2;

/// By kernel slot, weights of shares of miss resources.
pub type MissWeights = [u16; KERNEL_SLOTS];

/// Who may have how much.
#[derive(Clone, Debug)]
pub(super) struct MissResources {
    lines: Divided,
    queue: Divided,
    mshrs: Divided,
    /// The machine's weights, if it divides.
    gpu: Option<Weights>,
    /// They are divided now.
    divides: bool,
}

impl MissResources {
    /// None where a machine does not name them.
    pub(super) fn new(config: &L1Config) -> Option<Self> {
        let division = config.miss_resources.as_ref()?;
        let weights: Weights = std::array::from_fn(|slot| division.weights.get(slot).copied().unwrap_or(1));
        let divided = |whole| Divided::new(whole, weights);
        let divides = division.by != MissDivision::Shared;
        let gpu = divides.then_some(weights);
        Some(MissResources { lines: divided(config.ways), queue: divided(config.miss_queue), mshrs: divided(config.mshrs), gpu, divides })
    }

    /// They are divided by these weights from now on, each at least 1; with none as the machine does.
    pub(super) fn weigh(&mut self, given: Option<MissWeights>) {
        let weights = given.map(|weights| weights.map(u32::from)).or(self.gpu);
        self.divides = weights.is_some();
        if let Some(weights) = weights {
            [&mut self.lines, &mut self.queue, &mut self.mshrs].into_iter().for_each(|resource| resource.weigh(weights));
        }
    }

    /// Counts for each resource that is taken: nobody needs them while nothing is divided.
    pub(super) fn counts_each(&self) -> u64 {
        if self.divides { COUNTS_EACH } else { 0 }
    }

    /// Kernels that have TBs on the SM from now on.
    pub(super) fn reside(&mut self, resident: u8) {
        [&mut self.lines, &mut self.queue, &mut self.mshrs].into_iter().for_each(|resource| resource.reside(resident));
    }

    /// The L1 has so many ways from now on.
    pub(super) fn resize(&mut self, ways: u32) {
        self.lines.resize(ways);
    }

    /// Whether a kernel for which `awaited` lines of a set are on their way may reserve one more.
    pub(super) fn line(&self, kernel: u8, awaited: u32) -> bool {
        !self.divides || awaited < self.lines.share(kernel)
    }

    /// Whether it may take a place in the miss queue.
    pub(super) fn queue(&self, kernel: u8) -> bool {
        !self.divides || self.queue.has_room(kernel)
    }

    /// Whether it may take an MSHR.
    pub(super) fn mshr(&self, kernel: u8) -> bool {
        !self.divides || self.mshrs.has_room(kernel)
    }

    /// A request of the kernel has entered the miss queue.
    pub(super) fn queued(&mut self, kernel: u8) {
        self.queue.take(kernel);
    }

    /// One has left it.
    pub(super) fn sent(&mut self, kernel: u8) {
        self.queue.give_back(kernel);
    }

    /// An MSHR is the kernel's.
    pub(super) fn missed(&mut self, kernel: u8) {
        self.mshrs.take(kernel);
    }

    /// It is nobody's any more.
    pub(super) fn served(&mut self, kernel: u8) {
        self.mshrs.give_back(kernel);
    }
}
