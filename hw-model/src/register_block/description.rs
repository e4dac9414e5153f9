//! What is wired into the register block: the machine, the straps, and the descriptor of a launch.

use mias_registers::{KERNEL_SLOTS, MAX_SMS, MAX_WINDOW, PolicyCode, feature};

use crate::config::GpuConfig;
use mias_warp_trace::SECTOR_BYTES;

/// Threads of a warp on every machine modelled here.
const WARP_THREADS: u32 = 32;

/// Read-only facts that the firmware finds in the register block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuDescription {
    /// SMs, 1 to 256.
    pub sm_count: u32,
    /// Kernel slots, 1 to 8.
    pub slot_count: u32,
    /// Resident threads per SM.
    pub sm_threads: u32,
    /// 32-bit registers per SM.
    pub sm_registers: u32,
    /// Shared memory per SM in bytes.
    pub sm_shared_bytes: u32,
    /// Resident TBs per SM, 1 to 255.
    pub sm_tbs: u32,
    /// Threads per warp.
    pub warp_threads: u32,
    /// Registers per thread are rounded up to a multiple of this.
    pub register_granule: u32,
    /// Shared memory per TB is rounded up to a multiple of this many bytes.
    pub shared_granule_bytes: u32,
    /// Linear's coefficient, Q16.16.
    pub linear_coefficient_q16: u32,
    /// Warp schedulers per SM.
    pub sm_schedulers: u32,
    /// Most sectors that the interconnect moves to all SMs per core cycle, Q16.16.
    pub reply_sectors_q16: u32,
    /// Most sectors that DRAM moves per core cycle, Q16.16.
    pub dram_sectors_q16: u32,
    /// Most sectors that the L2 hands to the interconnect per core cycle, Q16.16.
    pub l2_sectors_q16: u32,
    /// Bytes that an L2 access moves at most.
    pub l2_access_bytes: u32,
    /// Cycles until a gated SM is awake; 0 where none is gated.
    pub sm_wake_cycles: u32,
    /// [`feature`] bits.
    pub features: u32,
    /// What the firmware is asked to do.
    pub straps: Straps,
}

impl GpuDescription {
    /// The description of a modelled GPU: all kernel slots, ideal transitions available, no preemption.
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

    /// `sm_count` SMs like those of the reference GPU (`configs/gpus/rtx2060-accelsim.toml`), without options, for tests and benchmarks of the
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

    /// The same with every count brought into the range that the map has room for.
    #[must_use]
    pub(super) fn within_map(mut self) -> Self {
        self.sm_count = self.sm_count.clamp(1, MAX_SMS as u32);
        self.slot_count = self.slot_count.clamp(1, KERNEL_SLOTS as u32);
        self.sm_tbs = self.sm_tbs.clamp(1, u32::from(u8::MAX));
        self
    }
}

/// One flit per port and interconnect cycle, on the side with fewer ports, of packets with what is fetched at once.
fn reply_sectors_q16(gpu: &GpuConfig) -> u32 {
    let slices = u64::from(gpu.dram.channels) * u64::from(gpu.l2.slices_per_channel);
    let ports = slices.min(u64::from(gpu.sm.count));
    let sectors = 1 << gpu.l2.fetch_bits();
    let flits = u64::from(gpu.interconnect.flits(sectors));
    q16(ports * u64::from(sectors) * u64::from(gpu.clocks.interconnect_khz), flits * u64::from(gpu.clocks.core_khz))
}

/// As many bytes per L2 cycle as a slice's port is wide, on every slice.
fn l2_sectors_q16(gpu: &GpuConfig) -> u32 {
    let bytes = u64::from(gpu.dram.channels) * u64::from(gpu.l2.slices_per_channel) * u64::from(gpu.l2.port_bytes);
    q16(bytes * u64::from(gpu.clocks.l2_khz), SECTOR_BYTES * u64::from(gpu.clocks.core_khz))
}

fn dram_sectors_q16(gpu: &GpuConfig) -> u32 {
    let (sectors, cycles) = gpu.dram_sectors();
    q16(sectors, cycles)
}

