//! Bandwidth utilization: data moved by a launch over the GPU's peak in the same time. Own
//! definitions, with the peak from the GPU's file (32 bytes per DRAM atom, 336 GB/s in all on
//! the thesis' GPU).

use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::LaunchStats;
use mias_hw_model::register_block::{GpuDescription, Straps};
use mias_registers::PolicyCode;
use mias_warp_trace::SECTOR_BYTES;

/// Returns DRAM utilization: atoms read and written over the peak of all data buses in `cycles`
/// core cycles, 0 to 1. A bus moves `burst_beats` beats per atom, `beats_per_cycle` per command
/// cycle. `None` if no time has passed.
pub fn dram(gpu: &GpuConfig, launch: &LaunchStats, cycles: u64) -> Option<f64> {
    let dram = &gpu.dram;
    let command_cycles = in_domain(cycles, gpu.clocks.dram_khz, gpu);
    let peak = command_cycles * f64::from(dram.channels) * f64::from(dram.beats_per_cycle) / f64::from(dram.burst_beats);
    share((launch.dram_reads + launch.dram_writes) as f64, peak)
}

/// Returns L2 utilization: accepted look-ups, of a sector or a whole line each, over the peak of
/// all slices in `cycles` core cycles, 0 to 1. `None` if no time has passed.
pub fn l2(gpu: &GpuConfig, launch: &LaunchStats, cycles: u64) -> Option<f64> {
    l2_share(gpu, launch.l2.accesses, cycles)
}

/// Returns the utilization by `accesses` sectors, or lines for caches without sectors, of all
/// slices in `cycles` core cycles. The peak is one per slice and L2 cycle, or less if it is wider
/// than the port. `None` if no time has passed.
pub fn l2_share(gpu: &GpuConfig, accesses: u64, cycles: u64) -> Option<f64> {
    let slices = f64::from(gpu.dram.channels) * f64::from(gpu.l2.slices_per_channel);
    let cycles_per_access = (f64::from(gpu.l2.sector_bytes) / f64::from(gpu.l2.port_bytes)).max(1.0);
    let peak = in_domain(cycles, gpu.clocks.l2_khz, gpu) * slices / cycles_per_access;
    share(accesses as f64, peak)
}

/// Returns the utilization of one subnet of the crossbar: packets over the peak of its ports in
/// `cycles` core cycles. The peak is one per port and cycle, on the side with fewer ports (own: in
/// Lin et al. 2018 both sides have as many). `None` if no time has passed.
pub fn crossbar(gpu: &GpuConfig, packets: u64, cycles: u64) -> Option<f64> {
    let ports = gpu.sm.count.min(gpu.dram.channels * gpu.l2.slices_per_channel);
    share(packets as f64, in_domain(cycles, gpu.clocks.interconnect_khz, gpu) * f64::from(ports))
}

/// Returns demand over supply by Zhao et al. 2018, equations 1 and 2 (sources.md D149): sectors
/// requested by all SMs without stalls, over the peak of the chip. The rates are those that the
/// firmware reads. There are `accesses` of the L2 per warp instruction, of which the fraction `hit`
/// hits; `None` without accesses. Returns `None` for a chip without supply.
pub fn demand_over_supply(gpu: &GpuConfig, accesses: f64, hit: Option<f64>) -> Option<f64> {
    /// One in Q16.16, the format of the registers.
    const ONE: f64 = 65_536.0;
    let description = GpuDescription::of(gpu, Straps::new(PolicyCode::LeftOver));
    let sectors = f64::from(description.l2_access_bytes) / SECTOR_BYTES as f64;
    let asked = f64::from(description.sm_schedulers) * f64::from(description.sm_count) * sectors * accesses;
    let [interconnect, l2, dram] =
        [description.reply_sectors_q16, description.l2_sectors_q16, description.dram_sectors_q16].map(|rate| f64::from(rate) / ONE);
    let hit = hit.unwrap_or(1.0);
    let given = interconnect.min(l2 * hit + dram * (1.0 - hit) / 2.0);
    (given > 0.0).then(|| asked / given)
}

/// Converts `cycles` core cycles to cycles of another clock.
fn in_domain(cycles: u64, khz: u32, gpu: &GpuConfig) -> f64 {
    cycles as f64 * f64::from(khz) / f64::from(gpu.clocks.core_khz)
}

