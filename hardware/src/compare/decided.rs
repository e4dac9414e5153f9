//! Decisions of MIAS-Trial on measured rates: the firmware's own code
//! (`firmware/policies/src/policy/mias_trial/`) runs step by step, with the measured rates of each
//! configuration. This shows the quality of the choice, but not its cost. No TB has to move here,
//! and windows have 20 ms.

use super::SMS;
use super::measured::{Measured, Set};
use super::metrics::{antt, best, fairness, mean, regret};
use super::progress::{Base, Progress};
use super::tables::{Table, configuration, or_dash, percent, ratio};
use crate::fit::{self, Need};
use mias_firmware::configs::TbVector;
use mias_firmware::gpu::{GpuProperties, Settings};
use mias_firmware::kernel::Kernel;
use mias_firmware::policy::{Context, Next};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use mias_policies::policy::MiasTrial;
use mias_policies::search::Searches as _;
use mias_policies::search::{KernelCounts, Parameters, Search};

/// Limits of an SM in the firmware's terms (`fit` counts registers by parts of an SM).
const LIMITS: SmLimits = SmLimits {
    capacity: Resources { threads: fit::THREADS, registers: fit::REGISTERS, shared_bytes: fit::SHARED, tbs: fit::TBS },
    warp_threads: 32,
    register_granule: 8,
    shared_granule_bytes: fit::SHARED_UNIT,
};

/// TBs of an unlimited grid.
const ENDLESS: u32 = 1 << 30;

/// Cycles of a window. Rates are TBs per million cycles, with four decimals; the firmware's
/// counters have 32 bits.
const WINDOW: u32 = 20_000;

/// Bound on the trials of a round.
const MOST_TRIALS: usize = 24;

/// Rounds of trials: the initial ones, and long trials after a rest.
const ROUNDS: [(usize, &str); 2] = [(1, ""), (2, ", followed by long trials")];

/// Decision for a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Vectors tried in the last round, in order.
    pub tried: Vec<Vec<u32>>,
    /// Final vector; none if a trial has no measurement.
    pub stays: Option<Vec<u32>>,
}

/// Runs the firmware's decision, in at least one and at most `rounds` rounds.
///
/// `rates` returns the kernels' rates in a configuration, in any unit that is constant for a
/// kernel.
pub fn decide(needs: &[Need], rounds: usize, rates: impl Fn(&[u32]) -> Option<Vec<f64>>) -> Decided {
    let gpu = GpuProperties { sm_count: SMS, slot_count: 8, limits: LIMITS, ..GpuProperties::NONE };
    let kernel = |(slot, need): (usize, &Need)| {
        let shape = TbShape { threads: need.threads, thread_registers: need.registers, shared_bytes: need.shared + fit::SHARED_RESERVED };
        Kernel::new(slot as u8, &shape, ENDLESS, &LIMITS)
    };
    let kernels: Vec<Kernel> = needs.iter().enumerate().map(kernel).collect();
    let context = Context { gpu: &gpu, settings: &Settings::default(), kernels: &kernels };
    let counts = |vector: Option<TbVector>| {
        let vector = vector.unwrap_or_default();
        (0..needs.len()).map(|kernel| vector.get(kernel).into()).collect::<Vec<u32>>()
    };
    // The largest rate of a kernel among the trials is not known in advance, so rates are scaled by
    // that of one TB each.
    let one = rates(&vec![1; needs.len()]);
    let mut search = Search::NONE;
    search.parameters = Parameters { able: true, ..Parameters::NONE };
    search.begin(SMS, needs.len());
    let mut policy = MiasTrial::NEW;
    let mut decided = Decided::default();
    for _ in 0..rounds {
        decided.tried.clear();
        let mut next = policy.search(&context, &mut search);
        while decided.tried.len() < MOST_TRIALS && next == Next::Measure {
            let tried = counts(search.on_all);
            let found = rates(&tried);
            decided.tried.push(tried);
            let (Some(found), Some(one)) = (found, &one) else { return Decided { stays: None, ..decided } };
            for (counts, (rate, one)) in search.counts.iter_mut().zip(found.iter().zip(one)) {
                let instructions = (rate / one.max(f64::MIN_POSITIVE) * f64::from(WINDOW)).round() as u32;
                *counts = KernelCounts { cycles: WINDOW, instructions, ..KernelCounts::NONE };
            }
            policy.settled(&mut search);
            next = policy.search(&context, &mut search);
        }
        policy.give_up(&mut search);
        search.give_up();
        decided.stays = Some(counts(search.on_all));
        if !matches!(next, Next::Rest(_)) {
            break;
        }
        search.go_on();
    }
    decided
}

