//! Progress bar on standard error, shown only on a terminal.

use super::say;
use indicatif::{ProgressBar, ProgressStyle};
use mias_lab::cancel::Cancel;
use mias_lab::experiment::compare::Watch;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Interval of redraws during a long stretch of cycles.
const TICK: Duration = Duration::from_millis(200);

/// Progress over all runs of an experiment.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
    /// Expected cycles of one run; `None` if only finished runs can be counted.
    cycles_per_run: Option<u64>,
    runs: AtomicU64,
    finished: AtomicU64,
    cancel: Cancel,
}

pub(super) fn bar() -> ProgressBar {
    if say::is_quiet() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{msg} [{wide_bar}] {percent}% {eta}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(TICK);
    bar
}

/// Creates a bar over the TBs of kernels that are executed and traced. It grows as each kernel
/// reports its number of TBs.
pub(super) fn tracing(kernels: &[String]) -> ProgressBar {
    let bar = bar();
    bar.set_message(format!("executing {}", kernels.join(", ")));
    bar
}

impl Progress {
    /// Creates a bar for runs of a given number of cycles; runs until done have no known length.
    pub(super) fn new(cycles_per_run: Option<u64>, cancel: Cancel) -> Self {
        Progress { bar: bar(), cycles_per_run, runs: AtomicU64::new(0), finished: AtomicU64::new(0), cancel }
    }

    /// Removes the bar.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn message(&self) {
        let (finished, runs) = (self.finished.load(Ordering::Relaxed), self.runs.load(Ordering::Relaxed));
        self.bar.set_message(if self.cancel.requested() {
            "stopping; Ctrl-C again to quit at once".to_owned()
        } else {
            format!("run {} of {runs}", (finished + 1).min(runs))
        });
    }
}

impl Watch for Progress {
    fn planned(&self, runs: usize) {
        self.runs.fetch_add(runs as u64, Ordering::Relaxed);
        self.bar.inc_length(runs as u64 * self.cycles_per_run.unwrap_or(1));
        self.message();
    }

    fn cycles(&self, cycles: u64) {
        if self.cycles_per_run.is_some() {
            self.bar.inc(cycles);
        }
        if self.cancel.requested() {
            self.message();
        }
    }

    fn finished(&self) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        if self.cycles_per_run.is_none() {
            self.bar.inc(1);
        }
        self.message();
    }
}
