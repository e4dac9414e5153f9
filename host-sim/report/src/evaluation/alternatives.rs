//! Comparison of two alternatives and of rules that choose between them, as tables for the terminal
//! and the page ([`mias_lab::evaluate::blocks::Judged`]).

use super::Table;
use mias_lab::evaluate::blocks::{Attained, Case, Judged};
use mias_lab::table::{DASH, number, percent};

/// Explanation of the cells.
pub(super) const WHAT: &str = "The value of an alternative is that of its best policy, selected in hindsight. Right: groups for which the better alternative is chosen; of the better one: \
                        mean fraction of its value that the choice attains. The rule compares one counter of the isolated kernels with a threshold. For each group, it is fitted to groups that share no kernel with \
                        it, as is the majority vote. The last column shows the rule fitted to all groups.";

/// Returns a table with a line for each method of choosing.
pub(super) fn choosers(judged: &[Judged]) -> Table {
    let headings = ["by", "chosen by", "right", "of the better one", "rule"].map(str::to_owned).to_vec();
    (headings, judged.iter().flat_map(of_value).collect())
}

fn of_value(judged: &Judged) -> Vec<Vec<String>> {
    let line =
        |who: String, right: String, share: Option<f64>, rule: &str| vec![judged.name.clone(), who, right, percent(share), rule.to_owned()];
    let row = |who: String, Attained { right, groups, share }: Attained, rule: &str| {
        line(who, format!("{right} of {groups}"), (groups > 0).then_some(share), rule)
    };
    let always = judged.alternatives.iter().zip(judged.always).map(|(name, attained)| row(format!("always {name}"), attained, DASH));
    let rule = judged.of_all.as_deref().unwrap_or(DASH);
    let chosen = [row("majority of the others".to_owned(), judged.majority, DASH), row("the rule".to_owned(), judged.rule, rule)];
    let third = |(at, name): (usize, &String)| {
        let shares: Vec<f64> = judged.cases.iter().filter(|case| case.best[at].is_some()).filter_map(|case| case.share(at)).collect();
        let mean = (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64);
        line(format!("{name}, its best policy"), DASH.to_owned(), mean, DASH)
    };
    always.chain(chosen).chain(judged.alternatives.iter().enumerate().skip(2).map(third)).collect()
}

/// Returns a table with a line for each group.
pub(super) fn groups(judged: &Judged) -> Table {
    let of_each = judged.alternatives.iter().flat_map(|name| [name.clone(), "worth".to_owned()]);
    let headings =
        ["experiment", "kernels"].map(str::to_owned).into_iter().chain(of_each).chain(["better", "loss of the other"].map(str::to_owned));
    let row = |case: &Case| {
        let best = |best: &Option<(String, f64)>| match best {
            Some((policy, value)) => [policy.clone(), number(Some(*value), 3)],
            None => [DASH.to_owned(), DASH.to_owned()],
        };
        let lost = percent(case.share(1 - case.right()).map(|share| 1.0 - share));
        let last = [judged.alternatives[case.right()].clone(), lost];
        case.names.iter().cloned().chain(case.best.iter().flat_map(best)).chain(last).collect()
    };
    (headings.collect(), judged.cases.iter().map(row).collect())
}
