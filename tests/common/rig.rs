//! The real firmware on the real GPU model, with checks of all externally visible properties during
//! the run.
//!
//! The model's own validation checks resources, quotas at issue, and that every TB runs once. This
//! rig checks that there is no fault, and that reschedulings match the reference model. All SMs
//! have the winner's quotas, and SMs over their quota only drain.

use super::clerk::{Clerk, Events};
use mias_firmware::configs::{Origin, TbVector};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{Gpu, Launch, Microcontroller, RunEnd, Stats};
use mias_hw_model::register_block::{RegisterBlock, Straps};
use mias_policies::Firmware;
use mias_registers::bus::Bus;
use mias_registers::{KERNEL_SLOTS, PhaseCode, PolicyCode, dram_order, global, interrupt, memory_mode, option, preempt_scheme};
use mias_warp_trace::KernelTrace;
use std::sync::Arc;

/// Launch latency of the small GPU, which is also the time for collecting launches.
pub(crate) const LAUNCH_LATENCY: u32 = 300;

/// Cycles between two checks of quotas and residents.
const LOOK_EVERY: u64 = 16;

/// Upper bound on the cycles of a synthetic run.
const TOO_LONG: u64 = 5_000_000;

/// All preemption schemes of the firmware.
pub(crate) const SCHEMES: [u32; 7] = [
    preempt_scheme::DRAIN,
    preempt_scheme::SWITCH,
    preempt_scheme::FLUSH,
    preempt_scheme::CHIMERA,
    preempt_scheme::CHIMERA_PLUS,
    preempt_scheme::SHIEH,
    preempt_scheme::ORACLE,
];

/// Returns the reference GPU with few SMs and a short launch latency, so that small kernels
/// fill it and runs stay small.
pub(crate) fn small_gpu(sms: u32) -> GpuConfig {
    let text = mias_gpus::text("rtx2060-accelsim").expect("a built-in GPU");
    let mut config: GpuConfig = toml::from_str(text).expect("a valid file");
    config.sm.count = sms;
    config.launch.latency_cycles = LAUNCH_LATENCY;
    config
}

/// Settings of the firmware.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) policy: PolicyCode,
    pub(crate) ideal: bool,
    /// Profiling window in cycles.
    pub(crate) window: u32,
    /// Configuration for the fixed-configuration policy.
    pub(crate) fixed: [u8; KERNEL_SLOTS],
    /// Preemption scheme, [`preempt_scheme`], and its latency limit in cycles.
    pub(crate) preempt: (u32, u32),
    /// Levels that the firmware sets in addition to the policy: bits of [`option`].
    pub(crate) levels: u32,
    /// Number of times that a launch may be passed over, if the firmware selects the next one.
    pub(crate) patience: u32,
}

impl Setting {
    /// Creates settings for a policy with a window of 400 cycles, about the length of one of the
    /// scenarios' TBs.
    pub(crate) fn new(policy: PolicyCode, ideal: bool) -> Self {
        Setting { policy, ideal, window: 400, fixed: [2, 1, 1, 0, 0, 0, 0, 0], preempt: (preempt_scheme::NONE, 0), levels: 0, patience: 3 }
    }

    pub(crate) fn straps(&self) -> Straps {
        let mut straps = Straps::new(self.policy);
        straps.profile_window = self.window;
        // As short as a profile's, so that events fall into all phases of a search.
        (straps.search.warm_up_cycles, straps.search.window_cycles) = (self.window, self.window);
        straps.coalesce_window = LAUNCH_LATENCY;
        straps.fixed = self.fixed;
        (straps.preempt, straps.preempt_limit) = self.preempt;
        straps.options = option::READ_ALL_COUNTERS | self.levels | if self.ideal { option::IDEAL_TRANSITION } else { 0 };
        straps.queue_patience = self.patience;
        (straps.memory_mode, straps.dram_order) = (memory_mode::QUOTA | memory_mode::FOUND, dram_order::KERNEL_CAP);
        straps
    }
}

/// Creates a launch of `trace` on a stream of its own number.
pub(crate) fn launch(trace: &Arc<KernelTrace>, stream: u32, arrival_cycle: u64) -> Launch {
    // 4 GiB apart, so that no two kernels share a line.
    let sector_offset = u64::from(stream) << 27;
    Launch { arrival_cycle, stream, sector_offset, ..Launch::new(trace.clone()) }
}

/// The firmware with its reference model.
pub(crate) struct Watched {
    pub(crate) firmware: Firmware,
    pub(crate) clerk: Clerk,
    /// Every change of phase and its cycle.
    pub(crate) phases: Vec<(u64, PhaseCode)>,
    /// Origin of every placement that became steady.
    pub(crate) origins: Vec<Origin>,
    /// Every configuration that profiling chose.
    pub(crate) winners: Vec<TbVector>,
    /// Number of profiles that led to separate SMs for kernels.
    pub(crate) apart: usize,
}

impl Watched {
    /// Returns the first cycle in this phase.
    pub(crate) fn first(&self, phase: PhaseCode) -> Option<u64> {
        self.phases.iter().find(|(_, p)| *p == phase).map(|(cycle, _)| *cycle)
    }

    fn on_steady(&mut self, registers: &RegisterBlock) {
        let report = self.firmware.report();
        self.origins.push(report.origin());
        if report.settled() {
            self.apart += 1;
            for sm in 0..registers.gpu().sm_count as usize {
                let kernels = (0..KERNEL_SLOTS).filter(|&slot| registers.quota(sm, slot) > 0).count();
                assert_eq!(kernels, 1, "SM {sm} is one kernel's");
            }
        }
        let Some(winner) = report.winner() else { return };
        self.winners.push(winner);
        // Policies that profile kernels alone combine the winner.
        let alone = report.tried().all(|tried| tried.entry.vector.present() == 1);
        assert!(alone || report.tried().any(|tried| tried.won), "the winner {winner:?} is none of those tried");
        for sm in 0..registers.gpu().sm_count as usize {
            for (component, &slot) in report.slots().iter().enumerate() {
                assert_eq!(registers.quota(sm, slot.into()), u32::from(winner.get(component)), "SM {sm}, slot {slot}: {winner:?}");
            }
        }
    }
}

