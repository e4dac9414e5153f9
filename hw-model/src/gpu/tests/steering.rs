//! Tests of memory-issue settings and counts in the register block on whole GPUs (sources.md D127).

use super::memory_issue::{any_mechanisms, with};
use super::*;
use crate::config::{InFlightLimit, MemoryIssueConfig, MemoryOrder};
use mias_registers::{memory, memory_active, memory_mode};

/// Firmware with a table of quotas that also reads the memory-issue counters in each interval, and
/// makes the next writes of a list.
struct Steers {
    table: Table,
    list: Vec<(u32, u32)>,
    turn: usize,
    /// Values read, in order.
    read: Vec<u32>,
}

impl Steers {
    fn new(quotas: &[u32], list: Vec<(u32, u32)>) -> Self {
        Steers { table: Table::fixed(quotas), list, turn: 0, read: Vec::new() }
    }
}

impl Microcontroller for Steers {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        if registers.read32(global::INT_STATUS) & interrupt::MEMORY != 0 {
            registers.write32(global::MEMORY_SNAPSHOT, 1);
            let sms = registers.gpu().sm_count as usize;
            let counters = [memory::REQUESTS, memory::FAILS, memory::HELD_CYCLES, memory::PEAK, memory::IN_FLIGHT, memory::LIMIT];
            for offset in (0..sms).flat_map(|sm| counters.map(|register| memory::at(sm, register))) {
                self.read.extend([offset, offset + 4].map(|offset| registers.read32(offset)));
            }
            if let Some((offset, value)) = self.list.get(self.turn % self.list.len().max(1)) {
                registers.write32(*offset, *value);
            }
            self.turn += 1;
        }
        self.table.on_interrupt(registers);
    }
}

/// GPU of three SMs without restrictions until the firmware sets them.
fn gpu_config(config: MemoryIssueConfig) -> GpuConfig {
    let mut gpu_config = of(3);
    gpu_config = with(gpu_config, config);
    gpu_config
}

/// Two concurrent kernels, with writes every `interval` cycles.
fn steered(gpu: Gpu, recipes: [&Recipe; 2], list: &[(u32, u32)], interval: u32) -> (RunEnd, Stats, Vec<u32>) {
    let mut gpu = gpu;
    launch_all(&mut gpu, recipes.map(Recipe::trace));
    let events = gpu.registers_mut().read32(global::INT_ENABLE);
    gpu.registers_mut().write32(global::INT_ENABLE, events | interrupt::MEMORY);
    gpu.registers_mut().write32(global::MEMORY_INTERVAL, interval);
    let mut steers = Steers::new(&recipes.map(|recipe| recipe.quota.max(1)), list.to_vec());
    let end = gpu.run(&mut steers, 3_000_000);
    (end, gpu.stats(), steers.read)
}

/// Mode or limit of one SM or all, or start of the restrictions.
fn any_setting() -> impl Strategy<Value = (u32, u32)> {
    let mode = (0u32..3, 0u32..4).prop_map(|(order, limits)| order | limits << 4);
    prop_oneof![
        mode.clone().prop_map(|mode| (global::MEMORY_MODE_ALL, mode)),
        (0usize..3, mode).prop_map(|(sm, mode)| (memory::at(sm, memory::MODE), mode)),
        (0usize..3, 0u32..2, 0u32..12).prop_map(|(sm, slot, limit)| (memory::at(sm, memory::LIMIT + 4 * slot), limit)),
        (0u32..2, 0u32..12).prop_map(|(slot, limit)| (global::MEMORY_LIMIT_ALL + 4 * slot, limit)),
        (0..=memory_active::FROM_DECISION).prop_map(|active| (global::MEMORY_ACTIVE, active)),
    ]
}

/// The registers show the counts of the statistics.
#[test]
fn counters_are_the_models() {
    let load = |i: u64| StaticInst::new(16 * (i % 16) as u32, Class::Load(Space::Global)).writes(8 + (i % 16) as u8).reads(&[5]).width(128);
    let lines = kernel(1, 256, 32, 0, |_, warp| (0..100).map(|i| (load(i), (u64::from(warp) * 100 + i) * 128)).collect());
    let mut gpu = gpu(&gpu_config(MemoryIssueConfig { in_flight: InFlightLimit::Firmware, ..MemoryIssueConfig::default() }));
    gpu.registers_mut().write32(global::MEMORY_LIMIT_ALL, 5);
    gpu.launch(once(lines)).expect("fits");
    let mut table = Table::fixed(&[1]);
    // The limit after reset, of a new kernel; then the firmware's.
    gpu.run(&mut table, 20);
    assert_eq!(gpu.registers_mut().read32(memory::at(0, memory::LIMIT)), 127);
    gpu.registers_mut().write32(global::MEMORY_LIMIT_ALL, 5);
    gpu.run(&mut table, 3_000);
    gpu.load_counters();
    gpu.registers_mut().write32(global::MEMORY_SNAPSHOT, 1);
    let holder = (0..3).find(|&sm| gpu.sms[sm].resident(0) > 0).expect("runs");
    let counters = *gpu.sms[holder].kernel_counters(0);
    let mut read = |register| u64::from(gpu.registers_mut().read32(memory::at(holder, register)));
    let slots = counters.issue_slots[IssueClass::Held as usize];
    let expected = [counters.requests(), counters.l1_reservation_fails, slots];
    assert_eq!([memory::REQUESTS, memory::FAILS, memory::HELD_CYCLES].map(&mut read), expected);
    assert!(expected[0] >= 1024 && slots > 0, "{expected:?}");
    assert_eq!((read(memory::PEAK), read(memory::LIMIT)), (5, 5));
    assert!(read(memory::IN_FLIGHT) <= 5);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Modes written before the first kernel equal those of a GPU file.
    #[test]
    fn what_is_written_is_what_a_gpu_says(first in random_kernel(), second in random_kernel(), order in 0usize..3, limits in 0usize..3) {
        let (orders, kinds) = (
            [MemoryOrder::Scheduler, MemoryOrder::RoundRobin, MemoryOrder::Quota],
            [InFlightLimit::None, InFlightLimit::Dynamic, InFlightLimit::DynamicGlobal],
        );
        let mode = order as u32 | [memory_mode::NONE, memory_mode::FOUND, memory_mode::BROADCAST][limits];
        let said = gpu_config(MemoryIssueConfig { order: orders[order], in_flight: kinds[limits], ..MemoryIssueConfig::default() });
        let mut written = gpu(&gpu_config(MemoryIssueConfig::default()));
        written.registers_mut().write32(global::MEMORY_MODE_ALL, mode);
        prop_assert_eq!(steered(written, [&first, &second], &[], 900), steered(gpu(&said), [&first, &second], &[], 900));
    }

    /// No kernel starves under any settings at run time; skipped cycles, and any number of threads,
    /// change no bit of the results and the values read.
    #[test]
    fn steering_starves_nobody_and_is_the_same_however_it_is_run(
        first in random_kernel(),
        second in random_kernel(),
        mechanisms in any_mechanisms(),
        list in prop::collection::vec(any_setting(), 1..12),
        interval in 40u32..700,
    ) {
        let gpu_config = gpu_config(mechanisms);
        let run = |gpu: Gpu| steered(gpu, [&first, &second], &list, interval);
        let usual = run(gpu(&gpu_config));
        prop_assert_eq!(&usual.0, &RunEnd::AllComplete, "{:?}", list);
        prop_assert_eq!(&run(gpu(&gpu_config).without_skipping()), &usual);
        prop_assert_eq!(&run(gpu(&gpu_config).with_threads(3)), &usual);
    }
}
