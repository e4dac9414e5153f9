//! Who may watch the driver at work: a strobe for a logic analyser, a log, a record for the time after a fault.
//!
//! The driver calls an [`Observer`] at the few points that matter; `()` watches nothing and costs nothing. The strobe is an
//! [`embedded_hal::digital::OutputPin`]: high from the end of profiling to the moment that the configuration is chosen, so that
//! an oscilloscope shows the decision latency (quota writes come after its falling edge).

use embedded_hal::digital::OutputPin;

use crate::scheduler::Event;

/// Watches the driver. Every method does nothing by default, and must return soon: it runs inside the interrupt.
pub trait Observer {
    /// An event is about to be handed to the scheduler, at core cycle `now`.
    fn event(&mut self, event: &Event, now: u64) {
        let _ = (event, now);
    }

    /// Profiling is over; the counters are about to be read.
    fn decision_begins(&mut self) {}

    /// The configuration is chosen, or a second round is; no quota has been written yet.
    fn decision_made(&mut self) {}

    /// The quotas of all SMs have been written and committed, after a decision or not.
    fn quotas_committed(&mut self) {}
}

impl Observer for () {}

impl<O: Observer> Observer for &mut O {
    fn event(&mut self, event: &Event, now: u64) {
        (**self).event(event, now);
    }

    fn decision_begins(&mut self) {
        (**self).decision_begins();
    }

    fn decision_made(&mut self) {
        (**self).decision_made();
    }

    fn quotas_committed(&mut self) {
        (**self).quotas_committed();
    }
}

/// Two observers; the first is told first.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn event(&mut self, event: &Event, now: u64) {
        self.0.event(event, now);
        self.1.event(event, now);
    }

    fn decision_begins(&mut self) {
        self.0.decision_begins();
        self.1.decision_begins();
    }

    fn decision_made(&mut self) {
        self.0.decision_made();
        self.1.decision_made();
    }

    fn quotas_committed(&mut self) {
        self.0.quotas_committed();
        self.1.quotas_committed();
    }
}

/// Raises a pin while a decision is made. A pin that reports an error is left as it is: a strobe must not stop a scheduler.
#[derive(Debug)]
pub struct Strobe<P>(pub P);

impl<P: OutputPin> Observer for Strobe<P> {
    fn decision_begins(&mut self) {
        let _ = self.0.set_high();
    }

    fn decision_made(&mut self) {
        let _ = self.0.set_low();
    }
}
