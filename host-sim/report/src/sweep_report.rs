//! Report of `sweep`: IPC against TBs per SM, as a table with bars, as JSON and as CSV.

use super::provenance::Provenance;
use super::{SCHEMA_VERSION, kernel_stats};
use mias_hw_model::config::GpuConfig;
use mias_hw_model::sm::IssueClass;
use mias_lab::characterise::alone;
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::rate::estimated_ipc;
use mias_lab::experiment::sweep::{Point, Sweep};
use mias_lab::experiment::workload::Workload;
use mias_lab::table::{self, DASH, estimate, number, percent};
use mias_lab::{bandwidth, csv_table};
use serde::Serialize;

/// Length of the longest bar in characters.
const BAR: f64 = 40.0;

/// Subject of a sweep: GPU, kernel and options.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// GPU of the runs.
    pub gpu: &'a GpuConfig,
    /// Kernel of the sweep.
    pub workload: &'a Workload,
    /// Options in effect.
    pub options: Options,
}

/// Point in reports; `null` for missing numbers.
#[derive(Clone, Debug, Serialize)]
struct Row {
    tbs_per_sm: u32,
    ipc: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipc_half_width: Option<f64>,
    ipc_per_tb: Option<f64>,
    miss_latency: Option<f64>,
    l1_miss_rate: Option<f64>,
    dram_utilization: Option<f64>,
    issued: Option<f64>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    provenance: Provenance,
    gpu: &'a str,
    kernel: &'a str,
    cycles: Option<u64>,
    points: Vec<Row>,
    shape: Option<&'static str>,
    shape_because: Option<String>,
    missing: Vec<u32>,
}

fn row(subject: Subject<'_>, sweep: &Sweep, point: &Point) -> Row {
    let ipc = sweep.ipc(point);
    let outcome = point.outcome.as_ref();
    let launch = outcome.and_then(|outcome| outcome.launches.first());
    let alone = outcome.map(|outcome| alone::Alone::of(outcome, subject.gpu));
    Row {
        tbs_per_sm: point.tbs,
        ipc,
        ipc_half_width: outcome
            .filter(|outcome| outcome.estimate.is_some())
            .map(|outcome| estimated_ipc(outcome, 0, subject.options).half_width),
        ipc_per_tb: ipc.map(|ipc| ipc / f64::from(point.tbs)),
        miss_latency: outcome.and_then(alone::miss_latency),
        l1_miss_rate: alone.as_ref().and_then(|alone| alone.l1_miss_rate),
        dram_utilization: outcome.zip(launch).and_then(|(outcome, launch)| bandwidth::dram(subject.gpu, launch, outcome.cycles)),
        issued: alone.as_ref().and_then(|alone| alone.issue_slots).map(|slots| slots[IssueClass::Issued as usize]),
    }
}

fn rows(subject: Subject<'_>, sweep: &Sweep) -> Vec<Row> {
    sweep.points.iter().map(|point| row(subject, sweep, point)).collect()
}

fn heading(subject: Subject<'_>) -> String {
    format!("{} {}", subject.workload.name, kernel_stats::heading(subject.gpu, subject.options))
}

/// Formats the table without the heading line, followed by bars and shape.
pub fn table_and_shape(subject: Subject<'_>, sweep: &Sweep) -> String {
    let rows = rows(subject, sweep);
    let best = rows.iter().filter_map(|row| row.ipc).fold(0.0, f64::max);
    let mut table = table::new(&["TBs/SM", "IPC", "IPC per TB", "issued", "L1 miss rate", "miss latency", "DRAM"]);
    for row in &rows {
        table.add_row([
            row.tbs_per_sm.to_string(),
            estimate(row.ipc, row.ipc_half_width, 1),
            number(row.ipc_per_tb, 1),
            percent(row.issued),
            number(row.l1_miss_rate, 3),
            number(row.miss_latency, 0),
            percent(row.dram_utilization),
        ]);
    }
    // Bars are outside of the table, whose cells could only be padded.
    let bar = |row: &Row| match row.ipc {
        Some(ipc) if best > 0.0 => "#".repeat((BAR * ipc / best).round() as usize),
        _ => String::new(),
    };
    let lines: Vec<String> = table.to_string().lines().map(str::to_owned).collect();
    let bars = std::iter::once(String::new()).chain(rows.iter().map(bar));
    let mut text: String = lines.iter().zip(bars).map(|(line, bar)| format!("{}\n", format!("{line}  {bar}").trim_end())).collect();
    let shape = sweep.shape().map(|verdict| format!("{}: {}", verdict.shape.name(), verdict.because));
    text += &format!("\nshape: {}\n", shape.as_deref().unwrap_or(DASH));
    text
}

/// Formats the report as text.
pub fn text(subject: Subject<'_>, sweep: &Sweep) -> String {
    heading(subject) + &table_and_shape(subject, sweep)
}

/// Formats the report as JSON.
///
/// # Errors
/// None in practice: every value has a JSON form.
pub fn json(subject: Subject<'_>, sweep: &Sweep) -> serde_json::Result<String> {
    let verdict = sweep.shape();
    let document = Document {
        schema_version: SCHEMA_VERSION,
        provenance: Provenance::new(subject.gpu, std::slice::from_ref(subject.workload), subject.options),
        gpu: &subject.gpu.name,
        kernel: &subject.workload.name,
        cycles: if let End::Cycles(cycles) = subject.options.end { Some(cycles) } else { None },
        points: rows(subject, sweep),
        shape: verdict.as_ref().map(|verdict| verdict.shape.name()),
        shape_because: verdict.map(|verdict| verdict.because),
        missing: sweep.missing(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Formats the report as CSV: a heading line, then a line per point, with empty cells for missing
/// numbers.
///
/// # Errors
/// As [`csv_table::text`].
pub fn csv(subject: Subject<'_>, sweep: &Sweep) -> csv::Result<String> {
    let columns = ["kernel", "gpu", "tbs_per_sm", "ipc", "ipc_per_tb", "issued", "l1_miss_rate", "miss_latency", "dram_utilization"];
    let estimated = subject.options.precision.is_some().then_some("ipc_half_width");
    let headings = columns.into_iter().chain(estimated).map(str::to_owned).collect();
    let rows = rows(subject, sweep).into_iter().map(|row| {
        let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.6}"));
        let [ipc, half_width, per_tb, issued] = [row.ipc, row.ipc_half_width, row.ipc_per_tb, row.issued].map(cell);
        let [misses, latency, dram] = [row.l1_miss_rate, row.miss_latency, row.dram_utilization].map(cell);
        let (kernel, gpu) = (subject.workload.name.clone(), subject.gpu.name.clone());
        let cells = [kernel, gpu, row.tbs_per_sm.to_string(), ipc, per_tb, issued, misses, latency, dram];
        cells.into_iter().chain(estimated.map(|_| half_width)).collect::<Vec<String>>()
    });
    csv_table::rows(std::iter::once(headings).chain(rows))
}
