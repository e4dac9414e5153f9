//! Effect of the launch order: the same configurations in both orders.

use super::hardware::name;
use super::leads;
use super::measured::{Measured, Set};
use super::metrics::{best, mean, regret, tau_b};
use super::progress::{Base, Progress};
use super::repeats::spread;
use super::tables::{Table, or_dash, percent, ratio};

/// A set in both orders, with the configurations that both have.
struct Both {
    /// Order of the main files.
    first: Progress,
    /// Reverse order.
    second: Progress,
    /// Kernel that was launched first, in either.
    led: [usize; 2],
    /// Mean STP of both orders.
    mean: Vec<f64>,
}

impl Both {
    fn of(measured: &Measured, one: &Set, other: &Set) -> Option<Self> {
        let common = |set: &Set, beside: &Set| {
            let mut set = set.clone();
            set.configurations.retain(|counts, _| beside.configurations.contains_key(counts));
            Progress::of(measured, &set, Base::Best)
        };
        let (first, second) = (common(one, other), common(other, one));
        let mean = first.stp.iter().zip(&second.stp).map(|(a, b)| f64::midpoint(*a, *b)).collect();
        (!first.maximal.is_empty() && one.first != other.first).then_some(Both { first, second, led: [one.first, other.first], mean })
    }

    /// Returns the mean over maximal configurations of the remaining rate of a kernel, in the first
    /// or the second order.
    fn kept(&self, measured: &Measured, order: usize, kernel: usize) -> f64 {
        let of = [&self.first, &self.second][order];
        let kept: Vec<f64> = of.maximal.iter().map(|&place| of.kept(measured, place, kernel)).collect();
        mean(&kept).unwrap_or(f64::NAN)
    }
}

/// Returns all results of the second order; empty if it was not measured.
pub fn report(measured: &Measured) -> String {
    let mut text = String::new();
    for ([sets, reversed], what) in measured.kinds() {
        let find = |set: &Set| reversed.iter().find(|other| other.kernels == set.kernels).and_then(|other| Both::of(measured, set, other));
        let both: Vec<Both> = sets.iter().filter_map(find).collect();
        if !both.is_empty() {
            text += &changes(&both, what);
            text += &helped(reversed, what);
            text += &choices(&both, what);
            text += &if what == "pairs" { leads::report(measured) + &places(measured, &both) + &apart(measured) } else { String::new() };
        }
    }
    text
}

/// Returns the changes of the order of configurations, and of the best one.
fn changes(sets: &[Both], what: &str) -> String {
    let columns = [
        "set",
        "first",
        "then first",
        "configurations",
        "tau-b",
        "tau-b of maximal",
        "best STP",
        "at",
        "reversed",
        "at",
        "mean change of STP",
        "largest",
        "change of best",
        "SMK-P's",
        "middle's",
        "loss of best there",
        "loss of SMK-P's there",
    ];
    let mut table = Table::new(&columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 11];
    let mut same = 0;
    for both in sets {
        let (one, other) = (&both.first, &both.second);
        let (Some(at), Some(at_other)) = (best(&one.stp), best(&other.stp)) else { continue };
        let relative = |place: usize| other.stp[place] / one.stp[place] - 1.0;
        let sizes: Vec<f64> = (0..one.stp.len()).map(|place| relative(place).abs()).collect();
        let [smk, middle, _] = one.unmeasured_choices();
        let numbers = [
            tau_b(&one.stp, &other.stp),
            tau_b(&one.maximal_stp(), &other.maximal_stp()),
            Some(one.stp[at]),
            Some(other.stp[at_other]),
            mean(&sizes),
            sizes.iter().copied().reduce(f64::max),
            Some(relative(at)),
            smk.map(relative),
            middle.map(relative),
            Some(other.loss(at)),
            smk.map(|place| other.loss(place)),
        ];
        same += usize::from(at == at_other);
        numbers.iter().zip(&mut sums).for_each(|(number, sum)| sum.extend(*number));
        let names = both.led.map(|kernel| format!("`{}`", one.kernels[kernel]));
        let mut cells = vec![name(&one.kernels)];
        cells.extend(names);
        cells.push(one.stp.len().to_string());
        cells.extend(written(&numbers, &one.name(at), &other.name(at_other)));
        table.row(cells);
    }
    let means: Vec<Option<f64>> = sums.iter().map(|values| mean(values)).collect();
    let mut last = vec!["mean".to_owned(), String::new(), String::new(), String::new()];
    last.extend(written(&means, "", ""));
    table.row(last);
    let title = format!("**The other order of launches**, {what}: change of STP from the first order to the reverse.");
    table.text(&title) + &format!("The same configuration is best in both orders for {same} of {}.\n\n", sets.len())
}

