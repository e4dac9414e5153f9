//! Tables of numbers under the figures.

use super::means::{joined as names, plain, policies};
use super::page::Page;
use super::palette::STALLS;
use super::thesis::{self, CLASSES, Source};
use super::too_late;
use mias_lab::evaluate::results::{GroupResult, Means, PolicyResult, StudyResult, SummaryRow};
use mias_lab::evaluate::summary::{self, ALL, S_NULL};
use mias_lab::table::{DASH, config, estimate, grouped, number, percent};
use std::collections::BTreeMap;

fn of<'g>(group: &'g GroupResult, policy: &str) -> Option<&'g PolicyResult> {
    group.policies.iter().find(|result| result.policy == policy)
}

fn mean(row: Option<&SummaryRow>, quantity: &str) -> Means {
    row.and_then(|row| row.means.get(quantity)).copied().unwrap_or_default()
}

fn speedup(result: &PolicyResult) -> String {
    estimate(result.metrics.speedup, result.half_widths.as_ref().and_then(|half| half.metrics.speedup), 3)
}

/// Adds S of every group under every policy, with S_null and the oracle.
pub(super) fn speedups(page: &mut Page, groups: &[&GroupResult], policies: &[&'static str]) {
    let headings: Vec<&str> = ["kernels", "S_null", "oracle", "its configuration"].into_iter().chain(policies.iter().copied()).collect();
    let row = |group: &&GroupResult| {
        let best = group.oracle.s.as_ref();
        let mut cells = vec![names(group), number(group.s_null, 3), number(best.map(|b| b.value), 3), config(best.map(|b| &b.config[..]))];
        cells.extend(policies.iter().map(|policy| match of(group, policy) {
            Some(result) if result.too_late => format!("{} ({})", speedup(result), choice(result)),
            Some(result) => match &result.config {
                Some(chosen) => format!("{} ({})", speedup(result), config(Some(chosen))),
                None => speedup(result),
            },
            None => DASH.to_owned(),
        }));
        cells
    };
    page.table(&headings, &groups.iter().map(row).collect::<Vec<_>>(), false);
}

/// Adds the fractions of issue slots.
pub(super) fn slots<'s>(page: &mut Page, bars: impl Iterator<Item = (String, &'s BTreeMap<&'static str, f64>)>) {
    let headings: Vec<&str> = ["", "issued"].into_iter().chain(STALLS.iter().map(|(class, _)| class.heading())).collect();
    let share = |slots: &BTreeMap<&'static str, f64>, class: &str| percent(slots.get(class).copied());
    let row = |(name, slots): (String, &BTreeMap<&'static str, f64>)| {
        let stalls = STALLS.iter().map(|(class, _)| share(slots, class.name()));
        [name, share(slots, "issued")].into_iter().chain(stalls).collect::<Vec<String>>()
    };
    page.table(&headings, &bars.map(row).collect::<Vec<_>>(), false);
}

/// Adds IPC of the isolated kernels: over the window, and at some points of the curve.
pub(super) fn curves(page: &mut Page, study: &StudyResult) {
    const SHOWN: [u64; 6] = [10_000, 20_000, 45_000, 50_000, 90_000, 150_000];
    let thousands: Vec<String> = SHOWN.iter().map(|cycle| format!("to {},000", cycle / 1_000)).collect();
    let headings: Vec<&str> = ["kernel", "max TBs/SM", "whole window"].into_iter().chain(thousands.iter().map(String::as_str)).collect();
    let row = |kernel: &mias_lab::evaluate::results::AloneResult| {
        let at = |cycle: &u64| number(kernel.curve.iter().find(|point| point.0 == *cycle).map(|point| point.1), 1);
        let mut cells = vec![kernel.name.clone(), kernel.max_tbs.to_string(), number(Some(kernel.ipc), 1)];
        cells.extend(SHOWN.iter().map(at));
        cells
    };
    page.table(&headings, &study.kernels.iter().map(row).collect::<Vec<_>>(), false);
}

