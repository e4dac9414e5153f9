//! Placement requests on a simulated GPU ([`Requests`]): one run without the urgent kernel, and a
//! copy of it for each request, scheme and limit. A copy continues until the urgent kernel has
//! ended.

use super::{Controller, PolicySource, Running, SimulatedGpu, limit, unfit};
use crate::experiment::decision_time::DecisionTimer;
use crate::experiment::gpu_runner::{Run, RunError};
use crate::experiment::requests::{Request, Requested, Requests, Scheme};
use crate::experiment::workload::Workload;
use mias_hw_model::gpu::{Gpu, Launch, Preemption, RunEnd, Technique};
use std::collections::BTreeMap;

/// Maximum number of cycles of an urgent kernel alone (assumption: a hundred times the limits of
/// interest).
const MOST_CYCLES: u64 = 400_000;

/// Length of a copy, as a multiple of the limit plus the time alone (assumption: the exact delay of
/// a later end does not matter).
const MISSED: u64 = 4;

/// Cycles between two checks for the urgent kernel's end.
const END_CYCLES: u64 = 500;

/// Cycles between two samples of held registers during preemption.
const LOOK_CYCLES: u64 = 100;

/// Look-ahead of the oracle in cycles: beyond any limit.
pub(super) const AHEAD_CYCLES: u64 = 50_000;

/// Stream of the urgent kernel, distinct from all others.
const URGENT_STREAM: u32 = u32::MAX;

