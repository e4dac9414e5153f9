//! The firmware in this process, whichever policy it was built with, as the observer of a run sees it.

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

/// A firmware with some policy.
pub(super) trait Decider: Debug + Send + Sync {
    /// Handles an interrupt.
    fn on_interrupt(&mut self, bus: &mut Recorder<'_, RegisterBlock>, seen: Option<&mut Vec<VictimChoice>>);

    /// How many configurations there are in all; 0 for policies that do not profile.
    fn total_configs(&self) -> u32;

    /// The counters that the policy asks for, beside that of instructions.
    fn counters(&self) -> CounterSet;

    /// The last decision and the number of its rescheduling, unless that is `noted`; `streams` are those of the workloads.
    fn decision(&self, registers: &RegisterBlock, streams: &[u32], noted: u32) -> Option<(u32, Decision)>;

    /// The same again.
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
        // Where it was tried on all SMs as well, that is what it won by.
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

/// The slot of the kernel that was launched on `stream` and has not left.
pub(super) fn slot_of(registers: &RegisterBlock, stream: u32) -> Option<usize> {
    let slots = registers.gpu().slot_count as usize;
    (0..slots).find(|&slot| registers.kernel(slot).is_some_and(|kernel| kernel.stream == stream))
}

/// A score as a number, for reports only; decisions compare exactly.
fn value(score: Score) -> f64 {
    score.numerator.to_u128() as f64 / score.denominator.to_u128() as f64
}