/// Adds mean S by class and policy, with the thesis' values.
pub(super) fn beside_thesis(page: &mut Page, study: &StudyResult) {
    let mut rows = Vec::new();
    let classes = || [ALL].into_iter().chain(CLASSES.map(|(class, _)| class));
    for class in classes() {
        let null = mean(summary::find(&study.summary, class, S_NULL), "speedup");
        for policy in policies(study).into_iter().chain(["warped-slicer"].into_iter().filter(|p| !policies(study).contains(p))) {
            let row = summary::find(&study.summary, class, policy);
            let thesis = thesis::speedup(class, policy);
            if row.is_none() && thesis.is_none() {
                continue;
            }
            let ours = mean(row, "speedup");
            let stp = mean(row, "stp");
            let said = thesis.map(|(value, source)| if source == Source::Said { format!("{value}") } else { format!("{value} *") });
            let difference =
                thesis.zip(ours.arithmetic).map(|((thesis, _), ours)| format!("{:+.3}", ours - thesis).replace('-', "\u{2212}"));
            rows.push(vec![
                class.to_owned(),
                policy.to_owned(),
                said.unwrap_or_else(|| DASH.to_owned()),
                number(ours.arithmetic, 3),
                difference.unwrap_or_else(|| DASH.to_owned()),
                number(ours.geometric, 3),
                number(null.arithmetic, 3),
                number(stp.arithmetic, 3),
                number(stp.geometric, 3),
            ]);
        }
    }
    let headings = ["class", "policy", "S, thesis", "S, here", "difference", "S, geometric", "S_null", "STP", "STP, geometric"];
    page.table(&headings, &rows, true);
    let solved = if rows.iter().any(|row| row[2].ends_with('*')) { "* derived from numbers of the thesis. " } else { "" };
    page.note(&format!("{solved}Means are arithmetic unless marked otherwise; the thesis does not specify its kind of mean."));
}

/// Adds means of all quantities, by class and policy.
pub(super) fn means(page: &mut Page, study: &StudyResult) {
    let headings = [
        "class",
        "policy",
        "groups",
        "S",
        "STP",
        "ANTT",
        "fairness",
        "S\u{a0}<\u{a0}1",
        "STP\u{a0}\u{2264}\u{a0}1",
        "regret S",
        "regret STP",
        "e2e S",
        "e2e STP",
        "best chosen, S",
        "best chosen, STP",
        "overhead",
        "in place",
        "thrown away",
        "too late",
        "decided at cycle",
        "decision took",
        "vs sequential",
        "vs left-over",
        "vs left-over, other order",
    ];
    let row = |row: &SummaryRow| {
        let value = |quantity: &str| estimate(mean(Some(row), quantity).arithmetic, mean(Some(row), quantity).half_width, 3);
        let share = |quantity: &str| percent(mean(Some(row), quantity).arithmetic);
        let decided = mean(Some(row), "regret_s").count > 0;
        let chosen = |count: usize| if decided { count.to_string() } else { DASH.to_owned() };
        let mut cells = vec![
            row.class.clone(),
            row.policy.clone(),
            row.groups.to_string(),
            value("speedup"),
            value("stp"),
            value("antt"),
            value("fairness"),
        ];
        cells.extend([row.below_one.to_string(), if row.policy == S_NULL { DASH.into() } else { row.not_worth_sharing.to_string() }]);
        cells.extend(["regret_s", "regret_stp", "end_to_end_regret_s", "end_to_end_regret_stp"].map(share));
        cells.extend([chosen(row.best_chosen.s), chosen(row.best_chosen.stp), share("overhead"), share("in_place"), share("thrown_away")]);
        cells.push(if row.too_late > 0 { row.too_late.to_string() } else { DASH.to_owned() });
        let cycles =
            |quantity| mean(Some(row), quantity).arithmetic.map_or_else(|| DASH.to_owned(), |cycles| grouped(cycles.round() as u64));
        cells.extend(["decision_cycle", "decision_cycles"].map(cycles));
        cells.extend(["makespan_speedup_sequential", "makespan_speedup_left_over", "makespan_speedup_left_over_reversed"].map(value));
        cells
    };
    page.table(&headings, &study.summary.iter().map(row).collect::<Vec<_>>(), true);
    if let Some(precision) = &study.precision {
        page.note(&format!(
            "\u{b1}: half of a 95 % interval, mean over the groups. Runs end once every kernel's instruction count is known to {precision}; comparisons with overlapping intervals are inconclusive."
        ));
    }
    if too_late::any(&[study]) {
        page.note("Too late: groups in which the run ended before the decision took effect. They count with the configuration that ran; statistics of decisions exclude them.");
    }
    if study.arrive > 0 {
        page.note(&without_progress(study));
    }
    let has = |quantity: &str| study.summary.iter().any(|row| mean(Some(row), quantity).arithmetic.is_some());
    let mut note = "Arithmetic means over the groups in which the number exists. S < 1, STP \u{2264} 1: number of groups.".to_owned();
    if has("end_to_end_regret_s") || has("end_to_end_regret_stp") {
        note += " e2e: end-to-end regret.";
    }
    if has("regret_s") {
        note += " Best chosen: groups in which the policy chose the oracle's configuration.";
    }
    if has("makespan_speedup_sequential") || has("makespan_speedup_left_over") {
        note += " vs: speedup in makespan.";
    }
    page.note(&note);
}

