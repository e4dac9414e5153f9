//! Ranges of the individual numbers of a GPU file, as tables of keys.
//!
//! [`GpuConfig::check`] applies them, and the schema for editors is made from them. Relations
//! between numbers are in `check.rs` and `limits.rs`.

use super::limits::{ADDRESS_BIT, CHANNEL_SHIFT, MOST};
use super::microcontroller::{CLOCK_KHZ, CPI_PERMILLE, MOST_WAIT_STATES};
use super::{GpuConfig, SelectorConfig, UnitTiming};
use std::ops::RangeInclusive;

/// Number in the file: its dotted key and its accessor.
pub(super) type Field = (&'static str, fn(&GpuConfig) -> u32);

/// Execution unit: its dotted key and its accessor.
pub(super) type Unit = (&'static str, fn(&GpuConfig) -> UnitTiming);

/// Field by its path, which is also its key.
macro_rules! field {
    ($first:ident $(. $rest:ident)*) => {
        (concat!(stringify!($first) $(, ".", stringify!($rest))*), |gpu| gpu.$first $(. $rest)*)
    };
}

/// Numbers that are at least 1, in addition to [`SIZES`].
pub(super) const POSITIVE: [Field; 16] = [
    field!(clocks.core_khz),
    field!(clocks.interconnect_khz),
    field!(clocks.l2_khz),
    field!(clocks.dram_khz),
    field!(sm.count),
    field!(sm.threads),
    field!(sm.tbs),
    field!(sm.registers),
    field!(sm.shared_granule_bytes),
    field!(sm.sub_cores),
    field!(sm.collector_units),
    field!(sm.register_banks),
    field!(l1.ways),
    field!(interconnect.flit_bytes),
    field!(l2.ways),
    field!(dram.channels),
];

/// Queues, latencies and similar numbers: 1 to [`MOST`] each.
pub(super) const SIZES: [Field; 19] = [
    field!(sm.register_granule),
    field!(sm.register_rounds),
    field!(sm.shared_latency),
    field!(l1.latency),
    field!(l1.mshrs),
    field!(l1.mshr_merges),
    field!(l1.miss_queue),
    field!(interconnect.input_buffer),
    field!(interconnect.output_buffer),
    field!(l2.mshrs),
    field!(l2.mshr_merges),
    field!(l2.miss_queue),
    field!(l2.latency),
    field!(l2.queues.from_crossbar),
    field!(l2.queues.to_dram),
    field!(l2.queues.from_dram),
    field!(l2.queues.to_crossbar),
    field!(dram.queue),
    field!(dram.return_queue),
];

/// Times that may be 0, at most [`MOST`] each.
pub(super) const TIMES: [Field; 14] = [
    field!(scheduler.commit_cycles_per_sm),
    field!(dram.latency),
    field!(dram.timing.t_ccd),
    field!(dram.timing.t_ccdl),
    field!(dram.timing.t_rrd),
    field!(dram.timing.t_rcd),
    field!(dram.timing.t_ras),
    field!(dram.timing.t_rp),
    field!(dram.timing.t_rc),
    field!(dram.timing.t_cl),
    field!(dram.timing.t_wl),
    field!(dram.timing.t_cdlr),
    field!(dram.timing.t_wr),
    field!(dram.timing.t_rtp),
];

/// Numbers that must be powers of two because address bits select from them.
pub(super) const POWERS_OF_TWO: [Field; 14] = [
    field!(l1.sets),
    field!(l1.line_bytes),
    field!(l1.sector_bytes),
    field!(l1.banks),
    field!(l2.sets),
    field!(l2.slices_per_channel),
    field!(l2.line_bytes),
    field!(l2.sector_bytes),
    field!(l2.port_bytes),
    field!(dram.banks),
    field!(dram.bank_groups),
    field!(dram.bus_bytes),
    field!(dram.burst_beats),
    field!(dram.beats_per_cycle),
];

/// Execution units by their keys.
pub(super) const UNITS: [Unit; 8] = [
    ("sm.units.int", |gpu| gpu.sm.units.int),
    ("sm.units.sp", |gpu| gpu.sm.units.sp),
    ("sm.units.dp", |gpu| gpu.sm.units.dp),
    ("sm.units.sfu", |gpu| gpu.sm.units.sfu),
    ("sm.units.tensor", |gpu| gpu.sm.units.tensor),
    ("sm.units.branch", |gpu| gpu.sm.units.branch),
    ("sm.units.texture", |gpu| gpu.sm.units.texture),
    ("sm.units.uniform", |gpu| gpu.sm.units.uniform),
];

/// Valid latencies and initiation intervals of a unit and latencies of a constant cache, in cycles.
pub(super) const UNIT_CYCLES: RangeInclusive<u32> = 1..=512;

/// Valid numbers of warps that an SM fetches for per cycle, and of instructions in a warp's buffer.
pub(super) const FETCHED: RangeInclusive<u32> = 1..=32;

/// Latency of the hardware selector: its dotted key and its accessor.
type OfSelector = (&'static str, fn(&SelectorConfig) -> u32);

/// Latencies of the hardware selector of TBs to preempt, at most [`MOST`] each.
pub(super) const SELECTOR: [OfSelector; 3] = [
    ("sm.preemption.selector.start_cycles", |selector| selector.start_cycles),
    ("sm.preemption.selector.tb_cycles", |selector| selector.tb_cycles),
    ("sm.preemption.selector.pass_cycles", |selector| selector.pass_cycles),
];

/// Threads per warp.
pub(super) const WARP: u32 = 32;

/// Maximum resident threads of an SM.
pub(super) const MOST_THREADS: u32 = 4_096;

/// Maximum sub-cores of an SM.
pub(super) const MOST_SUB_CORES: u32 = 8;

/// Bytes of a sector, to which traces are coalesced: the smallest fetch of a cache.
pub(super) const SECTOR_BYTES: u32 = 32;

/// Valid line sizes of L1 and L2, in bytes.
pub(super) const LINE_BYTES: RangeInclusive<u32> = 32..=128;

/// Minimum bytes of a flit.
pub(super) const LEAST_FLIT_BYTES: u32 = 8;

/// Minimum bytes of a flit if each packet is one flit: a sector and its header.
pub(super) const LEAST_WHOLE_FLIT_BYTES: u32 = 40;

/// Maximum bytes of a packet's header.
pub(super) const MOST_HEADER_BYTES: u32 = 64;

/// Maximum of a number, with its remedy.
pub(super) struct AtMost {
    pub(super) field: Field,
    pub(super) most: u32,
    pub(super) remedy: &'static str,
}

/// Numbers with individual maxima.
pub(super) const AT_MOST: [AtMost; 13] = [
    AtMost {
        field: field!(sm.count),
        most: mias_registers::MAX_SMS as u32,
        remedy: "must be at most 256: the register map has room for no more SMs",
    },
    AtMost { field: field!(sm.tbs), most: 64, remedy: "must be at most 64" },
    AtMost { field: field!(l1.banks), most: 32, remedy: "must be at most 32" },
    AtMost { field: field!(l1.modified_floor_percent), most: 100, remedy: "must be at most 100" },
    AtMost { field: field!(dram.banks), most: 64, remedy: "must be at most 64" },
    AtMost { field: field!(sm.result_buses), most: 64, remedy: "must be at most 64; 0 for any number" },
    AtMost { field: field!(sm.texel_latency), most: 512, remedy: "must be at most 512 cycles; 0 for none" },
    AtMost {
        field: field!(microcontroller.wait_states),
        most: MOST_WAIT_STATES,
        remedy: "must be at most 1000 cycles per access to the register block; 0 for none",
    },
    AtMost { field: field!(sm.registers), most: 1 << 24, remedy: "must be at most 16777216" },
    AtMost { field: field!(sm.shared_bytes), most: 1 << 24, remedy: "must be at most 16777216" },
    AtMost { field: field!(sm.shared_granule_bytes), most: 1 << 24, remedy: "must be at most 16777216" },
    AtMost { field: field!(dram.channels), most: 128, remedy: "must be at most 128" },
    AtMost { field: field!(l2.slices_per_channel), most: 16, remedy: "must be at most 16" },
];

/// Valid bytes of a warp's context in addition to its registers.
pub(super) const WARP_STATE: RangeInclusive<u32> = 0..=4096;

/// Maximum cycles that a gated SM takes to wake: half of the longest profiling window.
pub(super) const MOST_WAKE_CYCLES: u32 = mias_registers::MAX_WINDOW.div_ceil(2);

/// Maximum energy of waking an SM, in femtojoules (assumption: the consumption of the largest SM in
/// a microsecond).
pub(super) const MOST_WAKE_FJ: u32 = 4_000_000_000;

/// Valid values of a number of a GPU file, independent of the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Dotted key; for a list, that of its elements.
    pub key: String,
    /// Minimum and maximum.
    pub within: RangeInclusive<u32>,
    /// Required divisor; 1: none.
    pub multiple_of: u32,
    /// True if only powers of two are valid.
    pub power_of_two: bool,
}

impl GpuConfig {
    /// Every range that [`check`](GpuConfig::check) applies to a single number. A key may have
    /// several.
    #[must_use]
    pub fn ranges() -> Vec<Range> {
        let range = |key: &str, within| Range { key: key.into(), within, multiple_of: 1, power_of_two: false };
        let mut ranges: Vec<Range> = Vec::new();
        ranges.extend(POSITIVE.map(|(key, _)| range(key, 1..=u32::MAX)));
        ranges.extend(SIZES.map(|(key, _)| range(key, 1..=MOST)));
        ranges.extend(TIMES.map(|(key, _)| range(key, 0..=MOST)));
        ranges.extend(POWERS_OF_TWO.map(|(key, _)| Range { power_of_two: true, ..range(key, 1..=u32::MAX) }));
        ranges.extend(AT_MOST.iter().map(|AtMost { field: (key, _), most, .. }| range(key, 0..=*most)));
        for (key, _) in UNITS {
            ranges.extend(["latency", "interval"].map(|of| range(&format!("{key}.{of}"), UNIT_CYCLES)));
        }
        ranges.push(Range { multiple_of: WARP, ..range("sm.threads", 1..=MOST_THREADS) });
        ranges.push(Range { power_of_two: true, ..range("sm.sub_cores", 1..=MOST_SUB_CORES) });
        ranges.extend(["l1.sector_bytes", "l2.sector_bytes"].map(|key| range(key, LINE_BYTES)));
        ranges.extend(["l1.line_bytes", "l2.line_bytes"].map(|key| range(key, LINE_BYTES)));
        ranges.extend(["sm.constant_cache.latency", "sm.constant_cache.word_cycles"].map(|key| range(key, UNIT_CYCLES)));
        ranges.extend(["sm.fetch.warps_per_cycle", "sm.fetch.buffer"].map(|key| range(key, FETCHED)));
        ranges.push(Range { multiple_of: SECTOR_BYTES, ..range("sm.preemption.warp_state_bytes", WARP_STATE) });
        ranges.extend(super::texture::ranges());
        ranges.extend(SELECTOR.map(|(key, _)| range(key, 0..=MOST)));
        ranges.push(range("sm.power_gating.wake_cycles", 0..=MOST_WAKE_CYCLES));
        ranges.push(range("sm.power_gating.wake_fj", 0..=MOST_WAKE_FJ));
        ranges.push(range("l1.carve_out.l1_ways", 1..=u32::MAX));
        ranges.push(range("interconnect.flit_bytes", LEAST_FLIT_BYTES..=u32::MAX));
        ranges.push(range("interconnect.header_bytes", 0..=MOST_HEADER_BYTES));
        ranges.push(range("dram.scheduler.cap", super::dram_scheduler::CAP));
        ranges.push(range("dram.scheduler.shares", 0..=super::WHOLE_SHARE));
        ranges.push(range("dram.address.channel_shift", CHANNEL_SHIFT));
        ranges.extend(["row_bits", "bank_bits", "column_bits"].map(|bits| range(&format!("dram.address.{bits}"), ADDRESS_BIT)));
        ranges.push(range("microcontroller.clock_khz", CLOCK_KHZ));
        ranges.push(range("microcontroller.cpi_permille", CPI_PERMILLE));
        ranges
    }
}
