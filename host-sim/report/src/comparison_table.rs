//! Text table of `compare`.

use super::{explanation, latency_rows, mechanisms, search_rows};
use mias_hw_model::config::GpuConfig;
use mias_lab::choice::Choice;
use mias_lab::experiment::comparison::{Best, Comparison, PolicyResult};
use mias_lab::experiment::gpu_runner::{Decision, End, InPlace, Options};
use mias_lab::experiment::policy::{Counted, Latency};
use mias_lab::experiment::workload::Workload;
use mias_lab::intervals::Estimated;
use mias_lab::metrics::Metrics;
use mias_lab::table::{self, config, grouped, number, percent, ranges};

/// Formats the whole report. `explain` adds the measurements of each deciding policy, and `sweep`
/// every configuration.
pub fn render(
    comparison: &Comparison,
    gpu: &GpuConfig,
    workloads: &[Workload],
    options: Options,
    (explain, sweep): (bool, bool),
) -> String {
    let names = mias_lab::kernel_name::columns(workloads.iter().map(|w| w.name.as_str()));
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let mut text = heading(workloads, gpu, options) + "\n" + &isolated(comparison, &names) + "\n" + &policies(comparison, &names, options);
    text += &format!("\nS_null (only the fastest kernel): {}\n", number(comparison.s_null, 3));
    for (objective, best) in [("S", &comparison.oracle.s), ("STP", &comparison.oracle.stp)] {
        let oracle = best.as_ref().map(|best| format!("{} with {:.3}{}", config(Some(&best.config)), best.value, rivals(best)));
        text += &format!("Oracle for {objective}: {}\n", oracle.as_deref().unwrap_or(table::DASH));
    }
    if sweep {
        text += &configurations(comparison);
    }
    text += &undecided(comparison);
    text += &beside_quotas(workloads, options);
    text += &latencies(comparison, &names);
    text += &search_rows::power(&comparison.results, gpu);
    for result in &comparison.results {
        if let Some(found) = &result.search {
            text += &format!("{}: {}", result.policy.name(), search_rows::line(found, &names, &result.placement));
            text += &search_rows::errors(result, &names);
        }
        text += &placement(result);
        text += &short_of_it(result);
        text += &starvation(result, &names, workloads, options);
        text += &explanation::undecided(
            result.policy,
            result.profile_cycles,
            result.decision.is_some() || result.search.as_ref().is_some_and(|search| search.done),
            !result.placement.is_empty() || result.config.is_some(),
            false,
        );
    }
    if options.end == End::Done {
        text += "IPC of each kernel over its own time, launch to end; makespan over all.\n";
    }
    if explain {
        let decided = |result: &'_ PolicyResult| result.decision.clone().map(|decision| (result.policy.name(), decision));
        let decisions: Vec<(&str, Decision)> = comparison.results.iter().filter_map(decided).collect();
        text += &explanation::text(&decisions.iter().map(|(policy, decision)| (*policy, decision)).collect::<Vec<_>>());
    }
    text
}

/// Formats every configuration of the sweep with its results, in lexicographic order.
fn configurations(comparison: &Comparison) -> String {
    let mut table = table::new(&["configuration", "S", "STP", "ANTT", "fairness"]);
    for point in &comparison.sweep {
        let Metrics { speedup, stp, antt, fairness, .. } = point.metrics;
        table.add_row([config(Some(&point.config)), number(speedup, 3), number(stp, 3), number(antt, 3), number(fairness, 3)]);
    }
    format!("\n{}\n", table::text(&table))
}

/// Formats the placement latencies, a row per policy and kernel; empty without preemption and
/// priorities.
fn latencies(comparison: &Comparison, names: &[&str]) -> String {
    let headings = ["policy", "kernel"].into_iter().chain(latency_rows::ROWS.map(|(name, _)| name)).chain(["thrown away"]);
    let headings: Vec<&str> = headings.collect();
    let (mut table, mut any) = (table::new(&headings), false);
    for result in &comparison.results {
        for (name, kernel) in names.iter().zip(&result.kernels) {
            let Some(latency) = &kernel.latency else { continue };
            let cells = latency_rows::ROWS.map(|(_, cell)| cell(latency));
            let first = [result.policy.name().to_owned(), (*name).to_owned()];
            table.add_row(first.into_iter().chain(cells).chain([percent(kernel.thrown_away)]));
            any = true;
        }
    }
    match any {
        true => format!(
            "\n{}{}Thrown away: warp instructions of flushed TBs over all issued ones; IPC and metrics derived from it exclude them.\n\n",
            table::text(&table),
            latency_rows::WHAT
        ),
        false => String::new(),
    }
}

