//! Table of `compare` as CSV, for spreadsheets: a row per policy, the columns of the text table,
//! each with its unit. Numbers equal those of the JSON document to the last digit; missing values
//! are empty cells.

use mias_lab::choice::Choice;
use mias_lab::csv_table;
use mias_lab::experiment::comparison::{Comparison, KernelResult, PolicyResult};
use mias_lab::experiment::gpu_runner::{End, Options};
use mias_lab::experiment::policy::Latency;
use mias_lab::experiment::workload::Workload;

use super::comparison_table::choice;

/// Formats the table.
///
/// # Errors
/// None in practice: memory takes every row.
pub fn render(comparison: &Comparison, workloads: &[Workload], options: Options) -> csv::Result<String> {
    let names: Vec<&str> = workloads.iter().map(|workload| workload.name.as_str()).collect();
    table(comparison, &names, options)
}

fn table(comparison: &Comparison, names: &[&str], options: Options) -> csv::Result<String> {
    let mut headings = headings(names, options);
    let waits = comparison.results.iter().any(|result| result.kernels.iter().any(|kernel| kernel.latency.is_some()));
    if waits {
        headings.extend(latency_headings(names));
    }
    let columns = headings.len();
    let missing = comparison.missing.policies.iter().map(|policy| vec![policy.name().to_owned()]);
    let rows = comparison
        .results
        .iter()
        .map(|result| [row(result, options), if waits { latencies(result) } else { Vec::new() }].concat())
        .chain(missing)
        .map(|mut row| {
            row.resize(columns, String::new());
            row
        });
    csv_table::rows(std::iter::once(headings).chain(rows))
}

fn headings(names: &[&str], options: Options) -> Vec<String> {
    let instructions = options.ipc.name();
    let mut headings = vec!["policy".to_owned(), "config (TBs per SM)".to_owned()];
    headings
        .extend(names.iter().flat_map(|name| [format!("IPC {name} ({instructions} instructions/cycle)"), format!("norm. {name} (ratio)")]));
    let ratios = ["S", "STP", "ANTT", "fairness"].map(|heading| format!("{heading} (ratio)"));
    let fractions = ["regret S", "regret STP", "e2e S", "e2e STP", "in place"].map(|heading| format!("{heading} (fraction)"));
    let cycles = ["transition", "profile"].map(|heading| format!("{heading} (cycles)"));
    headings.extend([&ratios[..], &fractions, &cycles].concat());
    if options.latency != Latency::Off {
        headings.extend(["placement (cycles)", "decision (cycles)"].map(str::to_owned));
    }
    if options.end == End::Done {
        headings.push("makespan (cycles)".to_owned());
    }
    if options.precision.is_some() {
        headings.extend(["\u{b1} S (ratio)", "\u{b1} STP (ratio)", "simulated (cycles)"].map(str::to_owned));
    }
    headings
}

/// Returns the headings of placement latencies.
fn latency_headings(names: &[&str]) -> impl Iterator<Item = String> {
    let of = |name: &&str| {
        let cycles = ["first TB", "room", "all TBs", "limit", "deadline", "end"].map(|what| format!("{what} {name} (cycles)"));
        let last = [format!("room in time {name} (0 or 1)"), format!("violated {name} (0 or 1)"), format!("thrown away {name} (fraction)")];
        [format!("priority {name}")].into_iter().chain(cycles).chain(last).collect::<Vec<_>>()
    };
    names.iter().flat_map(of).collect::<Vec<_>>().into_iter()
}

fn latencies(result: &PolicyResult) -> Vec<String> {
    let of = |kernel: &KernelResult| {
        let Some(latency) = kernel.latency else { return vec![String::new(); 10] };
        let limit = latency.limit_cycles.map(u64::from);
        let (first, room) = (latency.first_tb_cycles, latency.room_cycles);
        let cycles = [first, room, latency.all_tbs_cycles, limit, latency.deadline_cycles, latency.end_cycles];
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let [in_time, violated] = [latency.room_in_time, latency.violated].map(|is| number(is.map(u64::from)));
        let thrown_away = kernel.thrown_away.unwrap_or(0.0).to_string();
        [latency.priority.to_string()].into_iter().chain(cycles.map(number)).chain([in_time, violated, thrown_away]).collect()
    };
    result.kernels.iter().flat_map(of).collect()
}

fn row(result: &PolicyResult, options: Options) -> Vec<String> {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    // CSV has an empty cell where the text table has a dash.
    let chosen = if result.config.is_none() && result.late_config.is_none() { String::new() } else { choice(result) };
    let mut row = vec![result.policy.name().to_owned(), chosen];
    row.extend(result.kernels.iter().flat_map(|kernel| [number(Some(kernel.ipc)), number(kernel.normalized_ipc)]));
    let m = result.metrics;
    row.extend([m.speedup, m.stp, m.antt, m.fairness].map(number));
    let (decision, end_to_end) = (result.decision_regret, result.end_to_end_regret);
    row.extend([decision.s, decision.stp, end_to_end.s, end_to_end.stp, result.in_place.map(|in_place| in_place.share)].map(number));
    row.extend([result.transition_cycles, result.profile_cycles].map(|cycles| cycles.to_string()));
    row.extend(result.placement_cycles.map(|cycles| cycles.to_string()));
    row.extend(result.decision_cycles.map(|cycles| cycles.to_string()));
    row.extend(result.makespan_cycles.map(|cycles| cycles.to_string()));
    if options.precision.is_some() {
        let half = result.half_widths.as_ref().map(|half| half.metrics);
        row.extend([half.and_then(|half| half.speedup), half.and_then(|half| half.stp)].map(number));
        row.push(result.simulated_cycles.map_or_else(String::new, |cycles| cycles.to_string()));
    }
    row
}

#[cfg(test)]
mod tests;
