//! Summary of a trace: launches, their demand on an SM, compactness, and coalescing of accesses.

use super::SCHEMA_VERSION;
use mias_lab::experiment::workload::Recorded;
use mias_lab::metrics::ratio;
use mias_lab::table::{self, grouped, number};
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::Sizes;
use mias_warp_trace::KernelTrace;
use serde::Serialize;
use std::collections::BTreeMap;

/// Trace, launch by launch.
#[derive(Clone, Debug, Serialize)]
pub struct TraceInfo {
    /// Version of the JSON documents.
    pub schema_version: u32,
    /// Name of the trace.
    pub name: String,
    /// Size as a trace file in bytes, including the directory.
    pub bytes: u64,
    /// Number of warp instructions of all launches.
    pub warp_insts: u64,
    /// Bytes per warp instruction; `None` without instructions.
    pub bytes_per_warp_inst: Option<f64>,
    /// Executed warp instructions by opcode that no table has, timed as integer; left out if there
    /// are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_opcodes: BTreeMap<String, u64>,
    /// Launches in order.
    pub launches: Vec<LaunchInfo>,
}

/// Summary of one launch.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchInfo {
    /// Name of the kernel.
    pub kernel: String,
    /// Stream, numbered in order of appearance.
    pub stream: u32,
    /// Number of TBs in x, y, z.
    pub grid: [u32; 3],
    /// Number of threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Number of registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes.
    pub shared_bytes: u32,
    /// Number of warp instructions.
    pub warp_insts: u64,
    /// Size of its sections in a trace file, in bytes.
    pub bytes: u64,
    /// Bytes per warp instruction; `None` without instructions.
    pub bytes_per_warp_inst: Option<f64>,
    /// Mean number of active lanes per instruction, at most 32.
    pub lanes_per_warp_inst: Option<f64>,
    /// Number of off-chip memory accesses of warps.
    pub memory_refs: u64,
    /// Mean number of 32-byte sectors per access: 4 if 32 lanes read adjacent 4-byte words, 32 if
    /// all are apart.
    pub sectors_per_ref: Option<f64>,
    /// Mean number of bytes used per touched sector, at most 32; low for a gather.
    pub bytes_per_sector: Option<f64>,
    /// Number of different sector patterns.
    pub patterns: u32,
}

impl TraceInfo {
    /// Summarizes a trace with these sizes as a trace file.
    pub fn new(recorded: &Recorded, sizes: &Sizes, warnings: &Warnings) -> Self {
        let launches: Vec<LaunchInfo> =
            recorded.workloads.iter().zip(&sizes.launches).map(|(w, &bytes)| LaunchInfo::new(&w.trace, w.stream, bytes)).collect();
        let warp_insts = launches.iter().map(|launch| launch.warp_insts).sum();
        TraceInfo {
            schema_version: SCHEMA_VERSION,
            name: recorded.name.clone(),
            bytes: sizes.total,
            warp_insts,
            bytes_per_warp_inst: ratio(sizes.total, warp_insts),
            unknown_opcodes: warnings.unknown_opcodes().clone(),
            launches,
        }
    }

    /// Formats a line with content and compactness.
    pub fn summary(&self) -> String {
        let launches = self.launches.len();
        let plural = if launches == 1 { "" } else { "es" };
        let per_inst = number(self.bytes_per_warp_inst, 4);
        let (insts, bytes) = (grouped(self.warp_insts), grouped(self.bytes));
        format!("{launches} launch{plural}, {insts} warp instructions; {bytes} bytes as a trace file, {per_inst} per warp instruction\n")
    }

    /// Formats the summary as text.
    pub fn text(&self) -> String {
        let extents = |extents: [u32; 3]| extents.map(|extent| extent.to_string()).join("x");
        let headings = ["kernel", "stream", "grid", "block", "regs/thread", "shared B/TB", "warp insts", "B/inst", "lanes/inst"];
        let memory = ["memory refs", "sectors/ref", "B/sector", "patterns"];
        let mut table = table::new(&[&headings[..], &memory].concat());
        for launch in &self.launches {
            table.add_row([
                launch.kernel.clone(),
                launch.stream.to_string(),
                extents(launch.grid),
                extents(launch.block),
                launch.registers_per_thread.to_string(),
                grouped(launch.shared_bytes.into()),
                grouped(launch.warp_insts),
                number(launch.bytes_per_warp_inst, 4),
                number(launch.lanes_per_warp_inst, 2),
                grouped(launch.memory_refs),
                number(launch.sectors_per_ref, 2),
                number(launch.bytes_per_sector, 2),
                grouped(launch.patterns.into()),
            ]);
        }
        let unknown: u64 = self.unknown_opcodes.values().sum();
        let unknown = match self.unknown_opcodes.keys().map(String::as_str).collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            opcodes => format!("unknown opcodes, timed as integer: {}; {} warp instructions\n", opcodes.join(", "), grouped(unknown)),
        };
        format!("{}: {}{unknown}\n{}", self.name, self.summary(), table::text(&table))
    }

    /// Formats the summary as JSON.
    ///
    /// # Errors
    /// None in practice: every value has a JSON form.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl LaunchInfo {
    fn new(trace: &KernelTrace, stream: u32, bytes: u64) -> Self {
        let of_pattern = |pattern| {
            let sectors = trace.pattern(pattern);
            (sectors.len() as u64, sectors.iter().map(|sector| u64::from(sector.byte_mask.count_ones())).sum::<u64>())
        };
        let patterns: Vec<(u64, u64)> = (0..trace.patterns()).map(of_pattern).collect();
        let (mut sectors, mut used) = (0, 0);
        for mem in trace.mems() {
            let (pattern_sectors, pattern_bytes) = patterns[mem.pattern as usize];
            sectors += pattern_sectors;
            used += pattern_bytes;
        }
        let (info, warp_insts, memory_refs) = (trace.info(), trace.warp_insts(), trace.mems().len() as u64);
        LaunchInfo {
            kernel: info.name.clone(),
            stream,
            grid: info.grid,
            block: info.block,
            registers_per_thread: info.registers_per_thread,
            shared_bytes: info.shared_bytes,
            warp_insts,
            bytes,
            bytes_per_warp_inst: ratio(bytes, warp_insts),
            lanes_per_warp_inst: ratio(trace.thread_insts(), warp_insts),
            memory_refs,
            sectors_per_ref: ratio(sectors, memory_refs),
            bytes_per_sector: ratio(used, sectors),
            patterns: trace.patterns(),
        }
    }
}
