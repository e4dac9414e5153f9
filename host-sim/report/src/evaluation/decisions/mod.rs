//! Benchmark of decisions (plan `decisions` and its parts): tables for the terminal and the page,
//! with a line for each policy with its mechanisms and transition.
//! [`mias_lab::evaluate::decisions`] computes the numbers.

use mias_lab::evaluate::decisions::{Block, Judgment, Kernels, Known, Line, Objective, Set, TRANSITION, Way, is_of};
use mias_lab::evaluate::results::Evaluation;
use mias_lab::experiment::mechanisms::MECHANISMS;
use mias_lab::table::{self, DASH, change, grouped, number, percent};

/// Returns all blocks of an evaluation, and the policies among which the best is B.
pub(super) fn blocks(evaluation: &Evaluation) -> (Vec<Block>, Vec<String>) {
    let kernels = Kernels::built_in();
    (Block::all(evaluation, &kernels), kernels.existing)
}

/// Returns a policy with its mechanisms, and its transition if it differs from B's.
pub(super) fn name(way: &Way) -> String {
    let known = |field: &str| MECHANISMS.iter().find(|mechanism| mechanism.sets(field)).map(|mechanism| mechanism.name.to_uppercase());
    let mut name = way.policy.to_owned();
    for field in way.with.split(' ').filter(|field| !field.is_empty()) {
        name += " + ";
        name += &known(field).unwrap_or_else(|| field.to_owned());
    }
    if way.transition == TRANSITION { name } else { name + ", " + way.transition }
}

/// Returns the description of a block and of its references.
pub(super) fn heading(judgment: &Judgment<'_>) -> String {
    let block = judgment.block;
    format!("{}, {}, windows of {} cycles", block.gpu, block.set.name(), grouped(block.cycles))
}

/// Formats B and O.
pub(super) fn ends(judgment: &Judgment<'_>) -> String {
    let sizes: Vec<String> = [(2, "pair"), (3, "triple"), (4, "quadruple")]
        .into_iter()
        .filter_map(|(size, name)| {
            let count = judgment.block.mixes.iter().filter(|mix| mix.kernels.len() == size).count();
            (count > 0).then(|| format!("{count} {name}{}", if count == 1 { "" } else { "s" }))
        })
        .collect();
    let base = judgment.base.as_ref().map_or_else(|| DASH.to_owned(), name);
    let (from, to) = (number(judgment.base_stp, 3), number(judgment.best_stp, 3));
    format!("{}. B: {base}, with a mean STP of {from}. O, the best static choice of each mix: {to}.", sizes.join(", "))
}

/// Headings of end-to-end results.
pub(super) const BROUGHT: [&str; 14] = [
    "policy",
    "mixes",
    "STP",
    "way from B to O",
    "95 %",
    "regret STP",
    "STP over B",
    "95 %",
    "ANTT over B",
    "95 %",
    "fairness over B",
    "95 %",
    "energy for work over B",
    "95 %",
];

/// Headings of decisions.
pub(super) const DECIDED: [&str; 16] = [
    "policy",
    "regret STP",
    "95 %",
    "pairs",
    "triples",
    "quadruples",
    "ANTT",
    "fairness",
    "energy",
    "over SMK-P",
    "95 %",
    "S",
    "S_null",
    "overhead",
    "too late",
    "starved",
];

fn interval(known: Option<Known>, shown: fn(f64) -> String) -> String {
    let ends = known.and_then(|known| known.interval);
    ends.map_or_else(|| DASH.to_owned(), |(low, high)| format!("{} to {}", shown(low), shown(high)))
}

fn value(known: Option<Known>, shown: fn(f64) -> String) -> String {
    known.map_or_else(|| DASH.to_owned(), |known| shown(known.value))
}

/// Formats a fraction in whole percent, with its sign.
fn share(share: f64) -> String {
    format!("{:.0} %", (100.0 * share).round() + 0.0).replace('-', "\u{2212}")
}

/// Formats a regret.
fn lost(regret: f64) -> String {
    percent(Some(regret))
}

fn with_intervals(over: &[Option<Known>; 4]) -> Vec<String> {
    over.iter().flat_map(|&known| [value(known, change), interval(known, change)]).collect()
}

/// Returns the cells of a line, of end-to-end results.
pub(super) fn brought(line: &Line) -> Vec<String> {
    let mut cells = vec![name(&line.way), line.mixes.to_string(), number(line.stp, 3)];
    cells.extend([value(line.share, share), interval(line.share, share), value(line.end_to_end, lost)]);
    cells.extend(with_intervals(&line.over_base));
    cells
}

