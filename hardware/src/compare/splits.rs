//! Kernels on SMs of their own (Zhao et al. 2018): scaling with SMs, the best split of a pair, and
//! the loss of the even one. A kernel is memory-intensive if its rate on all SMs is less than 1.5
//! times that on half of them (docs/results/kernels.md, "Zhao et al. 2018's fourteen").

use super::measured::{Measured, Set};
use super::metrics::{antt, best, mean, regret, stp};
use super::tables::{Table, or_dash, percent, ratio};
use crate::share::PARTS;
use std::collections::BTreeMap;

/// Ratio of the rate on all SMs to that on half of them below which a kernel is memory-intensive.
const SCALES: f64 = 1.5;

/// Part of the rate on all SMs at which a curve counts as saturated.
const SATURATED: f64 = 0.95;

/// Loss up to which a split is as good as the best (assumption; repeats differ by less).
const AS_GOOD: f64 = 0.01;

/// Kernels that are memory-intensive in the paper's table 1, by our names.
const MEMORY: [&str; 7] = ["lavamd", "gaussian", "lbm", "dwt2d", "gesummv", "pvc", "sc"];

/// Returns the letter of a type: `M` or `C`.
fn letter(memory: bool) -> &'static str {
    if memory { "M" } else { "C" }
}

/// Returns a kernel's name without its input.
fn plain(word: &str) -> &str {
    word.split([':', ',']).next().unwrap_or(word)
}

/// Rates of a kernel alone on 1, 2, .. twelfths of the SMs.
struct Curve {
    word: String,
    rates: Vec<f64>,
}

impl Curve {
    fn of(set: &Set) -> Option<Self> {
        let rates: Vec<f64> =
            (1..=PARTS).map(|parts| set.configurations.get([parts].as_slice())?.first().copied()).collect::<Option<_>>()?;
        Some(Curve { word: set.kernels.first()?.clone(), rates })
    }

    /// Returns the rate on `twelfths` twelfths over that on all SMs.
    fn part(&self, twelfths: u32) -> f64 {
        self.rates[twelfths as usize - 1] / self.rates[PARTS as usize - 1]
    }

    /// Returns the rate on all SMs over that on half of them.
    fn scales(&self) -> f64 {
        1.0 / self.part(PARTS / 2)
    }

    fn memory(&self) -> bool {
        self.scales() < SCALES
    }

    fn in_paper(&self) -> Option<bool> {
        let known = mias_kernels::ZHAO.iter().any(|(_, word)| plain(word) == plain(&self.word));
        known.then(|| MEMORY.contains(&plain(&self.word)))
    }
}

/// A pair in its measured splits.
struct Pair<'c> {
    curves: [&'c Curve; 2],
    /// Twelfths of the first kernel, and progress of both relative to all SMs.
    splits: Vec<(u32, [f64; 2])>,
    stp: Vec<f64>,
}

impl<'c> Pair<'c> {
    fn of(set: &Set, curves: &'c BTreeMap<String, Curve>) -> Option<Self> {
        let [a, b] = set.kernels.as_slice() else { return None };
        let curves = [curves.get(a)?, curves.get(b)?];
        let full = curves.map(|curve| curve.rates[PARTS as usize - 1]);
        let progress = |(counts, rates): (&Vec<u32>, &Vec<f64>)| (counts[0], [rates[0] / full[0], rates[1] / full[1]]);
        let splits: Vec<(u32, [f64; 2])> = set.configurations.iter().map(progress).collect();
        let stp = splits.iter().map(|(_, progress)| stp(progress)).collect();
        Some(Pair { curves, splits, stp })
    }

    fn even(&self) -> Option<usize> {
        self.splits.iter().position(|(first, _)| 2 * first == PARTS)
    }

    /// Returns a kernel's rate in a split over its rate on as many SMs with the others idle.
    fn beside(&self, place: usize, kernel: usize) -> f64 {
        let (first, progress) = self.splits[place];
        let own = if kernel == 0 { first } else { PARTS - first };
        progress[kernel] / self.curves[kernel].part(own)
    }

    /// Returns the types of the pair's kernels, the memory-intensive one last: `CC`, `CM` or `MM`.
    fn class(&self, memory: impl Fn(&Curve) -> bool) -> String {
        let mut letters = self.curves.map(|curve| letter(memory(curve)));
        letters.sort_unstable();
        letters.concat()
    }

