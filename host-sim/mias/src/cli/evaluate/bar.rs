//! Progress of an evaluation: a bar over the cycles of all windows, and one log line per run of a
//! shard.

use super::super::progress;
use indicatif::ProgressBar;
use mias_lab::cancel::Cancel;
use mias_lab::evaluate::execute::Watch;
use mias_lab::evaluate::shard::log::Log;
use mias_lab::evaluate::study::Job;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Progress of an evaluation. Runs until done lengthen the bar as they proceed.
pub(super) struct Bar<'l> {
    bar: ProgressBar,
    finished: AtomicUsize,
    all: usize,
    cancel: Cancel,
    log: Option<&'l Log>,
}

impl Bar<'_> {
    /// Creates a bar over `jobs`, the missing ones of `all`.
    pub(super) fn new(jobs: &[&Job], all: usize, cancel: Cancel) -> Self {
        let bar = progress::bar();
        bar.set_length(jobs.iter().filter_map(|job| job.expected_cycles()).sum());
        let before = all - jobs.len();
        bar.set_message(format!("{before} of {all} runs"));
        Bar { bar, finished: AtomicUsize::new(before), all, cancel, log: None }
    }

    /// Adds a log that receives a line per run.
    pub(super) fn logged(self, log: &Log) -> Bar<'_> {
        let Bar { bar, finished, all, cancel, log: _ } = self;
        Bar { bar, finished, all, cancel, log: Some(log) }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Bar<'_> {
    fn cycles(&self, job: &Job, cycles: u64) {
        if job.expected_cycles().is_none() {
            self.bar.inc_length(cycles);
        }
        self.bar.inc(cycles);
        if self.cancel.requested() {
            self.bar.set_message("stopping; Ctrl-C again to quit at once");
        }
    }

    fn finished(&self, job: &Job) {
        let finished = self.finished.fetch_add(1, Ordering::Relaxed) + 1;
        self.bar.set_message(format!("{finished} of {} runs", self.all));
        if let Some(log) = self.log {
            log.line(&format!("done {} {}", job.identity.key(), job.identity.describe()));
        }
    }
}