/// Returns the cells of the best static choices of each mix, for each objective separately.
pub(super) fn best(judgment: &Judgment<'_>) -> Vec<String> {
    let mixes = judgment.block.mixes.iter().filter(|mix| mix.best(Objective::Stp, None).is_some()).count();
    let mut cells = vec![BEST.to_owned(), mixes.to_string(), number(judgment.best_stp, 3), share(1.0), DASH.to_owned(), lost(0.0)];
    cells.extend(with_intervals(&judgment.best_over_base));
    cells
}

/// Name of the best static choices.
pub(super) const BEST: &str = "best static choice";

/// Returns the cells of a line, of decisions.
pub(super) fn decided(line: &Line) -> Vec<String> {
    let none = |count: usize| if count == 0 { DASH.to_owned() } else { count.to_string() };
    let [stp, antt, fairness, energy] = line.decision;
    let mut cells = vec![name(&line.way), value(stp, lost), interval(stp, lost)];
    cells.extend(line.decision_by_size.map(|known| value(known, lost)));
    cells.extend([antt, fairness, energy].map(|known| value(known, lost)));
    cells.extend([value(line.over_smk, change), interval(line.over_smk, change)]);
    cells.extend([number(line.s, 3), number(line.s_null, 3), percent(line.overhead), none(line.too_late), none(line.starved)]);
    cells
}

/// Explanation of the cells of end-to-end results.
pub(super) const WHAT_BROUGHT: &str = "STP: mean over the mixes, profile, transitions and decisions included. B: the existing policy with the best mean STP. O: the mean of each mix's best static choice among all maximal configurations and \
    all splits of the SMs in eighths, with any mechanism. Way from B to O: 0 % equals B, 100 % equals the best static choice of every mix. Regret: mean relative shortfall from that choice. Over B: ratio of means to those of B, over the mixes in which both exist; for ANTT and energy \
    for work (joules over STP), lower is better. 95 %: bootstrap interval of 2,000 replicates that resample kernels, not mixes.";

/// Explanation of the cells of decisions.
pub(super) const WHAT_DECIDED: &str = "Regret: relative shortfall of a static run of the choice from the best static choice with the same mechanism: by STP with its interval and for each size of mix, and by ANTT, fairness and energy for work, which the \
    policy need not optimize; absent if the choice is neither a maximal configuration nor a split in eighths. Over SMK-P: STP over that of `smk` on the unmodified GPU, for triples and quadruples. S is the thesis' speedup; S_null is the score of running only the fastest kernel. Overhead: share of the window in placing, transitions, profiling and \
    decisions. Too late: mixes in which the window ended before the choice took effect. Starved: mixes in which a kernel made no progress.";

/// Returns the reminder that an evaluation of held-out kernels is an inspection of them, which
/// docs/results/decisions.md counts.
pub(super) fn look(evaluation: &Evaluation, blocks: &[Block]) -> Option<String> {
    let judged = blocks.iter().any(|block| block.set == Set::Judged);
    judged.then(|| {
        format!(
            "held-out kernels were inspected by plan {} ({}) on {}; count it in docs/results/decisions.md",
            evaluation.plan.name, evaluation.plan.hash, evaluation.model
        )
    })
}

/// Formats all tables; empty for other plans.
pub(super) fn text(evaluation: &Evaluation) -> String {
    if !is_of(evaluation) {
        return String::new();
    }
    let (blocks, existing) = blocks(evaluation);
    let mut text = String::new();
    for block in &blocks {
        let judgment = Judgment::of(block, &existing);
        let lines = &judgment.lines;
        let rows = |of: fn(&Line) -> Vec<String>| lines.iter().map(of).collect::<Vec<_>>();
        let shown = |headings: &[&str], rows: &[Vec<String>]| {
            table::text(&table::of(&headings.iter().map(|&heading| heading.to_owned()).collect::<Vec<_>>(), rows))
        };
        let first: Vec<Vec<String>> = rows(brought).into_iter().chain([best(&judgment)]).collect();
        text += &format!("{}\n{}\n", heading(&judgment), ends(&judgment));
        text += &shown(&BROUGHT, &first);
        text += &format!("decisions\n{}\n", shown(&DECIDED, &rows(decided)));
    }
    text += &format!("{WHAT_BROUGHT}\n{WHAT_DECIDED}\n\n");
    text + &look(evaluation, &blocks).map(|line| line + "\n").unwrap_or_default()
}
