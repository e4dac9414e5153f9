//! Measured situations: from the launch of kernels to the chosen configuration.

use core::ptr::addr_of_mut;

use mias_firmware::driver::Observer;
use mias_firmware::limits;
use mias_firmware::scheduler::Phase;
use mias_policies::Firmware;
use mias_policies::policy::AnyPolicy;
use mias_registers::bus::MappedBus;
use mias_registers::{PolicyCode, global, interrupt, option};

use crate::block::Counts;
use crate::launches::Launches;
use crate::measure::Span;
use crate::{block, board, stack};

/// Path to a decision: other events of its interrupt, and the counters.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// Every kernel drains in the interrupt.
    pub(crate) drained: bool,
    /// The time-out occurs in the interrupt, with the end of all windows but one and the start of
    /// that one; and warp instructions count. Otherwise the windows of all SMs end in it.
    pub(crate) late: bool,
    /// Pattern of the SMs' counters.
    pub(crate) counts: Counts,
    /// Kernels make less progress together than alone, so that a policy with this check gives them
    /// SMs of their own.
    pub(crate) loses: bool,
    /// If `late`, no SM of the first configuration reaches its partition before the time-out.
    pub(crate) lost: bool,
    /// The firmware prepares while launches are collected.
    pub(crate) prepared: bool,
}

impl Way {
    /// The end of all windows, without other events.
    pub(crate) const USUAL: Self = Self { drained: false, late: false, counts: Counts::Rising, loses: false, lost: false, prepared: false };
}

/// GPUs that this build measures.
pub(crate) const GPUS: &[u16] = if limits::SMS > 32 { &[80, 132] } else { &[16, 30] };

type Scheduler = Firmware<AnyPolicy, { limits::CONFIGS }>;

static mut FIRMWARE: Scheduler = Firmware::idle();

/// Cost of one interrupt.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Configurations in the round that was decided.
    pub(crate) configs: u32,
    /// Instructions from the interrupt to the chosen configuration.
    pub(crate) to_choice: u32,
    /// Instructions from the first counter read to the chosen configuration.
    pub(crate) decision: u32,
    /// Instructions from the chosen configuration to the end of the interrupt: quotas and phase.
    pub(crate) after: u32,
    /// Instructions from the interrupt to the commit of the quotas.
    pub(crate) to_commit: u32,
}

/// Cost of a whole scheduling.
#[derive(Clone, Copy, Default)]
pub(crate) struct Costs {
    /// All maximal multi-kernel configurations.
    pub(crate) total: u32,
    /// Instructions from the end of the batch to the first quotas in effect.
    pub(crate) partition: u32,
    /// One decision per round: two of a profile at most, and four of trials on all SMs.
    pub(crate) rounds: [Cost; 6],
    /// Instructions of the preparation, in total and of the longest part.
    pub(crate) prepared: (u32, u32),
    /// Deepest stack in bytes, over all interrupts.
    pub(crate) stack: u32,
}

/// Records the start and the end of a decision.
#[derive(Default)]
struct Marks {
    begins: u32,
    made: u32,
    committed: u32,
}

impl mias_policies::extras::WatchesPreemption for Marks {}

impl Observer for Marks {
    #[inline(always)]
    fn decision_begins(&mut self) {
        self.begins = board::now();
    }

    #[inline(always)]
    fn decision_made(&mut self) {
        self.made = board::now();
    }

    #[inline(always)]
    fn quotas_committed(&mut self) {
        self.committed = board::now();
    }
}

/// The firmware between two events, as one copy of the measured code.
struct Bench {
    bus: MappedBus,
    firmware: &'static mut Scheduler,
    deepest: u32,
}

impl Bench {
    /// Runs one interrupt; returns its instructions, its start and its marks.
    #[inline(never)]
    fn interrupt(&mut self) -> (Span, Marks) {
        let Self { bus, firmware, deepest } = self;
        let mut marks = Marks::default();
        let mut span = Span::default();
        let depth = stack::depth(|| {
            let from = board::now();
            firmware.on_interrupt_watched(bus, &mut marks);
            span = Span { from, to: board::now() };
        });
        *deepest = depth.max(*deepest);
        block::quiet(bus);
        (span, marks)
    }

