//! Simulated GPU under the firmware, as a runner of experiments.

mod configurations;
mod counts;
mod known;
mod notes;
mod queue;
mod requests;
mod shared_prefix;
mod straps;

use super::controller::{Controller, PolicySource};
use super::decision_time::DecisionTimer;
use super::fit::Calibrated;
use super::fixed_in_turn::Wanted;
use super::gpu_runner::{End, GpuRunner, InPlace, Options, Outcome, Run, RunError, Sampling};
use super::least_squares::StallSample;
use super::placement_latency::PlacementTimes;
use super::policy::{Control, Counted, Policy, Transition};
use super::precision::{Known, Stop};
use super::requests::Scheme;
use super::threads::Threads;
use super::workload::Workload;
use crate::cancel::Cancel;
use crate::cosim::Image;
use crate::gpus::fields::{Field, changed};
use counts::{in_place, sm_totals};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::gpu::GpuProperties;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::energy::EnergyReport;
use mias_hw_model::gpu::{Gpu, Launch, LaunchError, LaunchStats, RunEnd, SmStats};
use mias_hw_model::register_block::{GpuDescription, RegisterBlock, Straps};
use mias_registers::PolicyCode;
use notes::Noted;
use requests::AHEAD_CYCLES;
use shared_prefix::Shared;

/// Number of cycles simulated between two progress reports.
const CHUNK_CYCLES: u64 = 8_192;

/// Maximum part of a copy to the device that is brought into the L2, from its end, in L2
/// capacities. It evicts all earlier sectors (assumption: no set of the L2 gets less than an eighth
/// of its share of consecutive lines).
const MOST_L2_FILLS: u64 = 8;

/// GPU that can run workloads; every run starts from reset.
#[derive(Clone, Debug)]
pub struct SimulatedGpu {
    config: GpuConfig,
    /// Properties of the GPU that the firmware reads from the register block.
    properties: GpuProperties,
    cancel: Cancel,
    /// Threads shared by its runs.
    threads: Threads,
    /// Whether cycles without events are skipped.
    skip: bool,
    /// Whether events at the register block are recorded.
    record: bool,
    /// Whether the firmware's accesses are recorded.
    record_firmware: bool,
    /// Whether the firmware's choices of victims are kept.
    explain: bool,
    /// Firmware image that decides; `None` for the firmware in this process.
    image: Option<Image>,
    /// Interval of instruction samples.
    samples: Option<Sampling>,
    /// Core cycles between two energy samples; `None` for no samples.
    energy_cycles: Option<u64>,
    /// Maximum number of entries in the log of context movements; `None` for no log.
    context_notes: Option<usize>,
}

/// GPU in the middle of a run.
struct Running {
    gpu: Gpu,
    controller: Controller,
    /// Rule that may end the run before its window.
    stop: Option<Stop>,
    /// Result of the rule, once it has ended the run.
    known: Option<Known>,
}

impl SimulatedGpu {
    /// Creates a GPU with this (checked) configuration.
    pub fn new(config: GpuConfig) -> Self {
        let straps = Straps::new(PolicyCode::LeftOver);
        let Ok(properties) = GpuProperties::read(&mut RegisterBlock::new(GpuDescription::of(&config, straps)));
        SimulatedGpu {
            config,
            properties,
            cancel: Cancel::default(),
            threads: Threads::one(),
            skip: true,
            record: false,
            record_firmware: false,
            explain: false,
            image: None,
            samples: None,
            energy_cycles: None,
            context_notes: None,
        }
    }

    /// Makes runs end with [`RunError::Interrupted`] at the next chunk of cycles after a request of
    /// `cancel`.
    pub fn stopped_by(self, cancel: Cancel) -> Self {
        SimulatedGpu { cancel, ..self }
    }

    /// Shares these threads among the runs of all GPUs with a clone of them. The default is one
    /// thread per run. Results do not change.
    pub fn with_threads(self, threads: Threads) -> Self {
        SimulatedGpu { threads, ..self }
    }

    /// Simulates every cycle instead of skipping those without events. Slower; no number changes
    /// (sources.md D109).
    pub fn without_skipping(self) -> Self {
        SimulatedGpu { skip: false, ..self }
    }

    /// Records events at the register block ([`Outcome::activity`]).
    pub fn recording(self) -> Self {
        SimulatedGpu { record: true, ..self }
    }

    /// Records the firmware's register accesses ([`Outcome::recording`]).
    pub fn recording_firmware(self) -> Self {
        SimulatedGpu { record_firmware: true, ..self }
    }

