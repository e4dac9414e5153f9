//! Interface of the firmware in this process to the observer of a run, for any policy.

use super::gpu_runner::{Decision, ProfiledConfig};
use super::victims::{VictimChoice, Watcher};
use crate::cosim::recording::Recorder;
use mias_firmware::configs::{TRIAL, TbVector, WARM_UP};
use mias_firmware::counters::CounterSet;
use mias_firmware::driver::DEFAULT_CONFIGS;
use mias_firmware::metric::Score;
use mias_firmware::policy::Policy;
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use std::fmt::Debug;

/// Firmware with some policy.
pub(super) trait Decider: Debug + Send + Sync {
    /// Handles an interrupt.
    fn on_interrupt(&mut self, bus: &mut Recorder<'_, RegisterBlock>, seen: Option<&mut Vec<VictimChoice>>);

    /// Returns the total number of configurations; 0 for policies that do not profile.
    fn total_configs(&self) -> u32;

    /// Returns the counters that the policy requests, in addition to instructions.
    fn counters(&self) -> CounterSet;

    /// Returns the last decision and the number of its rescheduling, unless that is `noted`.
    /// `streams` are those of the workloads.
    fn decision(&self, registers: &RegisterBlock, streams: &[u32], noted: u32) -> Option<(u32, Decision)>;

    /// Returns a copy.
    fn copy(&self) -> Box<dyn Decider>;
}

impl<P: Policy + Clone + Debug + Send + Sync + 'static> Decider for Firmware<P, DEFAULT_CONFIGS> {
    fn on_interrupt(&mut self, bus: &mut Recorder<'_, RegisterBlock>, seen: Option<&mut Vec<VictimChoice>>) {
        match seen {
            None => {
                let Ok(()) = Firmware::on_interrupt(self, bus);
            }
            Some(kept) => {
                let cycle = bus.bus.now();
                let Ok(()) = self.on_interrupt_watched(bus, &mut Watcher { cycle, kept });
            }
        }
    }

    fn total_configs(&self) -> u32 {
        self.report().total_configs()
    }

    fn counters(&self) -> CounterSet {
        self.scheduler().policy().counters()
    }

    fn decision(&self, registers: &RegisterBlock, streams: &[u32], noted: u32) -> Option<(u32, Decision)> {
        let report = self.report();
        let vector = report.winner();
        if vector.is_none() && !report.settled() || report.reschedulings() == noted {
            return None;
        }
        let slots = report.slots();
        let config = |vector: TbVector| -> Vec<u32> {
            let of_stream = |&stream: &u32| {
                let slot = slot_of(registers, stream)?;
                let component = slots.iter().position(|&s| usize::from(s) == slot)?;
                Some(u32::from(vector.get(component)))
            };
            streams.iter().map(|stream| of_stream(stream).unwrap_or(0)).collect()
        };
        // If all SMs tried the configuration, the score of that trial decided.
        let best = report.tried().filter(|tried| Some(tried.entry.vector) == vector).last().and_then(|tried| tried.score);
        let tried = report.tried().map(|tried| {
            let sums = tried.entry.sums;
            ProfiledConfig {
                config: config(tried.entry.vector),
                sms: sums.sms.into(),
                cycles: sums.cycles.into(),
                issue_cycles: sums.issue_cycles.into(),
                memory_stall_cycles: sums.memory_stall_cycles.into(),
                instructions: sums.instructions.into(),
                load_requests: sums.load_requests.into(),
                outstanding_misses: sums.outstanding_misses,
                score: tried.score.map(value),
                tie: tried.score.is_some() && tried.score == best,
                trial: matches!(tried.entry.position, WARM_UP | TRIAL),
            }
        });
        let profiled: Vec<ProfiledConfig> = tried.collect();
        let winner = report.tried().enumerate().filter(|(_, tried)| Some(tried.entry.vector) == vector).last().map(|(at, _)| at);
        let chosen = vector.filter(|_| winner.is_none()).map(config);
        Some((report.reschedulings(), Decision { cycle: registers.now(), profiled, winner, chosen }))
    }

    fn copy(&self) -> Box<dyn Decider> {
        Box::new(self.clone())
    }
}

/// Returns the slot of the resident kernel that was launched on `stream`.
pub(super) fn slot_of(registers: &RegisterBlock, stream: u32) -> Option<usize> {
    let slots = registers.gpu().slot_count as usize;
    (0..slots).find(|&slot| registers.kernel(slot).is_some_and(|kernel| kernel.stream == stream))
}

/// Converts a score to a number, for reports only; decisions compare exactly.
fn value(score: Score) -> f64 {
    score.numerator.to_u128() as f64 / score.denominator.to_u128() as f64
}
