//! The real firmware on the real GPU model under faults, with a host that resets a silent
//! microcontroller.
//!
//! The model's validation checks in every cycle that no SM exceeds its capacity and that every TB
//! runs once. This rig checks further properties. The firmware's committed quotas fit an SM, and a
//! batch or a profile ends in time. At the end every TB was issued and completed once, and all
//! slots are free. A kernel launched then runs as without faults.

use super::faults::{BrokenCounter, BrokenRegister, Fault, FaultyBus, Told};
use super::rig::{LAUNCH_LATENCY, Setting, launch};
use mias_firmware::configs::TbVector;
use mias_firmware::driver::POLL_CYCLES;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd, Stats, Technique};
use mias_hw_model::register_block::RegisterBlock;
use mias_hw_model::sm::Resources;
use mias_policies::Firmware;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, PolicyCode, fault, global, interrupt};
use mias_warp_trace::KernelTrace;
use std::sync::Arc;

/// Cycles without a call of the firmware after which the host resets the microcontroller. The
/// firmware requests a call every [`POLL_CYCLES`], so a longer silence means that its timer was
/// lost.
pub(crate) const HOST_PATIENCE: u64 = POLL_CYCLES as u64 + 10_000;

/// Cycles between two checks of the phases' length.
const LOOK_EVERY: u64 = 256;

/// Policies that derive their choice from measurements of other configurations.
const INFERS: [PolicyCode; 3] = [PolicyCode::WarpedSlicer, PolicyCode::WarpedSlicerSum, PolicyCode::Coordinated];

/// Upper bound on the cycles of a run.
const TOO_LONG: u64 = 60_000_000;

/// Windows of profiling after the first SM (sources.md D28).
pub(crate) const TIME_OUT_WINDOWS: u64 = 2;

/// The firmware, and the faults between it and the block.
pub(crate) struct Faulty {
    pub(crate) firmware: Firmware,
    /// Pending faults of interrupts, oldest first.
    armed: Vec<Fault>,
    counters: Vec<BrokenCounter>,
    registers: Vec<BrokenRegister>,
    descriptor: Option<(u32, u32)>,
    /// Whether a descriptor was read wrong: quotas may be wrong from then on.
    pub(crate) misled: bool,
    /// Events to repeat, and the number of interrupts until then.
    again: Option<(u32, Told)>,
    /// Cycle until which the line does not reach the microcontroller.
    muted_until: Option<u64>,
    called: u64,
    /// Every change of phase and its cycle.
    pub(crate) phases: Vec<(u64, PhaseCode)>,
    /// Every configuration that profiling chose, with its cycle.
    pub(crate) winners: Vec<(u64, TbVector)>,
    /// Most accesses of an interrupt at the end of profiling.
    pub(crate) deciding: u32,
    pub(crate) resets: u32,
    /// Number of faults that have occurred.
    pub(crate) happened: u32,
    faults_seen: u32,
    /// Demand of one TB by stream, numbered as the launches. It comes from the model, not from the
    /// descriptors.
    demands: Vec<Resources>,
    capacity: Resources,
}

impl Faulty {
    fn take(&mut self, wanted: impl Fn(&Fault) -> bool) -> Option<Fault> {
        let index = self.armed.iter().position(wanted)?;
        self.happened += 1;
        Some(self.armed.remove(index))
    }

    /// Resets the microcontroller; the block does not change.
    pub(crate) fn reset(&mut self, registers: &mut RegisterBlock) {
        self.firmware = Firmware::from_straps(registers).expect("the firmware knows its map");
        (self.again, self.muted_until) = (None, None);
        self.resets += 1;
    }

    /// Drops lost events before the firmware reads them.
    fn lose(&mut self, registers: &mut RegisterBlock) {
        let pending = registers.read32(global::INT_STATUS);
        while let Some(Fault::Lost { status, events }) = self.take(|f| matches!(f, Fault::Lost { status, .. } if status & pending != 0)) {
            registers.write32(global::INT_STATUS, status);
            let of = |bit: u32, register: u32| if events && status & bit != 0 { vec![register] } else { vec![] };
            let words = [
                (interrupt::PARTITION, global::PARTITION),
                (interrupt::PROFILE_DONE, global::PROFILE_DONE),
                (interrupt::PREEMPT, global::PREEMPT_WANTED),
            ];
            let slots = [(interrupt::COMPLETED, global::COMPLETED), (interrupt::DRAINED, global::DRAINED)];
            for register in words.into_iter().chain(slots).flat_map(|(bit, register)| of(bit, register)) {
                registers.write32(register, u32::MAX);
            }
        }
    }