/// Formats the configuration of all SMs, or the late one.
fn choice(result: &PolicyResult) -> String {
    if result.too_late { format!("{} too late", config(result.too_late_config.as_deref())) } else { config(result.config.as_deref()) }
}

/// Lists the kernels that executed nothing since their arrival, by policy.
fn without_progress(study: &StudyResult) -> String {
    let mut found = Vec::new();
    for policy in policies(study) {
        let results = study.groups.iter().filter_map(|group| Some((group, of(group, policy)?)));
        let still: Vec<String> = results
            .flat_map(|(group, result)| group.kernels.iter().zip(&result.ipc).map(move |(kernel, ipc)| (group, kernel, *ipc)))
            .filter(|(_, _, ipc)| *ipc == 0.0)
            .map(|(group, kernel, _)| format!("{} of {}", plain(kernel), names(group)))
            .collect();
        if !still.is_empty() {
            found.push(format!("{policy}, {}: {}", still.len(), still.join(", ")));
        }
    }
    let found = if found.is_empty() { "none".to_owned() } else { found.join("; ") };
    format!("Kernels without progress (no instruction executed since arrival): {found}.")
}

/// Adds every group under every policy.
pub(super) fn groups(page: &mut Page, study: &StudyResult) {
    let until_done = study.cycles.is_none();
    let mut headings = vec![
        "kernels",
        "class",
        "policy",
        "configuration",
        "normalized IPC",
        "S",
        "STP",
        "ANTT",
        "fairness",
        "regret S",
        "regret STP",
        "in place",
        "transition",
        "profile",
        "decision",
    ];
    if until_done {
        headings.extend(["makespan", "vs sequential", "vs left-over"]);
    }
    let mut rows = Vec::new();
    for group in &study.groups {
        for result in &group.policies {
            let normalized: Vec<String> = result.normalized_ipc.iter().map(|ipc| number(*ipc, 3)).collect();
            let policy = if result.derived { format!("{} \u{2020}", result.policy) } else { result.policy.to_owned() };
            let metrics = result.metrics;
            let mut cells = vec![names(group), group.class.clone(), policy, choice(result), normalized.join(" / ")];
            cells.extend([metrics.speedup, metrics.stp, metrics.antt, metrics.fairness].map(|value| number(value, 3)));
            cells.extend([
                percent(result.regret.s),
                percent(result.regret.stp),
                percent(result.in_place) + if result.sms_short_of_it.is_some_and(|sms| sms > 0) { " !" } else { "" },
                grouped(result.transition_cycles),
                grouped(result.profile_cycles),
                result.decision_cycles_in_run.map_or_else(|| DASH.to_owned(), grouped),
            ]);
            if until_done {
                cells.push(result.makespan_cycles.map_or_else(|| DASH.to_owned(), grouped));
                cells.extend([result.makespan_speedup_sequential, result.makespan_speedup_left_over].map(|value| number(value, 3)));
            }
            rows.push(cells);
        }
    }
    page.table(&headings, &rows, true);
    if study.groups.iter().flat_map(|group| &group.policies).any(|result| result.sms_short_of_it.is_some_and(|sms| sms > 0)) {
        page.note("In place: fraction of SM cycles spent in the final quotas. !: some SMs never reached them, because earlier TBs ran on them to the end.");
    }
    if study.groups.iter().flat_map(|group| &group.policies).any(|result| result.too_late) {
        page.note("Too late: the run ended before the decision took effect, so the chosen configuration did not run.");
    }
    let starved: Vec<String> = study.groups.iter().flat_map(starved).collect();
    if !starved.is_empty() {
        page.note(&format!("Starved (normalized IPC below {STARVED}): {}.", starved.join("; ")));
    }
    let derived = |sequential: bool| {
        let mut results = study.groups.iter().flat_map(|group| &group.policies);
        results.any(|result| result.derived && sequential == (result.policy == "sequential"))
    };
    if derived(false) {
        page.note("\u{2020} Derived from the first kernel's isolated run: in a window in which kernels restart, the first never runs out of TBs, and the others' quotas stay 0.");
    }
    if derived(true) {
        page.note("\u{2020} sequential: derived from the isolated runs of all kernels, one after the other.");
    }
}

