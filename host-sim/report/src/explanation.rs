//! Explanation of a policy's choice: counters and score of every profiled configuration, and the
//! deciding difference.

use mias_lab::experiment::gpu_runner::{Decision, ProfiledConfig};
use mias_lab::experiment::policy::Policy;
use mias_lab::table::{self, config, grouped, percent};

/// Returns the reason why a policy made no decision, in a run of `kernels` kernels.
pub(super) fn why_none(policy: Policy, kernels: usize) -> &'static str {
    match (policy.measures(), kernels) {
        _ if policy.searches() => {
            "searches for the number of SMs of each kernel: the result is shown above, and each step is an event of --timeline"
        }
        (false, _) => "no decision to explain: the policy does not measure configurations",
        (true, 1) => "no decision to explain: the run has one kernel",
        (true, _) => "no decision: the run ended before the profiling windows and the decision, or has one configuration only",
    }
}

/// Formats a line if a measuring policy was cut off before its decision, or before its effect: then
/// the results show profiling, not the policy. A queue runs to its end.
pub(super) fn undecided(policy: Policy, profile_cycles: u64, decided: bool, placed: bool, queue: bool) -> String {
    let missing = match (decided, placed) {
        _ if !policy.measures() || profile_cycles == 0 => return String::new(),
        (true, true) => return String::new(),
        (true, false) => "its decision took effect",
        (false, _) => "it decided",
    };
    let remedy = if queue { "use longer kernels or `--set latency=off`" } else { "use a longer run" };
    format!("{}: the run ended before {missing}; {remedy}\n", policy.name())
}

/// Formats decisions of policies by name. Policies with the same measurements share a table, with a
/// column of scores for each.
pub(super) fn text(decisions: &[(&str, &Decision)]) -> String {
    let mut text = String::new();
    let mut rest = decisions;
    while let [(_, first), ..] = rest {
        let alike = rest.iter().take_while(|(_, decision)| same_measurements(first, decision)).count();
        let (group, others) = rest.split_at(alike);
        text += &format!("\n{}\n", table_of(group));
        for (policy, _) in group {
            text += &formula(policy).map(|formula| format!("score of {policy}: {formula}\n")).unwrap_or_default();
        }
        for (policy, decision) in group {
            text += &format!("{policy}: {}\n", why(decision));
        }
        rest = others;
    }
    text
}

fn same_measurements(a: &Decision, b: &Decision) -> bool {
    let bare = |p: &ProfiledConfig| ProfiledConfig { score: None, tie: false, ..p.clone() };
    a.cycle == b.cycle && a.profiled.iter().map(bare).eq(b.profiled.iter().map(bare))
}

fn table_of(group: &[(&str, &Decision)]) -> String {
    let mut headings = vec!["config", "SMs", "cycles C", "issue cycles", "mem. stall M", "instr. I", "load requests", "outst. misses A"];
    headings.extend(group.iter().map(|(policy, _)| *policy));
    let mut table = table::new(&headings);
    let profiled = group.first().map_or(&[][..], |(_, decision)| &decision.profiled);
    for (at, p) in profiled.iter().enumerate() {
        let counters = [p.cycles, p.issue_cycles, p.memory_stall_cycles, p.instructions, p.load_requests, p.outstanding_misses];
        let mut row = vec![config(Some(&p.config)), p.sms.to_string()];
        row.extend(counters.map(grouped));
        row.extend(group.iter().map(|(_, decision)| score(decision, at)));
        table.add_row(row);
    }
    table::text(&table) + "Counters are summed over a configuration's SMs; > marks the best score.\n"
}

/// Returns the formula of each metric (docs/reference/glossary.md).
fn formula(policy: &str) -> Option<&'static str> {
    match policy {
        "mias-ipc" => Some("I / C"),
        "mias-ipm-ipc" => Some("I / load requests * I / C"),
        "mias-factor" => Some("I / (C + M (f - 1)), f = A / mean A"),
        "mias-linear" => Some("I / (C + coef (A - mean A))"),
        "mias-stp" | "maestro" => Some("sum over kernels of I / I alone, per SM"),
        "mias-roofline" => Some("(I / mean I alone)^2 * sum over kernels of I / I alone, each extrapolated to all SMs"),
        "mias-roofline+stp" => Some("sum over kernels of I / I alone, extrapolated to all SMs"),
        "mias-duel" => Some("sum over kernels of I / I alone, extrapolated to or measured on all SMs"),
        "mias-guard" => Some("I / load requests * I / C; spatial if the kernels' I / I alone add up to 1 or less"),
        "warped-slicer" => Some("I (1 + M / C (mean TBs / TBs - 1)) per SM"),
        "warped-slicer+unscaled" | "warped-slicer+sum" => Some("I per SM"),
        _ => None,
    }
}