    /// Checks the invariants after every interrupt.
    fn check(&mut self, registers: &mut RegisterBlock) {
        let now = registers.now();
        if let Some(phase) = registers.phase()
            && self.phases.last().map(|(_, phase)| *phase) != Some(phase)
        {
            self.phases.push((now, phase));
            if phase == PhaseCode::Steady
                && let Some(winner) = self.firmware.report().winner()
            {
                let tried = self.firmware.report().tried().any(|tried| tried.won);
                assert!(tried || INFERS.contains(&registers.gpu().straps.policy), "{winner:?} is none of those tried");
                self.winners.push((now, winner));
            }
        }
        self.faults_seen |= registers.faults();
        for sm in (0..registers.gpu().sm_count as usize).filter(|_| !self.misled) {
            let mut held = Resources::default();
            for kernel in self.firmware.scheduler().kernels().iter().filter(|kernel| !kernel.drained) {
                let slot = usize::from(kernel.slot);
                let Some(descriptor) = registers.kernel(slot) else { continue };
                let (quota, demand) = (registers.quota(sm, slot), &self.demands[descriptor.stream as usize]);
                held.threads += quota * demand.threads;
                held.registers += quota * demand.registers;
                held.shared_bytes += quota * demand.shared_bytes;
                held.tbs += quota;
            }
            assert!(self.capacity.fits(&held), "quotas of SM {sm} ask for {held:?} in cycle {now}, it has {:?}", self.capacity);
        }
    }
}

impl Microcontroller for Faulty {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.lose(registers);
        if !registers.interrupt_pending() {
            // The line fell again before any check.
            return;
        }
        self.called = registers.now();
        let mut again = Told::default();
        if let Some((left, told)) = self.again.take() {
            match left.checked_sub(1) {
                Some(left) => self.again = Some((left, told)),
                None => again = told,
            }
        }
        if let Some(Fault::Descriptor { register, value }) = self.take(|f| matches!(f, Fault::Descriptor { .. })) {
            (self.descriptor, self.misled) = (Some((register, value)), true);
        }
        let before = registers.phase();
        let (silent, reset, doubled) = (
            self.take(|f| matches!(f, Fault::SilentReads(_))),
            self.take(|f| matches!(f, Fault::Reset(_))),
            self.take(|f| matches!(f, Fault::Doubled(_))),
        );
        let mut bus = FaultyBus::new(&mut *registers, (&self.counters, &self.registers), &mut self.descriptor);
        bus.again = again;
        if let Some(Fault::SilentReads(from)) = silent {
            bus.silent_from = from;
        }
        if let Some(Fault::Reset(from)) = reset {
            (bus.silent_from, bus.lost_from) = (from, from);
        }
        self.firmware.on_interrupt(&mut bus);
        let told = std::mem::take(&mut bus.told);
        let accesses = bus.accesses;
        if before == Some(PhaseCode::Profile) && registers.phase() != before {
            self.deciding = self.deciding.max(accesses);
        }
        match doubled {
            Some(Fault::Doubled(0)) => {
                let mut bus = FaultyBus::new(&mut *registers, (&self.counters, &self.registers), &mut self.descriptor);
                bus.again = told;
                self.firmware.on_interrupt(&mut bus);
            }
            Some(Fault::Doubled(later)) => self.again = Some((later - 1, told)),
            _ => {}
        }
        if reset.is_some() {
            self.reset(registers);
        }
        self.check(registers);
    }
}

/// GPU, firmware, faults and host.
pub(crate) struct FaultRig {
    pub(crate) gpu: Gpu,
    pub(crate) faulty: Faulty,
    setting: Setting,
    /// Future faults with their earliest cycle, latest first.
    schedule: Vec<(u64, Fault)>,
    /// Allowed excess of a batch or a profile due to faults, in cycles.
    slack: u64,
    traces: Vec<Arc<KernelTrace>>,
}