    /// Keeps the victim choices of the firmware in this process ([`Outcome::victims`]).
    pub fn explaining(self) -> Self {
        SimulatedGpu { explain: true, ..self }
    }

    /// Uses an image in QEMU as the scheduler; `None` for the firmware in this process.
    pub fn with_image(self, image: Option<Image>) -> Self {
        SimulatedGpu { image, ..self }
    }

    /// Samples instructions at intervals ([`Outcome::samples`]).
    pub fn sampling(self, samples: Sampling) -> Self {
        SimulatedGpu { samples: Some(samples), ..self }
    }

    /// Samples energy every `every_cycles` core cycles, at least 1 ([`Outcome::energy_samples`]).
    pub fn noting_energy(self, every_cycles: u64) -> Self {
        SimulatedGpu { energy_cycles: Some(every_cycles), ..self }
    }

    /// Logs context movements, at most `most` entries ([`Outcome::context_log`]).
    pub fn recording_context_moves(self, most: usize) -> Self {
        SimulatedGpu { context_notes: Some(most), ..self }
    }

    /// Returns the same GPU with other values in some fields of its file.
    ///
    /// # Errors
    /// [`RunError::Workload`] if the fields are invalid.
    pub fn with_fields(&self, fields: &[Field]) -> Result<Self, RunError> {
        let config = changed(&self.config, fields).map_err(RunError::Workload)?;
        config.check().map_err(|error| RunError::Workload(format!("GPU `{}`: {error}", config.name)))?;
        let properties = SimulatedGpu::new(config.clone()).properties;
        Ok(SimulatedGpu { config, properties, ..self.clone() })
    }

    /// Returns the GPU with its launches posted and its firmware started, at cycle 0.
    fn start(&self, run: &Run<'_>) -> Result<Running, RunError> {
        let config = run.options.levels.on(run.options.transition.on(&self.config));
        let mut gpu = Gpu::new(&config, self.straps(run)).with_tb_cap(run.options.tbs_per_sm.unwrap_or(u32::MAX));
        if !self.skip {
            gpu = gpu.without_skipping();
        }
        if let Some(sms) = run.options.open_sms {
            gpu = gpu.with_open_sms(sms as usize);
        }
        if run.options.counted == Counted::FirstRun {
            gpu = gpu.with_first_runs();
        }
        if run.options.transition == Transition::Preempt(Scheme::Oracle) {
            gpu = gpu.with_drain_oracle(AHEAD_CYCLES);
        }
        if self.record {
            gpu.registers_mut().record_activity();
        }
        if let Some(most) = self.context_notes {
            gpu.record_context_moves(most);
        }
        if run.options.warm_l2 {
            run.workloads.iter().for_each(|workload| self.warm(&mut gpu, workload));
        }
        let relaunch = run.options.relaunch && matches!(run.options.end, End::Cycles(_));
        for workload in &run.workloads {
            let &Workload { arrival_cycle, stream, sector_offset, priority, latency_limit, .. } = *workload;
            let (trace, source) = (workload.trace.clone(), workload.source.clone());
            // A kernel with a latency limit is launched once: its end is measured.
            let relaunch = relaunch && latency_limit == 0;
            let live_registers = if self.config.sm.oversubscription.is_some() { workload.live_registers() } else { Vec::new() };
            let identity = workload.identity();
            let launch =
                Launch { trace, source, arrival_cycle, stream, priority, latency_limit, identity, relaunch, live_registers, sector_offset };
            gpu.launch_in_turn(launch, workload.then.clone()).map_err(|error| unfit(&error))?;
        }
        let streams = run.workloads.iter().map(|workload| workload.stream).collect();
        let timer = DecisionTimer::new(&self.config, run.options, &run.control, run.workloads.len());
        let asked = match &run.control {
            Control::Policy(Policy::Custom(own)) => PolicySource::Custom(*own),
            Control::Fixed(config) if run.workloads.iter().any(|workload| !workload.then.is_empty()) => {
                let tbs = config.iter().map(|&tbs| u8::try_from(tbs).unwrap_or(u8::MAX));
                let of_stream = run.workloads.iter().map(|workload| workload.stream).zip(tbs).collect();
                PolicySource::InTurn(Wanted { of_stream, endless: relaunch })
            }
            Control::Policy(_) | Control::Fixed(_) => PolicySource::Strapped,
        };
        let controller = Controller::start(gpu.registers_mut(), streams, asked, self.image.as_ref(), timer, self.record_firmware)?;
        let controller = if self.explain { controller.keeping_victims() } else { controller };
        Ok(Running { gpu, controller, stop: self.stop(run), known: None })
    }

