//! Microcontroller of a simulated run: the firmware, native or as an image in QEMU, and an observer
//! of its actions.
//!
//! The observer reads only state that a host's debugger can read: the phase register, the quotas,
//! the firmware's report.

use super::custom_policy::Custom;
use super::decider::{Decider, slot_of};
use super::decision_time::{DecisionTimer, accesses};
use super::fixed_in_turn::{FixedInTurn, Wanted};
use super::gpu_runner::{Decision, DecisionTime, Placement, RunError, SearchFound};
use super::victims::{VictimChoice, Watcher};
use crate::cosim::recording::{Limits, Recorder, Recording, Run};
use crate::cosim::{Image, RemoteFirmware};
use mias_firmware::driver::DEFAULT_CONFIGS;
use mias_firmware::limits::KERNELS;
use mias_hw_model::gpu::Microcontroller;
use mias_hw_model::register_block::RegisterBlock;
use mias_policies::Firmware;
use mias_policies::search::QUOTIENT_BITS;
use mias_registers::{MAX_SMS, PhaseCode, search_found};

/// Executor of the firmware.
#[derive(Debug)]
enum Executor {
    /// Firmware in this process.
    Native(Box<dyn Decider>),
    /// Firmware image in QEMU.
    Remote(Box<RemoteFirmware>),
}

/// Source of the policy that starts.
pub(super) enum PolicySource {
    /// Policy that the straps select.
    Strapped,
    /// Custom policy of the program.
    Custom(Custom),
    /// Given configuration for kernels with several launches. An image does not support it.
    InTurn(Wanted),
}

impl Executor {
    /// Returns the firmware in this process, or the one that follows the image; `None` once the two
    /// differ.
    fn firmware(&self) -> Option<&dyn Decider> {
        match self {
            Executor::Native(firmware) => Some(firmware.as_ref()),
            Executor::Remote(remote) => remote.twin().map(|firmware| firmware as &dyn Decider),
        }
    }
}

/// Firmware of a run with its observer.
#[derive(Debug)]
pub(super) struct Controller {
    executor: Executor,
    /// Timer of decisions; `None` if decisions take no time.
    timer: Option<DecisionTimer>,
    /// Recorded register accesses of the firmware, if recording.
    record: Option<Run>,
    /// Choices of victims, if they are kept.
    victims: Option<Vec<VictimChoice>>,
    /// Stream of each workload, which identifies its slot.
    streams: Vec<u32>,
    phase: PhaseCode,
    since: u64,
    profile_cycles: u64,
    placement: Vec<Placement>,
    decision: Option<Decision>,
    search: Option<SearchFound>,
    /// Number of reschedulings at the last decision noted.
    noted: u32,
    /// Number of reschedulings at the last placement noted, and the search result then.
    placed: (u32, u32),
}

/// Observations of one run.
#[derive(Debug)]
pub(super) struct Observed {
    /// Number of cycles spent profiling.
    pub(super) profile_cycles: u64,
    /// Time of all decisions.
    pub(super) decision_time: Option<DecisionTime>,
    /// Whether the firmware was still changing the configuration.
    pub(super) unsettled: bool,
    /// Last steady-state quotas with all kernels of that time resident.
    pub(super) placement: Vec<Placement>,
    /// Last decision of the run.
    pub(super) decision: Option<Decision>,
    /// Results of the last search.
    pub(super) search: Option<SearchFound>,
    /// Register accesses of the firmware, if recorded.
    pub(super) recording: Option<Recording>,
    /// Difference between an image and the firmware in this process, if any.
    pub(super) parted: Option<String>,
    /// Choices of victims, if they were kept.
    pub(super) victims: Vec<VictimChoice>,
}

