//! Queue of launches on a simulated GPU ([`Queue`]): it runs to its end, and results are reported
//! by launch and by kernel.

use super::{SimulatedGpu, limit};
use crate::experiment::gpu_runner::{Options, Outcome, Run, RunError};
use crate::experiment::queue::{Queue, QueuedLaunch};
use crate::experiment::workload::{Workload, place_for};
use mias_hw_model::gpu::{CacheStats, LaunchStats};

impl SimulatedGpu {
    /// Runs the launches drawn from the run's kernels, each with its own buffers.
    pub(super) fn run_queue(&self, run: &Run<'_>, queue: Queue, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError> {
        let mut launches = queue.launches(&run.workloads);
        let options = Options { queue: None, ..run.options };
        place_for(&mut launches, &options);
        let one_by_one = Run { control: run.control.clone(), workloads: launches.iter().collect(), options };
        let mut running = self.start(&one_by_one)?;
        self.run_on(&mut running, limit(options), progress)?;
        let outcome = self.outcome(running, limit(options));
        let drawn = queue.draw(run.workloads.len());
        let queued = launches.iter().zip(&outcome.launches).zip(&drawn).map(|((launch, stats), drawn)| of(launch, stats, drawn.kernel));
        let queued: Vec<QueuedLaunch> = queued.collect();
        let of_kernel = |kernel: usize| {
            let launches = drawn.iter().zip(&outcome.launches).filter(|(drawn, _)| drawn.kernel == kernel);
            together(launches.map(|(_, launch)| launch))
        };
        let by_kernel = (0..run.workloads.len()).map(of_kernel).collect();
        // These fields describe launches, which are not the run's kernels.
        Ok(Outcome { launches: by_kernel, queued, placement: Vec::new(), decision: None, search: None, ..outcome })
    }
}

fn of(launch: &Workload, stats: &LaunchStats, kernel: usize) -> QueuedLaunch {
    let Workload { arrival_cycle, priority, .. } = *launch;
    QueuedLaunch {
        kernel: kernel as u32,
        priority,
        arrival_cycle,
        first_cycle: stats.first_issue_cycle.unwrap_or_default(),
        end_cycle: stats.end_cycle.unwrap_or_default(),
    }
}

/// Sums the statistics of launches, from the start of the first to the end of the last.
fn together<'l>(launches: impl Iterator<Item = &'l LaunchStats>) -> LaunchStats {
    launches.fold(LaunchStats::default(), |mut sum, launch| {
        let cache = |sum: &mut CacheStats, of: &CacheStats| {
            sum.accesses += of.accesses;
            sum.hits += of.hits;
            sum.misses += of.misses;
            sum.reservation_fails += of.reservation_fails;
        };
        sum.start_cycle = sum.start_cycle.into_iter().chain(launch.start_cycle).min();
        sum.end_cycle = sum.end_cycle.max(launch.end_cycle);
        cache(&mut sum.l1, &launch.l1);
        cache(&mut sum.texture, &launch.texture);
        cache(&mut sum.l2, &launch.l2);
        for (sum, count) in [
            (&mut sum.warp_insts, launch.warp_insts),
            (&mut sum.thread_insts, launch.thread_insts),
            (&mut sum.tbs_issued, launch.tbs_issued),
            (&mut sum.tbs_completed, launch.tbs_completed),
            (&mut sum.l1_load_misses, launch.l1_load_misses),
            (&mut sum.request_packets, launch.request_packets),
            (&mut sum.reply_packets, launch.reply_packets),
            (&mut sum.dram_reads, launch.dram_reads),
            (&mut sum.dram_writes, launch.dram_writes),
            (&mut sum.dram_row_hits, launch.dram_row_hits),
            (&mut sum.thrown_away.warp_insts, launch.thrown_away.warp_insts),
            (&mut sum.thrown_away.thread_insts, launch.thrown_away.thread_insts),
        ] {
            *sum += count;
        }
        sum.issue_slots.iter_mut().zip(launch.issue_slots).for_each(|(sum, slots)| *sum += slots);
        if let Some(cycles) = launch.dram_wait_cycles {
            *sum.dram_wait_cycles.get_or_insert_default() += cycles;
        }
        sum
    })
}