    /// Brings into the L2 the data that the workload's program had copied to the device.
    fn warm(&self, gpu: &mut Gpu, workload: &Workload) {
        let l2 = &self.config.l2;
        let lines = u64::from(self.config.dram.channels * l2.slices_per_channel) * u64::from(l2.sets * l2.ways);
        let most = MOST_L2_FILLS * lines * u64::from(l2.line_bytes / l2.sector_bytes);
        for copy in workload.copies.iter().flat_map(|copies| copies.iter()) {
            for sector in copy.start.max(copy.end.saturating_sub(most))..copy.end {
                gpu.preload_l2(sector + workload.sector_offset);
            }
        }
    }

    /// Advances to cycle `limit`, until all kernels are done, or until the run is known.
    fn advance(&self, running: &mut Running, limit: u64, progress: &(dyn Fn(u64) + Sync)) -> Result<(), RunError> {
        let Running { gpu, controller, stop, known } = running;
        let going = self.threads.begin();
        while gpu.cycle() < limit && known.is_none() {
            if self.cancel.requested() {
                return Err(RunError::Interrupted);
            }
            let before = gpu.cycle();
            let chunk = before.saturating_add(CHUNK_CYCLES).min(Stop::next_look(before));
            gpu.set_threads(going.share());
            let end = gpu.run(controller, limit.min(chunk));
            progress(gpu.cycle() - before);
            if let Some(failure) = controller.failure() {
                // Ctrl-C reaches QEMU too, so its failure may be the interruption.
                return Err(if self.cancel.requested() { RunError::Interrupted } else { failure });
            }
            match end {
                RunEnd::CycleLimit => *known = stop.as_mut().and_then(|stop| known::look(stop, gpu, controller)),
                RunEnd::AllComplete => break,
                RunEnd::Stuck(stuck) => return Err(RunError::Stuck(stuck.to_string())),
                RunEnd::Failed(message) => return Err(RunError::Workload(message)),
            }
        }
        Ok(())
    }
}

impl SimulatedGpu {
    /// Advances to the end. Progress counts all planned cycles.
    fn run_on(&self, running: &mut Running, limit: u64, progress: &(dyn Fn(u64) + Sync)) -> Result<(), RunError> {
        self.advance(running, limit, progress)?;
        running.known.iter().for_each(|known| progress(limit - known.estimate.simulated_cycles));
        Ok(())
    }

    /// Returns the results of a finished run.
    fn outcome(&self, running: Running, limit: u64) -> Outcome {
        let Running { mut gpu, controller, known, .. } = running;
        self.outcome_of(&mut gpu, controller, known, limit)
    }

    /// Adds the placement times of kernels, with preemption or priorities.
    fn with_room(&self, run: &Run<'_>, outcome: Outcome) -> Outcome {
        let latency = u64::from(self.config.launch.latency_cycles);
        let room = PlacementTimes::of(&outcome, &run.workloads, latency, run.options.transition.preempts());
        let mut outcome = Outcome { room, ..outcome };
        // The TBs of a kernel with priority are not a quota of a configuration.
        for (kernel, workload) in run.workloads.iter().enumerate() {
            if workload.is_beside_quotas(run.options.transition) {
                outcome.placement.iter_mut().filter_map(|placement| placement.config.get_mut(kernel)).for_each(|tbs| *tbs = 0);
            }
        }
        outcome
    }

    fn outcome_of(&self, gpu: &mut Gpu, controller: Controller, known: Option<Known>, limit: u64) -> Outcome {
        let observed = controller.observed(gpu.registers(), gpu.cycle());
        let stats = gpu.stats();
        let (stats, estimate) = match known {
            Some(Known { since, estimate }) => (stats.extended(&since, limit), Some(estimate)),
            None => (stats, None),
        };
        Outcome {
            cycles: stats.cycles,
            estimate,
            launches: stats.launches.clone(),
            sms: sm_totals(&stats),
            placement: observed.placement,
            transition_cycles: stats.transition_cycles,
            unsettled: observed.unsettled,
            in_place: if observed.unsettled { InPlace::default() } else { in_place(&stats) },
            profile_cycles: observed.profile_cycles,
            decision_time: observed.decision_time,
            decision: observed.decision,
            search: observed.search,
            activity: gpu.registers_mut().take_activity(),
            recording: observed.recording,
            parted: observed.parted,
            faults: gpu.registers().faults(),
            energy: EnergyReport::of(&self.config, &stats),
            energy_samples: Vec::new(),
            l1_ways: stats.l1_ways,
            memory_choices: stats.memory_choices,
            memory_limits: stats.memory_limits,
            sm_oversubscription: stats.sms.iter().filter_map(|sm| sm.oversubscription).collect(),
            oversubscription: stats.oversubscription,
            context_log: gpu.take_context_log(),
            l2_ways: stats.l2_ways,
            sm_states: stats.sm_states,
            room: Vec::new(),
            preemptions: stats.preemptions,
            victims: observed.victims,
            samples: Vec::new(),
            requested: Vec::new(),
            queued: Vec::new(),
        }
    }
}

