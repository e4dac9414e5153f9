//! Thread tuning: measures whether several threads run the GPU faster than one.
//!
//! Several threads are faster where each has a core. Where other programs need the cores, waiting
//! for a preempted thread costs a time slice, a thousand times the duration of a cycle. The number
//! of free cores is unknown and varies, so both modes are timed, and the faster one is kept.
//! Results do not depend on it. (Own; the numbers are assumptions.)

use std::time::{Duration, Instant};

/// Cycles timed together: several milliseconds, longer than the wake-up of a thread.
const WINDOW: u32 = 512;
/// Window of cycles that run in quanta. A longer one would cost a short run more if it was
/// disturbed.
const QUANTUM_WINDOW: u64 = WINDOW as u64;
/// Window of one thread that is timed only for comparison, during which the parallel speed is lost.
const ALONE_WINDOW: u64 = QUANTUM_WINDOW / 2;
/// Number of consecutive windows of several threads before one thread is timed again, since the
/// cost of a cycle changes with the kernels.
const FRESH: u32 = 128;
/// Number of consecutive slow windows of several threads before a change to one thread, since a
/// single one may have been disturbed. After a pause, one is enough.
const TRIALS: u32 = 3;
/// Factor over one thread's window at which a window of several threads ends early.
const MOST_TIMES: u64 = 2;
/// Duration at which a window of several threads ends early, 20 milliseconds, while one thread has
/// not been timed.
const FIRST_MOST_NS: u64 = 20_000_000;
/// Initial number of windows of one thread before the next trial. It doubles with each failed
/// trial.
const PAUSE: u32 = 4;
/// Maximum number of windows of one thread before the next trial: several seconds.
const MOST_PAUSE: u32 = PAUSE << 7;

/// Current mode, and its time so far.
#[derive(Clone, Debug)]
pub(super) struct ThreadTuner {
    /// Cycles of the current window.
    cycles: u32,
    /// Start of the current window; none if it was interrupted.
    since: Option<Instant>,
    /// Cycles of the current window of quanta, and their time in nanoseconds.
    quanta: (u64, u64),
    trial: Trial,
}

/// Decision logic, without the clock.
#[derive(Clone, Debug)]
struct Trial {
    /// True while one thread runs.
    alone: bool,
    /// Number of windows until the mode changes.
    left: u32,
    /// Time of one thread's last window in nanoseconds, if there was one.
    alone_ns: Option<u64>,
    /// Number of consecutive windows of several threads that took longer.
    slower: u32,
    /// Number of windows of the next pause.
    pause: u32,
}

impl ThreadTuner {
    /// Starts with several threads.
    pub(super) fn new() -> Self {
        let trial = Trial { alone: false, left: 1, alone_ns: None, slower: 0, pause: PAUSE };
        ThreadTuner { cycles: 0, since: None, quanta: (0, 0), trial }
    }

    /// Discards the current window, since other work takes time now.
    pub(super) fn interrupt(&mut self) {
        (self.cycles, self.since) = (0, None);
    }

    /// Checks the current window after a slow cycle of several threads, since it may end early.
    pub(super) fn delayed(&mut self) {
        if self.since.is_some_and(|since| nanoseconds(since.elapsed()) > self.trial.most_ns()) {
            self.cycles = 0;
        }
    }

    /// True if one thread runs the coming quantum of cycles. Report its time to
    /// [`ThreadTuner::ran`].
    pub(super) fn runs_alone(&self) -> bool {
        self.trial.alone
    }

    /// Records the time of a quantum of cycles. Time between quanta is not counted.
    pub(super) fn ran(&mut self, cycles: u64, time: Duration) {
        self.quanta = (self.quanta.0 + cycles, self.quanta.1 + nanoseconds(time));
        let (cycles, ns) = self.quanta;
        let window = if self.trial.alone { ALONE_WINDOW } else { QUANTUM_WINDOW };
        // Without a core, a window ends early.
        if cycles >= window || ns > self.trial.most_ns() {
            self.trial.judge(ns * QUANTUM_WINDOW / cycles);
            self.quanta = (0, 0);
        }
    }

    /// True if one thread runs the coming cycle.
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
    /// Maximum time of a window in nanoseconds.
    fn most_ns(&self) -> u64 {
        self.alone_ns.map_or(FIRST_MOST_NS, |ns| MOST_TIMES.saturating_mul(ns))
    }

    /// Judges a window by its time in nanoseconds.
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

    /// Number of windows that one thread runs, where it takes 100 ns per window and several threads
    /// take the time that `together` returns.
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
        // The first window, and one after every `FRESH` windows.
        assert_eq!(alone(2 + 10 * (FRESH + 1), |_| 60), 11);
        // Two of three windows are disturbed, but none after a pause.
        assert_eq!(alone(2 + FRESH + 1, |window| if window % TRIALS == 2 { 60 } else { 9_000 }), 2);
    }

    #[test]
    fn threads_without_cores_are_left_alone() {
        // After the first two windows, trials and pauses alternate; pauses double.
        let lengths: Vec<u32> = (0..10).map(|n| (PAUSE << n).min(MOST_PAUSE)).collect();
        let pauses: u32 = lengths.iter().sum();
        assert_eq!(alone(2 + lengths.len() as u32 + pauses, |_| 101), 1 + pauses);
    }

    #[test]
    fn cores_that_become_free_are_used() {
        // Only 3 trials and 2 pauses come before the cores are free, in the third pause: 2 + 1 + 4
        // + 1 + 8 + 1.
        let run = |windows| alone(windows, |window| if window < 17 { 101 } else { 60 });
        assert_eq!(run(17 + 4 * PAUSE), 1 + PAUSE * (1 + 2 + 4));
        assert_eq!(run(17 + 4 * PAUSE + FRESH), run(17 + 4 * PAUSE));
    }

    /// A window of quanta ends after a number of cycles in quanta, regardless of other time.
    #[test]
    fn quanta_are_judged_by_their_own_time() {
        let mut tuner = ThreadTuner::new();
        let mut alone = 0;
        for _ in 0..10 * QUANTUM_WINDOW / 64 {
            alone += u64::from(tuner.runs_alone());
            tuner.ran(64, Duration::from_micros(if tuner.runs_alone() { 100 } else { 60 }));
        }
        // Only the second window, since several threads are faster.
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
