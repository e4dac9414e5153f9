//! Comparison of the model with the hardware, as tables: kernels alone, and pairs in the maximal
//! configurations that both have. On either side, progress is relative to the kernel alone with as
//! many TBs per SM as fit.

use super::hardware::name;
use super::measured::Measured;
use super::metrics::{best, mean, regret, spearman, stp, tau_b};
use super::model::Model;
use super::progress::{Base, Progress, warp_instructions};
use super::tables::{Table, or_dash, percent, ratio};

/// Cycles of a window in which no kernel runs: launch latency of `h100` (`configs/gpus/h100.toml`).
/// Only IPC itself depends on it.
const LAUNCH_LATENCY: f64 = 5_000.0;

/// Returns the table of the curves of kernels alone.
pub fn alone(measured: &Measured, model: &Model) -> String {
    let columns = [
        "kernel",
        "1 TB: hardware",
        "model",
        "half: hardware",
        "model",
        "largest difference",
        "mean difference",
        "IPC per SM: hardware",
        "model",
        "model over hardware",
    ];
    let mut table = Table::new(&columns);
    let mut all = Vec::new();
    for (kernel, curve) in &model.alone {
        let Some(alone) = measured.alone.get(kernel) else { continue };
        let count = curve.len().min(alone.rates.len());
        let (Some(hardware_full), Some(model_full)) = (alone.rates.get(count.wrapping_sub(1)), curve.get(count.wrapping_sub(1))) else {
            continue;
        };
        let relative = |place: usize| [alone.rates[place] / hardware_full, curve[place] / model_full];
        let apart: Vec<f64> = (0..count - 1).map(relative).map(|[a, b]| (b - a).abs()).collect();
        let largest = apart.iter().copied().fold(0.0, f64::max);
        let ipc = warp_instructions(kernel).map(|instructions| instructions * hardware_full / 1e6 / f64::from(super::SMS));
        let running = (model.window - LAUNCH_LATENCY).max(1.0) / model.window.max(1.0);
        let of_model = model_full / f64::from(model.sms.max(1)) / running;
        let over = ipc.map(|ipc| of_model / ipc);
        all.extend(mean(&apart));
        let ([one, one_model], [half, half_model]) = (relative(0), relative((count / 2).saturating_sub(1)));
        let mut cells = vec![format!("`{kernel}`")];
        cells.extend([one, one_model, half, half_model, largest].map(percent));
        cells.extend([or_dash(mean(&apart), percent), or_dash(ipc, ratio), ratio(of_model), or_dash(over, ratio)]);
        table.row(cells);
    }
    let mut last = vec![String::new(); columns.len()];
    (last[0], last[6]) = ("mean".into(), or_dash(mean(&all), percent));
    table.row(last);
    table.text("**Alone, model and hardware**: rate over the rate with the most TBs per SM.")
}

/// A pair on the hardware and in the model.
struct Both {
    hardware: Vec<f64>,
    model: Vec<f64>,
    /// Differences of progress, model minus hardware, of each kernel in each configuration.
    differences: Vec<f64>,
    /// Index of SMK-P's configuration.
    smk: Option<usize>,
    names: Vec<String>,
}

fn both(of: &Progress, measured: &Measured, model: &Model) -> Option<Both> {
    let simulated = model.find(&of.kernels)?;
    let alone: Vec<f64> = of.kernels.iter().map(|kernel| model.alone.get(kernel)?.last().copied()).collect::<Option<_>>()?;
    let smk = of.unmeasured_choices()[0];
    let mut both = Both { hardware: Vec::new(), model: Vec::new(), differences: Vec::new(), smk: None, names: Vec::new() };
    for &place in of.maximal.iter().filter(|&&place| simulated.contains_key(&of.configurations[place])) {
        let progress: Vec<f64> = simulated[&of.configurations[place]].iter().zip(&alone).map(|(ipc, alone)| ipc / alone).collect();
        if smk == Some(place) {
            both.smk = Some(both.hardware.len());
        }
        both.differences.extend(progress.iter().zip(&of.progress[place]).map(|(model, hardware)| model - hardware));
        both.hardware.push(of.stp[place]);
        both.model.push(stp(&progress));
        both.names.push(of.name(place));
    }
    debug_assert!(measured.alone.len() >= of.kernels.len());
    (!both.hardware.is_empty()).then_some(both)
}

