//! Tests of the control of extra TBs in firmware on the register block: it reads exactly the due
//! intervals, and only if the option is set (sources.md D181).

use mias_hw_model::register_block::{GpuDescription, KernelDescriptor, Peak, RegisterBlock, Straps};
use mias_policies::Firmware;
use mias_registers::bus::Bus;
use mias_registers::{CONTEXT_COUNTS, PolicyCode, context_allowed, context_bound, fault, feature, global, interrupt, option};

const INTERVAL: u32 = 5_000;
/// Maximum of every count in an interval.
const MOST: u64 = INTERVAL as u64;

/// Block of a chip with or without control of extra TBs by the firmware.
fn file(options: u32, leaves: bool) -> RegisterBlock {
    let straps = Straps { options, context_interval: INTERVAL, memory_interval: INTERVAL, ..Straps::new(PolicyCode::LeftOver) };
    let peaks = [Peak { most: 1, cycles: 1 }; CONTEXT_COUNTS];
    RegisterBlock::new(GpuDescription::reference(4, straps)).with_oversubscription(leaves.then_some(peaks))
}

fn started(file: &mut RegisterBlock) -> Firmware {
    Firmware::from_straps(file).expect("starts")
}

fn serve(file: &mut RegisterBlock, firmware: &mut Firmware) {
    let mut calls = 0;
    while file.calls_firmware() {
        firmware.on_interrupt(file);
        calls += 1;
        assert!(calls < 10, "the line stays high");
    }
}

/// Counts with this DRAM use, and a hundredth for the other parts.
fn counted(dram: u64) -> [u64; CONTEXT_COUNTS] {
    let [little @ .., _] = [MOST / 100; CONTEXT_COUNTS];
    let [a, b, c, d, e] = little;
    [a, b, c, d, e, dram]
}

fn allowed(file: &mut RegisterBlock, slot: u32) -> u32 {
    file.read32(global::CONTEXT_ALLOWED + 4 * slot)
}

#[test]
fn kernels_get_what_the_chip_has_left() {
    let mut file = file(option::CONTROL_OVERSUBSCRIPTION, true);
    let mut firmware = started(&mut file);
    assert_eq!(file.context_interval(), INTERVAL);
    // Other pending events are handled too.
    for (slot, bound) in [(0, 6), (1, 3)] {
        assert_eq!(file.post_launch(KernelDescriptor { grid_tbs: 9, tb_threads: 64, ..KernelDescriptor::default() }), Some(slot));
        file.context_kernel_placed(slot, bound, slot == 1);
    }
    file.end_context_interval(0, counted(MOST * 6 / 10));
    file.end_context_interval(1, counted(MOST / 10));
    serve(&mut file, &mut firmware);
    let class = |class| class << context_allowed::CLASS_SHIFT;
    assert_eq!(allowed(&mut file, 0), 1 | class(context_allowed::MODERATE));
    assert_eq!(allowed(&mut file, 1), 3 | context_allowed::IN_L1 | class(context_allowed::UNDERUTILIZED));
    assert_eq!((file.due_oversubscription(), file.read32(global::LAUNCH_COUNT), file.faults()), (0, 0, 0));
    // Only one of them is due, and the step saturates.
    file.end_context_interval(0, counted(MOST * 9 / 10));
    serve(&mut file, &mut firmware);
    assert_eq!(allowed(&mut file, 0), 1 | context_allowed::STOPPED | class(context_allowed::SATURATED));
    assert_eq!(allowed(&mut file, 1) & context_allowed::EXTRA, 3);
    // A new kernel in the slot starts with none.
    file.context_kernel_placed(0, 6, false);
    assert_eq!((allowed(&mut file, 0), file.read32(global::CONTEXT_BOUND) & context_bound::EXTRA), (0, 6));
}

/// A restarted firmware continues from the values in the block.
#[test]
fn a_restart_forgets_nothing() {
    let mut file = file(option::CONTROL_OVERSUBSCRIPTION, true);
    let mut firmware = started(&mut file);
    file.context_kernel_placed(0, 6, false);
    for _ in 0..2 {
        file.end_context_interval(0, counted(MOST * 6 / 10));
        serve(&mut file, &mut firmware);
    }
    file.end_context_interval(0, counted(MOST * 6 / 10));
    firmware = started(&mut file);
    serve(&mut file, &mut firmware);
    assert_eq!(allowed(&mut file, 0) & context_allowed::EXTRA, 3);
}

/// Limits of memory instructions are handled in the same interrupt.
#[test]
fn it_goes_with_limits_of_memory_instructions() {
    let straps = option::CONTROL_OVERSUBSCRIPTION | option::LIMIT_MEMORY;
    let mut file = file(straps, true);
    let mut firmware = started(&mut file);
    assert_eq!(
        file.read32(global::INT_ENABLE) & (interrupt::MEMORY | interrupt::OVERSUBSCRIPTION),
        interrupt::MEMORY | interrupt::OVERSUBSCRIPTION
    );
    file.context_kernel_placed(0, 6, false);
    file.end_context_interval(0, counted(0));
    file.tick(INTERVAL.into(), |_| mias_hw_model::register_block::RawCounters::default());
    assert_eq!(file.pending_events() & (interrupt::MEMORY | interrupt::OVERSUBSCRIPTION), interrupt::MEMORY | interrupt::OVERSUBSCRIPTION);
    serve(&mut file, &mut firmware);
    assert_eq!((allowed(&mut file, 0) & context_allowed::EXTRA, file.interrupt_pending()), (6, false));
}

#[test]
fn a_firmware_that_is_not_asked_to_controls_nothing() {
    let mut file = self::file(0, true);
    let mut firmware = started(&mut file);
    assert_eq!((file.read32(global::INT_ENABLE) & interrupt::OVERSUBSCRIPTION, file.context_interval()), (0, 0));
    serve(&mut file, &mut firmware);
    // The firmware leaves a chip with its own control alone, and reports it.
    let mut file = self::file(option::CONTROL_OVERSUBSCRIPTION, false);
    let _ = started(&mut file);
    assert_eq!((file.read32(global::FEATURES) & feature::OVERSUBSCRIPTION, file.faults()), (0, fault::NO_OVERSUBSCRIPTION));
    assert_eq!(file.read32(global::INT_ENABLE) & interrupt::OVERSUBSCRIPTION, 0);
}
