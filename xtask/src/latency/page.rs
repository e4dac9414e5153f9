//! `docs/porting/decision-latency.md`, from the measurements.

use std::collections::BTreeSet;

use super::numbers::{METRICS, Numbers, others as other_policies};
use crate::util::generated;

/// Returns the number of SM counters that a metric reads.
pub(super) fn reads(metric: &str) -> u64 {
    match metric {
        "ipc" => 3,
        "ipm-ipc" => 4,
        _ => 5,
    }
}

/// A section on one core: heading, text, table.
type Section = (&'static str, &'static str, fn(&Numbers) -> String);

const ABOUT: &str = "This page gives the instructions of decisions and related work on three cores. `cargo xtask latency` writes it and
`host-sim/lab/decision-latency.toml`, from which [simulated decisions take their time](../explanation/decision-time.md).

QEMU counts instructions (`-icount shift=8`) on the boards mps2-an386 (Cortex-M4F), microbit (Cortex-M0) and virt
(RV32IMAC). It does not model cycles.

* Builds are those of the images. A register access is one load or store.
* The counts are worst cases: counters near the end of their range, and all windows ending in one interrupt.
* Kernels are blk and bopt (7 configurations), plus dxtc (36), plus mm (84); and mm with fwt (3).
* 16 and 30 SMs have the limits of the image for 32 SMs, 80 and 132 SMs those of `sms-132`.

| column | meaning |
|---|---|
| decision | from the interrupt after the windows to the chosen configuration; linear in SMs and in configurations |
| floor | a loop that reads each counter of the metric once per SM: 3 for IPC, 4 for IPM\\*IPC, 5 for Factor and Linear |
| quotas | from the choice to the end of the interrupt |

If one round cannot hold all configurations, the first decision also prepares the second round. The second decision
scores the best of the first round again.";

const SECTIONS: [Section; 12] = [
    ("Decision", "", decisions),
    (
        "Decisions of the other policies",
        "An entry is configurations: instructions, one per round. Rows with two kernels have both pairs. For Warped-Slicer and its
variant, the kernels' curves rise with TBs, which is the longest path to the water level.",
        others,
    ),
    (
        "Warped-Slicer, all points fit",
        "Every point is a step of the water level, as for kernels near their end. Counts are from the interrupt to the commit.
Simulated decisions omit this case.",
        all_fit,
    ),
    ("From a batch of launches to the first quotas", "", partitions),
    (
        "Preparation",
        "MIAS can generate its configurations while launches are collected, in parts between which it checks for events. An event
then waits for at most the longest part. *At once*: the placement without preparation. *Prepared*: the placement after
full preparation, next to that of Spatial. *Whole scheduling*: preparation, placement, and decisions by IPC with their
quotas.",
        prepared,
    ),
    (
        "Limits of memory instructions",
        "DMIL in firmware: one interrupt, in which all kernels on all SMs of the row had enough requests since the last check.
Limits grow, which accesses one more register. The first row is a check that finds no kernel.",
        memory_limits,
    ),
    (
        "Extra TBs",
        "GPUDuet's controller in firmware, in the image with that feature: one interrupt at the end of the intervals of as many
kernels as the row says. The number of SMs has no effect. The first row is a check that finds no kernel.",
        oversubscription,
    ),
    (
        "Victim selection",
        "Preemption, in the image with that feature: one interrupt, in which every SM requests space for one TB of an urgent
kernel. Some TBs of one other kernel occupy it. *Per SM*: instructions / SMs.",
        victims,
    ),
    (
        "Search for SMs per kernel",
        "In the image with that feature: from the timer at the end of a window that counted each kernel, to the last SM that
receives its new state. The row is the longest step of any search: of the modes for performance and power, of Maestro
next to the even split and next to these modes, of fair share and its model, and of effective bandwidth.",
        searches,
    ),
    (
        "Trials on the whole GPU",
        "In the same image, under MIAS-Trial. *Step*: the longest, from the timer at the end of a window to the commit of the quotas
of the next trial. *Placement*: before the steps, from the end of a batch of launches.",
        trials,
    ),
    (
        "The thesis' decision with `f64` and `Vec`",
        "*Plain*: the metric of each SM, then the mean per configuration. *Lean*: the mean of the counters, then the metric once per
configuration. Both exclude the interrupt around the decision.",
        theses,
    ),
    (
        "Configuration generation",
        "All maximal configurations, those of a single kernel included, next to the thesis' tree with nodes in vectors.",
        generations,
    ),
];