impl Microcontroller for Watched {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        if registers.pending_events() & interrupt::QUEUE != 0 {
            // Admits launches. Everything else waits for the next call, in the same cycle.
            self.firmware.on_interrupt(registers);
            assert_eq!(registers.faults(), 0, "faults in cycle {}", registers.now());
            return;
        }
        let before = registers.phase().expect("a phase");
        let completions = registers.read32(global::COMPLETED).count_ones();
        // Launches in the FIFO, and those that the firmware admits from the queue.
        let (waiting, queued) = (registers.read32(global::LAUNCH_COUNT), registers.queue_len());
        self.firmware.on_interrupt(registers);
        let launches = waiting + (queued - registers.queue_len()) as u32 - registers.read32(global::LAUNCH_COUNT);
        let after = registers.phase().expect("a phase");
        self.clerk.book(Events { now: registers.now(), completions, launches, before, after });

        assert_eq!(registers.faults(), 0, "faults in cycle {}", registers.now());
        let reschedulings = self.firmware.report().reschedulings();
        assert_eq!(reschedulings, self.clerk.due_so_far, "reschedulings by cycle {}", registers.now());
        assert_eq!(registers.reschedulings(), reschedulings, "the register and the report");
        if after != before {
            self.phases.push((registers.now(), after));
            if after == PhaseCode::Steady {
                self.on_steady(registers);
            }
        }
        let profiling = (0..registers.gpu().sm_count as usize).any(|sm| registers.profiling(sm));
        assert!(!profiling || after == PhaseCode::Profile, "a window runs in phase {after:?}");
    }
}

/// GPU and firmware.
pub(crate) struct Rig {
    pub(crate) gpu: Gpu,
    pub(crate) watched: Watched,
    ideal: bool,
    /// Generation of the quotas at the last check, and the TBs of each slot on each SM.
    last_look: (u32, Vec<[u32; KERNEL_SLOTS]>),
}

impl Rig {
    /// Creates a GPU after reset with its firmware started.
    pub(crate) fn new(config: &GpuConfig, setting: &Setting) -> Self {
        let mut gpu = Gpu::new(config, setting.straps()).with_validation();
        let firmware = Firmware::from_straps(gpu.registers_mut()).expect("the firmware knows its map");
        let clerk = Clerk::new(LAUNCH_LATENCY, setting.window, setting.policy.searches());
        let watched = Watched { firmware, clerk, phases: Vec::new(), origins: Vec::new(), winners: Vec::new(), apart: 0 };
        let last_look = (gpu.registers().generation(), vec![[0; KERNEL_SLOTS]; config.sm.count as usize]);
        Rig { gpu, watched, ideal: setting.ideal, last_look }
    }

    /// Runs until all launches have completed, and returns the statistics.
    pub(crate) fn run(&mut self) -> Stats {
        while self.gpu.cycle() < TOO_LONG {
            if self.step(LOOK_EVERY) == RunEnd::AllComplete {
                return self.gpu.stats();
            }
        }
        panic!("not complete by cycle {TOO_LONG}");
    }

    /// Runs a few cycles and checks quotas and residents.
    pub(crate) fn step(&mut self, cycles: u64) -> RunEnd {
        let end = self.gpu.run(&mut self.watched, self.gpu.cycle() + cycles);
        assert!(!matches!(end, RunEnd::Stuck(_)), "{end:?}");
        self.look();
        end
    }

    fn look(&mut self) {
        let registers = self.gpu.registers();
        let (generation, residents) = &mut self.last_look;
        let unchanged = *generation == registers.generation();
        *generation = registers.generation();
        for (sm, before) in residents.iter_mut().enumerate() {
            for (slot, before) in before.iter_mut().enumerate() {
                let (now, quota) = (registers.resident(sm, slot), registers.quota(sm, slot));
                if self.ideal {
                    assert!(now <= quota, "SM {sm} holds {now} TBs of slot {slot}, quota {quota}, after an ideal transition");
                } else if unchanged {
                    assert!(now <= quota.max(*before), "SM {sm} went from {before} to {now} TBs of slot {slot}, quota {quota}");
                }
                *before = now;
            }
        }
    }
}

/// Runs `launches` to their end and checks the properties of every policy: every TB ran once, and
/// each kernel executed the instructions of its trace (sources.md D102).
pub(crate) fn run(config: &GpuConfig, setting: &Setting, launches: Vec<Launch>) -> (Rig, Stats) {
    let mut rig = Rig::new(config, setting);
    let traces: Vec<Arc<KernelTrace>> = launches.iter().map(|launch| launch.trace.clone()).collect();
    for launch in launches {
        rig.gpu.launch(launch).expect("every kernel here fits an SM");
    }
    let stats = rig.run();
    for (launch, trace) in stats.launches.iter().zip(&traces) {
        assert_eq!((launch.tbs_issued, launch.tbs_completed), (trace.tbs().into(), trace.tbs().into()), "{setting:?}");
        assert_eq!((launch.warp_insts, launch.thread_insts), (trace.warp_insts(), trace.thread_insts()), "{setting:?}");
    }
    assert_eq!(rig.gpu.registers().phase(), Some(PhaseCode::Idle), "{setting:?}");
    (rig, stats)
}
