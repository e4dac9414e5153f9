//! Traits by which launches are chosen: a kernel's demand in earlier launches, and the SM resources
//! of its TBs by its descriptor (sources.md D202).

use mias_firmware::gpu::GpuProperties;
use mias_firmware::kernel::Kernel;
use mias_firmware::resources::Resources;

/// Demand of a kernel between issue slots only and DRAM only, in sixteenths.
///
/// It is DRAM's part of the sum of both uses, each as a share of its peak. As a ratio of two counts
/// over the same cycles, it does not depend on the kernel's slowdown, and needs no isolated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind(u8);

/// Bits of a share of DRAM before the conversion to sixteenths. Sums of two of them, times sixteen,
/// fit a word.
const SHARE_BITS: u32 = 27;

/// Counts of a launch on the whole chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchCounts {
    /// Warp instructions issued.
    pub warp_insts: u32,
    /// Sectors that DRAM read and wrote.
    pub dram_sectors: u32,
}

impl Kind {
    /// Kind of a kernel that uses only DRAM.
    pub const MOST: u32 = 16;

    /// Kind of a kernel that uses only issue slots.
    pub(super) const ALL_ISSUE: Self = Self(0);

    /// Kind of an unknown kernel: halfway, so that it weighs on neither side.
    pub const UNKNOWN: Self = Self(8);

    /// Returns the kind of a launch with these counts; none if all are 0.
    #[must_use]
    pub fn of(did: LaunchCounts, gpu: &GpuProperties) -> Option<Self> {
        // Cross-multiplied by cycles and both peaks: sectors * issue slots per cycle against
        // instructions * sectors per cycle.
        let slots = u64::from(gpu.sm_count).saturating_mul(gpu.schedulers.into());
        let dram = (u64::from(did.dram_sectors) << 16).saturating_mul(slots);
        let issue = u64::from(did.warp_insts).saturating_mul(gpu.dram_sectors.to_bits().into());
        let beyond = (u64::BITS - (dram | issue).leading_zeros()).saturating_sub(SHARE_BITS);
        let (dram, issue) = ((dram >> beyond) as u32, (issue >> beyond) as u32);
        let sixteenths = (dram << 4).checked_div(dram.saturating_add(issue))?;
        Some(Self(sixteenths.min(Self::MOST) as u8))
    }

    /// Returns DRAM's part in sixteenths, 0 to [`Kind::MOST`].
    #[must_use]
    pub fn sixteenths(self) -> u32 {
        self.0.into()
    }
}

/// Number of shared resources of an SM.
const RESOURCES: usize = 4;

/// Known demand of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Demand between issue slots and DRAM.
    pub kind: Kind,
    /// Shares of an SM's threads, registers, shared memory and TB slots that a full SM of its TBs
    /// takes, in parts of 256, rounded down.
    pub shares: [u16; RESOURCES],
}

impl Traits {
    /// Returns the traits of a kernel of this kind.
    #[must_use]
    pub fn of(kind: Kind, kernel: &Kernel, gpu: &GpuProperties) -> Self {
        let (all, tb, tbs) = (&gpu.limits.capacity, &kernel.demand, u32::from(kernel.max_tbs));
        let share = |amount: fn(&Resources) -> u32| {
            // At most the capacity, because these TBs fit.
            let taken = amount(tb).saturating_mul(tbs).min(amount(all));
            // Shifted, so that 256 times the amount fits a word.
            let beyond = (u32::BITS - amount(all).leading_zeros()).saturating_sub(u32::BITS - 8);
            ((taken >> beyond) << 8).checked_div(amount(all) >> beyond).unwrap_or(0).min(256) as u16
        };
        Self { kind, shares: [share(|of| of.threads), share(|of| of.registers), share(|of| of.shared_bytes), share(|of| of.tbs)] }
    }
}

/// Set of kernels that run together, as sums of their traits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mix {
    kernels: u32,
    /// Sum of the kinds, in sixteenths.
    dram: u32,
    /// Sums of the shares.
    shares: [u32; RESOURCES],
}

impl Mix {
    /// Returns the mix with one more kernel.
    #[must_use]
    pub fn with(mut self, traits: &Traits) -> Self {
        self.kernels = self.kernels.saturating_add(1);
        self.dram = self.dram.saturating_add(traits.kind.sixteenths());
        for (sum, share) in self.shares.iter_mut().zip(traits.shares) {
            *sum = sum.saturating_add(share.into());
        }
        self
    }

