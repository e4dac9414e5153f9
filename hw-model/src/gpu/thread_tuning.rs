//! Thread tuning: whether several threads run the GPU faster than one does, by the clock.
//!
//! They do where each has a core for itself. Where others need the cores, a thread that waits for one that was put aside loses a time slice, a
//! thousand times what a cycle takes. Nobody says how many cores there are at a time, so both are tried, and what was faster goes on. Results do
//! not depend on it. (Own; the numbers are assumptions.)

use std::time::{Duration, Instant};

/// Cycles that are timed in one go: some milliseconds, longer than it takes to wake a thread.
const WINDOW: u32 = 512;
/// Of cycles that are run in quanta (longer ones cost a short run more where one of them was disturbed).
const QUANTUM_WINDOW: u64 = WINDOW as u64;
/// Where one thread is only timed to be compared with: it takes longer, if all is well, and that is lost.
const ALONE_WINDOW: u64 = QUANTUM_WINDOW / 2;
/// So many windows of several threads follow each other before one thread is timed again: what a cycle costs changes with the kernels.
const FRESH: u32 = 128;
/// So many windows of several threads in a row were slower than one thread: a single one may have been disturbed. After a pause, one is enough.
const TRIALS: u32 = 3;
/// A window of several threads that lasts so many times longer than one thread's need not end.
const MOST_TIMES: u64 = 2;
/// Nor one that lasts so long, 20 milliseconds, as long as nothing is known of one thread.
const FIRST_MOST_NS: u64 = 20_000_000;
/// Windows that one thread runs before the next trial, at first. Twice as many if that fails, too, and so on.
const PAUSE: u32 = 4;
/// At most: some seconds.
const MOST_PAUSE: u32 = PAUSE << 7;

/// What is run at present, and what it took.
#[derive(Clone, Debug)]
pub(super) struct ThreadTuner {
    /// Cycles of the present window.
    cycles: u32,
    /// Its beginning; none if it was interrupted.
    since: Option<Instant>,
    /// Cycles of the present window of quanta, and the nanoseconds that they took.
    quanta: (u64, u64),
    trial: Trial,
}

/// The decision, without the clock.
#[derive(Clone, Debug)]
struct Trial {
    /// One thread runs.
    alone: bool,
    /// Windows until that is changed.
    left: u32,
    /// Nanoseconds of one thread's last window, if there was one.
    alone_ns: Option<u64>,
    /// Windows of several threads, one after the other, that took longer.
    slower: u32,
    /// Windows of the next pause.
    pause: u32,
}

impl ThreadTuner {
    /// Several threads begin.
    pub(super) fn new() -> Self {
        let trial = Trial { alone: false, left: 1, alone_ns: None, slower: 0, pause: PAUSE };
        ThreadTuner { cycles: 0, since: None, quanta: (0, 0), trial }
    }

    /// Something else than cycles takes time now: the present window says nothing.
    pub(super) fn interrupt(&mut self) {
        (self.cycles, self.since) = (0, None);
    }

    /// A cycle of several threads took long: its window may be long enough already.
    pub(super) fn delayed(&mut self) {
        if self.since.is_some_and(|since| nanoseconds(since.elapsed()) > self.trial.most_ns()) {
            self.cycles = 0;
        }
    }

    /// Whether one thread runs the coming quantum of cycles, which several might. [`ThreadTuner::ran`] is to be told how long it took.
    pub(super) fn runs_alone(&self) -> bool {
        self.trial.alone
    }

    /// A quantum of so many cycles took so long. What happened in between is not counted.
    pub(super) fn ran(&mut self, cycles: u64, time: Duration) {
        self.quanta = (self.quanta.0 + cycles, self.quanta.1 + nanoseconds(time));
        let (cycles, ns) = self.quanta;
        let window = if self.trial.alone { ALONE_WINDOW } else { QUANTUM_WINDOW };
        // Without a core a window need not end.
        if cycles >= window || ns > self.trial.most_ns() {
            self.trial.judge(ns * QUANTUM_WINDOW / cycles);
            self.quanta = (0, 0);
        }
    }

