//! Tests of DMIL in firmware on the register block: every interval it sets the limits of exactly
//! those kernels that have had enough requests (sources.md D127).

use mias_hw_model::config::{InFlightLimit, MemoryIssueConfig};
use mias_hw_model::register_block::{GpuDescription, KernelDescriptor, RawCounters, RegisterBlock, Straps};
use mias_hw_model::sm::KernelMemoryCounts;
use mias_policies::Firmware;
use mias_registers::bus::Bus;
use mias_registers::{PolicyCode, global, interrupt, memory, memory_active, option};

const SMS: usize = 40;
const INTERVAL: u32 = 5_000;

fn file(options: u32) -> RegisterBlock {
    let straps = Straps { options, memory_interval: INTERVAL, ..Straps::new(PolicyCode::LeftOver) };
    let config = MemoryIssueConfig { in_flight: InFlightLimit::Firmware, ..MemoryIssueConfig::default() };
    RegisterBlock::new(GpuDescription::reference(SMS, straps)).with_memory_issue(Some(&config))
}

/// Counters of two kernels: on SM n the first has had 2,048 requests with 4,096 fails each and n in
/// flight; the second 1,000 requests, too few.
fn counted(sm: usize) -> RawCounters {
    let mut raw = RawCounters::default();
    raw.memory[0] = KernelMemoryCounts { requests: 2_048, fails: 4_096, peak: sm as u16, ..KernelMemoryCounts::default() };
    raw.memory[1] = KernelMemoryCounts { requests: 1_000, fails: 9_000, peak: 90, ..KernelMemoryCounts::default() };
    raw
}

/// Runs the firmware until cycle `end`, as a model calls it.
fn run(file: &mut RegisterBlock, firmware: &mut Firmware, end: u64) {
    while let Some(now) = file.next_deadline().filter(|now| *now <= end) {
        file.tick(now, counted);
        while file.calls_firmware() {
            (0..SMS).for_each(|sm| file.load_counters(sm, counted(sm)));
            firmware.on_interrupt(file);
        }
    }
}

#[test]
fn limits_are_set_every_interval() {
    let mut file = file(option::LIMIT_MEMORY);
    let mut firmware: Firmware = Firmware::from_straps(&mut file).expect("starts");
    // Other pending events are handled too.
    file.post_launch(KernelDescriptor { grid_tbs: 9, tb_threads: 64, ..KernelDescriptor::default() });
    run(&mut file, &mut firmware, u64::from(INTERVAL) - 1);
    assert_eq!(file.memory_settings(30).limits[..2], [127, 127]);
    run(&mut file, &mut firmware, INTERVAL.into());
    for sm in 0..SMS {
        // Two fails per request: half the peak, at least one.
        assert_eq!(file.memory_settings(sm).limits[..2], [(sm as u8 / 2).max(1), 127], "SM {sm}");
    }
    // There were no requests since: the next read finds none ready, and the interrupt line is then
    // low.
    file.write32(memory::at(3, memory::LIMIT), 77);
    run(&mut file, &mut firmware, 3 * u64::from(INTERVAL));
    assert_eq!((file.memory_settings(3).limits[0], file.interrupt_pending(), file.faults()), (77, false, 0));
}

#[test]
fn a_firmware_that_is_not_asked_to_sets_none() {
    let mut file = file(0);
    let mut firmware: Firmware = Firmware::from_straps(&mut file).expect("starts");
    assert_eq!((file.read32(global::INT_ENABLE) & interrupt::MEMORY, file.read32(global::MEMORY_INTERVAL)), (0, 0));
    run(&mut file, &mut firmware, 10 * u64::from(INTERVAL));
    assert_eq!((file.memory_settings(3).limits, file.read32(global::MEMORY_ACTIVE)), ([127; 8], memory_active::ON));
    let mut file = self::file(option::MEMORY_FROM_DECISION);
    let _: Firmware = Firmware::from_straps(&mut file).expect("starts");
    assert_eq!(file.read32(global::MEMORY_ACTIVE), memory_active::FROM_DECISION);
}