/// Formats orders and STP as ratios, the rest in percent, and changes with their sign.
fn written(numbers: &[Option<f64>], at: &str, at_other: &str) -> Vec<String> {
    let signed = |value: f64| format!("{:+.1} %", 100.0 * value);
    let mut cells: Vec<String> = Vec::new();
    for (place, number) in numbers.iter().enumerate() {
        cells.push(match place {
            0..=3 => or_dash(*number, ratio),
            6..=8 => or_dash(*number, signed),
            _ => or_dash(*number, percent),
        });
        match place {
            2 => cells.push(at.to_owned()),
            3 => cells.push(at_other.to_owned()),
            _ => {}
        }
    }
    cells
}

/// Returns the placement aids, and the configurations that were not measured.
fn helped(reversed: &[Set], what: &str) -> String {
    let count = |aid: &str| reversed.iter().filter_map(|set| set.aids.get(aid)).sum::<usize>();
    let incomplete: usize = reversed.iter().map(|set| set.incomplete).sum();
    format!(
        "Reversed {what}: {} configurations without a holder of the shared-memory setting, {} with a holder, {} with more shared memory for the \
         first kernel; {incomplete} incomplete.\n\n",
        count(""),
        count("holder"),
        count("padded")
    )
}

/// Returns the losses of choices if both orders are equally likely.
fn choices(sets: &[Both], what: &str) -> String {
    let columns = [
        "set",
        "best STP",
        "at",
        "loss of SMK-P's",
        "loss of middle",
        "loss of even threads",
        "mean loss of maximal",
        "loss of first order's best",
        "loss of reverse order's best",
        "order chosen, too: STP",
        "gains",
    ];
    let mut table = Table::new(&columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 9];
    for both in sets {
        let Some(at) = best(&both.mean) else { continue };
        let loss = |place: usize| regret(both.mean[place], &both.mean);
        let [smk, middle, even] = both.first.unmeasured_choices();
        let maximal: Vec<f64> = both.first.maximal.iter().map(|&place| loss(place)).collect();
        let either = both.first.stp.iter().chain(&both.second.stp).copied().fold(0.0, f64::max);
        let numbers = [
            Some(both.mean[at]),
            smk.map(loss),
            middle.map(loss),
            even.map(loss),
            mean(&maximal),
            best(&both.first.stp).map(loss),
            best(&both.second.stp).map(loss),
            Some(either),
            Some(either / both.mean[at] - 1.0),
        ];
        numbers.iter().zip(&mut sums).for_each(|(number, sum)| sum.extend(*number));
        table.row(choice_row(name(&both.first.kernels), &numbers, &both.first.name(at)));
    }
    let means: Vec<Option<f64>> = sums.iter().map(|values| mean(values)).collect();
    table.row(choice_row("mean".into(), &means, ""));
    table.text(&format!("**Both orders equally likely**, {what}: the mean STP of both."))
}

fn choice_row(name: String, numbers: &[Option<f64>], at: &str) -> Vec<String> {
    let form = |(place, number): (usize, &Option<f64>)| or_dash(*number, if place == 0 || place == 7 { ratio } else { percent });
    let mut cells = vec![name];
    cells.extend(numbers.iter().enumerate().map(form));
    cells.insert(2, at.to_owned());
    cells
}