/// Formats a line on kernels outside of quotas; empty if there are none.
pub(super) fn beside_quotas(workloads: &[Workload], options: Options) -> String {
    let beside: Vec<&str> =
        workloads.iter().filter(|workload| workload.is_beside_quotas(options.transition)).map(|workload| workload.name.as_str()).collect();
    match beside[..] {
        [] => String::new(),
        [kernel] => format!("{kernel} is placed before the others in every configuration; configurations list the others\n"),
        _ => format!("{} are placed before the others in every configuration; configurations list the others\n", beside.join(", ")),
    }
}

/// Formats the number of configurations that the intervals do not tell from the best.
fn rivals(best: &Best) -> String {
    let known = if best.half_width > 0.0 { format!(" \u{b1}{:.3}", best.half_width) } else { String::new() };
    match best.rivals {
        0 => known,
        1 => format!("{known}; one other configuration is within the interval"),
        more => format!("{known}; {more} other configurations are within the interval"),
    }
}

/// Formats lines on the precision of runs that ended before their window, and on policies that it
/// does not tell from the best.
fn undecided(comparison: &Comparison) -> String {
    let Some(cycles) = comparison.results.iter().filter_map(|result| result.simulated_cycles).max() else { return String::new() };
    let mut text = format!(
        "\u{b1}: half of a 95 % interval; simulated: cycles of runs that stopped before the window's end, {} at most\n",
        grouped(cycles)
    );
    type Objective = (&'static str, fn(&Metrics) -> Option<f64>);
    let objectives: [Objective; 2] = [("S", |metrics| metrics.speedup), ("STP", |metrics| metrics.stp)];
    for (objective, of) in objectives {
        let known = |result: &PolicyResult| {
            let half_width = result.half_widths.as_ref().and_then(|half| of(&half.metrics)).unwrap_or_default();
            Some((result.policy.name(), Estimated { value: of(&result.metrics)?, half_width }))
        };
        let all: Vec<(&str, Estimated)> = comparison.results.iter().filter_map(known).collect();
        let Some((best, most)) = all.iter().max_by(|one, other| one.1.value.total_cmp(&other.1.value)) else { continue };
        let near =
            all.iter().filter(|(policy, value)| policy != best && value.half_width + most.half_width > 0.0 && !value.is_apart_from(*most));
        let near: Vec<&str> = near.map(|(policy, _)| *policy).collect();
        if !near.is_empty() {
            text +=
                &format!("{objective}: inconclusive: the interval of {best}, the highest, overlaps with those of {}\n", near.join(", "));
        }
    }
    text
}

/// Formats a line with kernels, GPU, duration and unit of instructions.
pub fn heading(workloads: &[Workload], gpu: &GpuConfig, options: Options) -> String {
    let transition = options.transition.name();
    let kernel = |w: &Workload| {
        let of = |what: &str, number: u64, unit: &str| (number != 0).then(|| format!("{what} {}{unit}", grouped(number)));
        let arrival = of("at cycle", w.arrival_cycle, "");
        let (priority, limit) = (of("priority", w.priority.into(), ""), of("limit", w.latency_limit.into(), " cycles"));
        let about: Vec<String> = [arrival, priority, limit].into_iter().flatten().collect();
        if about.is_empty() { w.name.clone() } else { format!("{} ({})", w.name, about.join(", ")) }
    };
    let kernels: Vec<String> = workloads.iter().map(kernel).collect();
    let (kernels, profile) = (kernels.join(" + "), grouped(options.profile_cycles.into()));
    // The results already show whether decisions take time.
    let latency = if options.latency == Latency::PerMetric { ", latency per metric" } else { "" };
    let warm = if options.warm_l2 { ", L2 warm" } else { "" };
    let precision = options.precision.map(|precision| format!(", known to {precision}")).unwrap_or_default();
    format!(
        "{kernels} {}; profile {profile} cycles, transition {transition}{latency}{warm}{precision}\n{}{}",
        place(gpu, options),
        mechanisms::line(gpu),
        memory(workloads, options)
    )
}

/// Returns a line on shared memory of several kernels, if one is a trace.
fn memory(workloads: &[Workload], options: Options) -> &'static str {
    let traces = workloads.iter().filter(|workload| workload.is_trace).count();
    match (options.share_memory, traces) {
        (true, 1..) => "traces keep their recorded addresses and share the data there\n",
        (false, 1..) if workloads.len() > 1 => {
            "kernels share no memory: each has its own addresses (--set share-memory=true keeps recorded addresses)\n"
        }
        _ => "",
    }
}

/// Formats GPU, duration and unit of instructions of a run.
pub(super) fn place(gpu: &GpuConfig, options: Options) -> String {
    let end = match options.end {
        End::Cycles(cycles) if options.relaunch => format!("{} cycles", grouped(cycles)),
        End::Cycles(cycles) => format!("{} cycles, each kernel once", grouped(cycles)),
        End::Done => "until done".to_owned(),
    };
    let counted = if options.counted == Counted::FirstRun { " of first runs" } else { "" };
    format!("on {}, {end}; IPC{counted} in {} instructions per cycle", gpu.name, options.ipc.name())
}