/// Returns the table of pairs: the model's order of configurations, and the loss on hardware of its
/// best configuration.
pub fn pairs(measured: &Measured, model: &Model) -> String {
    let columns = [
        "pair",
        "configurations",
        "best STP: hardware",
        "at",
        "model",
        "at",
        "tau-b",
        "rho",
        "loss of model's best",
        "loss of SMK-P's",
        "mean loss of all",
        "mean error of progress",
        "mean error of STP",
    ];
    let mut table = Table::new(&columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 7];
    let (mut right, mut less, mut more) = (0, 0, 0);
    for set in &measured.pairs {
        let of = Progress::of(measured, set, Base::Full);
        let Some(both) = both(&of, measured, model) else { continue };
        let (Some(best_hardware), Some(best_model)) = (best(&both.hardware), best(&both.model)) else { continue };
        let losses: Vec<f64> = both.hardware.iter().map(|&stp| regret(stp, &both.hardware)).collect();
        let errors: Vec<f64> = both.differences.iter().map(|difference| difference.abs()).collect();
        let stp_errors: Vec<f64> = both.hardware.iter().zip(&both.model).map(|(hardware, model)| model - hardware).collect();
        let numbers = [
            tau_b(&both.hardware, &both.model),
            spearman(&both.hardware, &both.model),
            Some(losses[best_model]),
            both.smk.map(|place| losses[place]),
            mean(&losses),
            mean(&errors),
            mean(&stp_errors),
        ];
        numbers.iter().zip(&mut sums).for_each(|(number, sum)| sum.extend(*number));
        right += usize::from(losses[best_model] == 0.0);
        less += usize::from(both.smk.is_some_and(|smk| losses[best_model] < losses[smk]));
        more += usize::from(both.smk.is_some_and(|smk| losses[best_model] > losses[smk]));
        let mut cells =
            vec![name(&of.kernels), losses.len().to_string(), ratio(both.hardware[best_hardware]), both.names[best_hardware].clone()];
        cells.extend([ratio(both.model[best_model]), both.names[best_model].clone()]);
        cells.extend(written(&numbers));
        table.row(cells);
    }
    let means: Vec<Option<f64>> = sums.iter().map(|values| mean(values)).collect();
    let mut last = vec!["mean".to_owned()];
    last.extend(vec![String::new(); 5]);
    last.extend(written(&means));
    table.row(last);
    let most = |place: usize| percent(sums[place].iter().copied().fold(0.0, f64::max));
    let end = format!(
        "The model's best is the best on hardware for {right} pairs; it loses less than SMK-P's for {less}, and more for {more}. Largest loss: model's best {}, \
         SMK-P's {}.\n\n",
        most(2),
        most(3)
    );
    table.text("**Pairs, model and hardware**: maximal configurations.") + &end
}

/// Formats orders as ratios, and losses and errors in percent, the last as a signed difference of
/// STP.
fn written(numbers: &[Option<f64>]) -> Vec<String> {
    let form = |(place, number): (usize, &Option<f64>)| match place {
        0 | 1 => or_dash(*number, ratio),
        6 => or_dash(*number, |value| format!("{value:+.2}")),
        _ => or_dash(*number, percent),
    };
    numbers.iter().enumerate().map(form).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measured::{Alone, Set};
    use crate::fit::Need;
    use std::collections::BTreeMap;

    /// Creates measured and modeled kernels of 512 threads with rates of 100 alone, in three
    /// maximal configurations with STP 1.0, 1.2, 1.1.
    /// 1.0, 1.2, 1.1. The model doubles all rates, or reverses the order of configurations.
    fn sides(reversed: bool) -> (Measured, Model) {
        let names = ["mm", "fwt"].map(str::to_owned);
        let need = Need { threads: 512, registers: 32, shared: 0 };
        let rates = [([1, 3], [40.0, 60.0]), ([2, 2], [60.0, 60.0]), ([3, 1], [70.0, 40.0])];
        let configurations: BTreeMap<_, _> = rates.map(|(counts, rates)| (counts.to_vec(), rates.to_vec())).into();
        let measured = Measured {
            alone: names.clone().map(|name| (name, Alone { rates: vec![40.0, 70.0, 90.0, 100.0] })).into(),
            needs: names.clone().map(|name| (name, need)).into(),
            pairs: vec![Set { kernels: names.to_vec(), configurations, ..Set::default() }],
            ..Measured::default()
        };
        let by_model = |(counts, rates): ([u32; 2], [f64; 2])| {
            (counts.to_vec(), rates.map(|rate| if reversed { 200.0 - 2.0 * rate } else { 2.0 * rate }).to_vec())
        };
        let sets = BTreeMap::from([(names.to_vec(), rates.map(by_model).into())]);
        let alone = names.map(|name| (name, vec![80.0, 140.0, 180.0, 200.0])).into();
        (measured, Model { alone, sets, sms: 132, window: 30_000.0 })
    }

    #[test]
    fn a_model_that_is_twice_as_fast_everywhere_has_no_regret_and_no_error() {
        let (measured, model) = sides(false);
        let text = pairs(&measured, &model);
        let row = "| `mm`, `fwt` | 3 | 1.20 | 2-2 | 1.20 | 2-2 | 1.00 | 1.00 | 0.0 % | 0.0 % | 8.3 % | 0.0 % | +0.00 |";
        assert!(text.contains(row), "{text}");
        assert!(alone(&measured, &model).contains("| 0.0 % | 0.0 % |"));
    }

    #[test]
    fn a_model_of_the_opposite_order_loses_all_there_is() {
        let (measured, model) = sides(true);
        let text = pairs(&measured, &model);
        // Its STP is 1.0, 0.8, 0.9: it takes the first, with 1.0 of a possible 1.2.
        assert!(text.contains("| 1.00 | 1-3 | -1.00 | -1.00 | 16.7 % | 0.0 % |"), "{text}");
    }
}
