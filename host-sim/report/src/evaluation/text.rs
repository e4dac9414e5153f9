//! Terminal output of `mias evaluate`: means by class and policy, and the paths of the documents.

use super::{Table, alternatives, decisions, factorial};
use mias_lab::evaluate::blocks::{Block, Kind};
use mias_lab::evaluate::queue::QueueResult;
use mias_lab::evaluate::requests::{self, RequestsResult};
use mias_lab::evaluate::results::{Evaluation, Means, StudyResult, SummaryRow};
use mias_lab::evaluate::summary::ALL;
use mias_lab::kernel_name;
use mias_lab::table::{self, estimate, number, percent};
use std::path::Path;

/// Formats the output.
pub fn render(evaluation: &Evaluation, folder: &Path) -> String {
    let mut text = String::new();
    // The decision benchmark has too many settings for a table of each.
    let printed = || evaluation.plan.report.blocks.iter().filter(|block| block.print);
    let only_these = mias_lab::evaluate::decisions::is_of(evaluation) || printed().next().is_some();
    let studies = if only_these { &[] } else { &evaluation.studies[..] };
    for study in studies {
        let table = match (study.requests.is_empty(), study.queue.is_empty()) {
            (false, _) => requests(study),
            (true, false) => queues(study),
            (true, true) => means(study),
        };
        text += &format!("{}\n{table}\n", heading(study));
    }
    text += &decisions::text(evaluation);
    text.extend(printed().map(|block| tables(evaluation, block)));
    text + &format!("report: {}\n", folder.join("report.html").display())
}

/// Formats the tables of a block that is printed.
fn tables(evaluation: &Evaluation, block: &Block) -> String {
    let rows = block.rows(evaluation);
    let words = |of: &[_]| block.caption.as_ref().map_or_else(String::new, |words| format!("{}\n", words.of(of)));
    let table = |(headings, lines): Table| table::text(&table::of(&headings, &lines));
    if block.kind == Kind::Factorial {
        let all = block.factorial(&rows);
        let of = [factorial::combinations, factorial::effects, factorial::together].map(|of| table(of(block, &all)));
        return format!("{}\n{}{}\n\n", block.title, of.join("\n"), factorial::WHAT);
    }
    if block.kind == Kind::Alternatives {
        let all = alternatives::choosers(&block.alternatives(evaluation));
        return format!("{}\n{}{}\n\n", block.title, table(all), alternatives::WHAT);
    }
    let headings: Vec<String> = block.headings().into_iter().map(str::to_owned).collect();
    let panel = |(title, rows): (String, Vec<_>)| {
        let title = if title.is_empty() { title } else { format!("{title}\n") };
        title + &table((headings.clone(), block.table(&rows)))
    };
    let panels: String = block.panels(&rows).into_iter().map(panel).collect();
    format!("{}\n{panels}{}\n", block.title, words(&rows.iter().collect::<Vec<_>>()))
}

/// Formats a line that describes a study.
pub fn heading(study: &StudyResult) -> String {
    let setting: String = study.setting.iter().map(|(key, value)| format!(", {key} {value}")).collect();
    format!("{}: {} on {}, {}{setting}{}", study.title, groups(study), study.gpu, ending(study), memory(study))
}

/// Returns the memory shared by traces of a study, and whether the L2 is warm; empty without
/// traces.
pub fn memory(study: &StudyResult) -> String {
    let traces = study.kernels.iter().any(|kernel| kernel_name::is_trace(&kernel.name));
    let shared = match (traces, study.share_memory) {
        (false, _) => "",
        (true, true) => ", traces at their recorded addresses",
        (true, false) => ", kernels share no memory",
    };
    format!("{shared}{}", if study.warm_l2 { ", L2 warm" } else { "" })
}

/// Returns the number of groups of kernels in a study.
pub fn groups(study: &StudyResult) -> String {
    if !study.queue.is_empty() {
        return "a queue".to_owned();
    }
    let count = study.groups.len();
    format!("{count} group{}", if count == 1 { "" } else { "s" })
}

/// Returns the end of the runs of a study, and the arrival of the last kernel if not at 0.
pub fn ending(study: &StudyResult) -> String {
    let end = study.cycles.map_or_else(|| "until done".to_owned(), |cycles| format!("{} cycles", table::grouped(cycles)));
    let end = end + &study.precision.as_ref().map(|precision| format!(" known to {precision}")).unwrap_or_default();
    match study.arrive {
        0 => end,
        cycle => format!("{end}, the last kernel at cycle {}", table::grouped(cycle)),
    }
}

/// Formats the results of placement requests, means over all kernels.
pub fn requests(study: &StudyResult) -> String {
    let headings = [
        "scheme",
        "limit",
        "requests",
        "missed",
        "95 %",
        "room late",
        "overhead",
        "drain error",
        "all TBs after",
        "drained",
        "flushed",
        "switched",
    ];
    let headings: Vec<String> = headings.into_iter().map(str::to_owned).collect();
    let cells = |row: &RequestsResult| {
        let victims = |technique: usize| row.victims[technique].to_string();
        vec![
            row.scheme.clone(),
            table::grouped(row.limit_cycles),
            row.requests.to_string(),
            percent(Some(row.violations)),
            interval(row),
            percent(Some(row.late)),
            percent(row.overhead),
            percent(row.drain_error),
            number(row.full_cycles, 0),
            victims(0),
            victims(1),
            victims(2),
        ]
    };
    let rows: Vec<Vec<String>> = study.requests.iter().filter(|row| row.kernel == requests::ALL).map(cells).collect();
    table::text(&table::of(&headings, &rows))
        + "missed: requests in which the urgent kernel ended after the limit plus its time alone; 95 %: its interval; room late:\nrequests in which some TBs of the urgent kernel were placed after the limit. overhead: instructions lost, over those lost if all victims were flushed. Limits and times in core cycles.\n"
}

