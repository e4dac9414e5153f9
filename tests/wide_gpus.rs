//! The largest GPUs: 128 memory channels, 256 SMs. They run, all of their parts are used, and one
//! more is rejected with a message.

use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::gpu_runner::{End, GpuRunner, Options, Outcome, Run};
use mias_lab::experiment::policy::{Control, Latency, Policy};
use mias_lab::experiment::simulated::SimulatedGpu;
use mias_lab::experiment::workload::{Workload, place};
use mias_lab::gpus;
use mias_workloads::kernels::Spec;
use std::sync::{Arc, LazyLock};

const CYCLES: u64 = 20_000;

static WORKLOADS: LazyLock<Vec<Workload>> = LazyLock::new(|| {
    let traced = |(name, stream)| {
        let trace = Spec::parse(name).unwrap().prepare().unwrap().record().unwrap();
        Workload::new(name, Arc::new(trace), stream)
    };
    let mut workloads: Vec<Workload> = [("mm:256", 0), ("fwt:262144", 1)].map(traced).into();
    place(&mut workloads);
    workloads
});

fn run(gpu: GpuConfig, policy: Policy, kernels: usize) -> Outcome {
    gpu.check().unwrap();
    // Decisions of zero length, because the microcontroller's time for 256 SMs exceeds the window.
    let options = Options { profile_cycles: 2_000, latency: Latency::Off, ..Options::new(End::Cycles(CYCLES)) };
    let run = Run { control: Control::Policy(policy), workloads: WORKLOADS[..kernels].iter().collect(), options };
    SimulatedGpu::new(gpu).run(&run, &|_| {}).unwrap()
}

/// A kernel on twelve channels and on ten times as many: at least as much work, and within the
/// bound of its accesses.
#[test]
fn a_gpu_of_128_channels_runs() {
    let plain = gpus::load("rtx2060").unwrap();
    let mut wide = plain.clone();
    wide.dram.channels = 128;
    let [few, many] = [plain, wide].map(|gpu| run(gpu, Policy::LeftOver, 2));
    let work = |outcome: &Outcome| outcome.launches.iter().map(|launch| launch.thread_insts).sum::<u64>();
    assert!(work(&many) >= work(&few) / 2 && work(&few) > 0, "{} against {}", work(&many), work(&few));
    assert!(many.launches.iter().map(|launch| launch.dram_reads).sum::<u64>() > 0);
}

/// Every SM is scheduled, profiled and read: the last one holds the chosen configuration.
#[test]
fn a_gpu_of_256_sms_runs() {
    let mut gpu = gpus::load("rtx2060").unwrap();
    gpu.sm.count = 256;
    let outcome = run(gpu, Policy::MiasIpmIpc, 2);
    assert!(outcome.launches.iter().all(|launch| launch.thread_insts > 0));
    let placed: Vec<u32> = outcome.placement.iter().flat_map(|group| group.sms.clone()).collect();
    assert_eq!(placed.len(), 256);
    let decision = outcome.decision.expect("a decision");
    assert_eq!(decision.profiled.iter().map(|config| config.sms).sum::<u32>(), 256);
}

#[test]
fn one_more_is_refused_with_file_line_and_remedy() {
    let text = mias_gpus::text("rtx2060").unwrap();
    let folder = std::env::temp_dir().join(format!("mias-wide-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, from, to, says) in [
        ("channels.toml", "\nchannels = 12", "\nchannels = 129", "dram.channels = 129: must be at most 128"),
        ("sms.toml", "\ncount = 30", "\ncount = 257", "sm.count = 257: must be at most 256"),
    ] {
        assert!(text.contains(from));
        let line = text[..text.find(from).unwrap()].matches('\n').count() + 2;
        let file = folder.join(name);
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let message = gpus::load(file.to_str().unwrap()).unwrap_err().to_string();
        assert!(message.contains(&format!("{name}:{line}:1: {says}")), "{message}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