    /// Returns the twelfths that the best split gives to the kernel that is not memory-intensive;
    /// none unless exactly one is.
    fn to_compute(&self) -> Option<u32> {
        let first = self.splits[best(&self.stp)?].0;
        match self.curves.map(Curve::memory) {
            [false, true] => Some(first),
            [true, false] => Some(PARTS - first),
            _ => None,
        }
    }
}

/// Returns all tables of splits; empty if none were measured.
pub fn report(measured: &Measured) -> String {
    let alone = measured.splits.iter().filter(|set| set.kernels.len() == 1).filter_map(Curve::of);
    let curves: BTreeMap<String, Curve> = alone.map(|curve| (curve.word.clone(), curve)).collect();
    if curves.is_empty() {
        return String::new();
    }
    let pairs: Vec<Pair<'_>> = measured.splits.iter().filter_map(|set| Pair::of(set, &curves)).collect();
    let incomplete: usize = measured.splits.iter().map(|set| set.incomplete).sum();
    alone_table(&curves) + &pairs_table(&pairs, incomplete) + &classes(&pairs) + &claims(&curves, &pairs)
}

/// Returns the table of scaling with SMs.
fn alone_table(curves: &BTreeMap<String, Curve>) -> String {
    let shares = [1, 2, 3, 4, 6, 8, 9, 10, 11];
    let mut head = vec!["kernel".to_owned()];
    head.extend(shares.map(|parts| format!("{parts}/12")));
    head.extend(["all over half", "95 % from", "type here", "in the paper"].map(str::to_owned));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Table::new(&head);
    for curve in curves.values() {
        let from = (1..=PARTS).find(|&parts| curve.part(parts) >= SATURATED).unwrap_or(PARTS);
        let mut cells = vec![format!("`{}`", curve.word)];
        cells.extend(shares.map(|parts| percent(curve.part(parts))));
        cells.extend([ratio(curve.scales()), format!("{from}/12"), letter(curve.memory()).to_owned()]);
        cells.push(curve.in_paper().map_or("-", letter).to_owned());
        table.row(cells);
    }
    table.text("**Isolated, on a part of the SMs**: rate over that on all SMs.")
}

