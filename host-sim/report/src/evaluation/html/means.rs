//! Bars of means over the groups of a class, with sample size and quartiles; and bars of single
//! groups.

use super::palette::Palette;
use super::thesis;
use super::too_late;
use crate::evaluation::figure::{Bar, Cluster, Key, Mark, Series, Swatch};
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::statistics::{arithmetic, quartiles};
use mias_lab::evaluate::summary::{self, ALL, S_NULL};
use mias_lab::kernel_name;
use std::borrow::Cow;

/// Classes of pairs in the thesis' order, with words.
const PAIRS: [(&str, &str); 3] =
    [("CC", "two compute-intensive kernels"), ("MM", "two memory-intensive kernels"), ("MC", "a memory- and a compute-intensive kernel")];

/// Note on means in captions.
pub(super) const QUARTILES: &str = "whiskers: quartiles";

/// Returns a kernel's name without its settings; for a trace, its folder and launch.
pub(super) fn plain(kernel: &str) -> Cow<'_, str> {
    match kernel_name::short(kernel) {
        Cow::Borrowed(name) => Cow::Borrowed(thesis::bare(name)),
        trace => trace,
    }
}

/// Returns the names of a group's kernels without their settings.
pub(super) fn joined(group: &GroupResult) -> String {
    group.kernels.iter().map(|kernel| plain(kernel)).collect::<Vec<_>>().join("+")
}

/// Returns the policies of a study, in its order.
pub(super) fn policies(study: &StudyResult) -> Vec<&'static str> {
    let mut names = Vec::new();
    for result in study.groups.iter().flat_map(|group| &group.policies) {
        if !names.contains(&result.policy) {
            names.push(result.policy);
        }
    }
    names
}

/// Returns the classes of a study's groups, in the summary's order.
pub(super) fn classes(study: &StudyResult) -> Vec<&str> {
    let mut classes = Vec::new();
    for row in study.summary.iter().filter(|row| row.class != ALL) {
        if !classes.contains(&row.class.as_str()) {
            classes.push(row.class.as_str());
        }
    }
    classes
}

/// Returns the classes of a study, followed by all groups together if there are several classes.
pub(super) fn classes_and_all(study: &StudyResult) -> Vec<&str> {
    let classes = classes(study);
    if classes.len() == 1 { classes } else { classes.into_iter().chain([ALL]).collect() }
}

/// Returns a class in words.
pub(super) fn in_words(class: &str) -> String {
    if let Some((_, words)) = PAIRS.iter().find(|(known, _)| *known == class) {
        return (*words).to_owned();
    }
    let count = |letter| class.chars().filter(|c| *c == letter).count();
    let (memory, compute) = (count('M'), count('C'));
    let of = |count: usize, what: &str| format!("{count} {what}-intensive kernel{}", if count == 1 { "" } else { "s" });
    match (memory, compute) {
        _ if memory + compute != class.len() || class.is_empty() => {
            "kernels, some of unknown type (the key `type` of a kernel's file)".to_owned()
        }
        (0, _) => of(compute, "compute"),
        (_, 0) => of(memory, "memory"),
        _ => format!("{} and {}", of(memory, "memory"), of(compute, "compute")),
    }
}

