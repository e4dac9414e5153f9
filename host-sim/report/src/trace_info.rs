//! What a trace holds: launches, what they ask of an SM, how compact they are, and how well their accesses coalesce.

use super::SCHEMA_VERSION;
use mias_lab::experiment::workload::Recorded;
use mias_lab::metrics::ratio;
use mias_lab::table::{self, grouped, number};
use mias_trace::accelsim::Warnings;
use mias_trace::trace_file::Sizes;
use mias_warp_trace::KernelTrace;
use serde::Serialize;
use std::collections::BTreeMap;

/// A trace, launch by launch.
#[derive(Clone, Debug, Serialize)]
pub struct TraceInfo {
    /// Version of the JSON documents.
    pub schema_version: u32,
    /// Name of the trace.
    pub name: String,
    /// Bytes as a trace file, directory included.
    pub bytes: u64,
    /// Warp instructions of all launches.
    pub warp_insts: u64,
    /// One over the other; none if there is no instruction.
    pub bytes_per_warp_inst: Option<f64>,
    /// Executed warp instructions by opcode that no table has, timed as integer; left out if there are none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unknown_opcodes: BTreeMap<String, u64>,
    /// The launches, in order.
    pub launches: Vec<LaunchInfo>,
}

/// One launch.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchInfo {
    /// Name.
    pub kernel: String,
    /// Stream, numbered as they appear.
    pub stream: u32,
    /// TBs in x, y, z.
    pub grid: [u32; 3],
    /// Threads per TB in x, y, z.
    pub block: [u32; 3],
    /// Registers per thread.
    pub registers_per_thread: u32,
    /// Shared memory per TB in bytes.
    pub shared_bytes: u32,
    /// Warp instructions.
    pub warp_insts: u64,
    /// Bytes of its sections in a trace file.
    pub bytes: u64,
    /// One over the other; none if there is no instruction.
    pub bytes_per_warp_inst: Option<f64>,
    /// Active lanes of an instruction in the mean, at most 32.
    pub lanes_per_warp_inst: Option<f64>,
    /// Off-chip memory accesses of warps.
    pub memory_refs: u64,
    /// 32-byte sectors that one touches in the mean: 4 if 32 lanes read 4 bytes side by side, 32 if all are apart.
    pub sectors_per_ref: Option<f64>,
    /// Bytes used of a sector touched, in the mean, at most 32: what a gather wastes shows here.
    pub bytes_per_sector: Option<f64>,
    /// Different sector patterns.
    pub patterns: u32,
}

impl TraceInfo {
    /// Of a trace that has these sizes as a trace file.
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

    /// One line: what there is and how compact.
    pub fn summary(&self) -> String {
        let launches = self.launches.len();
        let plural = if launches == 1 { "" } else { "es" };
        let per_inst = number(self.bytes_per_warp_inst, 4);
        let (insts, bytes) = (grouped(self.warp_insts), grouped(self.bytes));
        format!("{launches} launch{plural}, {insts} warp instructions; {bytes} bytes as a trace file, {per_inst} per warp instruction\n")
    }

    /// For people.
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
            opcodes => format!("opcodes not known, timed as integer: {}; {} warp instructions\n", opcodes.join(", "), grouped(unknown)),
        };
        format!("{}: {}{unknown}\n{}", self.name, self.summary(), table::text(&table))
    }

    /// For programs.
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