fn score(decision: &Decision, at: usize) -> String {
    let mark = if Some(at) == decision.winner { "> " } else { "" };
    let score = decision.profiled.get(at).and_then(|p| p.score);
    mark.to_owned() + &score.map_or_else(|| table::DASH.to_owned(), significant)
}

/// Formats with six significant digits.
fn significant(score: f64) -> String {
    let whole_digits = if score > 0.0 { score.log10().floor() as i32 + 1 } else { 1 };
    format!("{score:.*}", (6 - whole_digits).clamp(0, 9) as usize)
}

fn why(decision: &Decision) -> String {
    let cycle = grouped(decision.cycle);
    let Some(winner) = decision.winner.and_then(|winner| decision.profiled.get(winner)) else {
        return match &decision.chosen {
            Some(chosen) => format!("{} was composed at cycle {cycle} from isolated measurements of each kernel.", config(Some(chosen))),
            None => format!("at cycle {cycle} the SMs were divided among the kernels."),
        };
    };
    // The winner of a trial is compared with the other trials.
    let others = || decision.profiled.iter().filter(|p| p.config != winner.config && p.trial == winner.trial);
    let equals: Vec<String> = others().filter(|p| p.tie).map(|p| config(Some(&p.config))).collect();
    let second = others().filter_map(|p| Some((p.score?, config(Some(&p.config))))).max_by(|a, b| a.0.total_cmp(&b.0));
    let reason = match (winner.score, second) {
        (None, _) => "it was not measured".to_owned(),
        (Some(_), None) => "no other was measured".to_owned(),
        (Some(_), Some(_)) if !equals.is_empty() => {
            format!("its score equals that of {} exactly, and the lexicographically first wins a tie", equals.join(", "))
        }
        (Some(won), Some((score, second))) if score > 0.0 => {
            let lead = won / score - 1.0;
            // One decimal is printed.
            let lead = if lead < 0.0005 { "less than 0.1 %".to_owned() } else { percent(Some(lead)) };
            format!("its score is {lead} above that of {second}, the next best")
        }
        (Some(_), Some((_, second))) => format!("its score is above that of {second}, the next best"),
    };
    format!("{} won at cycle {cycle}: {reason}.", config(Some(&winner.config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(scores: &[(f64, bool)], winner: usize) -> Decision {
        let one = |(at, &(score, tie)): (usize, &(f64, bool))| ProfiledConfig {
            config: vec![1 + at as u32, 3 - at as u32],
            sms: 10,
            cycles: 1000,
            issue_cycles: 500,
            memory_stall_cycles: 400,
            instructions: 20_000,
            load_requests: 30,
            outstanding_misses: 8_000,
            score: Some(score),
            tie,
            trial: false,
        };
        Decision { cycle: 15_004, profiled: scores.iter().enumerate().map(one).collect(), winner: Some(winner), chosen: None }
    }

    #[test]
    fn the_reason_is_stated() {
        let why = |scores: &[(f64, bool)], winner| why(&decision(scores, winner));
        assert_eq!(why(&[(2.0, false), (3.0, true)], 1), "2-2 won at cycle 15,004: its score is 50.0 % above that of 1-3, the next best.");
        assert!(why(&[(3.0001, true), (3.0, false)], 0).contains("less than 0.1 % above that of 2-2"));
        let tied = why(&[(3.0, true), (2.0, false), (3.0, true)], 0);
        assert!(tied.contains("equals that of 3-1 exactly, and the lexicographically first wins a tie"), "{tied}");
        assert!(why(&[(3.0, true)], 0).contains("no other was measured"));
        let alone = |chosen| super::why(&Decision { winner: None, chosen, ..decision(&[(3.0, false)], 0) });
        assert_eq!(alone(Some(vec![9, 4])), "9-4 was composed at cycle 15,004 from isolated measurements of each kernel.");
        assert_eq!(alone(None), "at cycle 15,004 the SMs were divided among the kernels.");
    }

    #[test]
    fn policies_that_measured_the_same_share_a_table() {
        let (a, b) = (decision(&[(2.0, false), (3.0, true)], 1), decision(&[(40_000.0, true), (3.0, false)], 0));
        let together = text(&[("mias-ipc", &a), ("mias-ipm-ipc", &b)]);
        assert_eq!(together.matches("mem. stall").count(), 1);
        assert!(together.contains("> 3.00000") && together.contains("> 40000.0"), "{together}");
        let later = Decision { cycle: 20_000, ..b };
        assert_eq!(text(&[("mias-ipc", &a), ("mias-ipm-ipc", &later)]).matches("mem. stall").count(), 2);
    }
}