/// Choice for a set, with SMK-P's and the best measured configuration.
struct Row {
    name: String,
    progress: Progress,
    tried: String,
    /// Indices of SMK-P's configuration and of the final one.
    smk: Option<usize>,
    stays: Option<usize>,
}

impl Row {
    fn of(measured: &Measured, set: &Set, rounds: usize) -> Self {
        let progress = Progress::of(measured, set, Base::Best);
        let decided = decide(&progress.needs, rounds, |counts| set.configurations.get(counts).cloned());
        let place = |counts: &Vec<u32>| progress.configurations.iter().position(|one| one == counts);
        Row {
            name: super::hardware::name(&set.kernels),
            tried: decided.tried.iter().map(|tried| configuration(tried)).collect::<Vec<_>>().join(", "),
            smk: progress.unmeasured_choices()[0],
            stays: decided.stays.as_ref().and_then(place),
            progress,
        }
    }

    /// Returns the indices behind the three means: SMK-P's, the final one, and the best; none
    /// unless all are known.
    fn places(&self) -> Option<[usize; 3]> {
        Some([self.smk?, self.stays?, best(&self.progress.stp)?])
    }
}

/// Returns tables of pairs, triples and quadruples, in both launch orders.
pub fn report(measured: &Measured) -> String {
    let mut text = String::new();
    for (rounds, later) in ROUNDS {
        for (orders, what) in measured.kinds() {
            for (sets, order) in orders.into_iter().zip(["", ", the reverse"]) {
                text += &table(measured, sets, rounds, &format!("{what}{order}{later}")).unwrap_or_default();
            }
        }
    }
    text
}