fn pairs_table(pairs: &[Pair<'_>], incomplete: usize) -> String {
    let columns = [
        "pair",
        "types here",
        "splits",
        "even STP",
        "best STP",
        "at",
        "loss of even",
        "worst STP",
        "even ANTT",
        "best's ANTT",
        "first with the other",
        "second",
    ];
    let mut table = Table::new(&columns);
    for pair in pairs {
        let Some(at) = best(&pair.stp) else { continue };
        let even = pair.even();
        let worst = pair.stp.iter().copied().fold(f64::INFINITY, f64::min);
        let (first, progress) = &pair.splits[at];
        let optional = |form: fn(f64) -> String, of: &dyn Fn(usize) -> f64| or_dash(even.map(of), form);
        table.row(vec![
            format!("`{}`, `{}`", plain(&pair.curves[0].word), plain(&pair.curves[1].word)),
            pair.curves.map(|curve| letter(curve.memory())).concat(),
            pair.stp.len().to_string(),
            optional(ratio, &|even| pair.stp[even]),
            ratio(pair.stp[at]),
            format!("{first}-{}", PARTS - first),
            optional(percent, &|even| regret(pair.stp[even], &pair.stp)),
            ratio(worst),
            optional(ratio, &|even| antt(&pair.splits[even].1)),
            ratio(antt(progress)),
            optional(percent, &|even| pair.beside(even, 0)),
            optional(percent, &|even| pair.beside(even, 1)),
        ]);
    }
    table.text("**Splits of the SMs**: twelfths of each kernel; *first with the other*, *second*: rate on the even split over that on as many SMs, the other SMs idle.")
        + &format!("{} pairs, {incomplete} runs incomplete.\n\n", pairs.len())
}

/// Rule that classifies a kernel as memory-intensive.
type Rule<'a> = &'a dyn Fn(&Curve) -> bool;

/// Returns the mean results of splits by the types of both kernels.
fn classes(pairs: &[Pair<'_>]) -> String {
    let columns = ["types", "pairs", "even STP", "best STP", "loss of even", "at most", "even as good as the best", "rate with the other"];
    let mut table = Table::new(&columns);
    let in_paper = |curve: &Curve| curve.in_paper() == Some(true);
    let all_in_paper = pairs.iter().all(|pair| pair.curves.iter().all(|curve| curve.in_paper().is_some()));
    let groups: [(&str, Rule<'_>); 2] = [("here", &Curve::memory), ("in the paper", &in_paper)];
    let groups = groups.into_iter().take(if all_in_paper { 2 } else { 1 });
    for (whose, memory) in groups {
        for class in ["CC", "CM", "MM"] {
            let of = || pairs.iter().filter(|pair| pair.class(memory) == class).filter_map(|pair| Some((pair, pair.even()?)));
            let losses: Vec<f64> = of().map(|(pair, even)| regret(pair.stp[even], &pair.stp)).collect();
            let [stps, bests] = [0, 1].map(|which| {
                let values: Vec<f64> = of()
                    .map(|(pair, even)| if which == 0 { pair.stp[even] } else { pair.stp.iter().copied().fold(0.0, f64::max) })
                    .collect();
                or_dash(mean(&values), ratio)
            });
            let kept: Vec<f64> = of().flat_map(|(pair, even)| [0, 1].map(|kernel| pair.beside(even, kernel))).collect();
            table.row(vec![
                format!("{class} {whose}"),
                losses.len().to_string(),
                stps,
                bests,
                or_dash(mean(&losses), percent),
                or_dash(losses.iter().copied().reduce(f64::max), percent),
                losses.iter().filter(|&&loss| loss <= AS_GOOD).count().to_string(),
                or_dash(mean(&kept), percent),
            ]);
        }
    }
    table.text("**By type**: means of pairs.")
}

/// Returns the testable claims of the paper.
fn claims(curves: &BTreeMap<String, Curve>, pairs: &[Pair<'_>]) -> String {
    let part = |memory: bool, twelfths: u32| {
        let parts: Vec<f64> = curves.values().filter(|curve| curve.memory() == memory).map(|curve| curve.part(twelfths)).collect();
        or_dash(mean(&parts), percent)
    };
    let count = |memory: bool| curves.values().filter(|curve| curve.memory() == memory).count();
    let alike = curves.values().filter(|curve| curve.in_paper() == Some(curve.memory())).count();
    let known = curves.values().filter(|curve| curve.in_paper().is_some()).count();
    let mixed: Vec<u32> = pairs.iter().filter_map(Pair::to_compute).collect();
    let more = mixed.iter().filter(|&&twelfths| 2 * twelfths > PARTS).count();
    let less = mixed.iter().filter(|&&twelfths| 2 * twelfths < PARTS).count();
    let shares: Vec<f64> = mixed.iter().map(|&twelfths| f64::from(twelfths)).collect();
    let wants: Vec<String> = curves.values().filter(|curve| curve.memory()).filter_map(|curve| wants(curve, pairs)).collect();
    let wants =
        if wants.is_empty() { String::new() } else { format!("* The best split gives the memory-intensive one: {}.\n", wants.join("; ")) };
    let text = format!(
        "* Types: {alike} of {known} kernels have the same type as in the paper.\n\
         * Memory-intensive kernels ({} here) keep {} of their rate on 3 twelfths of the SMs, {} on 6, {} on 9; the others ({}) {}, {} and {}.\n\
         * Of {} pairs with one kernel of each type, the best split gives more SMs to the compute-intensive one in {more}, fewer in {less}; {} twelfths on average.\n",
        count(true),
        part(true, 3),
        part(true, 6),
        part(true, 9),
        count(false),
        part(false, 3),
        part(false, 6),
        part(false, 9),
        mixed.len(),
        or_dash(mean(&shares), |value| format!("{value:.1}")),
    );
    text + &wants + "\n"
}

/// Returns the SMs that best splits give to a memory-intensive kernel next to one that is not, and
/// the loss of even ones; none without such pairs.
fn wants(curve: &Curve, pairs: &[Pair<'_>]) -> Option<String> {
    let of = || pairs.iter().filter(|pair| pair.curves.iter().any(|one| one.word == curve.word));
    let given: Vec<f64> = of().filter_map(Pair::to_compute).map(|twelfths| f64::from(PARTS - twelfths)).collect();
    let losses: Vec<f64> =
        of().filter(|pair| pair.to_compute().is_some()).filter_map(|pair| Some(regret(pair.stp[pair.even()?], &pair.stp))).collect();
    let [low, high] = [f64::min, f64::max].map(|of| given.iter().copied().reduce(of));
    let (mean_given, lost) = (mean(&given)?, or_dash(mean(&losses), percent));
    Some(format!("`{}` {mean_given:.1} twelfths ({} to {}; loss of the even split {lost})", plain(&curve.word), low?, high?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(kernels: &[&str], configurations: Vec<(Vec<u32>, Vec<f64>)>) -> Set {
        let kernels = kernels.iter().map(|&kernel| kernel.to_owned()).collect();
        Set { kernels, configurations: configurations.into_iter().collect(), ..Set::default() }
    }

    /// Creates measurements in which `dxtc` and `bino` are linear in SMs, and `lbm` reaches its
    /// full rate with 3 twelfths. Only `lbm` affects another kernel: it takes a tenth from `dxtc`.
    fn measured() -> Measured {
        let linear = |parts: u32| 10.0 * f64::from(parts);
        let saturated = |parts: u32| 100.0 * f64::from(parts.min(3));
        let curve =
            |kernel: &str, rate: &dyn Fn(u32) -> f64| set(&[kernel], (1..=12).map(|parts| (vec![parts], vec![rate(parts)])).collect());
        let pair = |a: &str, b: &str, rates: &dyn Fn(u32) -> [f64; 2]| {
            set(&[a, b], (1..12).map(|parts| (vec![parts, 12 - parts], rates(parts).to_vec())).collect())
        };
        let splits = vec![
            curve("dxtc:512", &linear),
            curve("bino:512", &linear),
            curve("lbm:150", &saturated),
            pair("dxtc:512", "bino:512", &|parts| [linear(parts), linear(12 - parts)]),
            pair("dxtc:512", "lbm:150", &|parts| [0.9 * linear(parts), saturated(12 - parts)]),
        ];
        Measured { splits, ..Measured::default() }
    }

    #[test]
    fn types_and_curves_are_those_of_the_rule() {
        let text = report(&measured());
        assert!(text.contains("| `lbm:150` | 33.3 % | 66.7 % | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 100.0 % | 1.00 | 3/12 | M | M |"), "{text}");
        assert!(text.contains("| 2.00 | 12/12 | C | C |") && text.contains("3 of 3 kernels"), "{text}");
        assert!(text.contains("(1 here) keep 100.0 % of their rate on 3 twelfths of the SMs, 100.0 % on 6, 100.0 % on 9; the others (2) 25.0 %, 50.0 % and 75.0 %."), "{text}");
    }

    #[test]
    fn the_best_split_leaves_the_saturated_kernel_what_it_needs() {
        let text = report(&measured());
        // 9 twelfths of `dxtc`: 0.9 x 0.75 + 1. The even split: 0.45 + 1.
        assert!(
            text.contains("| `dxtc`, `lbm` | CM | 11 | 1.45 | 1.68 | 9-3 | 13.4 % | 1.07 | 1.61 | 1.24 | 90.0 % | 100.0 % |"),
            "{text}"
        );
        assert!(
            text.contains("| `dxtc`, `bino` | CC | 11 | 1.00 | 1.00 |")
                && text.contains("| CC here | 1 | 1.00 | 1.00 | 0.0 % | 0.0 % | 1 | 100.0 % |"),
            "{text}"
        );
        assert!(text.contains("Of 1 pairs with one kernel of each type, the best split gives more SMs to the compute-intensive one in 1, fewer in 0; 9.0 twelfths"), "{text}");
        assert!(text.contains("gives the memory-intensive one: `lbm` 3.0 twelfths (3 to 3; the even splits loss 13.4 %).\n"), "{text}");
    }

    #[test]
    fn a_curve_that_was_not_finished_has_no_row() {
        let mut few = measured();
        few.splits[2].configurations.remove([12].as_slice());
        let text = report(&few);
        assert!(!text.contains("lbm") && text.contains("| `dxtc`, `bino` |"));
        assert_eq!(report(&Measured::default()), "");
    }
}
