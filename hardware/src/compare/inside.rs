//! Sharing SMs against dividing them, for pairs that were measured both ways: the best
//! configuration of either launch order, and the best split of the SMs. In both cases progress is
//! relative to the best isolated rate of `alone.csv`.

use super::measured::{Measured, Set};
use super::metrics::{antt, best, fairness, mean, stp};
use super::progress::{Base, Progress};
use super::tables::{Table, configuration, or_dash, percent, ratio};
use crate::share::PARTS;

/// Differences below this are ignored (assumption; `splits` has the same).
const AS_GOOD: f64 = 0.01;

/// One way of sharing the GPU.
#[derive(Clone)]
struct Way {
    name: String,
    progress: Vec<f64>,
}

impl Way {
    fn stp(&self) -> f64 {
        stp(&self.progress)
    }

    /// Returns the best of a set's configurations, and SMK-P's.
    fn inside(measured: &Measured, sets: &[&[Set]], kernels: &[String]) -> Option<[Self; 2]> {
        let set = sets.iter().copied().flatten().find(|set| set.kernels == kernels)?;
        let progress = Progress::of(measured, set, Base::Best);
        let way = |place: usize| Way { name: progress.name(place), progress: progress.progress[place].clone() };
        Some([way(progress.bests()[0]?), way(progress.unmeasured_choices()[0]?)])
    }

    /// Returns the best split, and the even one.
    fn beside(measured: &Measured, set: &Set) -> Option<[Self; 2]> {
        let alone: Vec<f64> = set.kernels.iter().map(|kernel| Some(measured.alone.get(kernel)?.best())).collect::<Option<_>>()?;
        let ways: Vec<Way> = set
            .configurations
            .iter()
            .map(|(twelfths, rates)| Way {
                name: configuration(twelfths),
                progress: rates.iter().zip(&alone).map(|(rate, alone)| rate / alone).collect(),
            })
            .collect();
        let stp: Vec<f64> = ways.iter().map(Way::stp).collect();
        let even = set.configurations.keys().position(|twelfths| 2 * twelfths[0] == PARTS)?;
        Some([ways[best(&stp)?].clone(), ways[even].clone()])
    }
}

