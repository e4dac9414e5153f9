//! The situations that are measured: from the launch of kernels of the thesis to the chosen configuration.

use core::ptr::addr_of_mut;

use mias_firmware::Firmware;
use mias_firmware::bus::MappedBus;
use mias_firmware::driver::Observer;
use mias_firmware::limits;
use mias_firmware::policy::AnyPolicy;
use mias_firmware::regs::{PolicyCode, global, interrupt};
use mias_firmware::resources::TbShape;
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
pub(crate) fn schedule(policy: PolicyCode, sms: u16, kernels: &[TbShape]) -> Costs {
    // SAFETY: one scenario runs at a time.
    let (mut bus, firmware) = unsafe { (block::bus(), &mut *addr_of_mut!(FIRMWARE)) };
    block::describe(&mut bus, sms, policy);
    assert!(firmware.restart(&mut bus, limits::SMS).is_ok(), "the block is the firmware's own");
    let mut bench = Bench { bus, firmware, deepest: 0 };
    for (number, kernel) in (0..).zip(kernels) {
        block::launch(&mut bench.bus, number, kernel);
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
        *round = decide(&mut bench, sms);
    }
    assert_eq!(bench.firmware.scheduler().phase(), Phase::Steady);
    costs.stack = bench.deepest;
    costs
}

fn decide(bench: &mut Bench, sms: u16) -> Cost {
    let current = bench.firmware.report().tried().map(|tried| tried.entry.round).max();
    let configs = bench.firmware.report().tried().filter(|tried| Some(tried.entry.round) == current).count();
    block::raise(&mut bench.bus, sms, interrupt::PARTITION, global::PARTITION);
    bench.interrupt();
    block::count(&mut bench.bus, sms);
    block::raise(&mut bench.bus, sms, interrupt::PROFILE_DONE, global::PROFILE_DONE);
    let (span, marks) = bench.interrupt();
    Cost {
        configs: configs as u32,
        to_choice: Span { from: span.from, to: marks.made }.instructions(),
        decision: Span { from: marks.begins, to: marks.made }.instructions(),
        after: Span { from: marks.made, to: span.to }.instructions(),
    }
}