impl FaultRig {
    /// Creates a GPU after reset with its firmware started, these broken counters and these future
    /// faults.
    pub(crate) fn new(config: &GpuConfig, setting: &Setting, counters: &[BrokenCounter], schedule: &[(u64, Fault)]) -> Self {
        let mut gpu = Gpu::new(config, setting.straps()).with_validation();
        let firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
        let faulty = Faulty {
            firmware,
            armed: Vec::new(),
            counters: counters.to_vec(),
            registers: Vec::new(),
            descriptor: None,
            misled: false,
            again: None,
            muted_until: None,
            called: 0,
            phases: Vec::new(),
            winners: Vec::new(),
            deciding: 0,
            resets: 0,
            happened: 0,
            faults_seen: 0,
            demands: Vec::new(),
            capacity: Resources::of_sm(&config.sm),
        };
        let mut schedule = schedule.to_vec();
        schedule.sort_by_key(|(cycle, _)| std::cmp::Reverse(*cycle));
        let slack = schedule.iter().map(|(_, fault)| delay(*fault)).sum();
        FaultRig { gpu, faulty, setting: setting.clone(), schedule, slack, traces: Vec::new() }
    }

    /// Breaks preemption registers from now on.
    pub(crate) fn breaking(mut self, registers: &[BrokenRegister]) -> Self {
        self.faulty.registers = registers.to_vec();
        self
    }

    /// Lets the GPU predict the ends of TBs for the oracle, `cycles` ahead.
    pub(crate) fn foreseeing(mut self, cycles: u64) -> Self {
        self.gpu = self.gpu.with_drain_oracle(cycles);
        self
    }

    /// Adds a launch.
    pub(crate) fn launch(&mut self, launch: Launch) {
        self.faulty.demands.push(Resources::of_tb(launch.trace.info(), &self.gpu.config().sm));
        self.traces.push(launch.trace.clone());
        self.gpu.launch(launch).expect("every kernel here fits an SM");
    }

    /// Runs until all launches have completed. Then lost events are found, one more kernel is
    /// launched, and the final state is checked.
    pub(crate) fn run(&mut self) -> Stats {
        let stats = self.run_to_the_end();
        let slowest = self.gpu.cycle() + self.slack + 2 * HOST_PATIENCE;
        let last = super::hand_made::HandMade::compute(5, 64, 3).trace();
        self.launch(launch(&last, self.traces.len() as u32, slowest));
        self.run_until(slowest - 1);
        let registers = self.gpu.registers();
        assert_eq!(registers.phase(), Some(PhaseCode::Idle), "{:?}", self.faulty.phases);
        assert!((0..KERNEL_SLOTS).all(|slot| registers.kernel(slot).is_none()), "all slots are free");
        let end = self.run_to_the_end();
        for (index, (launch, trace)) in end.launches.iter().zip(&self.traces).enumerate() {
            let tbs = u64::from(trace.tbs());
            // A flushed TB is issued and executed again exactly once. A TB that had issued all its
            // instructions has ended (sources.md D133); all TBs of these kernels issue the same
            // number.
            let whole = trace.warp_insts() / tbs;
            let flushed = || {
                end.preemptions
                    .iter()
                    .filter(|tb| tb.launch == index && tb.technique == Technique::Flush && !tb.refused && tb.warp_insts < whole)
            };
            let (again, insts) = (flushed().count() as u64, flushed().map(|tb| tb.warp_insts).sum::<u64>());
            let expected = (tbs + again, tbs, trace.warp_insts() + insts);
            assert_eq!((launch.tbs_issued, launch.tbs_completed, launch.warp_insts), expected);
        }
        assert!(self.faulty.faults_seen & fault::BAD_ACCESS == 0, "an access to what is not there");
        self.faulty.phases.retain(|(cycle, _)| *cycle < slowest);
        stats
    }

    /// Runs until all launches have completed.
    pub(crate) fn run_to_the_end(&mut self) -> Stats {
        while self.gpu.cycle() < TOO_LONG {
            if self.run_until(self.gpu.cycle() + HOST_PATIENCE) == RunEnd::AllComplete {
                return self.gpu.stats();
            }
        }
        panic!("not complete by cycle {TOO_LONG}: {:?}", self.faulty.phases);
    }