impl Controller {
    /// Starts the requested policy, in `image` if given. `timer` sets the time of decisions;
    /// `record` enables recording of accesses.
    pub(super) fn start(
        registers: &mut RegisterBlock,
        streams: Vec<u32>,
        asked: PolicySource,
        image: Option<&Image>,
        timer: Option<DecisionTimer>,
        record: bool,
    ) -> Result<Self, RunError> {
        let mut record = record.then(|| Run::new(registers.gpu().clone()));
        let list = record.as_mut().map(Run::accesses_mut);
        let refused = |error| RunError::Stuck(format!("the firmware did not start: {error:?}"));
        let executor = match (image, asked) {
            (_, PolicySource::InTurn(_)) if list.is_some() => {
                let why = "a static configuration of a kernel with several launches bypasses the firmware; it cannot be recorded";
                return Err(RunError::Firmware(why.into()));
            }
            (_, PolicySource::InTurn(wanted)) => {
                let firmware = FixedInTurn::start(wanted, &mut Recorder { bus: &mut *registers, list }).map_err(refused)?;
                Executor::Native(Box::new(firmware))
            }
            (Some(_), PolicySource::Custom(own)) => return Err(RunError::Firmware(own.not_in_an_image())),
            (None, PolicySource::Custom(own)) => {
                Executor::Native(own.start(&mut Recorder { bus: &mut *registers, list }).map_err(refused)?)
            }
            (None, PolicySource::Strapped) => {
                let firmware: Firmware = Firmware::from_straps(&mut Recorder { bus: &mut *registers, list }).map_err(refused)?;
                Executor::Native(Box::new(firmware))
            }
            (Some(image), PolicySource::Strapped) => {
                let remote = RemoteFirmware::start(image, registers).map_err(|error| RunError::Firmware(error.0))?;
                list.into_iter().for_each(|list| list.extend_from_slice(remote.record()));
                Executor::Remote(Box::new(remote))
            }
        };
        record.iter_mut().for_each(|run| run.end_step(registers.now()));
        if timer.is_some() {
            registers.time_decisions();
        }
        let phase = registers.phase().unwrap_or(PhaseCode::Idle);
        Ok(Controller {
            executor,
            timer,
            record,
            victims: None,
            streams,
            phase,
            since: 0,
            profile_cycles: 0,
            placement: Vec::new(),
            decision: None,
            search: None,
            noted: 0,
            placed: (0, 0),
        })
    }

    /// Returns the image's failure, if any.
    pub(super) fn failure(&mut self) -> Option<RunError> {
        match &mut self.executor {
            Executor::Native(_) => None,
            Executor::Remote(remote) => remote.take_failure().map(|error| RunError::Firmware(error.0)),
        }
    }

    /// Returns the stream of each workload.
    pub(super) fn streams(&self) -> &[u32] {
        &self.streams
    }

    /// Returns a copy that does not record; `None` if the firmware is an image, which cannot be
    /// copied.
    pub(super) fn copy(&self) -> Option<Controller> {
        let Executor::Native(firmware) = &self.executor else { return None };
        Some(Controller {
            executor: Executor::Native(firmware.copy()),
            timer: self.timer.clone(),
            record: None,
            victims: self.victims.clone(),
            streams: self.streams.clone(),
            placement: self.placement.clone(),
            decision: self.decision.clone(),
            search: self.search.clone(),
            ..*self
        })
    }

    /// Returns the observations of a run that ended at cycle `now`.
    pub(super) fn observed(mut self, registers: &RegisterBlock, now: u64) -> Observed {
        self.account(now);
        self.look(registers);
        let (maker, parted) = match &self.executor {
            Executor::Native(_) => (Limits { sms: MAX_SMS as u32, kernels: KERNELS as u32, configs: DEFAULT_CONFIGS as u32 }, None),
            Executor::Remote(remote) => (remote.limits(), remote.parted()),
        };
        let parted =
            parted.map(|(cycle, parting)| format!("at cycle {cycle} {}", parting.told("the firmware in this process", "the image")));
        let unsettled = !matches!(self.phase, PhaseCode::Steady | PhaseCode::Idle);
        let Controller { victims, timer, profile_cycles, placement, decision, search, record, .. } = self;
        let recording = record.map(|run| Recording { maker, runs: vec![run] });
        let decision_time = timer.map(|timer| timer.spent(now));
        let victims = victims.unwrap_or_default();
        Observed { profile_cycles, decision_time, unsettled, placement, decision, search, recording, parted, victims }
    }

    /// Enables keeping the victim choices of the firmware in this process.
    pub(super) fn keeping_victims(self) -> Self {
        Controller { victims: Some(Vec::new()), ..self }
    }

    /// Follows the phase register. A decision that takes time changes it between two interrupts.
    fn look(&mut self, registers: &RegisterBlock) {
        self.phase = registers.phase().unwrap_or(PhaseCode::Idle);
        if self.phase == PhaseCode::Steady {
            self.note_placement(registers);
        }
        if registers.search_found() != 0 {
            self.note_search(registers);
        }
    }

    /// Notes the current results of a search. Once kernels begin to leave, earlier results stay.
    fn note_search(&mut self, registers: &RegisterBlock) {
        let found = registers.search_found();
        let slots: Option<Vec<usize>> = self.streams.iter().map(|&stream| slot_of(registers, stream)).collect();
        if let Some(slots) = slots {
            self.search = Some(SearchFound {
                memory_intensive: slots.iter().map(|slot| found & search_found::MEMORY_MASK & 1 << slot != 0).collect(),
                windows: found >> search_found::WINDOWS_SHIFT & search_found::WINDOWS_MASK,
                done: found & search_found::DONE != 0,
                estimated_progress: estimated_progress(registers, &slots),
                active_warps: active_warps(registers, &slots, found),
            });
        }
    }

