//! Constants of the register block: the machine, the straps, and the descriptor of a launch.

use mias_registers::{KERNEL_SLOTS, MAX_SMS, MAX_WINDOW, PolicyCode, feature};

use crate::config::GpuConfig;
use mias_warp_trace::SECTOR_BYTES;

/// Threads of a warp on every modeled machine.
const WARP_THREADS: u32 = 32;

/// Machine constants that the firmware reads in the register block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuDescription {
    /// Number of SMs, 1 to 256.
    pub sm_count: u32,
    /// Number of kernel slots, 1 to 8.
    pub slot_count: u32,
    /// Maximum resident threads per SM.
    pub sm_threads: u32,
    /// 32-bit registers per SM.
    pub sm_registers: u32,
    /// Shared memory per SM in bytes.
    pub sm_shared_bytes: u32,
    /// Maximum resident TBs per SM, 1 to 255.
    pub sm_tbs: u32,
    /// Threads per warp.
    pub warp_threads: u32,
    /// Allocation granule of registers per thread.
    pub register_granule: u32,
    /// Allocation granule of shared memory per TB in bytes.
    pub shared_granule_bytes: u32,
    /// Coefficient of the metric Linear, Q16.16.
    pub linear_coefficient_q16: u32,
    /// Number of warp schedulers per SM.
    pub sm_schedulers: u32,
    /// Maximum number of sectors that the interconnect moves to all SMs per core cycle, Q16.16.
    pub reply_sectors_q16: u32,
    /// Maximum number of sectors that DRAM moves per core cycle, Q16.16.
    pub dram_sectors_q16: u32,
    /// Maximum number of sectors that the L2 sends to the interconnect per core cycle, Q16.16.
    pub l2_sectors_q16: u32,
    /// Maximum bytes that an L2 access moves.
    pub l2_access_bytes: u32,
    /// Cycles until a gated SM is awake; 0 without power gating.
    pub sm_wake_cycles: u32,
    /// [`feature`] bits.
    pub features: u32,
    /// Straps: the settings of the firmware.
    pub straps: Straps,
}

impl GpuDescription {
    /// Creates the description of a modeled GPU: all kernel slots, ideal transitions available, no
    /// preemption.
    #[must_use]
    pub fn of(gpu: &GpuConfig, straps: Straps) -> Self {
        Self {
            sm_count: gpu.sm.count,
            slot_count: KERNEL_SLOTS as u32,
            sm_threads: gpu.sm.threads,
            sm_registers: gpu.sm.registers,
            sm_shared_bytes: gpu.sm.shared_bytes,
            sm_tbs: gpu.sm.tbs,
            warp_threads: WARP_THREADS,
            register_granule: gpu.sm.register_granule,
            shared_granule_bytes: gpu.sm.shared_granule_bytes,
            linear_coefficient_q16: gpu.scheduler.linear_coefficient_q16,
            sm_schedulers: gpu.sm.sub_cores,
            reply_sectors_q16: reply_sectors_q16(gpu),
            dram_sectors_q16: dram_sectors_q16(gpu),
            l2_sectors_q16: l2_sectors_q16(gpu),
            l2_access_bytes: (SECTOR_BYTES as u32) << gpu.l2.fetch_bits(),
            sm_wake_cycles: gpu.sm.power_gating.map_or(0, |gating| gating.wake_cycles),
            features: feature::IDEAL_TRANSITION
                | feature::SM_STATES
                | feature::KERNEL_COUNTERS
                | feature::ACTIVE_WARPS
                | feature::QUEUE
                | if gpu.sm.power_gating.is_some() { feature::POWER_GATING } else { 0 },
            straps,
        }
    }

    /// Creates the description of `sm_count` SMs like those of the reference GPU
    /// (`configs/gpus/rtx2060-accelsim.toml`), without options, for tests and benchmarks of the
    /// register block alone.
    #[must_use]
    pub fn reference(sm_count: usize, straps: Straps) -> Self {
        Self {
            sm_count: sm_count as u32,
            slot_count: KERNEL_SLOTS as u32,
            sm_threads: 1024,
            sm_registers: 65_536,
            sm_shared_bytes: 65_536,
            sm_tbs: 32,
            warp_threads: WARP_THREADS,
            register_granule: 4,
            shared_granule_bytes: 1,
            linear_coefficient_q16: 1 << 12,
            sm_schedulers: 4,
            reply_sectors_q16: 24 << 16,
            dram_sectors_q16: 8 << 16,
            l2_sectors_q16: 24 << 16,
            l2_access_bytes: 32,
            sm_wake_cycles: 0,
            features: feature::IDEAL_TRANSITION,
            straps,
        }
    }

    /// Clamps every count to the range of the register map.
    #[must_use]
    pub(super) fn within_map(mut self) -> Self {
        self.sm_count = self.sm_count.clamp(1, MAX_SMS as u32);
        self.slot_count = self.slot_count.clamp(1, KERNEL_SLOTS as u32);
        self.sm_tbs = self.sm_tbs.clamp(1, u32::from(u8::MAX));
        self
    }
}

/// Reply bandwidth: one flit per port and interconnect cycle, on the side with fewer ports, in
/// packets of one fetch.
fn reply_sectors_q16(gpu: &GpuConfig) -> u32 {
    let slices = u64::from(gpu.dram.channels) * u64::from(gpu.l2.slices_per_channel);
    let ports = slices.min(u64::from(gpu.sm.count));
    let sectors = 1 << gpu.l2.fetch_bits();
    let flits = u64::from(gpu.interconnect.flits(sectors));
    q16(ports * u64::from(sectors) * u64::from(gpu.clocks.interconnect_khz), flits * u64::from(gpu.clocks.core_khz))
}