fn share(moved: f64, peak: f64) -> Option<f64> {
    (peak > 0.0).then(|| moved / peak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpus;
    use mias_hw_model::gpu::CacheStats;

    /// 336.048 GB/s at 1,365 MHz are 246.2 bytes, 7.694 atoms, per core cycle.
    #[test]
    fn peak_dram_bandwidth_is_full_utilization() {
        let gpu = gpus::load("rtx2060-accelsim").unwrap();
        let bytes_per_second = 12.0 * 2.0 * 4.0 * 3_500.5e6;
        let atoms = (bytes_per_second / 32.0 * 1e6 / 1_365e6) as u64;
        let launch = LaunchStats { dram_reads: atoms / 3, dram_writes: atoms - atoms / 3, ..LaunchStats::default() };
        assert!((dram(&gpu, &launch, 1_000_000).unwrap() - 1.0).abs() < 1e-6);
        assert!((dram(&gpu, &launch, 4_000_000).unwrap() - 0.25).abs() < 1e-6);
        assert_eq!(dram(&gpu, &launch, 0), None);
    }

    #[test]
    fn one_sector_per_slice_and_cycle_is_full_l2_utilization() {
        let mut gpu = gpus::load("rtx2060-accelsim").unwrap();
        let launch = LaunchStats { l2: CacheStats { accesses: 24_000, ..CacheStats::default() }, ..LaunchStats::default() };
        assert_eq!(l2(&gpu, &launch, 1_000), Some(1.0));
        gpu.l2.port_bytes = 16;
        assert_eq!(l2(&gpu, &launch, 4_000), Some(0.5), "two cycles per sector");
        gpu.l2.port_bytes = 64;
        assert_eq!(l2(&gpu, &launch, 2_000), Some(0.5), "one look-up per cycle all the same");
    }

    /// `zhao18`: 24 SMs of 2 schedulers, 9.6 sectors per cycle of the interconnect, 12 of the L2,
    /// 7.92 of DRAM (docs/results/zhao.md).
    #[test]
    fn demand_and_supply_are_equations_1_and_2() {
        let gpu = gpus::load("zhao18").unwrap();
        let asked = 24.0 * f64::from(gpu.sm.sub_cores) * 0.1;
        let of = |accesses, hit| demand_over_supply(&gpu, accesses, hit).unwrap();
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
        assert!(close(of(0.1, Some(1.0)), asked / 12.0), "all hit: as much as ports move");
        assert!(close(of(0.1, Some(0.0)), asked / (7.92 / 2.0)), "none hits: half of DRAM");
        assert!(close(of(0.2, Some(0.5)), 2.0 * asked / (6.0 + 7.92 / 4.0)));
        assert_eq!(of(0.0, None), 0.0);
    }

    /// The firmware decides the same from the same counts, in integers.
    #[test]
    fn the_firmware_says_the_same() {
        use mias_firmware::quantity::SectorRate;
        use mias_policies::search::{KernelCounts, Supply};
        let gpu = gpus::load("zhao18-lines").unwrap();
        let description = GpuDescription::of(&gpu, Straps::new(PolicyCode::LeftOver));
        let supply = Supply {
            sms: description.sm_count as u16,
            schedulers: description.sm_schedulers,
            access_sectors: (description.l2_access_bytes / SECTOR_BYTES as u32) as u8,
            interconnect: SectorRate::from_bits(description.reply_sectors_q16),
            l2: SectorRate::from_bits(description.l2_sectors_q16),
            dram: SectorRate::from_bits(description.dram_sectors_q16),
        };
        for accesses in (7..400u32).step_by(7) {
            for hits in [0, accesses / 3, accesses] {
                let counts = KernelCounts { l2_accesses: accesses, l2_hits: hits, warp_insts: 10_000, ..KernelCounts::NONE };
                let hit = Some(f64::from(hits) / f64::from(accesses));
                let share = demand_over_supply(&gpu, f64::from(accesses) / 10_000.0, hit).unwrap();
                assert_eq!(supply.falls_short(&counts), share > 1.0, "{accesses} {hits} {share}");
            }
        }
    }
}
