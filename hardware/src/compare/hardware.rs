//! Hardware results as tables: kernels alone, pairs, triples, and the effect of the placement
//! order.

use super::measured::{Measured, Set};
use super::metrics::{antt, fairness, mean};
use super::progress::{Base, Progress, warp_instructions};
use super::tables::{Table, or_dash, percent, ratio};

/// Part of the best rate at which a kernel counts as saturated.
const SATURATED: f64 = 0.95;

/// Returns the table of rates by TBs per SM, for isolated kernels with known instructions.
pub fn alone(measured: &Measured) -> String {
    let columns = ["kernel", "most TBs", "best at", "95 % of it from", "1 TB", "2 TBs", "half", "most", "IPC per SM at best"];
    let mut table = Table::new(&columns);
    for (kernel, alone) in measured.alone.iter().filter(|(kernel, _)| warp_instructions(kernel).is_some()) {
        let (rates, best) = (&alone.rates, alone.best());
        let part = |tbs: usize| or_dash(rates.get(tbs.wrapping_sub(1)).map(|rate| rate / best), percent);
        let from = |least: f64| rates.iter().position(|&rate| rate >= least * best).map_or(0, |place| place + 1);
        let ipc = warp_instructions(kernel).map(|count| count * best / 1e6 / f64::from(super::SMS));
        let count = rates.len();
        table.row(vec![
            format!("`{kernel}`"),
            count.to_string(),
            from(1.0).to_string(),
            from(SATURATED).to_string(),
            part(1),
            part(2),
            part(count / 2),
            part(count),
            or_dash(ipc, ratio),
        ]);
    }
    table.text("**Kernels alone**: rate over the best rate.")
}

/// Returns the name of a set.
pub fn name(kernels: &[String]) -> String {
    format!("`{}`", kernels.join("`, `"))
}

/// Returns the table of the sets' best configurations, and the losses of others relative to them;
/// the last line has means.
pub fn sets(measured: &Measured, sets: &[Set], title: &str) -> String {
    let columns = [
        "set",
        "configurations",
        "worst STP",
        "best STP",
        "at",
        "ANTT",
        "fairness",
        "loss of best maximal",
        "at",
        "loss of SMK-P's",
        "at",
        "loss of middle",
        "loss of even threads",
        "mean loss of maximal",
        "loss of best by S",
    ];
    let mut table = Table::new(&columns);
    let mut sums: Vec<Vec<f64>> = vec![Vec::new(); 9];
    let (mut interior, mut at_smk, mut at_s) = (0, 0, 0);
    for set in sets {
        let of = Progress::of(measured, set, Base::Best);
        let ([Some(best), Some(maximal), by_s], [smk, middle, even]) = (of.bests(), of.unmeasured_choices()) else { continue };
        let worst = of.stp.iter().copied().fold(f64::INFINITY, f64::min);
        let losses: Vec<f64> = of.maximal.iter().map(|&place| of.loss(place)).collect();
        let loss = |place: Option<usize>| place.map(|place| of.loss(place));
        let progress = &of.progress[best];
        let numbers = [
            Some(worst),
            Some(of.stp[best]),
            Some(antt(progress)),
            Some(fairness(progress)),
            loss(Some(maximal)),
            loss(smk),
            loss(middle),
            loss(even),
            mean(&losses),
        ];
        at_s += usize::from(by_s == Some(best));
        let by_s = loss(by_s);
        numbers.iter().zip(&mut sums).for_each(|(number, sum)| sum.extend(*number));
        sums.resize(10, Vec::new());
        sums[9].extend(by_s);
        interior += usize::from(of.interior());
        at_smk += usize::from(smk == Some(best));
        let [worst, stp, antt, fairness] = [0, 1, 2, 3].map(|place| or_dash(numbers[place], ratio));
        let [full, smk_loss, middle, even, all] = [4, 5, 6, 7, 8].map(|place| or_dash(numbers[place], percent));
        let count = of.configurations.len().to_string();
        let smk = smk.map_or("-".to_owned(), |place| of.name(place));
        let (at, full_at) = (of.name(best), of.name(maximal));
        table.row(vec![
            name(&of.kernels),
            count,
            worst,
            stp,
            at,
            antt,
            fairness,
            full,
            full_at,
            smk_loss,
            smk,
            middle,
            even,
            all,
            or_dash(by_s, percent),
        ]);
    }
    let means: Vec<Option<f64>> = sums.iter().map(|values| mean(values)).collect();
    let [worst, stp, antt, fairness] = [0, 1, 2, 3].map(|place| or_dash(means[place], ratio));
    let [full, smk, middle, even, all] = [4, 5, 6, 7, 8].map(|place| or_dash(means[place], percent));
    let by_s = or_dash(means.get(9).copied().flatten(), percent);
    let none = String::new;
    table.row(vec!["mean".into(), none(), worst, stp, none(), antt, fairness, full, none(), smk, none(), middle, even, all, by_s]);
    let most = |place: usize| sums.get(place).map_or(0.0, |values| values.iter().copied().fold(0.0, f64::max));
    let end = format!(
        "SMK-P's is the best in {at_smk} of {}, the best by S in {at_s}; an interior maximal configuration is best in {interior}. Largest loss: SMK-P's {}, middle {}, even \
         {}, best by S {}.\n\n",
        sets.len(),
        percent(most(5)),
        percent(most(6)),
        percent(most(7)),
        percent(most(9)),
    );
    table.text(title) + &end
}

/// Returns the table of rates in maximal configurations of pairs, over the isolated rate with as
/// many TBs per SM: for the kernel whose TBs were placed first and for the other.
pub fn first_placed(measured: &Measured) -> String {
    let mut table = Table::new(&["pair", "placed first", "keeps", "rate of the other", "configurations with a higher rate of the first"]);
    let mut means = [Vec::new(), Vec::new()];
    let (mut more, mut all) = (0, 0);
    for set in &measured.pairs {
        let of = Progress::of(measured, set, Base::Best);
        let kept = |place: usize, kernel: usize| of.kept(measured, place, kernel);
        let both: Vec<[f64; 2]> = of.maximal.iter().map(|&place| [kept(place, set.first), kept(place, 1 - set.first)]).collect();
        let ahead = both.iter().filter(|[first, other]| first > other).count();
        let parts = [0, 1].map(|side| mean(&both.iter().map(|pair| pair[side]).collect::<Vec<_>>()));
        means.iter_mut().zip(parts).for_each(|(values, part)| values.extend(part));
        (more, all) = (more + ahead, all + both.len());
        let [first, other] = parts.map(|part| or_dash(part, percent));
        table.row(vec![name(&of.kernels), format!("`{}`", of.kernels[set.first]), first, other, format!("{ahead} of {}", both.len())]);
    }
    let [first, other] = means.map(|values| or_dash(mean(&values), percent));
    table.row(vec!["mean".into(), String::new(), first, other, format!("{more} of {all}")]);
    table.text("**Effect of placement order**: rate over the rate alone with as many TBs per SM, mean of maximal configurations.")
}
