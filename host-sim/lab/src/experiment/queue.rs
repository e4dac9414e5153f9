//! Queue of launches drawn from a few kernels: kernel, order, arrival and priority of each. It
//! depends only on its parameters, so all policies and levels see the same one (sources.md D205).

use super::workload::Workload;
use crate::experiment::recorded::label;
use mias_workloads::random::Random;
use serde::{Deserialize, Serialize};

/// Maximum number of launches of a queue (assumption: more are a typing error).
pub const MOST_LAUNCHES: u32 = 10_000;

/// Longest mean time between two arrivals in core cycles (assumption: longer ones leave no queue).
pub const LONGEST_SPACING: u32 = 1_000_000;

/// Parameters of a queue: launches of a run, drawn from its kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Queue {
    /// Number of launches, at least 1.
    pub launches: u32,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Mean core cycles from one arrival to the next; 0: all arrive at cycle 0.
    pub spacing_cycles: u32,
    /// Inverse probability of an urgent launch: one in this many has priority 1, the others 0; 0
    /// for none.
    pub urgent_one_in: u32,
}

/// Drawn launch of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Kernel, by index.
    pub kernel: usize,
    /// Core cycle of arrival.
    pub arrival_cycle: u64,
    /// Priority of the launch.
    pub priority: u8,
}

/// A launch of a queue that has run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QueuedLaunch {
    /// Kernel, by index among those of the run.
    pub kernel: u32,
    /// Priority of the launch.
    #[serde(default, skip_serializing_if = "is_lowest")]
    pub priority: u8,
    /// Core cycle of arrival in the queue.
    pub arrival_cycle: u64,
    /// Core cycle in which its first TB was issued.
    pub first_cycle: u64,
    /// Core cycle by which its last TB had ended.
    pub end_cycle: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
fn is_lowest(priority: &u8) -> bool {
    *priority == 0
}

impl QueuedLaunch {
    /// Returns the core cycles from arrival to end.
    pub fn latency_cycles(&self) -> u64 {
        self.end_cycle.saturating_sub(self.arrival_cycle)
    }
}

impl Queue {
    /// Draws the launches, in order of arrival. Kernels occur equally often, up to one launch;
    /// their order is shuffled (Fisher and Yates, as in Knuth 1997, section 3.4.2). The time
    /// between arrivals is uniform from 0 to twice the mean.
    pub fn draw(&self, kernels: usize) -> Vec<Drawn> {
        let mut random = Random::new(self.seed.into());
        let mut below = |end: u64| if end == 0 { 0 } else { random.bits() % end };
        let mut order: Vec<usize> = (0..self.launches as usize).map(|at| at % kernels.max(1)).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, below(last as u64 + 1) as usize);
        }
        let mut arrival_cycle = 0;
        let launch = |(at, kernel): (usize, usize)| {
            arrival_cycle += if at == 0 { 0 } else { below(2 * u64::from(self.spacing_cycles) + 1) };
            let priority = u8::from(self.urgent_one_in > 0 && below(self.urgent_one_in.into()) == 0);
            Drawn { kernel, arrival_cycle, priority }
        };
        order.into_iter().enumerate().map(launch).collect()
    }

    /// Creates the launches of these kernels, each on a stream of its own; not placed in memory
    /// yet.
    pub fn launches(&self, kernels: &[&Workload]) -> Vec<Workload> {
        let mut numbers = vec![0; kernels.len()];
        let launch = |(at, drawn): (usize, Drawn)| {
            let Drawn { kernel, arrival_cycle, priority } = drawn;
            numbers[kernel] += 1;
            let name = label(&kernels[kernel].name, numbers[kernel]);
            Workload { name, arrival_cycle, priority, stream: at as u32, ..kernels[kernel].clone() }
        };
        self.draw(kernels.len()).into_iter().enumerate().map(launch).collect()
    }

    /// Returns the text that identifies the queue in a run's identity.
    pub fn describe(&self) -> String {
        let Queue { launches, seed, spacing_cycles, urgent_one_in } = self;
        format!("{launches} launches drawn by {seed}, {spacing_cycles} cycles apart, one in {urgent_one_in} urgent")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Kernels occur equally often, arrivals ascend within the allowed distance, and the same
        /// parameters give the same queue.
        #[test]
        fn a_queue_is_what_its_numbers_say(launches in 1..200_u32, seed: u32, spacing_cycles in 0..10_000_u32, urgent_one_in in 0..5_u32, kernels in 1..9_usize) {
            let queue = Queue { launches, seed, spacing_cycles, urgent_one_in };
            let drawn = queue.draw(kernels);
            prop_assert_eq!(&drawn, &queue.draw(kernels));
            prop_assert_eq!(drawn.len(), launches as usize);
            let count = |kernel| drawn.iter().filter(|one| one.kernel == kernel).count();
            let counts: Vec<usize> = (0..kernels).map(count).collect();
            prop_assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1, "{counts:?}");
            let apart = drawn.windows(2).map(|pair| pair[1].arrival_cycle - pair[0].arrival_cycle);
            prop_assert!(drawn[0].arrival_cycle == 0 && apart.max().unwrap_or(0) <= 2 * u64::from(spacing_cycles));
            let urgent = drawn.iter().filter(|one| one.priority == 1).count();
            prop_assert!(urgent_one_in != 0 || urgent == 0);
            prop_assert!(urgent_one_in != 1 || urgent == drawn.len());
        }
    }

    #[test]
    fn other_seeds_give_other_queues() {
        let of = |seed| Queue { launches: 40, seed, spacing_cycles: 100, urgent_one_in: 8 }.draw(8);
        assert_ne!(of(1), of(2));
    }
}
