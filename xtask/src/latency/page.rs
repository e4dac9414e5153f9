//! `docs/decision-latency.md`, from the measurements.

use std::collections::BTreeSet;

use super::numbers::{METRICS, Numbers, others as other_policies};

/// Counters of an SM that a metric reads.
pub(super) fn reads(metric: &str) -> u64 {
    match metric {
        "ipc" => 3,
        "ipm-ipc" => 4,
        _ => 5,
    }
}

/// The whole page.
pub(super) fn page(all: &[Numbers]) -> String {
    let mut text = String::from(
        "# Decision latency

Written by `cargo xtask latency`; the tests fail when it is not current. Do not edit it.

Instructions of decisions and of what surrounds them, on three cores. QEMU counts them (`-icount shift=8`) on three boards: the Cortex-M4F
of an MPS2 AN386, the Cortex-M0 of a micro:bit, the RV32IMAC of `virt`. QEMU executes instructions; it does not model the cycles that they take.

* The firmware is built as in its image: for the Cortex-M4F for time, for the other two for size. A register access is one load or store.
* Counters are near the end of their range, and every SM's window ends in the same interrupt. That is the most that one interrupt can bring.
* Kernels are blk and bopt (7 configurations), the same with dxtc (36) and mm (84), and mm and fwt (3).
* 16 and 30 SMs are measured with the image's limits of 32 SMs and 64 configurations, 80 and 132 SMs with those of the image for 132 SMs.

What the columns mean:

* *decision*: from the interrupt that says that the windows are over to the chosen configuration. It grows linearly with the SMs,
  of which each is read once, and with the configurations, of which each is scored and compared once.
* *floor*: a loop that reads each counter that the metric needs, of each SM, once, and adds it up. It takes 3 reads per SM for IPC, 4 for
  IPM\\*IPC, 5 for Factor and Linear.
* *quotas*: what follows the choice, up to the end of the interrupt.

Where not all configurations fit one round, the first decision also looks up those of the second round, which the placement has found.
A second decision scores the best of the first round again, and those of its own.

[host-sim/lab/decision-latency.toml](../host-sim/lab/decision-latency.toml) has the whole way from the interrupt to the commit of the quotas, in the
worst case, up to as many configurations as the images have room for. That is what a simulated decision takes. What it comes to in core cycles and
microseconds on a machine, the line *placement, decision* of `mias run` says. It has the other policies, too,
and for them the ways that end with SMs of their own for each kernel.

",
    );
    for numbers in all {
        text += &format!("## {}\n\n### Decision\n\n", numbers.core);
        text += &decisions(numbers);
        text += "\n### Decisions of the other policies\n\nAn entry is configurations: instructions, for each round. With two kernels it has both pairs. For Warped-Slicer and its variant the\n\
            instructions of the kernels rise with their TBs, which is the longest way to the water level.\n\n";
        text += &others(numbers);
        text += "\n### Warped-Slicer where all points fit together\n\n\
            Every point is then a step of the water level, as with kernels that are near their end. Counted from the interrupt to the commit.\n\
            The time of a simulated decision leaves this case out.\n\n";
        text += &all_fit(numbers);
        text += "\n### From the end of a batch of launches to the first quotas in effect\n\n";
        text += &partitions(numbers);
        text += "\n### What is done ahead\n\n\
            MIAS may find its configurations while launches are collected, in parts between which it looks for events. An event that arrives\n\
            meanwhile waits for the longest part. *At once*: the placement where nothing was done ahead; *prepared*: where all was, and beside\n\
            it that of Spatial. *Whole scheduling*: all that was done ahead, the placement, and the decisions by IPC with their quotas.\n\n";
        text += &prepared(numbers);
        text += "\n### Limits of memory instructions\n\n\
            The DMIL in firmware: from the interrupt to its end, where all kernels on all these SMs have had enough requests since the last look. Limits\n\
            grow, which takes one register more. A look that finds nobody is the first line.\n\n";
        text += &memory_limits(numbers);
        text += "\n### Extra TBs\n\n\
            GPUDuet's controller in firmware, in the image with that feature: from the interrupt that says that intervals of so many kernels are over to its\n\
            end. How many SMs there are does not matter. A look that finds nobody is the first line.\n\n";
        text += &contexts(numbers);
        text += "\n### Victim selection\n\n\
            Preemption, in the image with that feature: from the interrupt that says that SMs want room to its end. Every SM wants room for one TB, which\n\
            some of its TBs are in the way of, and there is one urgent kernel and one other. *An SM*: the whole over the SMs.\n\n";
        text += &victims(numbers);
        text += "\n### Search for how many SMs each kernel needs\n\n\
            In the image with that feature: from the timer at the end of a window, in which each kernel was counted, to the last SM that is told what it\n\
            is to be. The longest step of any search: of the modes for performance and for power, of Maestro beside the even split and beside these, of fair share\n\
            and its model, and of effective bandwidth.\n\n";
        text += &searches(numbers);
        text += "\n### Trials on the whole GPU\n\n\
            In the same image, under MIAS-Trial: from the timer at the end of a window to the commit of the quotas of what is tried next, the longest step; and\n\
            the placement before them, from the end of a batch of launches.\n\n";
        text += &trials(numbers);
        text += "\n### The thesis' decision with `f64` and `Vec`\n\n\
            Plain: the metric of each SM, then the mean per configuration. Lean: the mean of the counters, then the metric once per configuration.\n\
            Both without the interrupt around it.\n\n";
        text += &theses(numbers);
        text += "\n### Configuration generation\n\nAll maximal configurations, those of a single kernel included, beside the thesis' tree with nodes in\nvectors.\n\n";
        text += &generations(numbers);
        text += &format!("\nDeepest stack found by painting, over all of the above with at most 32 SMs: {} bytes.\n\n", numbers.stack);
    }
    text.truncate(text.trim_end().len());
    text + "\n"
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
        "| SMs | kernels | configurations | at once | prepared | times Spatial | ahead, in all | longest part | whole scheduling |\n\
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
    let mut text = String::from("| SMs | kernels | instructions | for each kernel and SM |\n|---|---|---|---|\n");
    for ((sms, kernels), instructions) in &numbers.memory {
        let each = instructions.checked_div(sms * kernels).map_or_else(|| "-".to_owned(), |each| each.to_string());
        text += &format!("| {sms} | {kernels} | {} | {each} |\n", grouped(*instructions));
    }
    text
}

