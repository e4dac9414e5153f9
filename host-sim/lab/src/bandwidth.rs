//! Bandwidth utilisation: what a launch moved over what the machine could have moved in the same time. Own definitions, with
//! the machine's peak from its file (32 bytes per DRAM atom, 336 GB/s in all on the thesis' machine).

use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::LaunchStats;

/// DRAM: atoms read and written over the atoms that all data buses can move in `cycles` core cycles, 0 to 1. A bus moves
/// `burst_beats` beats per atom, `beats_per_cycle` per command cycle. None if no time has passed.
pub fn dram(gpu: &GpuConfig, launch: &LaunchStats, cycles: u64) -> Option<f64> {
    let dram = &gpu.dram;
    let command_cycles = in_domain(cycles, gpu.clocks.dram_khz, gpu);
    let peak = command_cycles * f64::from(dram.channels) * f64::from(dram.beats_per_cycle) / f64::from(dram.burst_beats);
    share((launch.dram_reads + launch.dram_writes) as f64, peak)
}

/// L2: look-ups accepted, of a sector or a whole line each, over those that all slices can do in `cycles` core cycles, 0 to 1. None if no time has passed.
pub fn l2(gpu: &GpuConfig, launch: &LaunchStats, cycles: u64) -> Option<f64> {
    l2_share(gpu, launch.l2.accesses, cycles)
}

/// So many sectors, or lines where the caches have no sectors, over those that all slices can move in `cycles` core cycles: one per slice
/// and L2 cycle, or fewer where it is wider than the port. None if no time has passed.
pub fn l2_share(gpu: &GpuConfig, accesses: u64, cycles: u64) -> Option<f64> {
    let slices = f64::from(gpu.dram.channels) * f64::from(gpu.l2.slices_per_channel);
    let cycles_per_access = (f64::from(gpu.l2.sector_bytes) / f64::from(gpu.l2.port_bytes)).max(1.0);
    let peak = in_domain(cycles, gpu.clocks.l2_khz, gpu) * slices / cycles_per_access;
    share(accesses as f64, peak)
}

/// Packets that entered one subnet of the crossbar over those that its ports can take in `cycles` core cycles: one per port and
/// cycle, on the side with fewer ports (own: in Lin et al. 2018 both sides have as many). None if no time has passed.
pub fn crossbar(gpu: &GpuConfig, packets: u64, cycles: u64) -> Option<f64> {
    let ports = gpu.sm.count.min(gpu.dram.channels * gpu.l2.slices_per_channel);
    share(packets as f64, in_domain(cycles, gpu.clocks.interconnect_khz, gpu) * f64::from(ports))
}

/// `cycles` core cycles, in cycles of a clock.
fn in_domain(cycles: u64, khz: u32, gpu: &GpuConfig) -> f64 {
    cycles as f64 * f64::from(khz) / f64::from(gpu.clocks.core_khz)
}

fn share(moved: f64, peak: f64) -> Option<f64> {
    (peak > 0.0).then(|| moved / peak)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machines;
    use mias_hw_model::gpu::CacheStats;

    /// 336.048 GB/s at 1,365 MHz are 246.2 bytes, 7.694 atoms, per core cycle.
    #[test]
    fn peak_dram_bandwidth_is_full_utilisation() {
        let gpu = machines::load("rtx2060-accelsim").unwrap();
        let bytes_per_second = 12.0 * 2.0 * 4.0 * 3_500.5e6;
        let atoms = (bytes_per_second / 32.0 * 1e6 / 1_365e6) as u64;
        let launch = LaunchStats { dram_reads: atoms / 3, dram_writes: atoms - atoms / 3, ..LaunchStats::default() };
        assert!((dram(&gpu, &launch, 1_000_000).unwrap() - 1.0).abs() < 1e-6);
        assert!((dram(&gpu, &launch, 4_000_000).unwrap() - 0.25).abs() < 1e-6);
        assert_eq!(dram(&gpu, &launch, 0), None);
    }

    #[test]
    fn one_sector_per_slice_and_cycle_is_full_l2_utilisation() {
        let mut gpu = machines::load("rtx2060-accelsim").unwrap();
        let launch = LaunchStats { l2: CacheStats { accesses: 24_000, ..CacheStats::default() }, ..LaunchStats::default() };
        assert_eq!(l2(&gpu, &launch, 1_000), Some(1.0));
        gpu.l2.port_bytes = 16;
        assert_eq!(l2(&gpu, &launch, 4_000), Some(0.5), "two cycles per sector");
        gpu.l2.port_bytes = 64;
        assert_eq!(l2(&gpu, &launch, 2_000), Some(0.5), "one look-up per cycle all the same");
    }
}