    /// Runs all preparation; returns its instructions in total and of the longest part.
    #[inline(never)]
    fn prepare(&mut self) -> (u32, u32) {
        let (mut all, mut longest) = (0, 0);
        loop {
            let (mut span, mut more) = (Span::default(), false);
            let depth = stack::depth(|| (span, more) = Span::of(|| self.firmware.prepare()));
            self.deepest = depth.max(self.deepest);
            all += span.instructions();
            longest = span.instructions().max(longest);
            if !more {
                return (all, longest);
            }
        }
    }
}

/// Runs kernels under a policy until it is steady.
#[inline(never)]
pub(crate) fn schedule(policy: PolicyCode, sms: u16, launches: &Launches, way: Way) -> Costs {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    let options = if way.late { option::WARP_IPC } else { 0 };
    block::describe(&mut bus, sms, &launches.sm, policy, options);
    // A kernel may lose everything or nothing.
    mias_registers::bus::Bus::write32(&mut bus, global::STRAP_LOSS_THRESHOLD, if way.loses { 0 } else { u32::MAX });
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    for ((number, kernel), tbs) in (0..).zip(launches.kernels).zip(launches.tbs) {
        block::launch(&mut bench.bus, number, kernel, *tbs);
        bench.interrupt();
    }
    let mut costs = Costs::default();
    if way.prepared {
        costs.prepared = bench.prepare();
    }
    block::set_time(&mut bench.bus, 5_000);
    mias_registers::bus::Bus::write32(&mut bench.bus, global::INT_STATUS, interrupt::TIMER);
    costs.partition = bench.interrupt().0.instructions();
    costs.total = bench.firmware.report().total_configs();
    for round in &mut costs.rounds {
        if bench.firmware.scheduler().phase() != Phase::Transition {
            break;
        }
        *round = decide(&mut bench, sms, launches.kernels.len(), way);
    }
    assert_eq!(bench.firmware.scheduler().phase(), Phase::Steady);
    costs.stack = bench.deepest;
    costs
}

/// Checks the memory-issue counters in the block once; returns the instructions and the deepest
/// stack in bytes.
#[inline(never)]
pub(crate) fn limit_memory(sms: u16) -> (u32, u32) {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    block::describe(&mut bus, sms, &block::SM, PolicyCode::MiasIpc, option::LIMIT_MEMORY | option::LIMIT_GROWS | option::LIMIT_WIDE);
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    block::raise_global(&mut bench.bus, interrupt::MEMORY);
    let instructions = bench.interrupt().0.instructions();
    (instructions, bench.deepest)
}

/// Checks the chip's utilization in the block once; returns the instructions and the deepest stack
/// in bytes.
#[cfg(feature = "oversubscription")]
pub(crate) fn control_oversubscription(fill: impl FnOnce(&mut MappedBus)) -> (u32, u32) {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    block::describe(&mut bus, limits::SMS, &block::SM, PolicyCode::MiasIpc, option::CONTROL_OVERSUBSCRIPTION);
    fill(&mut bus);
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    block::raise_global(&mut bench.bus, interrupt::OVERSUBSCRIPTION);
    let instructions = bench.interrupt().0.instructions();
    (instructions, bench.deepest)
}

/// Runs a selection of victims on a filled block; returns the instructions and the deepest stack.
#[cfg(feature = "preempt")]
pub(crate) fn select_victims() -> (u32, u32) {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    block::quiet(&mut bench.bus);
    block::raise_global(&mut bench.bus, interrupt::PREEMPT);
    let instructions = bench.interrupt().0.instructions();
    (instructions, bench.deepest)
}

