//! Parameters of a search, and the GPU properties that it needs.

use super::model::MOST_OF_HITS;
use super::{Reach, Supply};
use mias_firmware::configs::MAX_KERNELS;
use mias_firmware::gpu::GpuProperties;
use mias_firmware::quantity::SectorRate;
use mias_registers::bus::{TryBus, read};
use mias_registers::{MAX_WINDOW, feature, global, option};

/// Bytes of a sector, the unit of bandwidths.
const SECTOR_BYTES: u32 = 32;

/// Parameters of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parameters {
    /// Unmeasured cycles of a step, 1 to 131,071. Zhao et al. 2018 use 20,000 (sections 4.1.2 and
    /// 4.2).
    pub warm_up: u32,
    /// Measured cycles of a step, 1 to 131,071. Zhao et al. 2018 use 20,000.
    pub window: u32,
    /// Accepted loss of a kernel's IPC on its even share, in thousandths, at most 1000. Zhao et al.
    /// 2018 use 50.
    pub loss_permille: u32,
    /// Share of DRAM bandwidth above which a kernel is memory-intensive, in thousandths; none for
    /// the model of off-SM bandwidth.
    pub utilization_permille: Option<u32>,
    /// Whether the demand counts the kernel's current SMs instead of all SMs.
    pub by_share: bool,
    /// Whether every step reassigns the SMs that it takes, instead of stalling them.
    pub reassigns: bool,
    /// Whether SMs can be stalled, kernels are counted, and the GPU reports its bandwidths.
    pub able: bool,
    /// Whether SMs can be gated, and wake within the unmeasured window.
    pub gates: bool,
    /// Whether active warps of kernels can be limited.
    pub limits_warps: bool,
    /// Bandwidths of the GPU.
    pub supply: Supply,
    /// DRAM bandwidth of a kernel alone.
    pub reach: Reach,
    /// SMs of each kernel, for the policy with given shares.
    pub given: [u16; MAX_KERNELS],
}

impl Parameters {
    /// No parameters, for a GPU without support.
    pub const NONE: Self = Self {
        warm_up: 0,
        window: 0,
        loss_permille: 0,
        utilization_permille: None,
        by_share: false,
        reassigns: false,
        able: false,
        gates: false,
        limits_warps: false,
        supply: Supply::NONE,
        reach: Reach::NONE,
        given: [0; MAX_KERNELS],
    };

    /// Reads straps and GPU properties.
    ///
    /// # Errors
    /// The bus failed.
    pub fn read<B: TryBus>(bus: &mut B, gpu: &GpuProperties) -> Result<Self, B::Error> {
        let (options, features) = (read(bus, global::STRAP_OPTIONS)?, read(bus, global::FEATURES)?);
        let warm_up = read(bus, global::STRAP_SEARCH_WARM_UP)?.clamp(1, MAX_WINDOW);
        let supply = Supply {
            sms: gpu.sm_count,
            schedulers: gpu.schedulers,
            access_sectors: (read(bus, global::L2_ACCESS_BYTES)? / SECTOR_BYTES).clamp(1, u8::MAX.into()) as u8,
            interconnect: gpu.reply_sectors,
            l2: SectorRate::from_bits(read(bus, global::L2_SECTORS)?),
            dram: gpu.dram_sectors,
        };
        let by_utilization = options & option::SEARCH_BY_UTILIZATION != 0;
        let mut given = [0; MAX_KERNELS];
        for (strap, given) in (global::STRAP_SHARES..).step_by(4).zip(&mut given) {
            *given = u16::try_from(read(bus, strap)?).unwrap_or(u16::MAX);
        }
        let needed = feature::SM_STATES | feature::KERNEL_COUNTERS;
        Ok(Self {
            warm_up,
            window: read(bus, global::STRAP_SEARCH_WINDOW)?.clamp(1, MAX_WINDOW),
            loss_permille: read(bus, global::STRAP_SEARCH_LOSS)?.min(1000),
            utilization_permille: if by_utilization { Some(read(bus, global::STRAP_SEARCH_UTILIZATION)?.min(1000)) } else { None },
            by_share: options & option::SEARCH_BY_SHARE != 0,
            reassigns: options & option::SEARCH_REASSIGNS != 0,
            able: features & needed == needed && supply.is_known(),
            gates: features & feature::POWER_GATING != 0 && read(bus, global::SM_WAKE_CYCLES)? <= warm_up,
            limits_warps: features & feature::ACTIVE_WARPS != 0,
            supply,
            reach: Reach {
                base_permille: read(bus, global::STRAP_SEARCH_REACH)?.min(1000),
                row_hits_permille: read(bus, global::STRAP_SEARCH_REACH_OF_HITS)?.min(MOST_OF_HITS),
            },
            given,
        })
    }
}
