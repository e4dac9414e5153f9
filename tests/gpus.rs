//! Every built-in GPU: its file is read, passes its checks, gives each number a source, and the GPU
//! runs the project's kernels.

use mias_hw_model::config::GpuConfig;
use mias_hw_model::energy::EnergyReport;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_workloads::kernels;
use rayon::prelude::*;
use std::sync::Arc;

fn parse(name: &str, text: &str) -> GpuConfig {
    toml::from_str(text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

#[test]
fn every_gpu_file_is_valid_and_named_after_itself() {
    for (name, text) in mias_gpus::all() {
        let gpu = parse(name, text);
        gpu.check().unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(name, gpu.name);
        let dram = &gpu.dram;
        assert_eq!((dram.row_hit_cap, dram.timing.t_faw, dram.timing.t_refi), (0, 0, 0), "{name}: options are off in what is built in");
        assert!(gpu.energy.is_some(), "{name}");
    }
}

/// GPUs have the numbers of the papers in their own terms: SMs, threads, TBs, registers, shared
/// memory, L1, total L2, and DRAM bandwidth.
#[test]
fn gpus_of_the_seeds_have_the_seeds_numbers() {
    let kib = 1024;
    for (name, sms, threads, tbs, registers, shared, l1, l2, gb_per_s) in [
        ("rtx2060", 30, 1024, 32, 65_536, 64 * kib, 64 * kib, 3072 * kib, 336.0), // Nasef 2023, table 4.1
        ("dai18", 16, 3072, 16, 65_536, 96 * kib, 24 * kib, 2048 * kib, 177.4),   // Dai et al. 2018, table 1
        ("lin18", 16, 2048, 32, 65_536, 98 * kib, 32 * kib, 2048 * kib, 307.2),   // Lin et al. 2018, table 1
        ("lin18-lines", 16, 2048, 32, 65_536, 98 * kib, 32 * kib, 2048 * kib, 307.2), // as `lin18`
        ("field", 16, 2048, 32, 65_536, 98 * kib, 32 * kib, 2048 * kib, 307.2),   // as `lin18`
        ("shieh16", 15, 1536, 8, 32_768, 48 * kib, 16 * kib, 768 * kib, 177.4),   // Shieh 2016, table 4.1
        ("shieh16-lines", 15, 1536, 8, 32_768, 48 * kib, 16 * kib, 768 * kib, 177.4), // as `shieh16`
        ("zhao18", 24, 1536, 8, 32_768, 48 * kib, 16 * kib, 1536 * kib, 177.4),   // Zhao et al. 2018, section 6
    ] {
        let gpu = gpus::load(name).unwrap();
        let sm = &gpu.sm;
        assert_eq!((sm.count, sm.threads, sm.tbs, sm.registers, sm.shared_bytes), (sms, threads, tbs, registers, shared), "{name}");
        assert_eq!(gpu.l1.sets * gpu.l1.ways * gpu.l1.line_bytes, l1, "{name}: L1");
        let slice = gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes;
        assert_eq!(gpu.dram.channels * gpu.l2.slices_per_channel * slice, l2, "{name}: L2");
        let dram = &gpu.dram;
        let bytes_per_cycle = f64::from(dram.channels * dram.bus_bytes * dram.beats_per_cycle);
        let peak = bytes_per_cycle * f64::from(gpu.clocks.dram_khz) * 1e-6;
        assert!((peak / gb_per_s - 1.0).abs() < 0.001, "{name}: {peak} GB/s, {gb_per_s} expected");
        // A burst of tCCD cycles must equal the bus time of a sector.
        assert_eq!(dram.timing.t_ccd * dram.bus_bytes * dram.beats_per_cycle, 32, "{name}: tCCD");
    }
}

/// 16 TBs, and 96 KB in total for any carve-out.
#[test]
fn the_rtx2060_as_it_is_has_one_array_of_96_kb() {
    let gpu = gpus::load("rtx2060-hw").unwrap();
    assert_eq!(gpu.sm.tbs, 16);
    assert_eq!(gpu.l1.carve_out.len(), 2);
    for step in &gpu.l1.carve_out {
        assert_eq!(step.shared_up_to_bytes + step.l1_ways * gpu.l1.sets * gpu.l1.line_bytes, 96 * 1024);
    }
}

/// Shared memory takes a step of each SM's array, and L1 the rest: 128 KB (sources.md D116), 192
/// and 256 KB (sources.md D117 and D118).
#[test]
fn later_gpus_share_one_array_between_l1_and_shared_memory() {
    for (name, kib, steps) in [("rtx3070-accelsim", 128, 6), ("a100", 192, 8), ("h100", 256, 10)] {
        let l1 = gpus::load(name).unwrap().l1;
        assert_eq!(l1.carve_out.len(), steps, "{name}");
        for step in &l1.carve_out {
            assert_eq!(step.shared_up_to_bytes + step.l1_ways * l1.sets * l1.line_bytes, kib * 1024, "{name}");
        }
        assert_eq!(l1.carve_out[0].l1_ways, l1.ways, "{name}");
        assert_eq!(l1.carve_out.last().map(|step| step.shared_up_to_bytes), Some(gpus::load(name).unwrap().sm.shared_bytes), "{name}");
    }
}

/// Tests of `cargo xtask ci` that `cargo xtask test` leaves out.
mod slow {
    use super::*;

    /// Every GPU runs both kernels for 50,000 cycles, makes progress with each, and accounts for
    /// every slot and its energy.
    #[test]
    fn every_gpu_runs_the_kernels() {
        let traced = |(name, size, stream)| {
            let trace = kernels::trace(kernels::find(name).unwrap(), size, 1).unwrap();
            Workload::new(name, Arc::new(trace), stream)
        };
        let mut workloads: Vec<Workload> = [("mm", 256, 0), ("fwt", 1 << 16, 1)].map(traced).into();
        place(&mut workloads);
        // Decisions of zero length, because some of these GPUs' clocks leave little of such a short
        // window.
        let options = Options { profile_cycles: 10_000, latency: Latency::Off, ..Options::new(End::Cycles(50_000)) };
        mias_gpus::all().collect::<Vec<_>>().par_iter().for_each(|(name, text)| {
            let config = parse(name, text);
            let slots = 50_000 * u64::from(config.sm.count * config.sm.sub_cores);
            let runner = SimulatedGpu::new(config);
            let run = Run { control: Control::Policy(Policy::MiasIpmIpc), workloads: workloads.iter().collect(), options };
            let outcome = runner.run(&run, &|_| {}).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(outcome.cycles, 50_000, "{name}");
            for (workload, launch) in workloads.iter().zip(&outcome.launches) {
                assert!(launch.tbs_completed > 0 && launch.dram_reads > 0, "{name}: {} {launch:?}", workload.name);
            }
            assert_eq!(outcome.sms.issue_slots.iter().sum::<u64>(), slots, "{name}");
            let energy: EnergyReport = outcome.energy.unwrap_or_else(|| panic!("{name}: no energy"));
            assert!(energy.launches.iter().all(|launch| launch.parts().iter().all(|&(part, fj)| fj > 0 || part == "shared")), "{name}");
        });
    }
}
