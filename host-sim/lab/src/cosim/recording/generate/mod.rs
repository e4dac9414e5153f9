//! Generated recordings: random GPUs, policies, kernels and counters, with events in an order
//! that hardware can produce, from a seed alone. The firmware in this process handles them. Other
//! tests check its decisions; here they are the reference for every core.

mod counts;
mod device;

use super::{MOST_BYTES, Recording, Run};
use crate::cosim::Native;
use device::Device;
use mias_hw_model::register_block::{GpuDescription, Straps};
use mias_registers::{KERNEL_SLOTS, MAX_WINDOW, PolicyCode, feature};
use mias_workloads::random::Random;

/// Number of steps of a run, each one event (assumption: some launches, decisions and completions).
const STEPS: u32 = 80;

/// Parameters of a generated recording.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of runs.
    pub cases: u32,
    /// Maximum number of SMs of a GPU, 1 to 256.
    pub sms: u32,
    /// Maximum number of concurrent kernels, 1 to 8.
    pub kernels: u32,
}

/// Generates the recording, with fewer runs than requested if a file cannot hold them
/// ([`super::encode`] reports it). `None` if `go_on`, called before every run, returns false.
pub fn generate(request: Request, go_on: &mut dyn FnMut() -> bool) -> Option<Recording> {
    let mut firmware = Native::with_room(2 * request.sms);
    let maker = firmware.limits();
    let mut seeds = Random::new(request.seed);
    let (mut runs, mut accesses) = (Vec::new(), 0);
    for _ in 0..request.cases {
        if !go_on() {
            return None;
        }
        // An access takes at least two bytes. Generation stops once the file would be too long.
        if accesses * 2 > MOST_BYTES {
            break;
        }
        let mut random = Random::new(seeds.bits());
        let gpu = gpu(&mut random, request.sms);
        let run = run(gpu, random, request.kernels, &mut firmware);
        accesses += run.accesses().len() as u64;
        runs.push(run);
    }
    Some(Recording { maker, runs })
}

fn run(gpu: GpuDescription, random: Random, kernels: u32, firmware: &mut Native) -> Run {
    let mut device = Device::new(gpu, random, kernels, firmware);
    (0..STEPS).for_each(|_| device.step());
    device.finish()
}

/// Returns a GPU of at most `sms` SMs with its straps. Half of the GPUs have all of them.
fn gpu(random: &mut Random, sms: u32) -> GpuDescription {
    let mut below = |count: u32| (random.bits() % u64::from(count.max(1))) as u32;
    let sm_count = if below(2) == 0 { sms } else { 1 + below(sms) };
    // Three of four policies measure: they have more decisions.
    let measured = below(4) != 0;
    // A search needs kernel counters, which the device lacks, and an image of its own.
    let policies: Vec<_> = PolicyCode::ALL.into_iter().filter(|policy| (!measured || measures(*policy)) && !policy.searches()).collect();
    let policy = policies[below(policies.len() as u32) as usize];
    let windows = [1, 100, 5_000, 45_000, MAX_WINDOW];
    let straps = Straps {
        profile_window: windows[below(windows.len() as u32) as usize],
        coalesce_window: [0, 1, 5_000][below(3) as usize],
        options: below(1 << 6),
        fixed: std::array::from_fn(|_| below(6) as u8),
        ..Straps::new(policy)
    };
    GpuDescription {
        sm_count,
        slot_count: KERNEL_SLOTS as u32,
        // Capacities and granules of NVIDIA's SMs since compute capability 3.0 (CUDA C++
        // Programming Guide, "Compute Capabilities").
        sm_threads: [1_024, 1_536, 2_048][below(3) as usize],
        sm_registers: 65_536,
        sm_shared_bytes: [48, 64, 100, 228][below(4) as usize] << 10,
        sm_tbs: [8, 16, 32][below(3) as usize],
        warp_threads: 32,
        register_granule: [1, 8][below(2) as usize],
        shared_granule_bytes: [1, 128, 256][below(3) as usize],
        linear_coefficient_q16: [0, 1 << 12, 1 << 16, u32::MAX][below(4) as usize],
        // A recording does not contain these.
        sm_schedulers: 0,
        reply_sectors_q16: 0,
        dram_sectors_q16: 0,
        l2_sectors_q16: 0,
        l2_access_bytes: 0,
        sm_wake_cycles: 0,
        features: [0, feature::IDEAL_TRANSITION][below(2) as usize],
        straps,
    }
}

/// Returns whether a policy profiles before it decides.
fn measures(policy: PolicyCode) -> bool {
    !matches!(policy, PolicyCode::LeftOver | PolicyCode::Spatial | PolicyCode::FixedConfig | PolicyCode::Smk)
}
