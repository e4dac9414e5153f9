//! Periodic samples of a run: instructions and energy. Sampling does not change a run.

use super::{Running, SimulatedGpu, limit};
use crate::experiment::gpu_runner::{EnergySample, Run, RunError, Sample, Sampling};
use mias_hw_model::energy::EnergyReport;
use mias_hw_model::gpu::Stats;

/// Samples in order.
#[derive(Default)]
pub(super) struct Noted {
    pub(super) samples: Vec<Sample>,
    pub(super) energy_samples: Vec<EnergySample>,
}

/// Returns the first sampling cycle after `cycle`; `None` if it is beyond the last.
fn after(cycle: u64, noted: Sampling) -> Option<u64> {
    let every = noted.every_cycles.max(1);
    (cycle / every).checked_add(1)?.checked_mul(every).filter(|next| *next <= noted.until_cycle)
}

impl SimulatedGpu {
    /// Advances from sample to sample, up to the last one requested.
    pub(super) fn note_until(&self, running: &mut Running, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Noted, RunError> {
        let until_cycle = limit(run.options);
        let asked = run.options.sample_cycles.map(|every_cycles| Sampling { every_cycles, until_cycle });
        let of_insts = asked.or(self.samples).map(|of| Sampling { until_cycle: of.until_cycle.min(until_cycle), ..of });
        let of_energy = self.energy_cycles.map(|every_cycles| Sampling { every_cycles, until_cycle });
        let (mut noted, mut cycle) = (Noted::default(), 0);
        while let Some(next) = [of_insts, of_energy].into_iter().flatten().filter_map(|of| after(cycle, of)).min() {
            let is_due = |of: Option<Sampling>| of.is_some_and(|of| after(cycle, of) == Some(next));
            let (insts, energy) = (is_due(of_insts), is_due(of_energy));
            self.advance(running, next, progress)?;
            cycle = next;
            if running.gpu.cycle() < cycle {
                break;
            }
            let stats = running.gpu.stats();
            if insts {
                noted.samples.push(sample(cycle, &stats, asked.is_some()));
            }
            if energy && let Some(energy) = EnergyReport::of(&self.config, &stats) {
                noted.energy_samples.push(EnergySample { cycle, energy });
            }
        }
        Ok(noted)
    }
}

/// Returns the instructions so far, and L1 accesses if requested.
fn sample(cycle: u64, stats: &Stats, accesses: bool) -> Sample {
    let insts = stats.launches.iter().map(|launch| (launch.warp_insts, launch.thread_insts)).collect();
    let l1_accesses = if accesses { stats.launches.iter().map(|launch| launch.l1.accesses).collect() } else { Vec::new() };
    Sample { cycle, insts, l1_accesses }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_at_multiples_up_to_the_last() {
        let noted = Sampling { every_cycles: 10, until_cycle: 30 };
        assert_eq!([0, 9, 10, 29, 30].map(|cycle| after(cycle, noted)), [Some(10), Some(10), Some(20), Some(30), None]);
        assert_eq!(after(u64::MAX, Sampling { every_cycles: 3, until_cycle: u64::MAX }), None);
    }
}