impl SimulatedGpu {
    /// Executes the requests of a run, and the run itself up to its last request.
    pub(super) fn request(
        &self,
        run: &Run<'_>,
        requests: &Requests,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<(Running, Vec<Requested>), RunError> {
        let Some((urgent, running)) = run.workloads.split_last().filter(|(_, running)| !running.is_empty()) else {
            return Err(RunError::Workload("requests need a running kernel, and the urgent one last".into()));
        };
        let base = Run { workloads: running.to_vec(), ..run.clone() };
        let alone_cycles = self.urgent_alone(run, urgent)?;
        let khz = u64::from(self.config.clocks.core_khz);
        let limits: Vec<u64> = requests.limits_ns().map(|ns| u64::from(ns) * khz / 1_000_000).collect();
        let mut all: Vec<Requested> = Vec::new();
        for scheme in requests.schemes() {
            for &limit_cycles in &limits {
                all.push(Requested {
                    scheme: crate::choice::Choice::name(scheme).into(),
                    limit_cycles,
                    alone_cycles,
                    registers_before_permille: 0,
                    samples: Vec::new(),
                });
            }
        }
        let mut state = self.start(&base)?;
        // A victim that drains later misses every limit, so its exact time does not matter.
        let ahead = 2 * limits.iter().max().copied().unwrap_or_default();
        let latency = u64::from(self.config.launch.latency_cycles);
        let mut held_before = 0;
        // The first kernel has its TBs after its own launch latency.
        for instant in requests.instants(2 * latency + 1, limit(run.options)) {
            self.advance(&mut state, instant - latency, progress)?;
            held_before = held_before.max(self.held_registers(&state.gpu));
            state.gpu.know_idempotence();
            let told = if requests.schemes().any(|scheme| scheme == Scheme::Oracle) { state.gpu.look_ahead(ahead) } else { Vec::new() };
            let mut cases = all.iter_mut();
            // Outcomes of the proposed scheme, by limit; it runs before the oracle.
            let mut proposed = vec![None; limits.len()];
            for scheme in requests.schemes() {
                for (&limit_cycles, proposed) in limits.iter().zip(&mut proposed) {
                    let Some(case) = cases.next() else { continue };
                    let limits = (limit_cycles, alone_cycles);
                    let sample = if scheme == Scheme::Oracle {
                        let mut knowing = state.gpu.clone();
                        knowing.set_tb_ends(told.clone());
                        let own = self.one_request(run, urgent, knowing, instant, (scheme, limits))?;
                        let proposed = match *proposed {
                            Some(sample) => sample,
                            None => self.one_request(run, urgent, state.gpu.clone(), instant, (Scheme::Shieh, limits))?,
                        };
                        own.or_better(proposed, limits)
                    } else {
                        self.one_request(run, urgent, state.gpu.clone(), instant, (scheme, limits))?
                    };
                    if scheme == Scheme::Shieh {
                        *proposed = Some(sample);
                    }
                    case.samples.push(sample);
                }
            }
        }
        for requested in &mut all {
            requested.registers_before_permille = self.permille_of_registers(held_before);
        }
        Ok((state, all))
    }

    /// Returns the number of registers that TBs hold on all SMs.
    fn held_registers(&self, gpu: &Gpu) -> u64 {
        self.registers().saturating_sub(gpu.free_registers())
    }

    fn registers(&self) -> u64 {
        u64::from(self.config.sm.registers) * u64::from(self.config.sm.count)
    }

    /// Converts registers to permille of all registers.
    fn permille_of_registers(&self, registers: u64) -> u32 {
        (1000 * registers / self.registers().max(1)) as u32
    }

    /// Returns the cycles of the urgent kernel on an empty GPU, from the cycle in which its TBs may
    /// issue.
    fn urgent_alone(&self, run: &Run<'_>, urgent: &Workload) -> Result<u64, RunError> {
        let mut straps = self.straps(run);
        straps.preempt = Scheme::Shieh.code();
        let mut gpu = Gpu::new(&self.config, straps);
        let latency = u64::from(self.config.launch.latency_cycles);
        let request = self.follow(run, &mut gpu, urgent, (latency, MOST_CYCLES), None)?;
        request.end_cycles.ok_or_else(|| {
            RunError::Workload(format!("{}: longer than {MOST_CYCLES} cycles alone, too long for an urgent kernel", urgent.name))
        })
    }

    /// Executes one request on a copy of a run: the urgent kernel's TBs may issue from cycle
    /// `instant`.
    fn one_request(
        &self,
        run: &Run<'_>,
        urgent: &Workload,
        mut gpu: Gpu,
        instant: u64,
        case: (Scheme, (u64, u64)),
    ) -> Result<Request, RunError> {
        let (scheme, (limit_cycles, alone_cycles)) = case;
        let most_cycles = MISSED * (limit_cycles + alone_cycles);
        let mut straps = self.straps(run);
        straps.preempt = scheme.code();
        straps.preempt_limit = u32::try_from(limit_cycles).unwrap_or(u32::MAX);
        *gpu.registers_mut() = gpu.registers().clone().with_straps(straps);
        self.follow(run, &mut gpu, urgent, (instant, most_cycles), Some(scheme))
    }

    /// Launches the urgent kernel, restarts the firmware, which finds the other kernels in their
    /// slots, and runs until the urgent kernel has ended.
    fn follow(
        &self,
        run: &Run<'_>,
        gpu: &mut Gpu,
        urgent: &Workload,
        when: (u64, u64),
        scheme: Option<Scheme>,
    ) -> Result<Request, RunError> {
        let (instant, most_cycles) = when;
        let latency = u64::from(self.config.launch.latency_cycles);
        let Workload { trace, source, sector_offset, .. } = urgent;
        let launch = Launch {
            source: source.clone(),
            arrival_cycle: instant - latency,
            stream: URGENT_STREAM,
            priority: 1,
            live_registers: if self.config.sm.oversubscription.is_some() { urgent.live_registers() } else { Vec::new() },
            sector_offset: *sector_offset,
            ..Launch::new(trace.clone())
        };
        let index = gpu.launch_in_turn(launch, urgent.then.clone()).map_err(|error| unfit(&error))?;
        let timer = DecisionTimer::new(&self.config, run.options, &run.control, run.workloads.len());
        let mut controller = Controller::start(gpu.registers_mut(), vec![URGENT_STREAM], PolicySource::Strapped, None, timer, false)?;
        let until = instant + most_cycles;
        let (mut held, mut looks) = (0, 0);
        let mut stats = loop {
            let stats = gpu.stats();
            let urgent = &stats.launches[index];
            let has_all = urgent.all_issued_cycle.is_some();
            if urgent.end_cycle.is_some() || gpu.cycle() >= until {
                break stats;
            }
            if gpu.cycle() >= instant && !has_all {
                held += self.held_registers(gpu);
                looks += 1;
            }
            let step = if gpu.cycle() < instant {
                instant
            } else if has_all {
                until
            } else {
                gpu.cycle() + LOOK_CYCLES
            };
            // Advance in short steps, to detect its end.
            let step = step.min(gpu.cycle() + END_CYCLES).min(until);
            match gpu.run(&mut controller, step) {
                RunEnd::CycleLimit | RunEnd::AllComplete => {}
                RunEnd::Stuck(stuck) => return Err(RunError::Stuck(stuck.to_string())),
                RunEnd::Failed(message) => return Err(RunError::Workload(message)),
            }
            if let Some(failure) = controller.failure() {
                return Err(failure);
            }
            if self.cancel.requested() {
                return Err(RunError::Interrupted);
            }
        };
        let urgent = stats.launches[index];
        let since = |cycle: Option<u64>| cycle.map(|cycle| cycle.saturating_sub(instant));
        let mut request = Request {
            cycle: instant,
            first_cycles: since(urgent.first_issue_cycle),
            full_cycles: since(urgent.all_issued_cycle),
            end_cycles: since(urgent.end_cycle),
            registers_permille: (looks > 0).then(|| (1000 * held / (looks * self.registers().max(1))) as u32),
            ..Request::default()
        };
        let now = gpu.cycle();
        stats.preemptions.retain(|tb| !tb.refused);
        add_victims(&mut request, &stats.preemptions, now, scheme.is_some_and(is_whole));
        Ok(request)
    }
}

fn is_whole(scheme: Scheme) -> bool {
    matches!(scheme, Scheme::Chimera | Scheme::ChimeraPlus)
}

/// Adds the cost of preempted TBs by cycle `now`.
fn add_victims(request: &mut Request, victims: &[Preemption], now: u64, whole: bool) {
    let left = |tb: &Preemption| tb.left_cycle.unwrap_or(now);
    let mut last_of_sm: BTreeMap<u32, u64> = BTreeMap::new();
    for tb in victims {
        let last = last_of_sm.entry(tb.sm).or_default();
        *last = (*last).max(left(tb));
    }
    for tb in victims {
        let took = left(tb) - tb.commanded_cycle;
        // Instructions at the TB's rate so far.
        let at_its_rate =
            |cycles: u64| (u128::from(tb.warp_insts) * u128::from(cycles)).checked_div(u128::from(tb.resident_cycles)).unwrap_or(0) as u64;
        request.all_insts += tb.would_lose();
        match tb.technique {
            Technique::Drain => {
                request.victims[0] += 1;
                match (tb.estimate(), tb.left_cycle) {
                    (None, _) => request.drains_not_estimated += 1,
                    (Some(estimated), Some(_)) => {
                        request.drain_estimated += u64::from(estimated);
                        request.drain_cycles += took;
                        request.drain_errors += u64::from(estimated).abs_diff(took);
                    }
                    (Some(_), None) => {}
                }
            }
            Technique::Flush => {
                request.victims[1] += 1;
                request.flushed_insts += tb.thrown_away();
            }
            Technique::Switch => {
                request.victims[2] += 1;
                // A TB runs until its switch begins, and may end by then.
                let stood = tb.stopped_cycle.map_or(0, |stopped| left(tb) - stopped);
                request.switched_insts += at_its_rate(2 * stood);
            }
        }
        if whole {
            request.idle_insts += at_its_rate(last_of_sm[&tb.sm] - left(tb));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn victim(technique: Technique, commanded_cycle: u64, left: u64, estimated_cycles: u32) -> Preemption {
        let (warp_insts, resident_cycles) = (100, 200);
        let left_cycle = Some(left);
        Preemption {
            sm: 0,
            launch: 0,
            tb: 0,
            technique,
            warp_insts,
            resident_cycles,
            estimated_cycles,
            commanded_cycle,
            left_cycle,
            stopped_cycle: (technique == Technique::Switch).then_some(commanded_cycle),
            ended: false,
            refused: false,
        }
    }

    /// Half an instruction per cycle each: a flush loses 100. A switch of 60 cycles costs 60 out
    /// and back. A drain takes 100 instead of the estimated 80.
    #[test]
    fn victims_cost_what_they_lose() {
        let victims =
            [victim(Technique::Flush, 1000, 1000, 0), victim(Technique::Switch, 1000, 1060, 50), victim(Technique::Drain, 1000, 1100, 80)];
        let mut request = Request::default();
        add_victims(&mut request, &victims, 2000, false);
        assert_eq!((request.victims, request.flushed_insts, request.switched_insts, request.idle_insts), ([1, 1, 1], 100, 60, 0));
        assert_eq!((request.all_insts, request.drain_estimated, request.drain_cycles, request.drain_errors), (300, 80, 100, 20));
        // The whole SM is empty for 100 cycles of the one victim, and for 40 of the other.
        let mut request = Request::default();
        add_victims(&mut request, &victims, 2000, true);
        assert_eq!(request.idle_insts, 50 + 20);
        assert_eq!(request.lost_insts(), 100 + 60 + 70);
    }

    /// A TB that waited 40 of 60 cycles for its switch lost only 20; one that ended before its
    /// switch lost none.
    #[test]
    fn who_waits_for_a_switch_loses_nothing() {
        let switched = victim(Technique::Switch, 1000, 1060, 50);
        let victims = [Preemption { stopped_cycle: Some(1040), ..switched }, Preemption { stopped_cycle: None, ..switched }];
        let mut request = Request::default();
        add_victims(&mut request, &victims, 2000, false);
        assert_eq!((request.victims, request.switched_insts), ([0, 0, 2], 20));
    }

    /// A drain without an estimate has no estimation error.
    #[test]
    fn what_was_not_estimated_is_no_error() {
        let victims = [victim(Technique::Drain, 1000, 1100, (1 << 24) - 1), victim(Technique::Drain, 1000, 1100, 80)];
        let mut request = Request::default();
        add_victims(&mut request, &victims, 2000, false);
        assert_eq!((request.victims[0], request.drains_not_estimated), (2, 1));
        assert_eq!((request.drain_estimated, request.drain_cycles, request.drain_errors), (80, 100, 20));
    }

    /// A TB that had issued all its instructions has ended. Nothing is executed again, so flushing
    /// it loses nothing.
    #[test]
    fn who_had_ended_loses_nothing() {
        let ended = |technique| Preemption { ended: true, stopped_cycle: None, ..victim(technique, 1000, 1000, 0) };
        let mut request = Request::default();
        add_victims(&mut request, &[Technique::Drain, Technique::Flush, Technique::Switch].map(ended), 2000, false);
        assert_eq!((request.victims, request.lost_insts(), request.all_insts), ([1, 1, 1], 0, 0));
    }
}
