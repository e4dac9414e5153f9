//! The two tables, as Markdown.

use anyhow::{Context, Result};

use super::{Judged, METRICS, Regret, Weight};

/// Weights shown.
const SHOWN: [(&str, Weight); 7] = [
    ("speedup alone", Weight::Speedup),
    ("speedup^8 progress", Weight::Exponent(8.0)),
    ("speedup^4 progress", Weight::Exponent(4.0)),
    ("speedup^3 progress", Weight::Exponent(3.0)),
    ("speedup^2 progress", Weight::Exponent(2.0)),
    ("speedup progress", Weight::Exponent(1.0)),
    ("progress alone", Weight::Exponent(0.0)),
];

/// Exponents to choose from.
const EXPONENTS: [f64; 4] = [2.0, 3.0, 4.0, 8.0];

/// Both objectives in percent.
fn both(regret: Regret) -> String {
    format!("{:.2} / {:.2}", 100.0 * regret.s, 100.0 * regret.stp)
}

/// A row of cells.
fn row<S: AsRef<str>>(cells: &[S]) -> String {
    cells.iter().fold(String::from("|"), |line, cell| format!("{line} {} |", cell.as_ref())) + "\n"
}

/// Decision regret by weight, on groups of two kernels, of more, and on all.
pub(super) fn exponents(judged: &[Judged]) -> String {
    let mut text = row(&["rule", "pairs", "triples", "all"]) + "|---|---|---|---|\n";
    for (name, weight) in SHOWN {
        let mean = |among: fn(&&Judged) -> bool| both(Regret::mean(judged.iter().filter(among).map(|group| group.regret(weight))));
        let cells = [mean(|group| group.kernels.len() == 2), mean(|group| group.kernels.len() > 2), mean(|_| true)];
        text += &row(&[&[name.to_owned()][..], &cells].concat());
    }
    text
}

/// The least of both objectives over the metrics' means, each with its metric.
fn least(means: &[Regret]) -> Option<[(f64, &'static str); 2]> {
    let least = |of: fn(&Regret) -> f64| means.iter().map(of).zip(METRICS).min_by(|a, b| a.0.total_cmp(&b.0));
    Some([least(|regret| regret.s)?, least(|regret| regret.stp)?])
}

/// The metrics' means over groups.
fn metrics<'g>(groups: impl Iterator<Item = &'g Judged> + Clone) -> Vec<Regret> {
    (0..METRICS.len()).map(|metric| Regret::mean(groups.clone().map(|group| group.metrics[metric]))).collect()
}

/// An exponent, and whether no metric's mean is below its S where it was chosen.
pub(super) type Choice = (f64, bool);

/// The exponent with the smallest sum of both regrets on these groups, of those whose S no metric's mean is below; where there is none,
/// that with the smallest S.
pub(super) fn choose<'g>(groups: impl Iterator<Item = &'g Judged> + Clone) -> Option<Choice> {
    let bar = least(&metrics(groups.clone()))?[0].0;
    let means = EXPONENTS.map(|exponent| (exponent, Regret::mean(groups.clone().map(|group| group.regret(Weight::Exponent(exponent))))));
    let smallest = |of: fn(&Regret) -> f64, bar: f64| {
        let allowed = means.iter().filter(|(_, regret)| regret.s <= bar);
        allowed.min_by(|a, b| of(&a.1).total_cmp(&of(&b.1))).map(|(exponent, _)| *exponent)
    };
    let below = smallest(|regret| regret.s + regret.stp, bar).map(|exponent| (exponent, true));
    below.or_else(|| smallest(|regret| regret.s, f64::MAX).map(|exponent| (exponent, false)))
}

/// For each kernel the exponent chosen on the groups without it, judged on those with it.
pub(super) fn left_out(judged: &[Judged]) -> Result<String> {
    let mut kernels: Vec<&str> = judged.iter().flat_map(|group| &group.kernels).map(String::as_str).collect();
    kernels.sort_unstable();
    kernels.dedup();
    let mut text = row(&["kernel left out", "exponent", "`mias-roofline`", "least S, of which metric", "least STP, of which metric"]);
    text += "|---|---|---|---|---|\n";
    let (mut ours, mut theirs, mut columns) = (Vec::new(), Vec::new(), Vec::new());
    for kernel in kernels {
        let (with, without): (Vec<&Judged>, Vec<&Judged>) =
            judged.iter().partition(|group| group.kernels.iter().any(|name| name == kernel));
        let (exponent, below) = choose(without.iter().copied()).context("no exponent")?;
        let regret = Regret::mean(with.iter().map(|group| group.regret(Weight::Exponent(exponent))));
        let of_metrics = metrics(with.iter().copied());
        let [(s, s_of), (stp, stp_of)] = least(&of_metrics).context("no metric")?;
        let beside = |value: f64, metric: &str| format!("{:.2} ({metric})", 100.0 * value);
        let shown = format!("{exponent}{}", if below { "" } else { " \\*" });
        text += &row(&[kernel.to_owned(), shown, both(regret), beside(s, s_of), beside(stp, stp_of)]);
        ours.push(regret);
        theirs.push(Regret { s, stp });
        columns.push(of_metrics);
    }
    let hindsight = Regret::mean(theirs.into_iter());
    let percent = |value: f64| format!("{:.2}", 100.0 * value);
    text += &row(&[
        "mean of the rows".to_owned(),
        String::new(),
        both(Regret::mean(ours.into_iter())),
        percent(hindsight.s),
        percent(hindsight.stp),
    ]);
    for (metric, name) in METRICS.iter().enumerate() {
        let rows = columns.iter().map(|of_metrics| of_metrics[metric]);
        text += &row(&[format!("the same, {name}"), String::new(), both(Regret::mean(rows)), String::new(), String::new()]);
    }
    Ok(text + "\n\\* Chosen by S: without this kernel some metric's S is below that of every exponent.\n")
}
