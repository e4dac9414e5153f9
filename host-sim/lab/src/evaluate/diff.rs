//! Comparison of two result folders. Runs are matched by their question (GPU, kernels, policy,
//! options), not by fingerprints. So folders of two versions can be compared, and changed GPUs
//! or traces show as differences.

use super::record::{Identity, Kept};
use super::store::{Record, Records};
use crate::table;
use std::collections::BTreeMap;

/// Run that differs between the folders.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Common identity of both runs, without fingerprints.
    pub question: Identity,
    /// Differences in words.
    pub what: Vec<String>,
    /// Largest relative change of a kernel's thread IPC; `None` if a kernel has no IPC.
    pub change: Option<f64>,
}

/// Result of the comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diff {
    /// Number of runs that are equal in every number.
    pub same: usize,
    /// Runs that differ, the largest change first.
    pub different: Vec<Difference>,
    /// Runs only in the first folder.
    pub only_first: Vec<Identity>,
    /// Runs only in the second folder.
    pub only_second: Vec<Identity>,
    /// One line for each unreadable file of either folder.
    pub unreadable: Vec<String>,
}

/// Predicate: two runs with the same question agree in some of their dependencies.
type Agree = fn(&Identity, &Identity) -> bool;

/// Degrees of agreement between runs, strongest first.
const AGREEMENTS: [Agree; 4] = [
    |a, b| a.gpu_hash == b.gpu_hash && a.kernel_hashes == b.kernel_hashes,
    |a, b| a.kernel_hashes == b.kernel_hashes,
    |a, b| a.gpu_hash == b.gpu_hash,
    |_, _| true,
];

impl Diff {
    /// Compares the runs of two folders.
    pub fn of(first: &Records, second: &Records) -> Self {
        let mut diff = Diff { unreadable: [&first.unreadable[..], &second.unreadable[..]].concat(), ..Diff::default() };
        let (first, mut second) = (by_question(&first.whole), by_question(&second.whole));
        for (question, ours) in first {
            let (pairs, ours, theirs) = paired(ours, second.remove(&question).unwrap_or_default());
            for (a, b) in pairs {
                match difference(&question, a, b) {
                    None => diff.same += 1,
                    Some(difference) => diff.different.push(difference),
                }
            }
            diff.only_first.extend(ours.iter().map(|_| question.clone()));
            diff.only_second.extend(theirs.iter().map(|_| question.clone()));
        }
        diff.only_second.extend(second.into_iter().flat_map(|(question, theirs)| vec![question; theirs.len()]));
        diff.only_second.sort();
        let size = |difference: &Difference| difference.change.map_or(f64::INFINITY, f64::abs);
        diff.different.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.question.cmp(&b.question)));
        diff
    }

    /// Returns whether both folders are readable and equal.
    pub fn is_empty(&self) -> bool {
        self.different.is_empty() && self.only_first.is_empty() && self.only_second.is_empty() && self.unreadable.is_empty()
    }
}

/// Groups runs by question. Several runs of a folder may share one, if GPUs or kernels of one
/// name differ.
fn by_question(records: &[Record]) -> BTreeMap<Identity, Vec<&Record>> {
    let mut runs: BTreeMap<Identity, Vec<&Record>> = BTreeMap::new();
    for record in records {
        runs.entry(record.run.question()).or_default().push(record);
    }
    runs
}

/// Pairs runs with the same question by similarity; also returns the rest of both folders.
fn paired<'r>(mut ours: Vec<&'r Record>, mut theirs: Vec<&'r Record>) -> (Vec<(&'r Record, &'r Record)>, Vec<&'r Record>, Vec<&'r Record>) {
    let mut pairs = Vec::new();
    for agree in AGREEMENTS {
        let mut left = Vec::new();
        for a in ours {
            match theirs.iter().position(|b| agree(&a.run, &b.run)) {
                Some(at) => pairs.push((a, theirs.remove(at))),
                None => left.push(a),
            }
        }
        ours = left;
    }
    (pairs, ours, theirs)
}

fn difference(question: &Identity, a: &Record, b: &Record) -> Option<Difference> {
    let mut what = Vec::new();
    if a.run.gpu_hash != b.run.gpu_hash {
        what.push("the GPU".to_owned());
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

/// Returns the relative change of each kernel's thread IPC; `None` if there was none before.
fn changes(a: &Kept, b: &Kept) -> Vec<Option<f64>> {
    let ipc = |kept: &Kept, at: usize| kept.launches.get(at).map_or(0.0, |l| l.useful_thread_insts() as f64) / kept.cycles.max(1) as f64;
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

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
