//! Report of `gpu fit`: the population, the line, and the lines for the GPU's file.

use mias_hw_model::config::GpuConfig;
use mias_lab::experiment::fit::{CalibrationRun, Fit, coefficient_q16};
use mias_lab::experiment::least_squares::{Line, StallSample};
use mias_lab::table::{self, config, grouped};

/// Fraction of explained variance below which the line is called poor (assumption: half).
const POOR_PERMILLE: u32 = 500;

/// Formats one table row per run, the result, and the two lines to paste; `names` are the kernels'
/// names.
pub fn text(fit: &Fit, gpu: &GpuConfig, names: &[&str], window_cycles: u32) -> String {
    let mut table = table::new(&["kernels", "config", "mean A per SM", "mean M per SM"]);
    for run in &fit.runs {
        let kernels: Vec<&str> = run.kernels.iter().filter_map(|&kernel| names.get(kernel).copied()).collect();
        let (a, m) = (mean(run, |s| s.outstanding_misses), mean(run, |s| s.memory_stall_cycles));
        table.add_row([kernels.join(" + "), config(Some(&run.config)), grouped(a), grouped(m)]);
    }
    let (runs, samples) = (fit.runs.len(), grouped(fit.samples() as u64));
    let window = grouped(window_cycles.into());
    let mut text = format!("Linear metric on {}: memory stalls M over outstanding misses A, windows of {window} cycles\n\n", gpu.name);
    text += &table::text(&table);
    text += &format!("\npopulation: {runs} runs, {samples} SM windows\n");
    let line = fit.line();
    let coefficient = coefficient_q16(line);
    let permille = line.map_or(0, |line| line.r2_permille);
    text += &match line {
        None => "A is equal on all SMs: no line can be fitted, and Linear decides as IPC\n".to_owned(),
        Some(line) => format!(
            "least squares: M = {:.6} A + {}, R2 {}{}\n",
            line.slope_q16 as f64 / 65_536.0,
            grouped_signed(line.intercept),
            r2(line),
            if line.r2_permille < POOR_PERMILLE { " (poor: more than half of the variance has other causes)" } else { "" }
        ),
    };
    if line.is_some_and(|line| line.slope_q16 <= 0) {
        text += "the slope is not positive: the coefficient is 0, and Linear decides as IPC\n";
    }
    text + &format!("\nIn [scheduler] of the GPU's file:\nlinear_coefficient_q16 = {coefficient}\nlinear_r2_permille = {permille}\n")
}

/// Formats the coefficient fitted without each kernel and each pair of kernels, to judge decisions
/// about them: one table row each.
pub fn without(fit: &Fit, names: &[&str]) -> String {
    let mut table = table::new(&["without", "SM windows", "linear_coefficient_q16", "R2"]);
    let kernels = 0..names.len();
    let one = kernels.clone().map(|kernel| vec![kernel]);
    let two = kernels.clone().flat_map(|first| (first + 1..kernels.end).map(move |second| vec![first, second]));
    for left_out in one.chain(two).filter(|left_out| left_out.len() < names.len()) {
        let line = fit.line_without(&left_out);
        let without: Vec<&str> = left_out.iter().filter_map(|&kernel| names.get(kernel).copied()).collect();
        let falls = if line.is_some_and(|line| line.slope_q16 < 0) { " (negative slope)" } else { "" };
        let coefficient = format!("{}{falls}", coefficient_q16(line));
        let explained = line.map_or("-".to_owned(), r2);
        table.add_row([without.join(" + "), grouped(fit.samples_without(&left_out) as u64), coefficient, explained]);
    }
    format!("\nFitted on the other kernels only:\n\n{}", table::text(&table))
}

fn r2(line: Line) -> String {
    format!("{:.3}", f64::from(line.r2_permille) / 1000.0)
}

/// Returns the mean, rounded down.
fn mean(run: &CalibrationRun, of: fn(&StallSample) -> u32) -> u64 {
    let sum: u64 = run.samples.iter().map(|sample| u64::from(of(sample))).sum();
    sum.checked_div(run.samples.len() as u64).unwrap_or(0)
}

fn grouped_signed(value: i64) -> String {
    let sign = if value < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(value.unsigned_abs()))
}