    /// Returns the imbalance between issue slots and DRAM demand, in sixteenths; 0 for fewer than
    /// two kernels.
    #[must_use]
    pub fn imbalance(&self) -> u32 {
        if self.kernels < 2 { 0 } else { self.dram.saturating_mul(2).abs_diff(self.kernels.saturating_mul(Kind::MOST)) }
    }

    /// Returns the largest sum of shares of one SM resource, in parts of 256; 0 for fewer than two
    /// kernels.
    #[must_use]
    pub fn crowding(&self) -> u32 {
        if self.kernels < 2 { 0 } else { self.shares.into_iter().fold(0, u32::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_firmware::quantity::SectorRate;
    use mias_firmware::resources::{SmLimits, TbShape};
    use proptest::prelude::*;

    /// Returns a GPU with 30 SMs of four schedulers, 120 instructions per cycle, and 6 DRAM sectors
    /// per cycle.
    fn gpu() -> GpuProperties {
        let capacity = Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 16 };
        let limits = SmLimits { capacity, warp_threads: 32, register_granule: 8, shared_granule_bytes: 256 };
        GpuProperties { sm_count: 30, schedulers: 4, dram_sectors: SectorRate::from_bits(6 << 16), limits, ..GpuProperties::NONE }
    }

    fn sixteenths(warp_insts: u32, dram_sectors: u32) -> Option<u32> {
        Kind::of(LaunchCounts { warp_insts, dram_sectors }, &gpu()).map(Kind::sixteenths)
    }

    /// Half of the issue slots and half of DRAM in 1,000 cycles: 60,000 instructions and 3,000
    /// sectors.
    #[test]
    fn a_kind_is_the_part_of_dram() {
        assert_eq!(sixteenths(60_000, 3_000), Some(8));
        assert_eq!(sixteenths(60_000, 0), Some(0));
        assert_eq!(sixteenths(0, 3_000), Some(16));
        // Three quarters against one: twelve sixteenths, also at a tenth of the speed.
        assert_eq!([sixteenths(30_000, 4_500), sixteenths(3_000, 450)], [Some(12); 2]);
        assert_eq!(sixteenths(0, 0), None);
        assert_eq!(Kind::UNKNOWN.sixteenths() * 2, Kind::MOST);
    }

    /// 256 threads of 64 registers and 20,000 bytes: three TBs fit by shared memory (20,224 bytes
    /// each).
    #[test]
    fn shares_are_of_as_many_tbs_as_fit() {
        let gpu = gpu();
        let shape = TbShape { threads: 256, thread_registers: 64, shared_bytes: 20_000 };
        let kernel = Kernel::new(0, &shape, 100, &gpu.limits);
        assert_eq!(kernel.max_tbs, 3);
        let traits = Traits::of(Kind::UNKNOWN, &kernel, &gpu);
        assert_eq!(traits.shares, [192, 192, (3 * 20_224 * 256 / 65_536) as u16, 48]);
    }

    proptest! {
        #[test]
        fn kinds_and_shares_stay_in_range(insts: u32, sectors: u32, sms: u16, schedulers: u32, rate: u32, shape: [u32; 3], capacity: [u32; 4]) {
            let [threads, registers, shared_bytes, tbs] = capacity;
            let capacity = Resources { threads, registers, shared_bytes, tbs: tbs % 256 };
            let limits = SmLimits { capacity, ..gpu().limits };
            let gpu = GpuProperties { sm_count: sms % 257, schedulers, dram_sectors: SectorRate::from_bits(rate), limits, ..GpuProperties::NONE };
            let kind = Kind::of(LaunchCounts { warp_insts: insts, dram_sectors: sectors }, &gpu);
            prop_assert!(kind.is_none_or(|kind| kind.sixteenths() <= Kind::MOST));
            let [threads, thread_registers, shared_bytes] = shape;
            let kernel = Kernel::new(0, &TbShape { threads, thread_registers, shared_bytes }, 9, &gpu.limits);
            let traits = Traits::of(kind.unwrap_or(Kind::UNKNOWN), &kernel, &gpu);
            prop_assert!(traits.shares.iter().all(|share| *share <= 256));
        }

        /// A kind is within a sixteenth of the floating-point quotient, for counts that are not
        /// tiny.
        #[test]
        fn a_kind_is_the_quotient(insts in 1_000..1_u32 << 27, sectors in 1_000..1_u32 << 28) {
            let (issue, dram) = (f64::from(insts) / 120.0, f64::from(sectors) / 6.0);
            let exact = 16.0 * dram / (dram + issue);
            let kind = f64::from(sixteenths(insts, sectors).unwrap());
            prop_assert!(kind <= exact + 1e-3 && exact < kind + 1.001, "{kind} {exact}");
        }
    }
}
