//! Extra TBs of a run (Lin et al. 2018): capacity of an SM, counts, and cost of context switches.

use mias_hw_model::config::GpuConfig;
use mias_hw_model::gpu::{Gpu, OversubscriptionStats};
use mias_hw_model::sm::OversubscriptionCounts;
use mias_lab::experiment::workload::Workload;
use mias_lab::table::{self, grouped};
use serde::Serialize;

/// Extra TBs of one kernel.
#[derive(Serialize)]
pub(super) struct Row<'a> {
    kernel: &'a str,
    native_tbs: u32,
    extra_tbs_bound: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_none: Option<String>,
    extra_tbs_allowed: u32,
    registers: u32,
    live_registers: Option<u32>,
    moved_registers: u32,
    #[serde(flatten)]
    counted: Counted,
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Decisions>,
}

/// Decisions of the controller, by cause.
#[derive(Serialize)]
struct Decisions {
    underutilized: u32,
    moderate: u32,
    saturated: u32,
}

/// Counters of extra TBs.
#[derive(Serialize)]
struct Counted {
    extra_tbs: u64,
    switched_out: u64,
    switched_in: u64,
    moving_cycles: u64,
    most_tbs: u32,
    mean_tbs: f64,
    absent_warp_cycles: u64,
    mean_absent_warps: f64,
}

impl From<&OversubscriptionCounts> for Counted {
    fn from(counts: &OversubscriptionCounts) -> Self {
        // Mean over cycles with such TBs.
        let mean = |sum: u64| sum as f64 / counts.held_cycles.max(1) as f64;
        Counted {
            extra_tbs: counts.extra_tbs,
            switched_out: counts.switched_out,
            switched_in: counts.switched_in,
            moving_cycles: counts.moving_cycles,
            most_tbs: counts.most_tbs,
            mean_tbs: mean(counts.tb_cycles),
            absent_warp_cycles: counts.absent_warp_cycles,
            mean_absent_warps: mean(counts.absent_warp_cycles),
        }
    }
}

/// Counters of one SM, over all kernels.
#[derive(Serialize)]
pub(super) struct SmRow {
    sm: usize,
    #[serde(flatten)]
    counted: Counted,
}

/// Returns the SMs in order; empty if the GPU takes no extra TBs.
pub(super) fn sm_rows(sms: &[OversubscriptionCounts]) -> Vec<SmRow> {
    sms.iter().enumerate().map(|(sm, counts)| SmRow { sm, counted: counts.into() }).collect()
}

/// Returns the kernels in order; empty if the GPU takes no extra TBs.
pub(super) fn rows<'a>(gpu: &GpuConfig, workloads: &'a [Workload], stats: &[OversubscriptionStats]) -> Vec<Row<'a>> {
    let Some(config) = gpu.sm.oversubscription else { return Vec::new() };
    let row = |(workload, stats): (&'a Workload, &OversubscriptionStats)| {
        let info = workload.trace.info();
        let live = workload.live_registers().first().copied().flatten();
        let OversubscriptionStats { native_tbs, bound, most_extra, decisions, counts } = *stats;
        let [underutilized, moderate, saturated] = decisions;
        let registers = info.registers_per_thread.next_multiple_of(gpu.sm.register_granule);
        Row {
            kernel: &workload.name,
            native_tbs,
            extra_tbs_bound: bound,
            why_none: Gpu::room_for_extra(gpu, info, live).and_then(Result::err).filter(|_| bound == 0).map(|why| why.to_string()),
            extra_tbs_allowed: most_extra.min(bound),
            registers,
            live_registers: live,
            moved_registers: config.moved_registers(registers, live),
            counted: (&counts).into(),
            decisions: config.is_controlled().then_some(Decisions { underutilized, moderate, saturated }),
        }
    };
    workloads.iter().zip(stats).map(row).collect()
}

/// Formats the extra TBs as text; empty if the GPU takes no extra TBs.
pub(super) fn text(gpu: &GpuConfig, workloads: &[Workload], stats: &[OversubscriptionStats], sms: &[OversubscriptionCounts]) -> String {
    let rows = rows(gpu, workloads, stats);
    if rows.is_empty() {
        return String::new();
    }
    let mut table = table::new(&[
        "oversubscription",
        "fit",
        "room for",
        "allowed",
        "registers moved",
        "extra TBs",
        "out",
        "in",
        "cycles moving",
        "TBs at most",
        "mean",
        "warps away",
    ]);
    for row in &rows {
        table.add_row([
            row.kernel.to_owned(),
            row.native_tbs.to_string(),
            row.extra_tbs_bound.to_string(),
            row.extra_tbs_allowed.to_string(),
            format!("{} of {}", row.moved_registers, row.registers),
            grouped(row.counted.extra_tbs),
            grouped(row.counted.switched_out),
            grouped(row.counted.switched_in),
            grouped(row.counted.moving_cycles),
            row.counted.most_tbs.to_string(),
            format!("{:.2}", row.counted.mean_tbs),
            format!("{:.2}", row.counted.mean_absent_warps),
        ]);
    }
    let mut text = format!("\n{table}\n");
    text += &by_sm(sms);
    for row in &rows {
        if let Some(why) = &row.why_none {
            text += &format!("`{}` has no extra TBs: {why}\n", row.kernel);
        }
    }
    text
}

/// Formats the range over SMs, from the fewest to the most; empty if no SM has switched contexts.
fn by_sm(sms: &[OversubscriptionCounts]) -> String {
    if sms.iter().all(|counts| counts.switched_out + counts.switched_in == 0) {
        return String::new();
    }
    let whole = |of: fn(&OversubscriptionCounts) -> u64| {
        let (least, most) = (sms.iter().map(of).min().unwrap_or(0), sms.iter().map(of).max().unwrap_or(0));
        format!("{} to {}", grouped(least), grouped(most))
    };
    let away = sms.iter().map(|counts| Counted::from(counts).mean_absent_warps);
    let (least, most) = away.fold((f64::MAX, 0.0_f64), |(least, most), away| (least.min(away), most.max(away)));
    let [extra, out, into, moving] = [
        whole(|counts| counts.extra_tbs),
        whole(|counts| counts.switched_out),
        whole(|counts| counts.switched_in),
        whole(|counts| counts.moving_cycles),
    ];
    format!("by SM: extra TBs {extra}, out {out}, in {into}, cycles moving {moving}, mean warps away {least:.2} to {most:.2}\n")
}