/// Formats the results of queues of launches.
pub fn queues(study: &StudyResult) -> String {
    let headings =
        ["policy", "kernels", "launches", "makespan", "STP", "ANTT", "latency, mean", "95 %", "largest", "urgent, mean", "energy, mJ"];
    let cells = |row: &QueueResult| {
        vec![
            row.policy.to_owned(),
            row.kernels.len().to_string(),
            row.launches.to_string(),
            table::grouped(row.makespan_cycles),
            number(row.stp, 3),
            number(row.antt, 2),
            number(Some(row.latency.mean), 0),
            number(Some(row.latency.p95), 0),
            number(Some(row.latency.max), 0),
            number(row.urgent_latency_cycles, 0),
            number(row.energy_joules.map(|joules| 1e3 * joules), 2),
        ]
    };
    let rows: Vec<Vec<String>> = study.queue.iter().map(cells).collect();
    table::text(&table::of(&headings.map(str::to_owned), &rows))
        + "STP: the total time of the launches run one after the other, over the makespan; ANTT: the mean of latency over the time alone.\nLatency: from a launch's arrival in the queue to its end, in core cycles; urgent: of launches with priority.\n"
}

/// Formats the ends of the interval of missed deadlines.
pub(super) fn interval(row: &RequestsResult) -> String {
    row.violations_interval
        .map_or_else(|| table::DASH.to_owned(), |[low, high]| format!("{} to {}", percent(Some(low)), percent(Some(high))))
}

/// Formats the table of means, arithmetic except where the column states otherwise.
pub fn means(study: &StudyResult) -> String {
    let until_done = study.cycles.is_none();
    let mut headings = vec![
        "class",
        "policy",
        "groups",
        "S",
        "S geo",
        "STP",
        "STP geo",
        "ANTT",
        "fairness",
        "regret S",
        "regret STP",
        "overhead",
        "in place",
    ];
    if until_done {
        headings.extend(["vs sequential", "vs left-over"]);
    }
    let too_late = study.summary.iter().any(|row| row.too_late > 0);
    if too_late {
        headings.push("too late");
    }
    if study.arrive > 0 {
        headings.push("no progress");
    }
    let thrown_away = study.summary.iter().any(|row| row.means.contains_key("thrown_away"));
    if thrown_away {
        headings.push("thrown away");
    }
    let headings: Vec<String> = headings.into_iter().map(str::to_owned).collect();
    // With one class, a row for all would repeat it.
    let one_class = study.groups.iter().all(|group| group.class == study.groups[0].class);
    let shown = study.summary.iter().filter(|row| !one_class || row.class != ALL);
    let rows: Vec<Vec<String>> = shown.map(|row| cells(row, until_done, too_late, (study.arrive > 0, thrown_away))).collect();
    let mut text = table::text(&table::of(&headings, &rows));
    if too_late {
        text += "too late: groups in which the run ended before the decision took effect. They count with the configuration that ran; means of regret exclude them.\n";
    }
    if let Some(precision) = &study.precision {
        text += &format!(
            "\u{b1}: half of a 95 % interval, mean over the groups; runs end once every kernel's instruction count is known to {precision}.\n"
        );
    }
    if study.arrive > 0 {
        text += "no progress: kernels that executed no instruction since arrival, over all groups.\n";
    }
    if thrown_away {
        text += "thrown away: warp instructions of flushed TBs, over all issued ones.\n";
    }
    text
}

fn cells(row: &SummaryRow, until_done: bool, too_late: bool, (late_arrival, thrown_away): (bool, bool)) -> Vec<String> {
    let mean = |name: &str| row.means.get(name).copied().unwrap_or_default();
    let plain = |means: Means| estimate(means.arithmetic, means.half_width, 3);
    let (s, stp) = (mean("speedup"), mean("stp"));
    let mut cells = vec![row.class.clone(), row.policy.clone(), row.groups.to_string()];
    cells.extend([plain(s), number(s.geometric, 3), plain(stp), number(stp.geometric, 3), plain(mean("antt")), plain(mean("fairness"))]);
    cells.extend(["regret_s", "regret_stp", "overhead", "in_place"].map(|name| percent(mean(name).arithmetic)));
    if until_done {
        cells.extend(["makespan_speedup_sequential", "makespan_speedup_left_over"].map(|name| plain(mean(name))));
    }
    if too_late {
        cells.push(if row.too_late > 0 { format!("{} !", row.too_late) } else { table::DASH.to_owned() });
    }
    if late_arrival {
        cells.push(row.kernels_without_progress.map_or_else(|| table::DASH.to_owned(), |kernels| kernels.to_string()));
    }
    if thrown_away {
        cells.push(percent(mean("thrown_away").arithmetic));
    }
    cells
}