fn contexts(numbers: &Numbers) -> String {
    let mut text = String::from("| kernels | instructions |\n|---|---|\n");
    for (kernels, instructions) in &numbers.contexts {
        text += &format!("| {kernels} | {} |\n", grouped(*instructions));
    }
    text
}

fn searches(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | instructions | an SM |\n|---|---|---|---|\n");
    for ((sms, kernels), instructions) in &numbers.searches {
        text += &format!("| {sms} | {kernels} | {} | {} |\n", grouped(*instructions), grouped(instructions / sms.max(&1)));
    }
    text
}

fn trials(numbers: &Numbers) -> String {
    let mut text = String::from("| SMs | kernels | a step | the placement |\n|---|---|---|---|\n");
    for ((sms, kernels), (step, first)) in &numbers.trials {
        text += &format!("| {sms} | {kernels} | {} | {} |\n", grouped(*step), grouped(*first));
    }
    text
}

fn victims(numbers: &Numbers) -> String {
    let mut text = String::from("| scheme | SMs | TBs on each | instructions | an SM |\n|---|---|---|---|---|\n");
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

/// A ratio to two digits, rounded to the nearest.
fn times(count: u64, of: u64) -> String {
    let hundredths = (count * 200 / of.max(1)).div_ceil(2);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

/// With a comma between thousands.
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

    #[test]
    fn numbers_are_grouped_and_ratios_rounded() {
        assert_eq!([grouped(7), grouped(1336), grouped(1_234_567)], ["7", "1,336", "1,234,567"]);
        assert_eq!([times(1336, 310), times(3, 2), times(1, 3), times(2, 3)], ["4.31", "1.50", "0.33", "0.67"]);
    }
}