/// Returns the whole page.
pub(super) fn page(all: &[Numbers]) -> String {
    let mut text = String::new();
    for numbers in all {
        text += &format!("## {}\n\n", numbers.core);
        for (heading, about, table) in SECTIONS {
            text += &format!("### {heading}\n\n");
            text += &if about.is_empty() { String::new() } else { format!("{about}\n\n") };
            text += &format!("{}\n", table(numbers));
        }
        text += &format!("Deepest stack found by painting, over all of the above with at most 32 SMs: {} bytes.\n\n", numbers.stack);
    }
    generated("Decision latency", "latency", ABOUT, &text)
}

fn decisions(numbers: &Numbers) -> String {
    let mut text = String::from(
        "| SMs | kernels | round | configurations | IPC | times floor | IPM\\*IPC | times floor | Factor | times floor | Linear | times floor | quotas |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let ranked = numbers.decisions.keys().filter(|situation| METRICS.contains(&situation.2.as_str()));
    let rows: BTreeSet<_> = ranked.map(|(sms, kernels, _, round, configs)| (sms, kernels, configs, round)).collect();
    for (sms, kernels, configs, round) in rows {
        text += &format!("| {sms} | {kernels} | {round} | {configs} ");
        let mut after = 0;
        for metric in METRICS {
            let decision = numbers.decisions.get(&(*sms, *kernels, metric.to_owned(), *round, *configs));
            let floor = numbers.floors.get(&(*sms, metric.to_owned()));
            if let (Some(decision), Some(floor)) = (decision, floor) {
                text += &format!("| {} | {} ", grouped(decision.to_choice), times(decision.to_choice, *floor));
                after = after.max(decision.after);
            } else {
                text += "| - | - ";
            }
        }
        text += &format!("| {} |\n", grouped(after));
    }
    text
}

fn others(numbers: &Numbers) -> String {
    let policies = other_policies();
    let mut text = format!("| SMs | kernels | {} |\n|---|---|{}\n", policies.join(" | "), "---|".repeat(policies.len()));
    let rows: BTreeSet<_> = numbers.decisions.keys().map(|(sms, kernels, ..)| (sms, kernels)).collect();
    for (sms, kernels) in rows {
        text += &format!("| {sms} | {kernels} |");
        for &policy in &policies {
            let decisions = numbers.decisions.iter().filter(|((s, k, p, ..), _)| (s, k, p.as_str()) == (sms, kernels, policy));
            let cells: Vec<String> =
                decisions.map(|((.., configs), decision)| format!("{configs}: {}", grouped(decision.to_choice))).collect();
            text += &format!(" {} |", if cells.is_empty() { "-".to_owned() } else { cells.join("; ") });
        }
        text += "\n";
    }
    text
}

fn all_fit(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | points | instructions |\n|---|---|---|---|\n");
    for ((_, sms, kernels, scored, generated), counts) in &numbers.commits {
        for (_, count) in counts.iter().filter(|(name, _)| *generated == 0 && name == "warped-slicer-all-fit") {
            text += &format!("| {sms} | {kernels} | {scored} | {} |\n", grouped(*count));
        }
    }
    text
}

fn partitions(numbers: &Numbers) -> String {
    let mut text = String::from(
        "| SMs | kernels | MIAS: configurations, instructions | Left-over | Spatial | fixed | SMK |\n|---|---|---|---|---|---|---|\n",
    );
    for ((sms, kernels, total, policy), instructions) in &numbers.partitions {
        if policy != "ipc" {
            continue;
        }
        text += &format!("| {sms} | {kernels} | {total}, {} ", grouped(*instructions));
        for other in ["left-over", "spatial", "fixed", "smk"] {
            let found = numbers.partitions.get(&(*sms, *kernels, 0, other.to_owned()));
            text += &found.map_or_else(|| "| - ".to_owned(), |count| format!("| {} ", grouped(*count)));
        }
        text += "|\n";
    }
    text
}

fn prepared(numbers: &Numbers) -> String {
    let mut text = String::from(
        "| SMs | kernels | configurations | at once | prepared | times Spatial | preparation | longest part | whole scheduling |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for ((sms, kernels, total, policy), instructions) in &numbers.partitions {
        let of = |policy: &str, total: u64| numbers.prepared.get(&(*sms, *kernels, total, policy.to_owned()));
        let (Some(ready), Some(spatial)) = (of(policy, *total), of("spatial", 0)) else { continue };
        if policy == "ipc" {
            let ratio = times(ready.placement, spatial.placement);
            let counts = [ready.ahead, ready.longest, ready.whole].map(grouped).join(" | ");
            text += &format!(
                "| {sms} | {kernels} | {total} | {} | {} | {ratio} | {counts} |\n",
                grouped(*instructions),
                grouped(ready.placement)
            );
        }
    }
    text
}

fn memory_limits(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | instructions | per kernel and SM |\n|---|---|---|---|\n");
    for ((sms, kernels), instructions) in &numbers.memory {
        let each = instructions.checked_div(sms * kernels).map_or_else(|| "-".to_owned(), |each| each.to_string());
        text += &format!("| {sms} | {kernels} | {} | {each} |\n", grouped(*instructions));
    }
    text
}

fn oversubscription(numbers: &Numbers) -> String {
    let mut text = String::from("| kernels | instructions |\n|---|---|\n");
    for (kernels, instructions) in &numbers.oversubscription {
        text += &format!("| {kernels} | {} |\n", grouped(*instructions));
    }
    text
}

fn searches(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | instructions | per SM |\n|---|---|---|---|\n");
    for ((sms, kernels), instructions) in &numbers.searches {
        text += &format!("| {sms} | {kernels} | {} | {} |\n", grouped(*instructions), grouped(instructions / sms.max(&1)));
    }
    text
}

fn trials(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | step | placement |\n|---|---|---|---|\n");
    for ((sms, kernels), (step, first)) in &numbers.trials {
        text += &format!("| {sms} | {kernels} | {} | {} |\n", grouped(*step), grouped(*first));
    }
    text
}

fn victims(numbers: &Numbers) -> String {
    let mut text = String::from("| scheme | SMs | TBs per SM | instructions | per SM |\n|---|---|---|---|---|\n");
    for ((scheme, sms, tbs), instructions) in &numbers.victims {
        text += &format!("| {scheme} | {sms} | {tbs} | {} | {} |\n", grouped(*instructions), grouped(instructions / sms.max(&1)));
    }
    text
}

fn theses(numbers: &Numbers) -> String {
    let mut text =
        String::from("| SMs | metric | configurations | plain | lean | firmware | plain / firmware |\n|---|---|---|---|---|---|---|\n");
    for ((sms, metric, configs), (plain, lean)) in &numbers.theses {
        let Some(ours) = numbers.decisions.get(&(*sms, 2, metric.clone(), 1, *configs)) else { continue };
        let (ours, ratio) = (grouped(ours.to_choice), times(*plain, ours.to_choice));
        text += &format!("| {sms} | {metric} | {configs} | {} | {} | {ours} | {ratio} |\n", grouped(*plain), grouped(*lean));
    }
    text
}

fn generations(numbers: &Numbers) -> String {
    let mut text = String::from(
        "| kernels | configurations | leaves of the tree | firmware | per configuration | tree | tree / firmware |\n|---|---|---|---|---|---|---|\n",
    );
    for ((kernels, configs, leaves), (ours, tree)) in &numbers.generations {
        let (each, ratio) = (ours / configs.max(&1), times(*tree, *ours));
        text += &format!("| {kernels} | {configs} | {leaves} | {} | {each} | {} | {ratio} |\n", grouped(*ours), grouped(*tree));
    }
    text
}

/// Formats a ratio with two digits, rounded to the nearest.
fn times(count: u64, of: u64) -> String {
    let hundredths = (count * 200 / of.max(1)).div_ceil(2);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// Formats with a comma between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::TARGETS;
    use crate::util::root;

    /// The numbers take minutes to measure, and `cargo xtask test` compares them.
    #[test]
    fn the_text_of_the_page_is_current() {
        let without_rows = |page: &str| {
            let is_rule = |line: &str| line.starts_with("|---");
            let lines: Vec<&str> = page.lines().collect();
            let is_text =
                |&at: &usize| !lines[at].starts_with('|') || is_rule(lines[at]) || lines.get(at + 1).is_some_and(|next| is_rule(next));
            let text: Vec<&str> = (0..lines.len()).filter(is_text).map(|at| lines[at].split(" SMs: ").next().unwrap_or_default()).collect();
            text.join("\n")
        };
        let written = std::fs::read_to_string(root().join(super::super::PAGE)).unwrap_or_default();
        let about = written.split("\n## ").next().unwrap_or_default();
        let page = page(&TARGETS.each_ref().map(|target| Numbers::new(target.board.core)));
        assert!(page.starts_with(about), "the introduction");
        let after = |page: &str| without_rows(page.split_once("\n## ").unwrap_or_default().1);
        assert_eq!(after(&written), after(&page));
    }

    #[test]
    fn numbers_are_grouped_and_ratios_rounded() {
        assert_eq!([grouped(7), grouped(1336), grouped(1_234_567)], ["7", "1,336", "1,234,567"]);
        assert_eq!([times(1336, 310), times(3, 2), times(1, 3), times(2, 3)], ["4.31", "1.50", "0.33", "0.67"]);
    }
}
