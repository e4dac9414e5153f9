//! What two result folders have in common, and where they differ. Runs are matched by what they ask (machine, kernels, policy,
//! options), not by fingerprints: folders of two versions can be compared, and machines or traces that have changed show as differences.

use super::record::{Identity, Kept};
use super::store::Record;
use crate::report::table;
use std::collections::BTreeMap;

/// A run that is not the same in both.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What both runs are.
    pub question: Identity,
    /// What differs, in words.
    pub what: Vec<String>,
    /// Largest relative change of a kernel's thread IPC; none where one has none.
    pub change: Option<f64>,
}

/// The comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// Runs that are equal in every number.
    pub same: usize,
    /// Runs that differ, the largest change first.
    pub different: Vec<Difference>,
    /// Only in the first.
    pub only_first: Vec<Identity>,
    /// Only in the second.
    pub only_second: Vec<Identity>,
}

impl Diff {
    /// Of two folders' runs.
    pub fn of(first: &[Record], second: &[Record]) -> Self {
        let by_question = |records: &[Record]| -> BTreeMap<Identity, Record> {
            records.iter().map(|record| (record.run.question(), record.clone())).collect()
        };
        let (first, mut second) = (by_question(first), by_question(second));
        let mut diff = Diff::default();
        for (question, a) in first {
            match second.remove(&question) {
                None => diff.only_first.push(question),
                Some(b) => match difference(&question, &a, &b) {
                    None => diff.same += 1,
                    Some(difference) => diff.different.push(difference),
                },
            }
        }
        diff.only_second = second.into_keys().collect();
        let size = |difference: &Difference| difference.change.map_or(f64::INFINITY, f64::abs);
        diff.different.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.question.cmp(&b.question)));
        diff
    }

    /// Whether both hold the same.
    pub fn is_empty(&self) -> bool {
        self.different.is_empty() && self.only_first.is_empty() && self.only_second.is_empty()
    }
}

fn difference(question: &Identity, a: &Record, b: &Record) -> Option<Difference> {
    let mut what = Vec::new();
    if a.run.gpu_hash != b.run.gpu_hash {
        what.push("the machine".to_owned());
    }
    for (kernel, _) in a.run.kernels.iter().enumerate().filter(|&(at, _)| a.run.kernel_hashes.get(at) != b.run.kernel_hashes.get(at)) {
        what.push(format!("the trace of {}", question.kernels[kernel]));
    }
    if a.outcome != b.outcome {
        what.extend(numbers(question, &a.outcome, &b.outcome));
    }
    let change = changes(&a.outcome, &b.outcome).into_iter().try_fold(0.0, |most: f64, change| {
        let change = change?;
        Some(if change.abs() > most.abs() { change } else { most })
    });
    (!what.is_empty()).then(|| Difference { question: question.clone(), what, change })
}

/// Relative change of each kernel's thread IPC; none where there was none before.
fn changes(a: &Kept, b: &Kept) -> Vec<Option<f64>> {
    let ipc = |kept: &Kept, at: usize| kept.launches.get(at).map_or(0.0, |l| l.thread_insts as f64) / kept.cycles.max(1) as f64;
    let change = |at: usize| match (ipc(a, at), ipc(b, at)) {
        (before, after) if before == after => Some(0.0),
        (before, after) => (before > 0.0).then(|| after / before - 1.0),
    };
    (0..a.launches.len().max(b.launches.len())).map(change).collect()
}

fn numbers(question: &Identity, a: &Kept, b: &Kept) -> Vec<String> {
    let mut what = Vec::new();
    let config = |kept: &Kept| match kept.placement.as_slice() {
        [one] => table::config(Some(&one.config)),
        [] => "none".into(),
        _ => "by SM".into(),
    };
    if a.placement != b.placement {
        what.push(format!("configuration {} -> {}", config(a), config(b)));
    }
    if a.cycles != b.cycles {
        what.push(format!("cycles {} -> {}", table::grouped(a.cycles), table::grouped(b.cycles)));
    }
    for (at, change) in changes(a, b).into_iter().enumerate().filter(|(_, change)| *change != Some(0.0)) {
        let kernel = question.kernels.get(at).map_or("?", String::as_str);
        what.push(format!("IPC of {kernel} {}", change.map_or_else(|| "from 0".into(), |change| format!("{:+.2} %", 100.0 * change))));
    }
    if what.is_empty() {
        what.push("counters other than instructions".into());
    }
    what
}
