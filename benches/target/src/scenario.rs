//! The situations that are measured: from the launch of kernels of the thesis to the chosen configuration.

use core::ptr::addr_of_mut;

use mias_firmware::Firmware;
use mias_firmware::bus::MappedBus;
use mias_firmware::driver::Observer;
use mias_firmware::limits;
use mias_firmware::policy::AnyPolicy;
use mias_firmware::regs::{PolicyCode, global, interrupt, option};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_firmware::scheduler::Phase;

use crate::measure::Span;
use crate::{block, board, stack};

const fn shape(threads: u32, thread_registers: u32, shared_bytes: u32) -> TbShape {
    TbShape { threads, thread_registers, shared_bytes }
}

/// Kernels of the thesis that are launched together (demands: algorithms.md section 7.1).
pub(crate) const SETS: [&[TbShape]; 4] = [
    // mm, fwt.
    &[shape(256, 39, 2048), shape(256, 22, 0)],
    // blk, bopt.
    &[shape(128, 23, 0), shape(128, 32, 516)],
    // blk, bopt, dxtc.
    &[shape(128, 23, 0), shape(128, 32, 516), shape(64, 98, 2048)],
    // blk, bopt, dxtc, mm.
    &[shape(128, 23, 0), shape(128, 32, 516), shape(64, 98, 2048), shape(256, 39, 2048)],
];

/// Kernels, the TBs that each has left, and the SM that they run on.
pub(crate) struct Launches {
    pub(crate) kernels: &'static [TbShape],
    /// One per kernel.
    pub(crate) tbs: &'static [u32],
    pub(crate) sm: SmLimits,
}

/// More TBs than any SM holds.
const MANY: u32 = 1_000_000;

/// Kernels of the thesis with many TBs each, on its machine.
pub(crate) const fn endless(kernels: &'static [TbShape]) -> Launches {
    Launches { kernels, tbs: &[MANY; 4], sm: block::SM }
}

/// Kernels of one warp per TB on an SM with `sm_tbs` places, which nothing else limits. One of them has TBs without end and fills
/// what the others leave, so that there are as many configurations as ways to place the others.
const fn warps(tbs: &'static [u32], sm_tbs: u32) -> Launches {
    let kernels = SETS_OF_WARPS.split_at(tbs.len()).0;
    let capacity = Resources { threads: 32 * sm_tbs, registers: 65_536, shared_bytes: 65_536, tbs: sm_tbs };
    Launches { kernels, tbs, sm: SmLimits { capacity, ..block::SM } }
}

const SETS_OF_WARPS: &[TbShape] = &[shape(32, 16, 0); 4];

/// Launches that bring a build to its limits, for a machine with so many SMs: two full rounds (twice as many configurations as
/// SMs, which both limits of the image have room for), and more configurations than can be tried.
pub(crate) const fn extremes(sms: u16) -> [Launches; 2] {
    let full = match sms {
        // 32 configurations.
        16 => warps(&[MANY, 2, 10], 12),
        // 60.
        30 => warps(&[MANY, 1, 4, 6], 8),
        // 160.
        80 => warps(&[MANY, 4, 5, 7], 9),
        // 264.
        _ => warps(&[MANY, 7, 7, 9], 10),
    };
    // 451.
    [full, warps(&[MANY; 4], 12)]
}

/// The way to a decision: what comes in its interrupt, beside the end of windows, and what was counted.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    /// Every kernel drains in it.
    pub(crate) drained: bool,
    /// The time-out comes in it, with the end of all windows but one and the start of that one; and warp instructions count. Otherwise
    /// the windows of all SMs end in it.
    pub(crate) late: bool,
    /// The best configurations are in the middle, so that a second round is generated from both sides of the best.
    pub(crate) peaked: bool,
}

impl Way {
    /// The end of all windows, and nothing else.
    pub(crate) const USUAL: Self = Self { drained: false, late: false, peaked: false };
}

/// Machines that this build measures.
pub(crate) const MACHINES: &[u16] = if limits::SMS > 32 { &[80, 132] } else { &[16, 30] };

type Scheduler = Firmware<AnyPolicy, { limits::CONFIGS }>;

static mut FIRMWARE: Scheduler = Firmware::idle();

/// What one interrupt cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct Cost {
    /// Configurations in the round that was decided.
    pub(crate) configs: u32,
    /// Instructions from the interrupt to the chosen configuration.
    pub(crate) to_choice: u32,
    /// Of these, from the first counter read on.
    pub(crate) decision: u32,
    /// Instructions from there to the end of the interrupt: quotas and phase.
    pub(crate) after: u32,
    /// Instructions from the interrupt to the commit of the quotas.
    pub(crate) to_commit: u32,
}

/// What a whole scheduling cost.
#[derive(Clone, Copy, Default)]
pub(crate) struct Costs {
    /// All maximal multi-kernel configurations.
    pub(crate) total: u32,
    /// Instructions from the end of the batch to the first quotas in effect.
    pub(crate) partition: u32,
    /// One decision per round.
    pub(crate) rounds: [Cost; 2],
    /// Deepest stack in bytes, over all interrupts.
    pub(crate) stack: u32,
}

/// Notes when a decision begins and ends.
#[derive(Default)]
struct Marks {
    begins: u32,
    made: u32,
    committed: u32,
}

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

/// The firmware between two events: one copy of the code that is measured.
struct Bench {
    bus: MappedBus,
    firmware: &'static mut Scheduler,
    deepest: u32,
}

impl Bench {
    /// One interrupt: instructions in all, and when it began and what it marked.
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
}

/// Runs kernels under a policy until it is steady.
#[inline(never)]
pub(crate) fn schedule(policy: PolicyCode, sms: u16, launches: &Launches, way: Way) -> Costs {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    let options = if way.late { option::WARP_IPC } else { 0 };
    block::describe(&mut bus, sms, &launches.sm, policy, options);
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    for ((number, kernel), tbs) in (0..).zip(launches.kernels).zip(launches.tbs) {
        block::launch(&mut bench.bus, number, kernel, *tbs);
        bench.interrupt();
    }
    let mut costs = Costs::default();
    block::set_time(&mut bench.bus, 5_000);
    mias_firmware::bus::Bus::write32(&mut bench.bus, global::INT_STATUS, interrupt::TIMER);
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

fn decide(bench: &mut Bench, sms: u16, kernels: usize, way: Way) -> Cost {
    let current = bench.firmware.report().tried().map(|tried| tried.entry.round).max();
    let configs = bench.firmware.report().tried().filter(|tried| Some(tried.entry.round) == current).count();
    let punctual = if way.late { sms - 1 } else { sms };
    block::reach_partition(&mut bench.bus, 0..punctual);
    bench.interrupt();
    block::count(&mut bench.bus, sms, way.peaked);
    block::end_windows(&mut bench.bus, 0..punctual);
    if way.drained {
        block::drain(&mut bench.bus, kernels);
    }
    if way.late {
        block::reach_partition(&mut bench.bus, punctual..sms);
        block::raise_global(&mut bench.bus, interrupt::TIMER);
        let deadline = bench.firmware.scheduler().phase().deadline().unwrap_or_default();
        block::set_time(&mut bench.bus, deadline as u32);
    }
    let (span, marks) = bench.interrupt();
    Cost {
        configs: configs as u32,
        to_choice: Span { from: span.from, to: marks.made }.instructions(),
        decision: Span { from: marks.begins, to: marks.made }.instructions(),
        after: Span { from: marks.made, to: span.to }.instructions(),
        to_commit: Span { from: span.from, to: marks.committed }.instructions(),
    }
}