/// Returns the remaining rates of kernels whose TBs are placed first, and second.
fn places(measured: &Measured, pairs: &[Both]) -> String {
    let columns = [
        "pair",
        "one first: its rate",
        "rate of the other",
        "the other first: rate of one",
        "its rate",
        "one's gain by being first",
        "the other's",
    ];
    let mut table = Table::new(&columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 6];
    let mut kernels: Vec<(String, [Vec<f64>; 2])> = Vec::new();
    let (mut ahead, mut all) = (0, 0);
    for both in pairs {
        // The order in which each kernel of the pair was first.
        let order = |kernel: usize| usize::from(both.led[1] == kernel);
        let [one_first, one_second] = [order(0), 1 - order(0)].map(|order| both.kept(measured, order, 0));
        let [other_second, other_first] = [order(0), 1 - order(0)].map(|order| both.kept(measured, order, 1));
        let numbers = [one_first, other_second, one_second, other_first, one_first - one_second, other_first - other_second];
        numbers.iter().zip(&mut sums).for_each(|(number, sum)| sum.push(*number));
        let mut cells = vec![name(&both.first.kernels)];
        cells.extend(numbers.map(percent));
        table.row(cells);
        for (kernel, kept) in [(0, [one_first, one_second]), (1, [other_first, other_second])] {
            let word = &both.first.kernels[kernel];
            if !kernels.iter().any(|(known, _)| known == word) {
                kernels.push((word.clone(), [Vec::new(), Vec::new()]));
            }
            let found = kernels.iter_mut().find(|(known, _)| known == word);
            found.into_iter().for_each(|(_, values)| values.iter_mut().zip(kept).for_each(|(values, kept)| values.push(kept)));
        }
        for (of, led) in [(&both.first, both.led[0]), (&both.second, both.led[1])] {
            all += of.maximal.len();
            ahead += of.maximal.iter().filter(|&&place| of.kept(measured, place, led) > of.kept(measured, place, 1 - led)).count();
        }
    }
    let mut cells = vec!["mean".to_owned()];
    cells.extend(sums.iter().map(|values| or_dash(mean(values), percent)));
    table.row(cells);
    let mut by_kernel = Table::new(&["kernel", "pairs", "rate when first", "rate when second", "difference"]);
    for (word, [first, second]) in &kernels {
        let [first_mean, second_mean] = [first, second].map(|values| mean(values).unwrap_or(f64::NAN));
        let parts = [first_mean, second_mean, first_mean - second_mean].map(percent);
        by_kernel.row([vec![format!("`{word}`"), first.len().to_string()], parts.to_vec()].concat());
    }
    table.text("**Placed first and second**: rate over the rate alone with as many TBs per SM, mean of maximal configurations; *one* is the first of the pair's names.")
        + &format!("Over both orders, the kernel placed first has the higher rate in {ahead} of {all} maximal configurations.\n\n")
        + &by_kernel.text("**By kernel**: mean of its pairs.")
}

