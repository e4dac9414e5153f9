//! Section 7.3: what the search costs beside what is best when all is known beforehand: of every split of the SMs the one with the highest STP, and of
//! every number of SMs that leaves each kernel what the power mode leaves it the one that takes the least energy.

use super::super::means::{joined, of};
use super::super::page::Page;
use super::modes::{EVEN, Mode, SEARCH};
use super::paper::{KEPT, OVERHEAD};
use super::splits::{self, shares};
use mias_lab::evaluate::results::{GroupResult, PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::arithmetic;
use mias_lab::table::{DASH, number, percent};

/// SMs of both kernels throughout, and what that gave.
type Offline<'r> = ((u32, u32), &'r PolicyResult);

/// Those of a group, in windows of the same length.
fn offline<'r>(study: &StudyResult, group: &GroupResult, splits: &[&'r StudyResult]) -> Vec<Offline<'r>> {
    let same = splits.iter().filter(|split| split.cycles == study.cycles);
    same.filter_map(|split| Some((shares(split)?, splits::result(split, group)?))).collect()
}

/// The highest STP.
fn best_for_performance<'r>(all: &[Offline<'r>]) -> Option<Offline<'r>> {
    all.iter().filter(|(_, result)| result.metrics.stp.is_some()).max_by(|a, b| stp(a.1).total_cmp(&stp(b.1))).copied()
}

/// The least energy of those that leave each kernel enough of what it has on the even split.
fn best_for_power<'r>(all: &[Offline<'r>], even: &PolicyResult) -> Option<Offline<'r>> {
    let enough = |result: &PolicyResult| result.ipc.iter().zip(&even.ipc).all(|(ipc, even)| *ipc >= KEPT * even);
    let known = all.iter().filter(|(_, result)| enough(result) && result.energy_joules.is_some());
    known.min_by(|a, b| energy(a.1).total_cmp(&energy(b.1))).copied()
}

fn stp(result: &PolicyResult) -> f64 {
    result.metrics.stp.unwrap_or_default()
}

fn energy(result: &PolicyResult) -> f64 {
    result.energy_joules.unwrap_or_default()
}

/// What a policy loses of STP beside the best, and what power it takes beyond it.
#[derive(Clone, Copy, Debug)]
struct Cost {
    stp: f64,
    power: Option<f64>,
}

impl Cost {
    fn of(result: &PolicyResult, best: &PolicyResult) -> Option<Cost> {
        let stp = 1.0 - result.metrics.stp? / best.metrics.stp.filter(|stp| *stp > 0.0)?;
        let power = result.energy_joules.zip(best.energy_joules.filter(|joules| *joules > 0.0)).map(|(new, best)| new / best - 1.0);
        Some(Cost { stp, power })
    }
}

/// One of both oracles: a row for every pair that it knows, and the mean.
fn oracle<'r>(
    (what, study): (&str, &'r StudyResult),
    splits: &[&'r StudyResult],
    best: impl Fn(&[Offline<'r>], &PolicyResult) -> Option<Offline<'r>>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut costs = Vec::new();
    for group in &study.groups {
        let (Some(even), Some(search)) = (of(group, EVEN), of(group, SEARCH)) else { continue };
        let Some((split, best)) = best(&offline(study, group, splits), even) else { continue };
        let (Some(of_even), Some(of_search)) = (Cost::of(even, best), Cost::of(search, best)) else { continue };
        rows.push(vec![
            what.to_owned(),
            joined(group),
            Mode::of(search).map_or(DASH, Mode::name).to_owned(),
            format!("{} and {}", split.0, split.1),
            number(best.metrics.stp, 3),
            percent(Some(of_even.stp)),
            percent(Some(of_search.stp)),
            percent(of_search.power),
        ]);
        costs.push(of_search);
    }
    if !costs.is_empty() {
        let mean = |of: fn(&Cost) -> Option<f64>| percent(arithmetic(&costs.iter().filter_map(of).collect::<Vec<_>>()));
        let [stp, power] = [mean(|cost| Some(cost.stp)), mean(|cost| cost.power)];
        let dash = || DASH.to_owned();
        rows.push(vec![what.to_owned(), format!("mean, n = {}", costs.len()), dash(), dash(), dash(), dash(), stp, power]);
    }
    rows
}

/// Both, by what their experiments know.
pub(super) fn overhead(page: &mut Page, study: &StudyResult, splits: &[&StudyResult], fewer: &[&StudyResult]) {
    let mut rows = oracle(("STP", study), splits, |all, _| best_for_performance(all));
    rows.extend(oracle(("power", study), fewer, best_for_power));
    if rows.is_empty() {
        return;
    }
    page.heading("Section 7.3: beside the best split");
    let headings = [
        "best by",
        "pair",
        "mode chosen",
        "best split",
        "its STP",
        "STP lost by the even split",
        "by cd-search",
        "power of cd-search above it",
    ];
    page.table(&headings, &rows, true);
    let [performance, power] = OVERHEAD;
    page.note(&format!(
        "By STP: of every split of all SMs throughout, in the same window. By power: of all numbers of SMs that leave each kernel {} of its IPC on the even split, the others gated from the beginning, the one that takes least. The paper: profiling costs {performance} % for performance and {power} % for power in the mean.",
        percent(Some(KEPT))
    ));
}

#[cfg(test)]
mod tests {
    use super::super::given::result;
    use super::*;

    /// 7 and 17 are best by STP. On 4 and 4 the second kernel keeps 94 % of its IPC, which is too little; of 5 and 5 and 8 and 8, where it keeps 95 and
    /// 100, the former takes less.
    #[test]
    fn the_best_is_what_each_mode_looks_for() {
        let even = result("spatial", 1.2, &[100.0, 50.0], 1.0);
        let splits = [((12, 12), 1.2), ((7, 17), 1.5), ((2, 22), 1.1)].map(|(sms, stp)| (sms, result("spatial", stp, &[1.0, 1.0], 1.0)));
        let known: Vec<Offline<'_>> = splits.iter().map(|(sms, result)| (*sms, result)).collect();
        assert_eq!(best_for_performance(&known).unwrap().0, (7, 17));
        let fewer = [((4, 4), 47.0, 0.5), ((5, 5), 47.5, 0.6), ((8, 8), 50.0, 0.8), ((12, 12), 50.0, 1.0)]
            .map(|(sms, ipc, joules)| (sms, result("spatial", 1.2, &[100.0, ipc], joules)));
        let known: Vec<Offline<'_>> = fewer.iter().map(|(sms, result)| (*sms, result)).collect();
        let best = best_for_power(&known, &even).unwrap();
        assert_eq!(best.0, (5, 5));
        // 1.14 of 1.2 is 5 % less, and 0.66 J are a tenth more than 0.6 J.
        let cost = Cost::of(&result("cd-search", 1.14, &[100.0, 50.0], 0.66), best.1).unwrap();
        assert!((cost.stp - 0.05).abs() < 1e-9 && (cost.power.unwrap() - 0.1).abs() < 1e-9, "{cost:?}");
        assert!(best_for_power(&known[..1], &even).is_none() && best_for_performance(&[]).is_none());
    }
}