impl GpuRunner for SimulatedGpu {
    fn changed(&self, fields: &[Field]) -> Result<Box<dyn GpuRunner + '_>, RunError> {
        Ok(Box::new(self.with_fields(fields)?))
    }

    fn max_tbs(&self, workload: &Workload) -> Result<u32, RunError> {
        Ok(self.launches(0, workload)?.iter().map(|kernel| kernel.max_tbs.into()).max().unwrap_or(0))
    }

    fn configurations(&self, workloads: &[&Workload]) -> Result<Vec<Vec<u32>>, RunError> {
        if workloads.len() > MAX_KERNELS {
            return Err(RunError::Workload(format!("{} kernels, the firmware schedules at most {MAX_KERNELS}", workloads.len())));
        }
        self.configurations_in_turn(workloads)
    }

    fn run(&self, run: &Run<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<Outcome, RunError> {
        let limit = limit(run.options);
        if let Some(requests) = &run.options.requests {
            let (running, requested) = self.request(run, requests, progress)?;
            let mut outcome = Outcome { requested, ..self.outcome(running, limit) };
            // The urgent kernel runs on copies only.
            outcome.launches.push(LaunchStats::default());
            outcome.placement.iter_mut().for_each(|placement| placement.config.push(0));
            return Ok(outcome);
        }
        if let Some(queue) = run.options.queue {
            return self.run_queue(run, queue, progress);
        }
        let mut running = self.start(run)?;
        let Noted { samples, energy_samples } = self.note_until(&mut running, run, progress)?;
        self.run_on(&mut running, limit, progress)?;
        Ok(self.with_room(run, Outcome { samples, energy_samples, ..self.outcome(running, limit) }))
    }

    fn run_together(&self, runs: &[Run<'_>], progress: &(dyn Fn(u64) + Sync), done: &(dyn Fn(usize, Result<Outcome, RunError>) + Sync)) {
        match runs {
            // `run_queue` reports a queue's launches.
            [first, _, ..]
                if self.shares()
                    && self.energy_cycles.is_none()
                    && first.options.sample_cycles.is_none()
                    && first.options.queue.is_none()
                    && first.options.requests.is_none() =>
            {
                let done =
                    |at: usize, outcome: Result<Outcome, RunError>| done(at, outcome.map(|outcome| self.with_room(&runs[at], outcome)));
                self.share(runs, &Shared { limit: limit(first.options), progress, done: &done })
            }
            _ => runs.iter().enumerate().for_each(|(index, run)| done(index, self.run(run, progress))),
        }
    }
}

/// Returns the latest cycle at which a run ends.
fn limit(options: Options) -> u64 {
    match options.end {
        End::Cycles(cycles) => cycles,
        End::Done => u64::MAX,
    }
}

impl Calibrated for SimulatedGpu {
    fn sample(&self, workloads: &[&Workload], config: &[u32], window_cycles: u32) -> Result<Vec<StallSample>, RunError> {
        let open = u64::from(self.config.launch.latency_cycles);
        let close = open + u64::from(window_cycles);
        let options = Options { profile_cycles: window_cycles, ..Options::new(End::Cycles(close)) };
        let mut running = self.start(&Run { control: Control::Fixed(config.to_vec()), workloads: workloads.to_vec(), options })?;
        self.advance(&mut running, open, &|_| {})?;
        let before = running.gpu.stats();
        self.advance(&mut running, close, &|_| {})?;
        let after = running.gpu.stats();
        // The register block's counters have the same width; the window bounds both.
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        let sample = |(before, after): (&SmStats, &SmStats)| StallSample {
            outstanding_misses: narrow(after.counters.outstanding_misses - before.counters.outstanding_misses),
            memory_stall_cycles: narrow(after.counters.memory_stall_cycles - before.counters.memory_stall_cycles),
        };
        Ok(before.sms.iter().zip(&after.sms).map(sample).collect())
    }
}

fn unfit(error: &LaunchError) -> RunError {
    RunError::Workload(error.to_string())
}
