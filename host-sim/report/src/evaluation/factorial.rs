//! Tables of factors that are on or off in every combination
//! ([`mias_lab::evaluate::blocks::Factorial`]), for the terminal and the page.

use super::Table;
use mias_lab::evaluate::blocks::{Block, Factorial};
use mias_lab::evaluate::paired::Ratio;
use mias_lab::table::DASH;

/// Explanation of the cells.
pub(super) const WHAT: &str = "Changes are ratios of geometric means over the cases; a question mark: the 95 % interval (Student's t of the logarithms) includes no change, or the sample is a single case. Alone: with the \
    factor over without it, all other factors off. Mean over the others: geometric mean of this ratio over all combinations of the others. With all others: all factors over all but this one. Together: additional effect of \
    a factor if the other is on; 0 without interaction.";

fn told(ratio: Option<Ratio>) -> String {
    ratio.map_or_else(|| DASH.to_owned(), |ratio| ratio.told())
}

fn line(first: &str, others: impl IntoIterator<Item = String>) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(others).collect()
}

/// Returns a line for each combination: every quantity relative to all factors off.
pub(super) fn combinations(block: &Block, all: &[Factorial]) -> Table {
    let count = all.first().map_or(0, Factorial::combinations);
    let of = |combination| line(&block.combination(combination), all.iter().map(|one| told(one.over_none(combination))));
    (line("on", all.iter().map(|one| one.name.clone())), (0..count).map(of).collect())
}

/// Returns a line for each quantity and factor.
pub(super) fn effects(block: &Block, all: &[Factorial]) -> Table {
    let headings = ["quantity", "factor", "alone", "mean over the others", "with all others"].map(str::to_owned).to_vec();
    let of = |one: &Factorial, factor: usize| {
        let effect = one.effect(factor);
        let cells = [effect.alone, effect.mean, effect.last].map(told);
        line(&one.name, [block.factors[factor].name.clone()].into_iter().chain(cells))
    };
    (headings, all.iter().flat_map(|one| (0..one.factors).map(move |factor| of(one, factor))).collect())
}

/// Returns a line for each quantity: the interaction of two factors.
pub(super) fn together(block: &Block, all: &[Factorial]) -> Table {
    let count = block.factors.len();
    let pairs: Vec<(usize, usize)> = (0..count).flat_map(|one| (one + 1..count).map(move |other| (one, other))).collect();
    let name = |&(one, other): &(usize, usize)| format!("{} and {}", block.factors[one].name, block.factors[other].name);
    let of = |quantity: &Factorial| line(&quantity.name, pairs.iter().map(|&(one, other)| told(quantity.together(one, other))));
    (line("quantity", pairs.iter().map(name)), all.iter().map(of).collect())
}
