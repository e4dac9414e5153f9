//! Tests of the comparison of two folders.

use super::super::record::MODEL;
use super::super::store::Store;
use super::super::tests::{RUNS, run};
use super::*;
use crate::experiment::gpu_runner::Outcome;
use mias_hw_model::gpu::LaunchStats;

#[test]
fn folders_are_compared_run_by_run() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    for folder in &folders {
        run(folder.path(), 2, usize::MAX).1.unwrap();
    }
    let records = |at: usize| Store::existing(folders[at].path()).unwrap().0.records().unwrap();
    let (first, mut second) = (records(0), records(1));
    let same = Diff::of(&first, &second);
    assert!(same.is_empty() && same.same == RUNS);

    // One run missing, one with more instructions, one of another trace.
    let gone = second.whole.pop().unwrap();
    // Exclude the configuration 0-4, in which the first kernel makes no progress.
    let busy: Vec<usize> = (0..second.whole.len()).filter(|&at| second.whole[at].outcome.launches[0].thread_insts > 0).take(2).collect();
    second.whole[busy[0]].outcome.launches[0].thread_insts *= 2;
    second.whole[busy[1]].run.kernel_hashes[0] = "other".into();
    let diff = Diff::of(&first, &second);
    assert_eq!((diff.same, diff.only_first.len(), diff.only_second.len()), (RUNS - 3, 1, 0));
    assert_eq!(diff.only_first[0], gone.run.question());
    let changes: Vec<Option<f64>> = diff.different.iter().map(|difference| difference.change).collect();
    assert_eq!(changes, [Some(1.0), Some(0.0)], "the largest change first");
    assert!(diff.different[0].what[0].ends_with("+100.00 %"), "{:?}", diff.different[0]);
    assert_eq!(diff.different[1].what, [format!("the trace of {}", second.whole[busy[1]].run.kernels[0])]);
    let back = Diff::of(&second, &first);
    assert_eq!((back.only_first.len(), back.only_second.len(), back.different.len()), (0, 1, 2));
}

/// Creates a run of a kernel with all numbers derived from `insts`.
fn record(gpu_hash: &str, kernel_hash: &str, insts: u64) -> Record {
    let run = Identity {
        gpu: "g".into(),
        gpu_hash: gpu_hash.into(),
        kernels: vec!["a".into()],
        kernel_hashes: vec![kernel_hash.into()],
        arrivals: Vec::new(),
        priorities: Vec::new(),
        latency_limits: Vec::new(),
        control: "left-over".into(),
        cycles: Some(1_000),
        profile_cycles: 100,
        search_cycles: None,
        shares: None,
        transition: "drain".into(),
        latency: "off".into(),
        ipc: "thread".into(),
        relaunch: true,
        share_memory: false,
        warm_l2: Vec::new(),
        precision: None,
        sample_cycles: None,
        open_sms: None,
        counted: None,
        requests: None,
        levels: None,
        queue: None,
        model: MODEL.into(),
        program: String::new(),
    };
    let launches = vec![LaunchStats { thread_insts: insts, ..LaunchStats::default() }];
    Record { run, outcome: Kept::of(&Outcome { cycles: 1_000, launches, ..Outcome::default() }) }
}

fn folder(whole: &[Record]) -> Records {
    Records { whole: whole.to_vec(), unreadable: Vec::new() }
}

/// GPUs or kernels with the same name but different content: no run hides another, and each is
/// paired with the most similar one.
#[test]
fn runs_that_ask_the_same_are_told_apart() {
    let first = folder(&[record("x", "1", 10), record("y", "1", 20), record("z", "2", 30)]);
    assert_eq!(Diff::of(&first, &first), Diff { same: 3, ..Diff::default() });
    let fewer = Diff::of(&first, &folder(&first.whole[1..]));
    assert_eq!((fewer.same, fewer.only_first.len(), fewer.different.len(), fewer.is_empty()), (2, 1, 0, false));
    let more = Diff::of(&folder(&first.whole[..1]), &first);
    assert_eq!((more.same, more.only_second.len(), more.different.len()), (1, 2, 0));
    // Equal fingerprints first, in any order; then the same kernel on another GPU; then the
    // same GPU.
    let second = folder(&[record("z", "3", 30), record("w", "1", 20), record("x", "1", 10)]);
    let diff = Diff::of(&first, &second);
    let mut what: Vec<String> = diff.different.iter().flat_map(|difference| difference.what.clone()).collect();
    what.sort();
    assert_eq!((diff.same, &what[..]), (1, &["the GPU".to_owned(), "the trace of a".to_owned()][..]));
}

#[test]
fn what_cannot_be_read_is_not_the_same() {
    let damaged = Records { unreadable: vec!["cannot read it".into()], ..folder(&[record("x", "1", 10)]) };
    let diff = Diff::of(&damaged, &damaged);
    assert_eq!((diff.same, diff.unreadable.len(), diff.is_empty()), (1, 2, false));
}