    /// Adds the cycles since the last interrupt to the current phase.
    fn account(&mut self, now: u64) {
        let cycles = now.saturating_sub(self.since);
        self.since = now;
        if self.phase == PhaseCode::Profile {
            self.profile_cycles += cycles;
        }
    }

    /// Notes each workload's quotas on every SM, with equal SMs together, in the order of their
    /// first SM. Once kernels begin to leave, earlier quotas stay, so that the placement describes
    /// the shared run. One placement is noted per rescheduling, and one each time a search rests.
    /// Left-over's later quotas only lend the capacity of a drained kernel, and add up to more than
    /// an SM holds.
    fn note_placement(&mut self, registers: &RegisterBlock) {
        let placed = (registers.reschedulings(), registers.search_found());
        if placed == self.placed {
            return;
        }
        self.placed = placed;
        let slots: Vec<Option<usize>> = self.streams.iter().map(|&stream| slot_of(registers, stream)).collect();
        let present = slots.iter().flatten().count();
        let before = self.placement.first().map_or(0, |_| self.streams.len());
        if present < before {
            return;
        }
        let mut placement: Vec<Placement> = Vec::new();
        for sm in 0..registers.gpu().sm_count as usize {
            let config: Vec<u32> = slots.iter().map(|slot| slot.map_or(0, |slot| registers.committed_quota(sm, slot))).collect();
            match placement.iter_mut().find(|p| p.config == config) {
                Some(group) => group.sms.push(sm as u32),
                None => placement.push(Placement { sms: vec![sm as u32], config }),
            }
        }
        self.placement = placement;
    }

    fn note_decision(&mut self, registers: &RegisterBlock) {
        let Some(firmware) = self.executor.firmware() else {
            self.decision = None;
            return;
        };
        if let Some((reschedulings, decision)) = firmware.decision(registers, &self.streams, self.noted) {
            self.noted = reschedulings;
            self.decision = Some(decision);
        }
    }
}

impl Microcontroller for Controller {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.account(registers.now());
        self.look(registers);
        if let Some(timer) = &mut self.timer {
            timer.begin(registers);
        }
        // The number of accesses matters only with wait states.
        let counts = self.timer.as_ref().is_some_and(DecisionTimer::counts_accesses);
        let mut made = Vec::new();
        match &mut self.executor {
            Executor::Native(firmware) => {
                let list = (counts || self.record.is_some()).then_some(&mut made);
                firmware.on_interrupt(&mut Recorder { bus: &mut *registers, list }, self.victims.as_mut());
            }
            Executor::Remote(remote) => {
                let cycle = registers.now();
                match &mut self.victims {
                    None => remote.on_interrupt(registers, &mut ()),
                    Some(kept) => remote.on_interrupt(registers, &mut Watcher { cycle, kept }),
                }
                made.extend_from_slice(remote.record());
            }
        }
        if let Some(run) = &mut self.record {
            run.accesses_mut().extend_from_slice(&made);
            run.end_step(registers.now());
        }
        if let Some(timer) = &mut self.timer {
            let firmware = self.executor.firmware();
            timer.finish(registers, firmware.map(Decider::total_configs), accesses(&made, firmware.map(Decider::counters)));
        }
        self.note_decision(registers);
        self.look(registers);
    }
}

/// Returns the active-warp limits of the kernels in these slots; empty if the search sets none. All
/// SMs have the same limits.
fn active_warps(registers: &RegisterBlock, slots: &[usize], found: u32) -> Vec<u32> {
    if found & search_found::LIMITS_WARPS == 0 {
        return Vec::new();
    }
    let limits = registers.active_warps(0);
    slots.iter().map(|&slot| limits.get(slot).copied().unwrap_or(0).into()).collect()
}

/// Returns the estimated progress of the kernels in these slots on the shares of a search; empty
/// without an estimate.
fn estimated_progress(registers: &RegisterBlock, slots: &[usize]) -> Vec<f64> {
    let progress = slots.iter().map(|&slot| registers.search_progress(slot));
    let progress: Vec<f64> = progress.map(|parts| f64::from(parts) / f64::from(1_u32 << QUOTIENT_BITS)).collect();
    if progress.iter().all(|progress| *progress == 0.0) { Vec::new() } else { progress }
}