    /// Whether one thread runs the coming cycle, which several might.
    #[inline]
    pub(super) fn is_alone(&mut self) -> bool {
        if self.cycles == 0 {
            let now = Instant::now();
            if let Some(since) = self.since.replace(now) {
                self.trial.judge(nanoseconds(now - since));
            }
            self.cycles = WINDOW;
        }
        self.cycles -= 1;
        self.trial.alone
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Trial {
    /// A window need not last longer.
    fn most_ns(&self) -> u64 {
        self.alone_ns.map_or(FIRST_MOST_NS, |ns| MOST_TIMES.saturating_mul(ns))
    }

    /// A window took so many nanoseconds.
    fn judge(&mut self, ns: u64) {
        self.left -= 1;
        if self.alone {
            self.alone_ns = Some(ns);
            if self.left == 0 {
                (self.alone, self.left, self.slower) = (false, FRESH, TRIALS - 1);
            }
        } else {
            self.slower = if self.alone_ns.is_some_and(|alone| ns > alone) { self.slower + 1 } else { 0 };
            if self.slower == TRIALS {
                (self.alone, self.left) = (true, self.pause);
                self.pause = (2 * self.pause).min(MOST_PAUSE);
            } else if self.left == 0 {
                (self.alone, self.left, self.pause) = (true, 1, PAUSE);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of so many windows those that one thread runs, where it takes 100 ns for one, and several threads what `together` says.
    fn alone(windows: u32, together: impl Fn(u32) -> u64) -> u32 {
        let mut trial = ThreadTuner::new().trial;
        let mut alone = 0;
        for window in 0..windows {
            alone += u32::from(trial.alone);
            trial.judge(if trial.alone { 100 } else { together(window) });
        }
        alone
    }

    #[test]
    fn threads_that_are_faster_go_on() {
        // The first, and one after every so many.
        assert_eq!(alone(2 + 10 * (FRESH + 1), |_| 60), 11);
        // Two of three disturbed, but none after a pause.
        assert_eq!(alone(2 + FRESH + 1, |window| if window % TRIALS == 2 { 60 } else { 9_000 }), 2);
    }

    #[test]
    fn threads_without_cores_are_left_alone() {
        // After the first two windows, a trial and a pause in turn; pauses double.
        let lengths: Vec<u32> = (0..10).map(|n| (PAUSE << n).min(MOST_PAUSE)).collect();
        let pauses: u32 = lengths.iter().sum();
        assert_eq!(alone(2 + lengths.len() as u32 + pauses, |_| 101), 1 + pauses);
    }

    #[test]
    fn cores_that_become_free_are_used() {
        // Nothing but 3 trials and 2 pauses before the cores are free, in the third pause: 2 + 1 + 4 + 1 + 8 + 1.
        let run = |windows| alone(windows, |window| if window < 17 { 101 } else { 60 });
        assert_eq!(run(17 + 4 * PAUSE), 1 + PAUSE * (1 + 2 + 4));
        assert_eq!(run(17 + 4 * PAUSE + FRESH), run(17 + 4 * PAUSE));
    }

    /// A window of quanta ends when they have had so many cycles together, whatever else took time.
    #[test]
    fn quanta_are_judged_by_their_own_time() {
        let mut tuner = ThreadTuner::new();
        let mut alone = 0;
        for _ in 0..10 * QUANTUM_WINDOW / 64 {
            alone += u64::from(tuner.runs_alone());
            tuner.ran(64, Duration::from_micros(if tuner.runs_alone() { 100 } else { 60 }));
        }
        // The second window only, since several threads are faster.
        assert_eq!(alone, ALONE_WINDOW / 64);
    }

    #[test]
    fn a_window_of_quanta_that_lasts_too_long_ends() {
        let mut tuner = ThreadTuner::new();
        tuner.ran(64, Duration::from_nanos(FIRST_MOST_NS));
        assert!(!tuner.runs_alone(), "not that long");
        tuner.ran(64, Duration::from_nanos(1));
        assert!(tuner.runs_alone());
    }

    #[test]
    fn a_window_that_was_interrupted_is_not_judged() {
        let mut tuner = ThreadTuner::new();
        // The first window of several threads never ends.
        for cycle in 0..10 * WINDOW {
            if cycle % (WINDOW / 2) == 0 {
                tuner.interrupt();
            }
            assert!(!tuner.is_alone());
        }
        // Now it does, and one thread follows.
        assert!((0..WINDOW + 1).any(|_| tuner.is_alone()));
    }

    #[test]
    fn a_window_that_lasts_too_long_ends() {
        let mut tuner = ThreadTuner::new();
        assert!(!tuner.is_alone());
        tuner.delayed();
        assert!(!tuner.is_alone(), "not that long");
        tuner.trial.alone_ns = Some(0);
        std::thread::sleep(Duration::from_millis(1));
        tuner.delayed();
        assert!(tuner.is_alone());
    }
}