/// Runs a search with the memory-intensive kernels in `memory`; returns the instructions of its
/// initial placement and of its longest step, and the deepest stack.
#[cfg(feature = "search")]
pub(crate) fn search(sms: u16, launches: &Launches, (policy, options): (PolicyCode, u32), memory: u32) -> (u32, u32, u32) {
    use mias_firmware::scheduler::SearchPhase;
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    block::describe(&mut bus, sms, &launches.sm, policy, options);
    crate::search::describe(&mut bus);
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    for ((number, kernel), tbs) in (0..).zip(launches.kernels).zip(launches.tbs) {
        block::launch(&mut bench.bus, number, kernel, *tbs);
        bench.interrupt();
    }
    let (mut first, mut longest, mut windows, mut rests) = (0, 0, 0, 0);
    while let Some(deadline) = bench.firmware.scheduler().phase().deadline() {
        let phase = bench.firmware.scheduler().phase();
        // A resting search is measured until its next rest.
        rests += u32::from(phase.at_rest());
        if rests == 2 {
            break;
        }
        let places = matches!(phase, Phase::Partition { .. });
        let decides = matches!(phase, Phase::Search { step: SearchPhase::Measure, .. });
        block::set_time(&mut bench.bus, deadline as u32);
        crate::search::count(&mut bench.bus, launches.kernels.len(), memory, windows == 0);
        mias_registers::bus::Bus::write32(&mut bench.bus, global::INT_STATUS, interrupt::TIMER);
        let (span, marks) = bench.interrupt();
        if decides || places {
            let instructions = Span { from: span.from, to: marks.committed }.instructions();
            let most = if places { &mut first } else { &mut longest };
            *most = instructions.max(*most);
            windows += u32::from(decides);
        }
    }
    assert!(bench.firmware.scheduler().phase().at_rest(), "the search goes on");
    assert!(windows >= 2, "no step was taken");
    (first, longest, bench.deepest)
}

fn decide(bench: &mut Bench, sms: u16, kernels: usize, way: Way) -> Cost {
    let (configs, round, held) = held(bench.firmware);
    let runs = |sm: &u16| held[usize::from(*sm) % usize::from(configs)];
    let last = if way.late { sms - 1 } else { sms };
    let punctual = || (0..last).filter(|sm| !(way.lost && sm % configs == 0));
    block::reach_partition(&mut bench.bus, punctual());
    bench.interrupt();
    block::count(&mut bench.bus, sms, way.counts, round, |sm| runs(&sm).tbs);
    if way.loses {
        block::lose(&mut bench.bus, (0..sms).filter(|sm| runs(sm).kernels > 1));
    }
    block::end_windows(&mut bench.bus, punctual());
    if way.drained {
        block::drain(&mut bench.bus, kernels);
    }
    if way.late {
        block::reach_partition(&mut bench.bus, (last..sms).filter(|_| !way.lost));
        block::raise_global(&mut bench.bus, interrupt::TIMER);
        let deadline = bench.firmware.scheduler().phase().deadline().unwrap_or_default();
        block::set_time(&mut bench.bus, deadline as u32);
    }
    let (span, marks) = bench.interrupt();
    Cost {
        configs: configs.into(),
        to_choice: Span { from: span.from, to: marks.made }.instructions(),
        decision: Span { from: marks.begins, to: marks.made }.instructions(),
        after: Span { from: marks.made, to: span.to }.instructions(),
        to_commit: Span { from: span.from, to: marks.committed }.instructions(),
    }
}

/// Content of an SM by its configuration.
#[derive(Clone, Copy, Default)]
struct Held {
    tbs: u32,
    kernels: usize,
}

/// Returns the number of configurations of the current round, the round, and the configurations.
fn held(firmware: &Scheduler) -> (u16, u8, [Held; limits::CONFIGS]) {
    let report = firmware.report();
    let current = report.tried().map(|tried| tried.entry.round).max();
    let mut held = [Held::default(); limits::CONFIGS];
    let mut configs = 0;
    for tried in report.tried().filter(|tried| Some(tried.entry.round) == current) {
        let vector = &tried.entry.vector;
        held[usize::from(configs)] = Held { tbs: vector.0.iter().map(|tbs| u32::from(*tbs)).sum(), kernels: vector.present() };
        configs += 1;
    }
    (configs, current.unwrap_or_default(), held)
}
