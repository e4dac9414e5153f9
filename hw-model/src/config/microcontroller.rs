//! Microcontroller that runs the scheduler firmware, with the conversion of its instructions to
//! core cycles.

use super::check::fail;
use super::{ConfigError, GpuConfig};
use serde::{Deserialize, Serialize};

/// Valid clocks in kHz: 1 MHz to 10 GHz (assumption: other values are typing errors).
pub(super) const CLOCK_KHZ: std::ops::RangeInclusive<u32> = 1_000..=10_000_000;

/// Valid cycles per instruction, in thousandths (assumption: ten instructions per cycle to a
/// hundred cycles per instruction).
pub(super) const CPI_PERMILLE: std::ops::RangeInclusive<u32> = 100..=100_000;

/// Maximum number of wait states per access (assumption: a slow bridge between two buses takes tens
/// of cycles).
pub(super) const MOST_WAIT_STATES: u32 = 1_000;

/// Processors with measured instruction counts (`host-sim/lab/decision-latency.toml`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MicrocontrollerCore {
    /// Cortex-M4F.
    #[serde(rename = "cortex-m4f")]
    CortexM4F,
    /// Cortex-M0 and M0+: without divider and wide multiply.
    #[serde(rename = "cortex-m0")]
    CortexM0,
    /// 32-bit RISC-V with multiplication, atomics and compressed instructions.
    #[serde(rename = "rv32imac")]
    Rv32Imac,
}

impl MicrocontrollerCore {
    /// Name in GPU files and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CortexM4F => "cortex-m4f",
            Self::CortexM0 => "cortex-m0",
            Self::Rv32Imac => "rv32imac",
        }
    }
}

/// Microcontroller of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MicrocontrollerConfig {
    /// Processor.
    pub core: MicrocontrollerCore,
    /// Clock in kHz, 1,000 to 10,000,000.
    pub clock_khz: u32,
    /// Cycles per instruction, in thousandths, 100 to 100,000.
    pub cpi_permille: u32,
    /// Wait states of the bus: microcontroller cycles that each access to the register block adds
    /// to its instruction, 0 to 1,000; absent: 0.
    #[serde(default, skip_serializing_if = "super::is_off")]
    pub wait_states: u32,
}

impl MicrocontrollerConfig {
    /// Core cycles in which the microcontroller executes `instructions`, of which `accesses` access
    /// the register block, rounded up. `core_khz` is the core clock.
    #[must_use]
    pub fn core_cycles(&self, core_khz: u32, instructions: u64, accesses: u64) -> u64 {
        let executed = u128::from(instructions) * u128::from(self.cpi_permille);
        let waited = 1_000 * u128::from(accesses) * u128::from(self.wait_states);
        let work = executed.saturating_add(waited).saturating_mul(u128::from(core_khz));
        u64::try_from(work.div_ceil(1_000 * u128::from(self.clock_khz.max(1)))).unwrap_or(u64::MAX)
    }
}

impl GpuConfig {
    pub(super) fn check_microcontroller(&self) -> Result<(), ConfigError> {
        let MicrocontrollerConfig { clock_khz, cpi_permille, .. } = self.microcontroller;
        if !CLOCK_KHZ.contains(&clock_khz) {
            fail("microcontroller.clock_khz", clock_khz, "must be 1000 to 10000000, which is 1 MHz to 10 GHz")?;
        }
        if !CPI_PERMILLE.contains(&cpi_permille) {
            fail("microcontroller.cpi_permille", cpi_permille, "must be 100 to 100000 thousandths of a cycle per instruction")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::config;
    use proptest::prelude::*;

    fn with(clock_khz: u32, cpi_permille: u32) -> MicrocontrollerConfig {
        MicrocontrollerConfig { core: MicrocontrollerCore::CortexM4F, clock_khz, cpi_permille, wait_states: 0 }
    }

    #[test]
    fn closed_forms() {
        // One instruction per cycle at the core's clock.
        assert_eq!(with(1_000, 1_000).core_cycles(1_000, 77, 5), 77);
        // 100 instructions at 1.5 cycles are 150 of a clock at a third of the core's: 450.
        assert_eq!(with(1_000, 1_500).core_cycles(3_000, 100, 5), 450);
        // 1 cycle of 1 GHz is 1.365 of 1,365 MHz: rounded up.
        assert_eq!(with(1_000_000, 1_000).core_cycles(1_365_000, 1, 1), 2);
        assert_eq!(with(1_000_000, 1_000).core_cycles(1_365_000, 0, 0), 0);
        assert_eq!(with(1, u32::MAX).core_cycles(u32::MAX, u64::MAX, u64::MAX), u64::MAX);
        // 10 of 100 instructions at 1.5 cycles wait 7 more cycles: 150 + 70 of a clock at a third
        // of the core's.
        let waits = MicrocontrollerConfig { wait_states: 7, ..with(1_000, 1_500) };
        assert_eq!(waits.core_cycles(3_000, 100, 10), 3 * 220);
    }

    #[test]
    fn values_out_of_range_are_refused() {
        for (clock, cpi, key) in [
            (999, 1_500, "microcontroller.clock_khz"),
            (10_000_001, 1_500, "microcontroller.clock_khz"),
            (500_000, 99, "microcontroller.cpi_permille"),
            (500_000, 100_001, "microcontroller.cpi_permille"),
        ] {
            let gpu = GpuConfig { microcontroller: with(clock, cpi), ..config() };
            assert_eq!(gpu.check().unwrap_err().key, key);
        }
        assert_eq!(GpuConfig { microcontroller: with(1_000, 100_000), ..config() }.check(), Ok(()));
        let waits = |wait_states| GpuConfig { microcontroller: MicrocontrollerConfig { wait_states, ..with(1_000, 100) }, ..config() };
        assert_eq!(waits(1_001).check().unwrap_err().key, "microcontroller.wait_states");
        assert_eq!(waits(1_000).check(), Ok(()));
    }

    proptest! {
        /// The result is the smallest number of core cycles that covers the instructions' time.
        #[test]
        fn rounds_up_and_no_further(instructions in 0..1_u64 << 32, core in 1..10_000_000_u32, clock in 1_000..10_000_000_u32, cpi in 100..100_000_u32) {
            let cycles = u128::from(with(clock, cpi).core_cycles(core, instructions, 3));
            let work = u128::from(instructions) * u128::from(cpi) * u128::from(core);
            let unit = 1_000 * u128::from(clock);
            prop_assert!(cycles * unit >= work && (cycles == 0 || (cycles - 1) * unit < work));
        }

        #[test]
        fn a_faster_clock_is_never_later(instructions in 0..1_u64 << 32, slow in 1_000..5_000_000_u32, more in 0..5_000_000_u32) {
            let cycles = |clock| with(clock, 1_500).core_cycles(1_365_000, instructions, 3);
            prop_assert!(cycles(slow + more) <= cycles(slow));
        }
    }
}