/// Returns the distance of rates of the first order from those of the main files, in the second
/// measurement.
fn apart(measured: &Measured) -> String {
    let mut differences: Vec<(f64, String)> = Vec::new();
    for again in &measured.again {
        let Some(set) = measured.pairs.iter().find(|set| set.kernels == again.kernels && set.first == again.first) else { continue };
        for (counts, rates) in &again.configurations {
            let before = set.configurations.get(counts).into_iter().flatten();
            let config: Vec<String> = counts.iter().map(u32::to_string).collect();
            let named = |kernel: &String| format!("`{kernel}` in {} {}", name(&set.kernels), config.join("-"));
            differences.extend(rates.iter().zip(before).zip(&set.kernels).map(|((a, b), kernel)| ((a / b - 1.0).abs(), named(kernel))));
        }
    }
    let count = differences.len();
    let Some([median, most, largest]) = spread(&mut differences) else { return String::new() };
    format!(
        "Repeats of the first order, with the reverse: {} rates differ from the first measurement by {:.2} % in the median, {:.2} % at the 95th percentile, {:.2} % at most ({}).\n\n",
        count,
        100.0 * median.0,
        100.0 * most.0,
        100.0 * largest.0,
        largest.1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measured::Alone;
    use crate::fit::Need;
    use std::collections::BTreeMap;

    /// Creates measurements of kernels of 512 threads with 100 alone for any number of TBs. The
    /// first keeps 80 %, the other 30 %.
    fn sides() -> Measured {
        let names = ["mm", "fwt"].map(str::to_owned);
        let need = Need { threads: 512, registers: 32, shared: 0 };
        let set = |first: usize, rates: [([u32; 2], [f64; 2]); 3]| Set {
            kernels: names.to_vec(),
            configurations: rates.map(|(counts, rates)| (counts.to_vec(), rates.to_vec())).into(),
            first,
            aids: BTreeMap::from([("holder".to_owned(), 3 * first)]),
            incomplete: first,
            ..Set::default()
        };
        let forward = set(0, [([1, 3], [80.0, 30.0]), ([2, 2], [80.0, 32.0]), ([3, 1], [80.0, 28.0])]);
        let reversed = set(1, [([1, 3], [30.0, 80.0]), ([2, 2], [28.0, 80.0]), ([3, 1], [32.0, 80.0])]);
        Measured {
            alone: names.clone().map(|name| (name, Alone { rates: vec![100.0; 4] })).into(),
            needs: names.clone().map(|name| (name, need)).into(),
            again: vec![set(0, [([1, 3], [80.8, 30.0]), ([2, 2], [80.0, 32.0]), ([3, 1], [80.0, 28.0])])],
            pairs: vec![forward],
            reversed: [vec![reversed], Vec::new(), Vec::new(), Vec::new()],
            ..Measured::default()
        }
    }

    #[test]
    fn the_kernel_that_is_first_keeps_more_whichever_it_is() {
        let text = report(&sides());
        assert!(text.contains("| `mm`, `fwt` | 80.0 % | 30.0 % | 30.0 % | 80.0 % | 50.0 % | 50.0 % |"), "{text}");
        assert!(text.contains("keeps more in 6 of 6 maximal configurations"), "{text}");
        assert!(text.contains("| `fwt` | 1 | 80.0 % | 30.0 % | 50.0 % |"), "{text}");
        assert!(text.contains("3 with a holder, 0 with more shared memory for the first kernel; 1 incomplete"), "{text}");
    }

    #[test]
    fn opposite_orders_have_the_tau_of_opposites() {
        let text = report(&sides());
        // STP 1.10, 1.12, 1.08 and 1.10, 1.08, 1.12: each pair of configurations is reversed.
        // SMK-P's and the middle are 2-2.
        let row = "| `mm`, `fwt` | `mm` | `fwt` | 3 | -1.00 | -1.00 | 1.12 | 2-2 | 1.12 | 3-1 | 2.4 % | 3.7 % | -3.6 % | -3.6 % | -3.6 % | 3.6 % | 3.6 % |";
        assert!(text.contains(row), "{text}");
        // The mean of both is 1.10 everywhere.
        assert!(text.contains("| `mm`, `fwt` | 1.10 |") && text.contains("| 1.12 | 1.8 % |"), "{text}");
    }

    #[test]
    fn what_was_measured_again_is_held_beside_the_first_time() {
        assert!(report(&sides()).contains("6 rates differ from the first measurement by 0.00 % in the median, 1.00 % at the 95th percentile, 1.00 % at most (`mm` in `mm`, `fwt` 1-3)"));
        let mut none = sides();
        none.reversed = Default::default();
        assert_eq!(report(&none), "");
    }
}
