//! What is gained over what, beside the paper's percentages; energy; and what the paper did not measure: MIAS with kernel-aware issue.

use super::super::means::{self, joined};
use super::super::page::Page;
use super::bars::{self, ANTT, FAIRNESS, MEANS, Quantity, SPEEDUP};
use super::paper::{GAINS, Gain};
use mias_lab::evaluate::results::{PolicyResult, StudyResult};
use mias_lab::evaluate::statistics::geometric;
use mias_lab::evaluate::summary::ALL;
use mias_lab::table::{DASH, config, number, percent};

/// The gain of a policy over another in a quantity: what is better is positive.
fn gained(study: &StudyResult, policy: &str, over: &str, quantity: Quantity) -> Option<f64> {
    let (new, old) = (bars::mean(study, ALL, policy, quantity)?, bars::mean(study, ALL, over, quantity)?);
    Some(if quantity.name == ANTT.name { 1.0 - new / old } else { new / old - 1.0 })
}

fn studies_of<'s>(studies: &[&'s StudyResult], gain: &Gain) -> Option<&'s StudyResult> {
    let set = |study: &StudyResult| {
        gain.setting.is_none_or(|(key, value)| study.setting.iter().any(|(k, v)| (k.as_str(), v.as_str()) == (key, value)))
    };
    studies.iter().find(|study| study.experiment == gain.experiment && set(study)).copied()
}

/// Every percentage that the paper gives, beside ours.
pub(super) fn gains(page: &mut Page, studies: &[&StudyResult]) {
    let mut rows = Vec::new();
    for gain in &GAINS {
        let Some(study) = studies_of(studies, gain) else { continue };
        let where_it_is = match gain.setting {
            Some((_, ways)) => format!("pairs, L1 of {} KB", 4 * ways.parse::<u32>().unwrap_or_default()),
            None if gain.experiment == "scheduler" => "pairs, loose round robin".to_owned(),
            None => gain.experiment.to_owned(),
        };
        let mut row = vec![where_it_is, format!("{} over {}", gain.policy, gain.over), study.groups.len().to_string()];
        for (quantity, paper) in [SPEEDUP, ANTT, FAIRNESS].into_iter().zip(gain.percent) {
            row.push(paper.map_or_else(|| DASH.to_owned(), |value| format!("{value:.1} %")));
            row.push(percent(gained(study, gain.policy, gain.over, quantity)));
        }
        rows.push(row);
    }
    let headings = ["groups", "what over what", "n", "weighted speedup, paper", "here", "ANTT, paper", "here", "fairness, paper", "here"];
    page.heading("Gains, beside the paper's");
    page.table(&headings, &rows, true);
    page.note(&format!(
        "Gains of the means over all groups; {MEANS}. ANTT: 1 less the new over the old. The paper's pairs are all 78, its triples all 286; n says how many are here."
    ));
}

/// Means of every scheme by class.
pub(super) fn means_of(page: &mut Page, study: &StudyResult, heading: &str) {
    let mut rows = Vec::new();
    for class in bars::ordered(study) {
        for policy in means::policies(study) {
            let mut row = vec![bars::named(class), policy.to_owned()];
            row.extend([SPEEDUP, ANTT, FAIRNESS].map(|quantity| number(bars::mean(study, class, policy, quantity), 3)));
            row.push(percent(of_energy(study, class, policy).map(|(energy, _)| energy)));
            row.push(percent(of_energy(study, class, policy).map(|(_, power)| power)));
            rows.push(row);
        }
    }
    page.heading(heading);
    let base = means::policies(study).first().copied().unwrap_or_default();
    let (energy, power) = (format!("energy per work, over {base}"), format!("power, over {base}"));
    page.table(&["class", "policy", "weighted speedup", "ANTT", "fairness", &energy, &power], &rows, true);
    page.note(&format!(
        "Means over the groups of a class: {MEANS}. Energy per work: joules of the window over its weighted speedup, in the mean over groups of what it is to that of the first policy; power: joules alike."
    ));
}

/// Energy per work and power of a policy over those of the first, in the mean over the groups of a class.
fn of_energy(study: &StudyResult, class: &str, policy: &str) -> Option<(f64, f64)> {
    let first = means::policies(study).first().copied()?;
    let members = study.groups.iter().filter(|group| class == ALL || group.class == class);
    let per_work = |result: &PolicyResult| Some(result.energy_joules? / result.metrics.stp.filter(|stp| *stp > 0.0)?);
    let both = members.filter_map(|group| {
        let (new, old) = (means::of(group, policy)?, means::of(group, first)?);
        Some((per_work(new)? / per_work(old)?, new.energy_joules? / old.energy_joules?))
    });
    let (energy, power): (Vec<f64>, Vec<f64>) = both.unzip();
    Some((geometric(&energy)?, geometric(&power)?))
}

/// The setting of a study, as a table has it.
fn setting(study: &StudyResult) -> String {
    study.setting.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join(" ")
}

/// Which configuration is best where nothing holds kernels back and where something does, and what MIAS chooses: studies are the same but for
/// their setting, and the first is without.
pub(super) fn best(page: &mut Page, studies: &[&StudyResult]) {
    let Some((without, others)) = studies.split_first() else { return };
    for with in others {
        best_of(page, without, with);
    }
}

fn best_of(page: &mut Page, without: &StudyResult, with: &StudyResult) {
    let mut rows = Vec::new();
    for (plain, limited) in without.groups.iter().zip(&with.groups) {
        for study_policy in means::policies(without) {
            let (before, after) = (means::of(plain, study_policy), means::of(limited, study_policy));
            let chosen = |result: Option<&PolicyResult>| result.and_then(|result| result.config.clone());
            // What the choice without limits gives with them.
            let carried = chosen(before).and_then(|config| {
                let best = limited.oracle.stp.as_ref()?.value;
                let point = limited.configurations.iter().find(|point| point.config == config)?;
                Some(1.0 - point.metrics.stp? / best)
            });
            let oracle = |group: &mias_lab::evaluate::results::GroupResult| config(group.oracle.stp.as_ref().map(|best| &best.config[..]));
            rows.push(vec![
                joined(plain),
                study_policy.to_owned(),
                oracle(plain),
                oracle(limited),
                config(chosen(before).as_deref()),
                config(chosen(after).as_deref()),
                percent(before.and_then(|result| result.regret.stp)),
                percent(after.and_then(|result| result.regret.stp)),
                percent(carried),
            ]);
        }
    }
    let (off, on) = (setting(without), setting(with));
    page.heading(&format!("Does the best configuration change, and is it found? {}, {on}", without.title));
    let headings = [
        "kernels".to_owned(),
        "policy".to_owned(),
        format!("best for STP, {off}"),
        format!("best, {on}"),
        format!("chosen, {off}"),
        format!("chosen, {on}"),
        format!("regret in STP, {off}"),
        format!("regret, {on}"),
        format!("regret of the choice of {off} with {on}"),
    ];
    page.table(&headings.each_ref().map(String::as_str), &rows, true);
    page.note("TBs per SM of each kernel. Regret: 1 less a static run of the choice over the best static run, both under what the column names. The last column says what a decision is worth that was taken without what it then runs under.");
}