/// Returns the table of decisions for `sets`; none if no set has all trials measured, for example
/// if only maximal configurations were measured.
fn table(measured: &Measured, sets: &[Set], rounds: usize, what: &str) -> Option<String> {
    let rows: Vec<Row> = sets.iter().map(|set| Row::of(measured, set, rounds)).collect();
    if rows.iter().all(|row| row.places().is_none()) {
        return None;
    }
    let columns =
        ["set", "tried", "stays", "STP", "loses", "ANTT", "fairness", "SMK-P's", "STP", "loses", "ANTT", "fairness", "best STP", "at"];
    let mut table = Table::new(&columns);
    let mut numbers: Vec<[f64; 9]> = Vec::new();
    for row in &rows {
        let progress = &row.progress;
        let of = |place: usize| {
            let kernels = &progress.progress[place];
            [progress.stp[place], regret(progress.stp[place], &progress.stp), antt(kernels), fairness(kernels)]
        };
        let named = |place: Option<usize>| place.map_or_else(|| "-".to_owned(), |place| progress.name(place));
        let cells = |place: Option<usize>| {
            let form = |number: usize| or_dash(place.map(|place| of(place)[number]), if number == 1 { percent } else { ratio });
            [named(place), form(0), form(1), form(2), form(3)]
        };
        let best = best(&progress.stp);
        let mut line = vec![row.name.clone(), row.tried.clone()];
        line.extend(cells(row.stays));
        line.extend(cells(row.smk));
        line.extend([or_dash(best.map(|best| progress.stp[best]), ratio), named(best)]);
        table.row(line);
        if let Some([smk, stays, best]) = row.places() {
            let [[a, b, c, d], [e, f, g, h]] = [of(stays), of(smk)];
            numbers.push([a, b, c, d, e, f, g, h, progress.stp[best]]);
        }
    }
    let column = |number: usize| mean(&numbers.iter().map(|row| row[number]).collect::<Vec<_>>());
    let form = |number: usize| or_dash(column(number), if matches!(number, 1 | 5) { percent } else { ratio });
    let mut line: Vec<String> = vec![format!("mean of {}", numbers.len()), String::new(), String::new()];
    line.extend((0..4).map(form));
    line.push(String::new());
    line.extend((4..9).map(form));
    line.push(String::new());
    table.row(line);
    let changed = rows.iter().filter(|row| row.places().is_some_and(|[smk, stays, _]| smk != stays)).count();
    let way = column(0).zip(column(4)).zip(column(8)).map(|((stays, smk), best)| (stays - smk) / (best - smk));
    let better = |less: f64| {
        rows.iter()
            .filter(|row| row.places().is_some_and(|[smk, stays, _]| less * (row.progress.stp[stays] - row.progress.stp[smk]) > 0.0))
            .count()
    };
    let sentence = format!(
        "The final choice differs from SMK-P's in {changed} of {}: better in {}, worse in {}. On average it closes {} of the gap from SMK-P's to the best.\n\n",
        numbers.len(),
        better(1.0),
        better(-1.0),
        or_dash(way, percent),
    );
    Some(table.text(&format!("**Choice of MIAS-Trial**, {what}: its trials return the measured rates.")) + &sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEED: Need = Need { threads: 256, registers: 32, shared: 0 };

    /// Returns the rates of two kernels of which four TBs each fit. TBs beyond `enough` gain
    /// nothing, and each TB of the first takes a tenth of the second's rate.
    fn rates(enough: u32) -> impl Fn(&[u32]) -> Option<Vec<f64>> {
        move |counts| {
            let first = f64::from(counts[0].min(enough));
            Some(vec![3.0 * first, 5.0 * f64::from(counts[1]) * (1.0 - f64::from(counts[0]) / 10.0)])
        }
    }

    #[test]
    fn who_gains_by_every_tb_keeps_them() {
        let decided = decide(&[NEED, NEED], 1, rates(8));
        assert_eq!((decided.tried, decided.stays), (vec![vec![1, 1], vec![4, 4]], Some(vec![4, 4])));
    }

    #[test]
    fn who_gains_by_one_only_gives_the_others_away() {
        // Four TBs of the first are as fast as one: it needs one, and seven of the second fit. 3 x
        // 7 x 0.9 over 4 x 0.6 is better than 5/4.
        let decided = decide(&[NEED, NEED], 1, rates(1));
        assert_eq!((decided.tried, decided.stays), (vec![vec![1, 1], vec![4, 4], vec![1, 7]], Some(vec![1, 7])));
    }

    #[test]
    fn half_of_the_tbs_is_tried_in_the_second_round() {
        // Three TBs of the first are as fast as two: with two, six of the second fit. 2/2 x 6/4 x
        // 0.8/0.6 is 2; with one, 1/2 x 7/6 x 0.9/0.8 is less than 1.
        let decided = decide(&[NEED, NEED], 2, rates(2));
        assert_eq!((&decided.tried[..3], decided.stays), (&[vec![4, 4], vec![2, 6], vec![2, 6]][..], Some(vec![2, 6])));
    }

    #[test]
    fn what_was_not_measured_leaves_nothing_to_stay() {
        let decided = decide(&[NEED, NEED], 1, |counts| (*counts != [1, 7]).then(|| rates(1)(counts).unwrap()));
        assert_eq!((decided.tried.len(), decided.stays), (3, None));
        assert_eq!(decide(&[NEED, NEED], 1, |_| None), Decided { tried: vec![vec![1, 1]], stays: None });
    }
}