/// Returns the table; empty if no pair was measured both ways.
pub fn report(measured: &Measured) -> String {
    let columns = [
        "pair",
        "one order: best STP",
        "at",
        "SMK-P's STP",
        "the other: best STP",
        "at",
        "SMK-P's STP",
        "divided: best STP",
        "at",
        "even STP",
        "best ANTT shared",
        "divided",
        "best fairness shared",
        "divided",
    ];
    let mut table = Table::new(&columns);
    let (mut numbers, mut shared, mut divided, mut unmeasured) = (Vec::<[f64; 8]>::new(), 0, 0, [0, 0]);
    for set in measured.splits.iter().filter(|set| set.kernels.len() == 2) {
        let Some([split, even]) = Way::beside(measured, set) else { continue };
        let orders = [
            [measured.pairs.as_slice(), measured.maximal[0].as_slice()],
            [measured.reversed[0].as_slice(), measured.maximal[1].as_slice()],
        ];
        let [one, other] = orders.map(|sets| Way::inside(measured, &sets, &set.kernels));
        let (Some([one, smk]), Some([other, other_smk])) = (one, other) else { continue };
        let inside = if other.stp() > one.stp() { &other } else { &one };
        let gain = inside.stp() / split.stp() - 1.0;
        shared += usize::from(gain > AS_GOOD);
        divided += usize::from(gain < -AS_GOOD);
        for (count, smk) in unmeasured.iter_mut().zip([&smk, &other_smk]) {
            *count += usize::from(smk.stp() > even.stp());
        }
        let row =
            [one.stp(), smk.stp(), other.stp(), other_smk.stp(), split.stp(), even.stp(), inside.stp(), inside.stp().max(split.stp())];
        let [a, b, c, d, e, f, ..] = row.map(ratio);
        let of = |form: fn(&[f64]) -> f64| [ratio(form(&inside.progress)), ratio(form(&split.progress))];
        let ([antt_in, antt_split], [fair_in, fair_split]) = (of(antt), of(fairness));
        let pair = super::hardware::name(&set.kernels);
        table.row(vec![pair, a, one.name, b, c, other.name, d, e, split.name, f, antt_in, antt_split, fair_in, fair_split]);
        numbers.push(row);
    }
    let column = |number: usize| mean(&numbers.iter().map(|row| row[number]).collect::<Vec<_>>());
    let Some(most) = column(7) else { return String::new() };
    let form = |number: usize| or_dash(column(number), ratio);
    let mut line = vec!["mean".to_owned()];
    for (number, gap) in [(0, true), (1, false), (2, true), (3, false), (4, true), (5, false)] {
        line.push(form(number));
        line.extend(gap.then(String::new));
    }
    line.extend(vec![String::new(); 4]);
    table.row(line);
    let lost = |number: usize| or_dash(column(number).map(|stp| 1.0 - stp / most), percent);
    table.text("**Sharing and dividing**: pairs measured both ways; *at*: TBs per SM, or twelfths of the SMs. The last four columns show the best of the better order and the best split.")
        + &format!(
            "{} pairs: sharing is better by more than 0.01 in {shared}, dividing in {divided}. SMK-P's is better than the even split in {} in one order, {} in the other. Losses from the best of all, {most:.2} on average: one order's \
             best {}, the other's {}, the better order's {}, the best split {}, SMK-P's {} and {}, the even split {}.\n\n",
            numbers.len(),
            unmeasured[0],
            unmeasured[1],
            lost(0),
            lost(2),
            lost(6),
            lost(4),
            lost(1),
            lost(3),
            lost(5),
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measured::Alone;
    use crate::fit::Need;

    fn set(kernels: [&str; 2], configurations: &[([u32; 2], [f64; 2])]) -> Set {
        let configurations = configurations.iter().map(|(counts, rates)| (counts.to_vec(), rates.to_vec())).collect();
        Set { kernels: kernels.map(str::to_owned).to_vec(), configurations, ..Set::default() }
    }

    #[test]
    fn the_best_of_both_ways_stand_side_by_side() {
        // Alone 10 and 20. Shared: 4-4 gives 0.5 + 0.5 in one order, 0.9 + 0.6 in the other.
        // Divided: 0.5 + 0.5 evenly, 0.75 + 0.5 at 9-3.
        let alone = |best: f64| Alone { rates: vec![best / 2.0, best] };
        let need = Need { threads: 256, registers: 32, shared: 0 };
        let measured = Measured {
            alone: [("a", 10.0), ("b", 20.0)].map(|(name, best)| (name.to_owned(), alone(best))).into(),
            needs: ["a", "b"].map(|name| (name.to_owned(), need)).into(),
            pairs: vec![set(["a", "b"], &[([4, 4], [5.0, 10.0])])],
            maximal: [vec![], vec![set(["a", "b"], &[([4, 4], [9.0, 12.0])])]],
            splits: vec![set(["a", "b"], &[([6, 6], [5.0, 10.0]), ([9, 3], [7.5, 10.0])]), set(["a", "c"], &[([6, 6], [5.0, 10.0])])],
            ..Measured::default()
        };
        let text = report(&measured);
        assert!(
            text.contains("| `a`, `b` | 1.00 | 4-4 | 1.00 | 1.50 | 4-4 | 1.50 | 1.25 | 9-3 | 1.00 | 1.39 | 1.67 | 0.67 | 0.67 |"),
            "{text}"
        );
        assert!(text.contains("1 pairs: sharing is better by more than 0.01 in 1, dividing in 0."), "{text}");
        assert!(text.contains("one order's best 33.3 %, the other's 0.0 %, the better order's 0.0 %, the best split 16.7 %"), "{text}");
        assert_eq!(report(&Measured::default()), "");
    }
}