/// Normalized IPC below which a kernel counts as starved (sources.md D12).
const STARVED: f64 = 0.1;

/// Returns the kernels of a group that starve under a policy that should share.
fn starved(group: &GroupResult) -> Vec<String> {
    let mut found = Vec::new();
    for result in group.policies.iter().filter(|result| !["left-over", "null"].contains(&result.policy)) {
        for (kernel, progress) in group.kernels.iter().zip(&result.normalized_ipc) {
            if progress.is_some_and(|progress| progress < STARVED) {
                found.push(format!("{} of {} under {}", plain(kernel), names(group), result.policy));
            }
        }
    }
    found
}

/// Adds the scores of the configurations under each deciding policy.
pub(super) fn correlations(page: &mut Page, study: &StudyResult) {
    let mut rows = Vec::new();
    for row in study.summary.iter().filter(|row| row.gamma.s.is_some() || row.gamma.stp.is_some()) {
        let spearman = |of: fn(&mias_lab::evaluate::results::Ranking) -> Option<f64>| {
            let in_class = study.groups.iter().filter(|group| row.class == ALL || group.class == row.class);
            let decided = in_class.filter_map(|group| self::of(group, &row.policy).filter(|result| !result.too_late));
            let values: Vec<f64> = decided.filter_map(|result| of(result.ranking.as_ref()?)).collect();
            number(summary::means(&values).arithmetic, 2)
        };
        let kendall = |quantity: &str| number(mean(Some(row), quantity).arithmetic, 2);
        rows.push(vec![
            row.class.clone(),
            row.policy.clone(),
            number(row.gamma.s, 2),
            kendall("kendall_s"),
            spearman(|ranking| ranking.spearman.s),
            number(row.gamma.stp, 2),
            kendall("kendall_stp"),
            spearman(|ranking| ranking.spearman.stp),
        ]);
    }
    let headings = ["class", "policy", "gamma, S", "mean tau-b, S", "mean rho, S", "gamma, STP", "mean tau-b, STP", "mean rho, STP"];
    page.table(&headings, &rows, true);
}