pub(super) fn series(palette: &Palette, names: &[&'static str]) -> Vec<Series> {
    names.iter().map(|&name| Series { name: name.to_owned(), style: palette.style(name) }).collect()
}

pub(super) fn key(palette: &Palette, names: &[&'static str]) -> Key {
    names.iter().fold(Key::default(), |key, name| key.with(Swatch::Bar(palette.style(name)), name))
}

/// Returns the arithmetic mean, with sample size and quartiles; `None` without values.
pub(super) fn mean(values: &[f64]) -> Option<Bar> {
    of_mean(arithmetic(values), values)
}

/// Returns the bar of another mean of these values.
pub(super) fn of_mean(mean: Option<f64>, values: &[f64]) -> Option<Bar> {
    Some(Bar { of: Some((values.len(), quartiles(values)?)), ..Bar::new(mean?) })
}

/// Returns the number of groups of a class, for the label under their means.
pub(super) fn count(study: &StudyResult, class: &str) -> String {
    format!("n = {}", study.groups.iter().filter(|group| class == ALL || group.class == class).count())
}

/// Returns the bars of the means of a quantity over a class, with this name.
pub(super) fn cluster(study: &StudyResult, class: &str, policies: &[&'static str], quantity: &str, name: &str) -> Cluster {
    let bar = |policy: &&str| mean(&summary::values(&study.groups, class, policy, quantity));
    let reference = |row: &str| summary::find(&study.summary, class, row)?.means.get(quantity)?.arithmetic;
    // An oracle of only some groups would compare different kernels with the bars of all.
    let groups = study.groups.iter().filter(|group| class == ALL || group.class == class).count();
    let oracle = |row: &str| {
        let means = summary::find(&study.summary, class, row)?.means.get(quantity)?;
        (means.count == groups).then_some(means.arithmetic).flatten()
    };
    let mut marks: Vec<Mark> = Vec::new();
    match quantity {
        "speedup" => {
            marks.extend(reference(S_NULL).map(Mark::Null));
            marks.extend(oracle(summary::ORACLE_S).map(Mark::Oracle));
            let comparable = if thesis::is_of(study) { policies } else { &[] };
            let said = |(at, policy): (usize, &&str)| Some(Mark::Thesis(at, thesis::speedup(class, policy)?.0));
            marks.extend(comparable.iter().enumerate().filter_map(said));
        }
        "stp" => marks.extend(oracle(summary::ORACLE_STP).map(Mark::Oracle)),
        _ => {}
    }
    marks.extend(too_late::of_means(study, class, policies, quantity));
    let names = if name.is_empty() { Vec::new() } else { vec![name.to_owned(), count(study, class)] };
    Cluster { names, bars: policies.iter().map(bar).collect(), marks, apart: false }
}

/// Returns the means of a quantity by class.
pub(super) fn by_class(study: &StudyResult, policies: &[&'static str], quantity: &str) -> Vec<Cluster> {
    let of = |class: &str| Cluster { apart: class == ALL, ..cluster(study, class, policies, quantity, class) };
    classes_and_all(study).into_iter().map(of).collect()
}

/// Returns the bars of a group's S, with S_null and the oracle, and the thesis' value if the study
/// has its pairs.
pub(super) fn of_group(study: &StudyResult, group: &GroupResult, policies: &[&'static str]) -> Cluster {
    let speedup = |policy: &&str| {
        let result = group.policies.iter().find(|result| result.policy == *policy)?;
        let half_width = result.half_widths.as_ref().and_then(|half| half.metrics.speedup);
        Some(Bar { half_width, ..Bar::new(result.metrics.speedup?) })
    };
    let mut marks: Vec<Mark> = group.s_null.map(Mark::Null).into_iter().collect();
    marks.extend(group.oracle.s.as_ref().map(|best| Mark::Oracle(best.value)));
    let name = joined(group);
    let comparable = if thesis::is_of(study) { policies } else { &[] };
    marks.extend(comparable.iter().enumerate().filter_map(|(at, policy)| Some(Mark::Thesis(at, thesis::speedup(&name, policy)?.0))));
    marks.extend(too_late::of_group(group, policies));
    // One under the other, since groups are close together.
    let last = group.kernels.len().saturating_sub(1);
    let line = |(at, kernel): (usize, &String)| format!("{}{}", plain(kernel), if at < last { " +" } else { "" });
    let names = group.kernels.iter().enumerate().map(line).collect();
    let bars = policies.iter().map(speedup).collect();
    Cluster { names, bars, marks, apart: false }
}

/// Adds the marks that occur in a cluster to the key.
pub(super) fn marks(key: Key, clusters: &[Cluster]) -> Key {
    let has = |which: fn(&Mark) -> bool| clusters.iter().flat_map(|cluster| &cluster.marks).any(which);
    let quartiles = clusters.iter().flat_map(|cluster| cluster.bars.iter().flatten()).any(|bar| bar.of.is_some_and(|(n, _)| n > 1));
    let entries = [
        (has(|mark| matches!(mark, Mark::Null(_))), Swatch::Line("null"), "S_null: only the fastest kernel"),
        (has(|mark| matches!(mark, Mark::Oracle(_))), Swatch::Line("oracle"), "oracle"),
        (quartiles, Swatch::Quartiles, "quartiles"),
        (has(|mark| matches!(mark, Mark::Thesis(..))), Swatch::Thesis, "thesis"),
        (has(|mark| matches!(mark, Mark::Late(..))), Swatch::Late, "too late"),
    ];
    entries.into_iter().filter(|entry| entry.0).fold(key, |key, (_, swatch, name)| key.with(swatch, name))
}

/// Returns the explanation of the marks that occur in a cluster, for captions.
pub(super) fn explained(clusters: &[Cluster]) -> String {
    let has = |which: fn(&Mark) -> bool| clusters.iter().flat_map(|cluster| &cluster.marks).any(which);
    let mut words = String::new();
    if has(|mark| matches!(mark, Mark::Null(_))) {
        words += " Dotted: S_null, the score of running only the fastest kernel.";
    }
    if has(|mark| matches!(mark, Mark::Oracle(_))) {
        words += &format!(" Solid line: oracle, {}.", super::conditions::ORACLE);
    }
    if has(|mark| matches!(mark, Mark::Thesis(..))) {
        words += " Diamonds: values of the thesis.";
    }
    if has(|mark| matches!(mark, Mark::Late(..))) {
        words += too_late::MEANING;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_words() {
        assert_eq!(in_words("MC"), "a memory- and a compute-intensive kernel");
        assert_eq!(in_words("MMC"), "2 memory-intensive kernels and 1 compute-intensive kernel");
        assert_eq!(in_words("CCC"), "3 compute-intensive kernels");
        assert_eq!(in_words("other"), "kernels, some of unknown type (the key `type` of a kernel's file)");
    }
}
