//! No kernel starves under any combination of mechanisms (Dai et al. 2018; sources.md D123 to D127
//! and D138).
//!
//! The mechanisms are orders and limits of memory issue (including those of the firmware's DMIL),
//! warp quotas, and limits of active warps. Further ones are owned ways, ways assigned at run time,
//! and divided miss resources. Each kernel issues instructions in every window of [`WINDOW_CYCLES`]
//! of the test.

use super::active_warps;
use super::memory_issue::any_mechanisms;
use super::ways::{any_divisions, few, with};
use super::*;
use crate::config::{InFlightLimit, L1Lookup, MemoryIssueConfig};
use mias_policies::Firmware;
use mias_registers::{memory, option};

/// Longest time without an issue of a kernel (assumption). In random mixes with warp quotas it
/// exceeded 20,000 cycles, and never reached 40,000. A kernel with a spent quota waits for the
/// slowest concurrent one, on caches of a few lines.
const WINDOW_CYCLES: u64 = 100_000;

/// Number of windows.
const WINDOWS: u64 = 3;

/// Firmware with DMIL, which also assigns ways in turn at each of its interrupts.
struct Twin {
    firmware: Firmware,
    ways: Vec<(u32, u32)>,
    turn: usize,
}

impl Microcontroller for Twin {
    fn on_interrupt(&mut self, registers: &mut RegisterBlock) {
        self.firmware.on_interrupt(registers);
        if let Some((offset, value)) = self.ways.get(self.turn % self.ways.len().max(1)) {
            registers.write32(*offset, *value);
            self.turn += 1;
        }
    }
}

/// Options of the firmware's rule.
fn any_options() -> impl Strategy<Value = u32> {
    let options = [option::LIMIT_GROWS, option::LIMIT_WIDE, option::MEMORY_FROM_DECISION];
    prop::array::uniform3(any::<bool>()).prop_map(move |set| {
        let chosen = options.iter().zip(set).filter(|(_, set)| *set).fold(0, |bits, (option, _)| bits | option);
        chosen | option::LIMIT_MEMORY
    })
}

/// Ways of two slots, on one SM, all SMs, or in the L2.
fn any_ways() -> impl Strategy<Value = (u32, u32)> {
    let places = vec![memory::at(1, memory::L1_WAYS), global::L1_WAYS_ALL, global::L2_WAYS, global::L1_WAYS_ALL + 4, global::L2_WAYS + 4];
    (prop::sample::select(places), 0u32..7, 0u32..7).prop_map(|(offset, even, odd)| (offset, even | odd << memory::WAYS_BITS))
}

/// Interval of the firmware, the options of its rule, and the ways that it assigns.
fn any_firmware() -> impl Strategy<Value = (u32, u32, Vec<(u32, u32)>)> {
    (200u32..3_000, any_options(), prop::collection::vec(any_ways(), 0..5))
}

/// Tests that `cargo xtask ci` runs and `cargo xtask test` skips.
mod slow {
    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_kernel_goes_on(
            recipes in prop::collection::vec(random_kernel(), 2..5),
            mechanisms in any_mechanisms(),
            divisions in any_divisions(),
            found_by_firmware: bool,
            lines: bool,
            (interval, options, ways) in any_firmware(),
            active in prop::collection::vec(0..4u8, 0..4),
        ) {
            let mut gpu = with(if lines { lines::whole_lines(few(), L1Lookup::AtHead) } else { few() }, divisions);
            let twin = MemoryIssueConfig { in_flight: InFlightLimit::Firmware, limits: Vec::new(), broadcast_cycles: None, ..mechanisms.clone() };
            gpu.sm.memory_issue = Some(if found_by_firmware { twin } else { mechanisms });
            let gpu = active_warps::with(gpu, &active);
            // One TB of each per SM: there is space for all, so kernels wait only for the tested
            // mechanisms.
            let limits = if found_by_firmware { options } else { 0 };
            let straps = Straps { fixed: [1; 8], options: limits, memory_interval: interval, coalesce_window: 50, ..Straps::new(PolicyCode::FixedConfig) };
            let mut gpu = Gpu::new(&gpu, straps).with_validation();
            let firmware = Firmware::from_straps(gpu.registers_mut()).expect("starts");
            let mut twin = Twin { firmware, ways, turn: 0 };
            for (stream, recipe) in (0..).zip(&recipes) {
                gpu.launch(Launch { relaunch: true, ..beside(stream, recipe.trace()) }).expect("fits");
            }
            let mut before = vec![0; recipes.len()];
            for window in 1..=WINDOWS {
                prop_assert_eq!(gpu.run(&mut twin, window * WINDOW_CYCLES), RunEnd::CycleLimit);
                let issued = insts(&gpu.stats());
                for (kernel, (now, before)) in issued.iter().zip(&before).enumerate() {
                    prop_assert!(now > before, "kernel {kernel} of {} issued nothing in window {window}: {now} before and after", recipes.len());
                }
                before = issued;
            }
        }
    }
}
