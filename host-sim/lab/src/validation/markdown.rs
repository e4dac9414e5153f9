//! The report as Markdown, for `docs/results/validation.md`.

use super::bounds::{CORUN_PERCENT, MEAN_CYCLES_PERCENT, error_percent};
use super::suite::{ByPath, Corun, Launch, Suite, mean_error_percent};
use crate::table::grouped;
use crate::validation::reference::{COLUMNS, LAUNCH_LATENCY_CYCLES};

/// Formats the project's own traces.
pub fn own(suite: &Suite) -> String {
    let mut text = String::from(
        "## Micro-benchmarks\n\nCycles per instruction: (cycles of 300 - cycles of 100 instructions) / 200. Scheduler LRR. Bounds: the reference's\nvalue per instruction, and 1 cycle of a total.\n\n",
    );
    let head = ["micro-benchmark", "ours, 100", "reference", "ours, 300", "reference", "ours per inst.", "reference", "error"];
    text += &heading(&head);
    for micro in &suite.micro {
        let (ours, reference) = (micro.ours_per_instruction(), micro.reference_per_instruction());
        text += &row(&[
            micro.name.clone(),
            grouped(micro.ours[0]),
            grouped(micro.reference[0]),
            grouped(micro.ours[1]),
            grouped(micro.reference[1]),
            format!("{ours:.2}"),
            format!("{reference:.2}"),
            percent(ours, reference),
        ]);
    }
    text += "\n## Synthetic kernels\n\nScheduler GTO.\n\n";
    text += &launches(&suite.launches);
    text += &format!(
        "\n## Co-runs\n\nTwo kernels that share SMs, launched together on two streams, first come first served. Scheduler GTO. Bound: {CORUN_PERCENT} %.\n\n"
    );
    text + &coruns(&suite.corun) + "\n" + &verdict(&suite.violations())
}

/// Formats co-runs, a row each.
pub fn coruns(coruns: &[Corun]) -> String {
    let mut text = heading(&["case", "first ends: ours", "reference", "error", "both have: ours", "reference", "error"]);
    for corun in coruns {
        let ends = corun.ours.iter().zip(&corun.reference);
        let cells = ends.flat_map(|(&ours, &reference)| [grouped(ours), grouped(reference), percent(ours as f64, reference as f64)]);
        text += &row(&std::iter::once(corun.name.clone()).chain(cells).collect::<Vec<_>>());
    }
    text
}

/// Formats traces given by path.
pub fn by_path(traces: &ByPath) -> String {
    let mut text = launches(&traces.launches);
    for left_out in &traces.left_out {
        text += &format!("\nNot compared: {left_out}.\n");
    }
    let mut violations: Vec<String> = traces.launches.iter().flat_map(Launch::violations).collect();
    let mean = mean_error_percent(&traces.launches);
    if mean > MEAN_CYCLES_PERCENT {
        violations.push(format!("mean error of cycles {mean:.1} %, bound {MEAN_CYCLES_PERCENT} %"));
    }
    text + "\n" + &verdict(&violations)
}

/// Formats two tables: cycles, then everything else.
fn launches(launches: &[Launch]) -> String {
    let mut text = heading(&["trace", "launch", "cycles: ours", "reference", "error", "error without launch latency"]);
    for launch in launches {
        let (ours, reference) = launch.cycles();
        let without = |cycles: u64| cycles.saturating_sub(LAUNCH_LATENCY_CYCLES) as f64;
        text += &row(&[
            launch.trace.clone(),
            launch.number.to_string(),
            grouped(ours),
            grouped(reference),
            percent(ours as f64, reference as f64),
            percent(without(ours), without(reference)),
        ]);
    }
    let mean = mean_error_percent(launches);
    text += &format!("\nMean absolute error of cycles: {mean:.1} % (bound: {MEAN_CYCLES_PERCENT} %, and 15 % each).\n\n");
    let columns = COLUMNS.iter().skip(1).map(|(name, _)| *name);
    text += &heading(&["trace", "launch"].into_iter().chain(columns).collect::<Vec<_>>());
    for launch in launches {
        let pairs = launch.ours.iter().zip(&launch.reference).skip(1);
        let cells = pairs.map(|(&ours, &reference)| {
            let Some(reference) = reference else { return format!("{} / -", grouped(ours)) };
            if ours == reference {
                return grouped(ours);
            }
            format!("{} / {} ({})", grouped(ours), grouped(reference), percent(ours as f64, reference as f64))
        });
        text += &row(&[launch.trace.clone(), launch.number.to_string()].into_iter().chain(cells).collect::<Vec<_>>());
    }
    text + "\nOne number if both agree, else ours / reference (error). Reservation fails and DRAM writes have no bound, except that 0 must be 0.\n"
}

fn verdict(violations: &[String]) -> String {
    if violations.is_empty() {
        return "All within bounds.\n".to_owned();
    }
    let lines = violations.iter().map(|violation| format!("* {violation}\n"));
    format!("**Out of bounds:**\n\n{}", lines.collect::<String>())
}

fn percent(ours: f64, reference: f64) -> String {
    let error = error_percent(ours, reference);
    match (10.0 * error).round() / 10.0 {
        0.0 => "0.0 %".to_owned(),
        rounded if rounded.is_finite() => format!("{rounded:+.1} %"),
        _ => "only the reference is 0".to_owned(),
    }
}

fn heading(cells: &[&str]) -> String {
    let rule = if cells.is_empty() { String::new() } else { format!("|---|{}\n", "---:|".repeat(cells.len() - 1)) };
    row(&cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()) + &rule
}

fn row(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}
