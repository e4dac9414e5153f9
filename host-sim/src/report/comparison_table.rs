//! The table of `compare`.

use super::table::{self, config, grouped, number, percent, ranges};
use crate::experiment::compare::{Comparison, PolicyResult};
use crate::experiment::machine::{Decision, End, Options};
use crate::experiment::policy::{IpcUnit, Transition};
use crate::experiment::workload::Workload;
use mias_hw_model::config::GpuConfig;

/// The whole report; `explain` adds what each deciding policy measured.
pub fn render(comparison: &Comparison, gpu: &GpuConfig, workloads: &[Workload], options: Options, explain: bool) -> String {
    let names: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
    let mut text = heading(&names, gpu, options) + "\n" + &isolated(comparison, &names) + "\n" + &policies(comparison, &names, options);
    text += &format!("\nS_null (only the fastest kernel): {}\n", number(comparison.s_null, 3));
    for (objective, best) in [("S", &comparison.oracle.s), ("STP", &comparison.oracle.stp)] {
        let oracle = best.as_ref().map(|best| format!("{} with {:.3}", config(Some(&best.config)), best.value));
        text += &format!("Oracle for {objective}: {}\n", oracle.as_deref().unwrap_or(table::DASH));
    }
    for result in &comparison.results {
        text += &placement(result);
    }
    if explain {
        for result in &comparison.results {
            if let Some(decision) = &result.decision {
                text += &format!("\n{}\n{}", result.policy.name(), explanation(decision));
            }
        }
    }
    text
}

/// One line that says what ran where, for how long, and what is counted.
pub fn heading(names: &[&str], gpu: &GpuConfig, options: Options) -> String {
    let end = match options.end {
        End::Cycles(cycles) => format!("{} cycles", grouped(cycles)),
        End::Done => "until done".to_owned(),
    };
    let ipc = match options.ipc {
        IpcUnit::Thread => "thread instructions",
        IpcUnit::Warp => "warp instructions",
    };
    let transition = match options.transition {
        Transition::Drain => "drain",
        Transition::Ideal => "ideal",
    };
    let (kernels, gpu, profile) = (names.join(" + "), &gpu.name, grouped(options.profile_cycles.into()));
    format!("{kernels} on {gpu}, {end}; IPC in {ipc} per cycle; profile {profile} cycles, transition {transition}\n")
}

fn isolated(comparison: &Comparison, names: &[&str]) -> String {
    let mut table = table::new(&["kernel", "isolated IPC", "max TBs/SM"]);
    for (name, alone) in names.iter().zip(&comparison.isolated) {
        table.add_row([(*name).to_owned(), number(Some(alone.ipc), 1), alone.max_tbs.to_string()]);
    }
    table::text(&table)
}

fn policies(comparison: &Comparison, names: &[&str], options: Options) -> String {
    let mut headings: Vec<String> = vec!["policy".into(), "config".into()];
    headings.extend(names.iter().flat_map(|name| [format!("IPC {name}"), format!("norm. {name}")]));
    let rest = ["S", "STP", "ANTT", "fairness", "regret S", "regret STP", "e2e S", "e2e STP", "transition", "profile"];
    headings.extend(rest.iter().map(|heading| (*heading).to_owned()));
    if options.end == End::Done {
        headings.push("makespan".into());
    }
    let mut table = table::new(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for result in &comparison.results {
        let mut row = vec![result.policy.name().to_owned(), config(result.config.as_deref())];
        row.extend(result.kernels.iter().flat_map(|k| [number(Some(k.ipc), 1), number(k.normalized_ipc, 3)]));
        let m = result.metrics;
        row.extend([m.speedup, m.stp, m.antt, m.fairness].map(|value| number(value, 3)));
        let (decision, end_to_end) = (result.decision_regret, result.end_to_end_regret);
        row.extend([decision.s, decision.stp, end_to_end.s, end_to_end.stp].map(percent));
        row.extend([grouped(result.transition_cycles), grouped(result.profile_cycles)]);
        row.extend(result.makespan_cycles.map(grouped));
        table.add_row(row);
    }
    table::text(&table)
}

fn placement(result: &PolicyResult) -> String {
    let parts: Vec<String> = result.placement.iter().map(|p| format!("{} on SMs {}", config(Some(&p.config)), ranges(&p.sms))).collect();
    if parts.is_empty() { String::new() } else { format!("{}: {}\n", result.policy.name(), parts.join("; ")) }
}

/// Counters and score of every configuration that was profiled, and why the winner won.
pub fn explanation(decision: &Decision) -> String {
    let headings = ["config", "SMs", "cycles", "issued", "mem. stall", "instructions", "misses", "outstanding", "score"];
    let mut table = table::new(&headings);
    for (at, p) in decision.profiled.iter().enumerate() {
        let mark = if at == decision.winner { " <" } else { "" };
        let counters = [p.cycles, p.issue_cycles, p.memory_stall_cycles, p.instructions, p.misses, p.outstanding];
        let mut row = vec![config(Some(&p.config)) + mark, p.sms.to_string()];
        row.extend(counters.map(grouped));
        row.push(p.score.map_or_else(|| table::DASH.to_owned(), |score| format!("{score:.6e}")));
        table.add_row(row);
    }
    table::text(&table) + &why(decision)
}

fn why(decision: &Decision) -> String {
    let Some(winner) = decision.profiled.get(decision.winner) else { return String::new() };
    let name = config(Some(&winner.config));
    let others = decision.profiled.iter().enumerate().filter(|(at, _)| *at != decision.winner);
    let scored = others.filter_map(|(_, p)| p.score.map(|score| (score, config(Some(&p.config)))));
    let reason = match (winner.score, scored.max_by(|a, b| a.0.total_cmp(&b.0))) {
        (Some(_), None) => "no other was measured".to_owned(),
        (Some(won), Some((score, second))) if score == won => format!("it ties with {second} and comes first"),
        (Some(won), Some((score, second))) if score > 0.0 => {
            format!("its score is {} above that of {second}, the next best", percent(Some(won / score - 1.0)))
        }
        (Some(_), Some((_, second))) => format!("its score is above that of {second}, the next best"),
        (None, _) => "it was not measured".to_owned(),
    };
    format!("{name} won at cycle {}: {reason}.\n", grouped(decision.cycle))
}