fn isolated(comparison: &Comparison, names: &[&str]) -> String {
    let mut table = table::new(&["kernel", "isolated IPC", "max TBs/SM"]);
    for (name, alone) in names.iter().zip(&comparison.isolated) {
        table.add_row([(*name).to_owned(), number(Some(alone.ipc), 1), alone.max_tbs.to_string()]);
    }
    table::text(&table)
}

/// Returns the columns of the table of policies; `names` are those of the kernels.
pub(super) fn headings(names: &[&str], options: Options) -> Vec<String> {
    let mut headings: Vec<String> = vec!["policy".into(), "config".into()];
    headings.extend(names.iter().flat_map(|name| [format!("IPC {name}"), format!("norm. {name}")]));
    let rest = ["S", "STP", "ANTT", "fairness", "regret S", "regret STP", "e2e S", "e2e STP", "in place", "transition", "profile"];
    headings.extend(rest.iter().map(|heading| (*heading).to_owned()));
    if options.latency != Latency::Off {
        headings.extend(["placement", "decision"].map(str::to_owned));
    }
    if options.end == End::Done {
        headings.push("makespan".into());
    }
    if options.precision.is_some() {
        headings.extend(["\u{b1} S", "\u{b1} STP", "simulated"].map(str::to_owned));
    }
    headings
}

fn policies(comparison: &Comparison, names: &[&str], options: Options) -> String {
    let headings = headings(names, options);
    let mut table = table::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for result in &comparison.results {
        let mut row = vec![result.policy.name().to_owned(), choice(result)];
        row.extend(result.kernels.iter().flat_map(|k| [number(Some(k.ipc), 1), number(k.normalized_ipc, 3)]));
        let m = result.metrics;
        row.extend([m.speedup, m.stp, m.antt, m.fairness].map(|value| number(value, 3)));
        let (decision, end_to_end) = (result.decision_regret, result.end_to_end_regret);
        row.extend([decision.s, decision.stp, end_to_end.s, end_to_end.stp].map(percent));
        row.extend([in_place(result), grouped(result.transition_cycles), grouped(result.profile_cycles)]);
        row.extend(result.placement_cycles.map(grouped));
        row.extend(result.decision_cycles.map(grouped));
        row.extend(result.makespan_cycles.map(grouped));
        if options.precision.is_some() {
            let half = result.half_widths.as_ref().map(|half| half.metrics);
            row.extend([half.and_then(|half| half.speedup), half.and_then(|half| half.stp)].map(|half| number(half, 3)));
            row.push(result.simulated_cycles.map_or_else(|| table::DASH.to_owned(), grouped));
        }
        table.add_row(row);
    }
    for policy in &comparison.missing.policies {
        let dashes = std::iter::repeat_n(table::DASH.to_owned(), headings.len() - 1);
        table.add_row(std::iter::once(policy.name().to_owned()).chain(dashes));
    }
    table::text(&table)
}

/// Formats the configuration of all SMs; one that came too late is in brackets.
pub(super) fn choice(result: &PolicyResult) -> String {
    let late = result.late_config.as_ref().map(|late| format!("({})", config(Some(late))));
    late.unwrap_or_else(|| config(result.config.as_deref()))
}

/// Formats a line if the configuration chosen by measuring excludes a kernel with quotas
/// (sources.md D19).
fn starvation(result: &PolicyResult, names: &[&str], workloads: &[Workload], options: Options) -> String {
    let (Some(config), Some(_)) = (&result.config, &result.decision) else { return String::new() };
    let beside = workloads.iter().map(|workload| workload.is_beside_quotas(options.transition));
    let left_out = names.iter().zip(config).zip(beside).filter(|((_, tbs), beside)| **tbs == 0 && !beside);
    let left_out: Vec<&str> = left_out.map(|((name, _), _)| *name).collect();
    if left_out.is_empty() { String::new() } else { format!("{}: starves {}\n", result.policy.name(), left_out.join(", ")) }
}

/// Formats the fraction of the run in the printed placement, marked if some SM never had it.
fn in_place(result: &PolicyResult) -> String {
    let Some(in_place) = result.in_place else { return table::DASH.to_owned() };
    let mark = if in_place.sms_short_of_it > 0 { "!" } else { "" };
    percent(Some(in_place.share)) + mark
}

/// Formats a line if some SM never had the printed configuration.
fn short_of_it(result: &PolicyResult) -> String {
    match result.in_place {
        Some(InPlace { sms_short_of_it: sms @ 1.., .. }) => {
            format!("{}: ! {sms} SMs did not reach the configuration: earlier TBs still run on them\n", result.policy.name())
        }
        _ => String::new(),
    }
}

fn placement(result: &PolicyResult) -> String {
    let parts: Vec<String> = result.placement.iter().map(|p| format!("{} on SMs {}", config(Some(&p.config)), ranges(&p.sms))).collect();
    if parts.is_empty() { String::new() } else { format!("{}: {}\n", result.policy.name(), parts.join("; ")) }
}
