//! GPU description and requested parameters, as read from the register block.

use crate::quantity::{Coefficient, SectorRate};
use crate::resources::SmLimits;
use mias_registers::bus::{TryBus, read};
use mias_registers::counters::Counter;
use mias_registers::{KERNEL_SLOTS, MAX_SMS, MAX_WINDOW, global, option};

/// Properties of the GPU, as the register block describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuProperties {
    /// SMs, at most 256.
    pub sm_count: u16,
    /// Kernel slots, at most 8.
    pub slot_count: u8,
    /// Resources of an SM.
    pub limits: SmLimits,
    /// Coefficient of Linear in per-SM units.
    pub linear_coefficient: Coefficient,
    /// Warp schedulers per SM.
    pub schedulers: u32,
    /// Peak bandwidth of the interconnect to all SMs together, in sectors per core cycle.
    pub reply_sectors: SectorRate,
    /// Peak DRAM bandwidth, in sectors per core cycle.
    pub dram_sectors: SectorRate,
}

impl GpuProperties {
    /// A GPU without SMs.
    pub const NONE: Self = Self {
        sm_count: 0,
        slot_count: 0,
        limits: SmLimits::NONE,
        linear_coefficient: Coefficient::ZERO,
        schedulers: 0,
        reply_sectors: SectorRate::ZERO,
        dram_sectors: SectorRate::ZERO,
    };

    /// Reads the GPU description.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B) -> Result<Self, B::Error> {
        let sm_count = read(bus, global::SM_COUNT)?.min(MAX_SMS as u32);
        Ok(Self {
            sm_count: u16::try_from(sm_count).unwrap_or(0),
            slot_count: read(bus, global::SLOT_COUNT)?.min(KERNEL_SLOTS as u32) as u8,
            limits: SmLimits::read(bus)?,
            linear_coefficient: Coefficient::from_bits(read(bus, global::LINEAR_COEFFICIENT)?),
            schedulers: read(bus, global::SM_SCHEDULERS)?,
            reply_sectors: SectorRate::from_bits(read(bus, global::REPLY_SECTORS)?),
            dram_sectors: SectorRate::from_bits(read(bus, global::DRAM_SECTORS)?),
        })
    }
}

/// Parameters of the scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Profiling window in cycles, 1 to 131,071. The thesis uses 45,000 (Nasef 2023, section
    /// 3.2.1).
    pub profile_window: u32,
    /// Cycles for which launches are collected before they are scheduled together (sources.md D27).
    pub coalesce_window: u32,
    /// Use only configurations with at least one TB of every kernel (sources.md D19).
    pub require_all_present: bool,
    /// Cap TBs per SM by the remaining TBs of a kernel. If false, this applies only to kernels
    /// whose grid does not fill all SMs once (sources.md D17).
    pub always_cap_remaining: bool,
    /// Decide by warp instructions instead of thread instructions (sources.md D5).
    pub warp_ipc: bool,
    /// Use Linear as printed in eq. 3.8.
    pub literal_linear: bool,
    /// Read all counters of [`crate::configs::Sums`], including those that the metric does not
    /// need.
    pub read_all_counters: bool,
    /// Transitions take no cycles, if the hardware supports it.
    pub ideal_transition: bool,
    /// Warped-Slicer uses the profiled IPC without the scaling factor (sources.md D48).
    pub unscaled_profile: bool,
    /// Predicted loss in thousandths above which Warped-Slicer falls back to Spatial, divided by
    /// the number of kernels (sources.md D50: 1.2 over the number of kernels).
    pub loss_threshold_permille: u32,
    /// All bits of [`global::STRAP_OPTIONS`], for extensions ([`crate::driver::Extension`]).
    pub options: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { profile_window: 45_000, coalesce_window: 5_000, loss_threshold_permille: 1_200, ..Self::NONE }
    }
}

impl Settings {
    /// Parameters without any request. A window of this length is not valid.
    pub const NONE: Self = Self {
        profile_window: 0,
        coalesce_window: 0,
        require_all_present: false,
        always_cap_remaining: false,
        warp_ipc: false,
        literal_linear: false,
        read_all_counters: false,
        ideal_transition: false,
        unscaled_profile: false,
        loss_threshold_permille: 0,
        options: 0,
    };

    /// Reads the strap registers.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B) -> Result<Self, B::Error> {
        let options = read(bus, global::STRAP_OPTIONS)?;
        let on = |bit| options & bit != 0;
        Ok(Self {
            profile_window: read(bus, global::STRAP_PROFILE_WINDOW)?.clamp(1, MAX_WINDOW),
            coalesce_window: read(bus, global::STRAP_COALESCE_WINDOW)?,
            require_all_present: on(option::REQUIRE_ALL_PRESENT),
            always_cap_remaining: on(option::ALWAYS_CAP_REMAINING),
            warp_ipc: on(option::WARP_IPC),
            literal_linear: on(option::LITERAL_LINEAR),
            read_all_counters: on(option::READ_ALL_COUNTERS),
            ideal_transition: on(option::IDEAL_TRANSITION),
            unscaled_profile: on(option::UNSCALED_PROFILE),
            loss_threshold_permille: read(bus, global::STRAP_LOSS_THRESHOLD)?,
            options,
        })
    }

    /// Returns the counter that supplies the instructions.
    #[must_use]
    pub fn instructions(&self) -> Counter {
        if self.warp_ipc { Counter::WarpInsts } else { Counter::ThreadInsts }
    }
}
