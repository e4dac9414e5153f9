//! Equations 1 and 2 of Zhao et al. 2018, and the alternative classifier.

use crate::cases::cases;
use mias_firmware::quantity::SectorRate;
use mias_policies::search::{KernelCounts, Supply, utilized};
use proptest::prelude::*;

/// GPU of Zhao et al. 2018 as far as the paper states it, with GTX 480's bandwidths scaled to
/// it: 24 SMs of two schedulers at 700 MHz, 12 slices of 32 bytes per cycle on both sides of the
/// interconnect, 177.4 GB/s of DRAM.
fn zhao() -> Supply {
    let sectors_per_cycle = |bytes_per_second: u64| SectorRate::from_bits(((bytes_per_second << 16) / 32 / 700_000_000) as u32);
    Supply {
        sms: 24,
        schedulers: 2,
        access_sectors: 1,
        interconnect: sectors_per_cycle(268_800_000_000),
        l2: sectors_per_cycle(268_800_000_000),
        dram: sectors_per_cycle(177_400_000_000),
    }
}

/// Returns the counts of a kernel with `lines_per_million` accesses of lines of 128 bytes, four
/// sectors each, in a million warp instructions.
fn kernel(lines_per_million: u32, hit_permille: u32) -> KernelCounts {
    let l2_accesses = 4 * lines_per_million;
    KernelCounts { cycles: 20_000, warp_insts: 1_000_000, l2_accesses, l2_hits: l2_accesses * hit_permille / 1000, ..KernelCounts::NONE }
}

/// Demand is 2 * 128 * 0.7 * 24 / 1000 = 4.3008 GB/s per line access and thousand warp
/// instructions. Without hits the supply is 177.4 / 2 = 88.7 GB/s, or 20.62 accesses; with hits
/// only it is 268.8 GB/s, or 62.5 accesses.
#[test]
fn the_papers_gpu_has_its_thresholds() {
    let memory = |lines, hits| zhao().falls_short(&kernel(lines, hits));
    assert!(!memory(20_600, 0) && memory(20_650, 0));
    assert!(!memory(62_480, 1000) && memory(62_520, 1000));
    // With half of them hits: (268.8 + 88.7) / 2 / 4.3008 = 41.56.
    assert!(!memory(41_500, 500) && memory(41_620, 500));
}

/// Zhao et al. 2018, section 4.1.1: LAVAMD uses almost no DRAM and is limited by the L2. MERGE uses
/// 13.3 % of DRAM's cycles and is not limited.
#[test]
fn what_bandwidth_utilization_gets_wrong() {
    let lavamd = KernelCounts { dram_sectors: 10, ..kernel(80_000, 999) };
    let merge = KernelCounts { dram_sectors: 20_000 * 7_919 / 1000 * 133 / 1000, ..kernel(4_000, 300) };
    assert!(zhao().falls_short(&lavamd) && !zhao().falls_short(&merge));
    let dram = zhao().dram;
    assert!(!utilized(&lavamd, dram, 100) && utilized(&merge, dram, 100) && !utilized(&merge, dram, 140));
}

#[test]
fn a_kernel_that_does_nothing_asks_for_nothing() {
    let idle = KernelCounts { cycles: 20_000, ..KernelCounts::NONE };
    assert!(!zhao().falls_short(&idle) && !utilized(&idle, zhao().dram, 0));
    assert!(!zhao().falls_short(&KernelCounts { warp_insts: 1, ..idle }));
}

fn counts() -> impl Strategy<Value = KernelCounts> {
    let count = || (0..1_u32 << 27, 0..27_u32).prop_map(|(bits, less)| bits >> less);
    (count(), count(), count(), count(), any::<u32>()).prop_map(|(warp_insts, l2_accesses, hits, dram_sectors, cycles)| KernelCounts {
        cycles,
        warp_insts,
        l2_accesses,
        l2_hits: hits.min(l2_accesses),
        dram_sectors,
        ..KernelCounts::NONE
    })
}

fn rate() -> impl Strategy<Value = SectorRate> {
    (any::<u32>(), 0..32_u32).prop_map(|(bits, less)| SectorRate::from_bits(bits >> less))
}

proptest! {
    #![proptest_config(cases(4000))]

    /// The classification agrees with the printed equations as exact 128-bit fractions.
    #[test]
    fn as_the_equations_say(counts in counts(), (interconnect, l2, dram) in (rate(), rate(), rate()), sms in 1..257_u16, schedulers in 0..256_u32, access_sectors in 1..9_u8) {
        let supply = Supply { sms, schedulers, access_sectors, interconnect, l2, dram };
        let [w, a, h] = [counts.warp_insts, counts.l2_accesses, counts.l2_hits].map(u128::from);
        let [interconnect, l2, dram] = [interconnect, l2, dram].map(|rate| u128::from(rate.to_bits()));
        // BW_total = peak A / W, BW_off = min(NoC, (LLC H + MEM (A - H) / 2) / A), in 2^-16 sectors
        // per cycle.
        let peak = (u128::from(schedulers) * u128::from(sms) * u128::from(access_sectors)) << 16;
        let expected = a != 0 && (peak * a > interconnect * w || 2 * peak * a * a > w * (2 * l2 * h + dram * (a - h)));
        prop_assert_eq!(supply.falls_short(&counts), expected);
    }

    /// More accesses per instruction, more SMs, or less bandwidth never turn a memory-intensive
    /// kernel into a compute-intensive one.
    #[test]
    fn more_demand_is_no_less(counts in counts(), fewer in 0..1_u32 << 27, (rate, less) in (rate(), any::<u32>()), sms in 1..129_u16) {
        let supply = Supply { sms, schedulers: 2, access_sectors: 1, interconnect: rate, l2: rate, dram: rate };
        if supply.falls_short(&counts) {
            let busier = KernelCounts { warp_insts: counts.warp_insts.min(fewer), ..counts };
            prop_assert!(supply.falls_short(&busier));
            let wider = Supply { sms: 2 * sms, ..supply };
            prop_assert!(wider.falls_short(&counts));
            let slower = SectorRate::from_bits(rate.to_bits().min(less));
            let slow = Supply { interconnect: slower, l2: slower, dram: slower, ..supply };
            prop_assert!(slow.falls_short(&counts));
        }
    }

    #[test]
    fn utilization_is_a_share_of_the_peak(sectors in 0..1_u32 << 27, cycles in 1..1_u32 << 21, dram in rate(), threshold in 0..1001_u32) {
        let counts = KernelCounts { cycles, dram_sectors: sectors, ..KernelCounts::NONE };
        let expected = (u128::from(sectors) << 16) * 1000 > u128::from(dram.to_bits()) * u128::from(cycles.min((1 << 21) - 1)) * u128::from(threshold);
        prop_assert_eq!(utilized(&counts, dram, threshold), expected);
    }
}