/// A fraction, rounded down and at most the largest.
fn q16(numerator: u64, denominator: u64) -> u32 {
    u32::try_from((u128::from(numerator) << 16) / u128::from(denominator.max(1))).unwrap_or(u32::MAX)
}

/// The strap registers: set by the host before the firmware starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Straps {
    /// Policy to run.
    pub policy: PolicyCode,
    /// Profiling window in cycles, 1 to 131,071.
    pub profile_window: u32,
    /// Cycles for which launches are collected.
    pub coalesce_window: u32,
    /// [`mias_registers::option`] bits.
    pub options: u32,
    /// TBs per SM of the n-th kernel launched, for the fixed-configuration policy.
    pub fixed: [u8; KERNEL_SLOTS],
    /// Loss at which Warped-Slicer gives way to Spatial, times the kernels, in thousandths.
    pub loss_threshold_permille: u32,
    /// Cycles between two looks at the counters of memory issue, if the firmware is to limit memory instructions.
    pub memory_interval: u32,
    /// Cycles of the intervals after which the firmware looks at how busy the chip was, if it is to control extra TBs.
    pub context_interval: u32,
    /// Whom the firmware preempts, and how: [`mias_registers::preempt_scheme`].
    pub preempt: u32,
    /// Cycles that a preemption may take, for kernels whose launch does not say.
    pub preempt_limit: u32,
    /// How often a launch may be passed over, if the firmware says which is next.
    pub queue_patience: u32,
    /// What the firmware sets of memory issue, if it is to: [`mias_registers::memory_mode`].
    pub memory_mode: u32,
    /// The order of DRAM requests that it sets, if it is to: [`mias_registers::dram_order`].
    pub dram_order: u32,
    /// What that is held by.
    pub dram_cap: u32,
    /// A search for how many SMs each kernel needs.
    pub search: SearchStraps,
}

impl Straps {
    /// A policy with the thesis' window of 45,000 cycles (Nasef 2023, section 3.2.1), launches collected for 5,000 cycles
    /// (sources.md D27), and Warped-Slicer's threshold of 1.2 over the number of kernels (sources.md D50).
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

/// The straps of a search for how many SMs each kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStraps {
    /// Cycles of each step that are not measured, 1 to 131,071.
    pub warm_up_cycles: u32,
    /// Cycles of each step that are, 1 to 131,071.
    pub window_cycles: u32,
    /// What a kernel may lose of its IPC on its even share, in thousandths.
    pub loss_permille: u32,
    /// Share of DRAM's bandwidth above which a kernel is memory-intensive, where that is asked for, in thousandths.
    pub utilisation_permille: u32,
    /// What DRAM moves for a kernel alone of which every access opens a row, in thousandths of its peak (sources.md D158).
    pub reach_permille: u32,
    /// How much more it moves where no access does, in thousandths.
    pub reach_of_hits_permille: u32,
    /// SMs of the n-th kernel scheduled, for the policy that deals them out as given.
    pub shares: [u32; KERNEL_SLOTS],
}

impl SearchStraps {
    /// A line through five kernels alone (sources.md D158). Steps of 20,000 and 20,000 cycles, and
    /// a loss of 5 % (Zhao et al. 2018, sections 4.1.2 and 4.2). A tenth of DRAM's bandwidth:
    /// assumption, the paper has no number.
    pub const PUBLISHED: Self = Self {
        warm_up_cycles: 20_000,
        window_cycles: 20_000,
        loss_permille: 50,
        utilisation_permille: 100,
        reach_permille: 90,
        reach_of_hits_permille: 2_960,
        shares: [0; KERNEL_SLOTS],
    };
}

/// A kernel as launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KernelDescriptor {
    /// TBs of the grid.
    pub grid_tbs: u32,
    /// Threads per TB.
    pub tb_threads: u32,
    /// Registers per thread.
    pub thread_registers: u32,
    /// Shared memory per TB in bytes.
    pub tb_shared_bytes: u32,
    /// Priority, larger is more urgent.
    pub priority: u32,
    /// Stream.
    pub stream: u32,
    /// Cycles from the moment at which its TBs may issue until it is to have its room; 0: not said.
    pub latency_limit: u32,
    /// Which kernel it is; 0: not said.
    pub identity: u32,
}