/// L2 bandwidth: the width of a slice's port per L2 cycle, summed over the slices.
fn l2_sectors_q16(gpu: &GpuConfig) -> u32 {
    let bytes = u64::from(gpu.dram.channels) * u64::from(gpu.l2.slices_per_channel) * u64::from(gpu.l2.port_bytes);
    q16(bytes * u64::from(gpu.clocks.l2_khz), SECTOR_BYTES * u64::from(gpu.clocks.core_khz))
}

fn dram_sectors_q16(gpu: &GpuConfig) -> u32 {
    let (sectors, cycles) = gpu.dram_sectors();
    q16(sectors, cycles)
}

/// Fraction in Q16.16, rounded down and saturated.
fn q16(numerator: u64, denominator: u64) -> u32 {
    u32::try_from((u128::from(numerator) << 16) / u128::from(denominator.max(1))).unwrap_or(u32::MAX)
}

/// Strap registers, set by the host before the firmware starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Straps {
    /// Policy to run.
    pub policy: PolicyCode,
    /// Profiling window in cycles, 1 to 131,071.
    pub profile_window: u32,
    /// Cycles over which launches are collected into a batch.
    pub coalesce_window: u32,
    /// [`mias_registers::option`] bits.
    pub options: u32,
    /// TBs per SM of the n-th kernel launched, for the fixed-configuration policy.
    pub fixed: [u8; KERNEL_SLOTS],
    /// Loss above which Warped-Slicer switches to Spatial, times the number of kernels, in
    /// thousandths.
    pub loss_threshold_permille: u32,
    /// Cycles between two reads of the memory-issue counters, if the firmware limits memory
    /// instructions.
    pub memory_interval: u32,
    /// Cycles of a utilization interval, if the firmware controls extra TBs.
    pub context_interval: u32,
    /// Victim selection and technique of preemption: [`mias_registers::preempt_scheme`].
    pub preempt: u32,
    /// Maximum cycles of a preemption, for kernels whose launch gives none.
    pub preempt_limit: u32,
    /// Maximum number of times that a launch may be bypassed, if the firmware manages the launch
    /// queue.
    pub queue_patience: u32,
    /// Memory-issue settings of the firmware, if any: [`mias_registers::memory_mode`].
    pub memory_mode: u32,
    /// Order of DRAM requests set by the firmware, if any: [`mias_registers::dram_order`].
    pub dram_order: u32,
    /// Cap of the order of DRAM requests.
    pub dram_cap: u32,
    /// Straps of the search for the number of SMs per kernel.
    pub search: SearchStraps,
}

impl Straps {
    /// Creates the default straps of a policy.
    ///
    /// The profiling window is the thesis' 45,000 cycles (Nasef 2023, section 3.2.1). Launches are
    /// collected for 5,000 cycles (sources.md D27). Warped-Slicer's threshold is 1.2 over the
    /// number of kernels (sources.md D50).
    #[must_use]
    pub const fn new(policy: PolicyCode) -> Self {
        const { assert!(45_000 <= MAX_WINDOW) };
        Self {
            policy,
            profile_window: 45_000,
            coalesce_window: 5_000,
            options: 0,
            fixed: [0; KERNEL_SLOTS],
            loss_threshold_permille: 1_200,
            memory_interval: 0,
            context_interval: 0,
            preempt: 0,
            preempt_limit: 0,
            queue_patience: 0,
            memory_mode: 0,
            dram_order: 0,
            dram_cap: 0,
            search: SearchStraps::PUBLISHED,
        }
    }
}

/// Straps of the search for the number of SMs per kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStraps {
    /// Warm-up cycles of each step, not measured, 1 to 131,071.
    pub warm_up_cycles: u32,
    /// Measured cycles of each step, 1 to 131,071.
    pub window_cycles: u32,
    /// Maximum loss of a kernel's IPC relative to its even share, in thousandths.
    pub loss_permille: u32,
    /// DRAM bandwidth utilization above which a kernel is memory-intensive, where a policy uses it,
    /// in thousandths.
    pub utilization_permille: u32,
    /// Bandwidth of a kernel alone if every access opens a row, in thousandths of DRAM's peak
    /// (sources.md D158).
    pub reach_permille: u32,
    /// Additional bandwidth if no access opens a row, in thousandths of the peak.
    pub reach_of_hits_permille: u32,
    /// Number of SMs of the n-th kernel scheduled, for the policy with fixed shares.
    pub shares: [u32; KERNEL_SLOTS],
}

impl SearchStraps {
    /// Straps of the search with published values.
    ///
    /// The bandwidth line is fitted to five kernels alone (sources.md D158). Steps have 20,000 and
    /// 20,000 cycles, and the loss is 5 % (Zhao et al. 2018, sections 4.1.2 and 4.2). The
    /// utilization is a tenth of DRAM's bandwidth: assumption, the paper has no number.
    pub const PUBLISHED: Self = Self {
        warm_up_cycles: 20_000,
        window_cycles: 20_000,
        loss_permille: 50,
        utilization_permille: 100,
        reach_permille: 90,
        reach_of_hits_permille: 2_960,
        shares: [0; KERNEL_SLOTS],
    };
}

/// Descriptor of a launched kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// Number of TBs of the grid.
    pub grid_tbs: u32,
    /// Threads per TB.
    pub tb_threads: u32,
    /// Registers per thread.
    pub thread_registers: u32,
    /// Shared memory per TB in bytes.
    pub tb_shared_bytes: u32,
    /// Priority; larger is more urgent.
    pub priority: u32,
    /// CUDA stream.
    pub stream: u32,
    /// Maximum cycles from the first possible TB issue until the kernel has its room; 0: not
    /// specified.
    pub latency_limit: u32,
    /// Identity of the kernel across launches; 0: not specified.
    pub identity: u32,
}