    /// Runs to a cycle, including faults and the host.
    pub(crate) fn run_until(&mut self, until: u64) -> RunEnd {
        loop {
            self.begin_faults();
            let silent = self.faulty.called.max(self.faulty.muted_until.unwrap_or(0)) + HOST_PATIENCE;
            if silent <= self.gpu.cycle() {
                self.faulty.called = self.gpu.cycle();
                self.faulty.reset(self.gpu.registers_mut());
                continue;
            }
            let next_fault = self.schedule.last().map_or(u64::MAX, |(cycle, _)| *cycle);
            let stop = until.min(silent).min(next_fault).min(self.faulty.muted_until.unwrap_or(u64::MAX));
            let quiet = matches!(self.gpu.registers().phase(), Some(PhaseCode::Idle | PhaseCode::Steady));
            let stop = if quiet { stop } else { stop.min(self.gpu.cycle() + LOOK_EVERY) };
            let end = self.gpu.run(&mut self.faulty, stop.max(self.gpu.cycle() + 1));
            self.check_phase();
            if end != RunEnd::CycleLimit || self.gpu.cycle() >= until {
                return end;
            }
        }
    }

    /// Starts the due faults, and reconnects the line when its time has come.
    fn begin_faults(&mut self) {
        let now = self.gpu.cycle();
        let (faulty, registers) = (&mut self.faulty, self.gpu.registers_mut());
        while let Some((_, fault)) = self.schedule.pop_if(|(cycle, _)| *cycle <= now) {
            match fault {
                Fault::Late(cycles) | Fault::Silent(cycles) => {
                    if matches!(fault, Fault::Silent(_)) {
                        // A wake-up without an interrupt: every read is all ones and every write is
                        // lost.
                        let mut bus = FaultyBus::new(&mut *registers, (&[], &[]), &mut faulty.descriptor);
                        (bus.silent_from, bus.lost_from) = (0, 0);
                        faulty.firmware.on_interrupt(&mut bus);
                        assert!(bus.accesses < 8, "nothing is done on a bus that does not answer");
                    }
                    faulty.happened += 1;
                    faulty.muted_until = faulty.muted_until.max(Some(now + u64::from(cycles)));
                }
                Fault::ResetAsleep => {
                    faulty.happened += 1;
                    faulty.reset(registers);
                }
                other => faulty.armed.push(other),
            }
        }
        let muted = faulty.muted_until.is_some_and(|until| until > now);
        if muted {
            registers.write32(global::INT_ENABLE, 0);
        } else if faulty.muted_until.take().is_some() {
            registers.write32(global::INT_ENABLE, interrupt::ALL & !(interrupt::FAULT | interrupt::PREEMPT_DONE));
        }
    }

    /// Checks that a batch lasts no longer than the longer of the two windows, and a profile no
    /// longer than two windows. The excess due to faults is added to both.
    fn check_phase(&self) {
        let Some((since, phase)) = self.faulty.phases.last() else { return };
        let (coalesce, window) = (u64::from(LAUNCH_LATENCY), u64::from(self.setting.window));
        let most = match phase {
            PhaseCode::Partition => coalesce.max(window),
            PhaseCode::Profile => TIME_OUT_WINDOWS * window,
            _ => return,
        };
        let lasted = self.gpu.cycle() - since;
        assert!(lasted <= most + LOOK_EVERY + self.slack, "{phase:?} has lasted {lasted} cycles: {:?}", self.faulty.phases);
    }
}

/// Returns the cycles by which a fault may delay a batch or a profile.
fn delay(fault: Fault) -> u64 {
    match fault {
        Fault::Late(cycles) | Fault::Silent(cycles) => cycles.into(),
        // Found at the next poll, unless the timer itself was lost: then the host resets, and the
        // batch restarts.
        Fault::Lost { .. } | Fault::SilentReads(_) => 2 * HOST_PATIENCE,
        Fault::Reset(_) | Fault::ResetAsleep | Fault::Doubled(_) | Fault::Descriptor { .. } => u64::from(LAUNCH_LATENCY),
    }
}
