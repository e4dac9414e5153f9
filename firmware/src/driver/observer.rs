//! Observers of the driver: a strobe for a logic analyzer, a log, or a crash record.
//!
//! The driver calls an [`Observer`] at a few defined points; `()` observes nothing and costs
//! nothing. The strobe is an [`embedded_hal::digital::OutputPin`]. It is high from the end of
//! profiling until the configuration is chosen, so an oscilloscope shows the decision latency.
//! Quota writes come after its falling edge.

use embedded_hal::digital::OutputPin;

use crate::policy::Policy;
use crate::scheduler::{Event, Report};
use mias_registers::PhaseCode;

/// Observer of the driver. Every method does nothing by default, and must return soon, because it
/// runs inside the interrupt.
pub trait Observer {
    /// Receives an event that is about to be passed to the scheduler, at core cycle `now`.
    fn event(&mut self, event: &Event, now: u64) {
        let _ = (event, now);
    }

    /// Receives the phase that the scheduler has entered.
    fn phase(&mut self, phase: PhaseCode) {
        let _ = phase;
    }

    /// Receives the faults that the firmware has raised: [`mias_registers::fault`].
    fn fault(&mut self, faults: u32) {
        let _ = faults;
    }

    /// Receives a bus failure in an access to the register at this byte offset. No call follows
    /// until the firmware is restarted.
    fn bus_failed(&mut self, register: u32) {
        let _ = register;
    }

    /// Marks the start of a decision: profiling is over. The counters are about to be read.
    fn decision_begins(&mut self) {}

    /// Marks the choice of the configuration or of a second round. No quota has been written yet.
    fn decision_made(&mut self) {}

    /// Marks the commit of the quotas of all SMs, after a decision or otherwise.
    fn quotas_committed(&mut self) {}

    /// Reports the tried and the chosen configurations, right after [`Observer::decision_made`].
    fn decision<P: Policy, const C: usize>(&mut self, report: &Report<'_, P, C>) {
        let _ = report;
    }
}

impl Observer for () {}

impl<O: Observer> Observer for &mut O {
    fn event(&mut self, event: &Event, now: u64) {
        (**self).event(event, now);
    }

    fn phase(&mut self, phase: PhaseCode) {
        (**self).phase(phase);
    }

    fn fault(&mut self, faults: u32) {
        (**self).fault(faults);
    }

    fn bus_failed(&mut self, register: u32) {
        (**self).bus_failed(register);
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

    fn decision<P: Policy, const C: usize>(&mut self, report: &Report<'_, P, C>) {
        (**self).decision(report);
    }
}

/// Two observers, called in order.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn event(&mut self, event: &Event, now: u64) {
        self.0.event(event, now);
        self.1.event(event, now);
    }

    fn phase(&mut self, phase: PhaseCode) {
        self.0.phase(phase);
        self.1.phase(phase);
    }

    fn fault(&mut self, faults: u32) {
        self.0.fault(faults);
        self.1.fault(faults);
    }

    fn bus_failed(&mut self, register: u32) {
        self.0.bus_failed(register);
        self.1.bus_failed(register);
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

    fn decision<P: Policy, const C: usize>(&mut self, report: &Report<'_, P, C>) {
        self.0.decision(report);
        self.1.decision(report);
    }
}

/// Notes whether the firmware has finished an event, to feed the watchdog
/// ([`serve`](crate::service::serve)).
///
/// A timer counts only if it leads to another phase: one that expires too early is not progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress(pub bool);

impl Observer for Progress {
    fn event(&mut self, event: &Event, _: u64) {
        self.0 |= !matches!(event, Event::Timer);
    }

    fn phase(&mut self, _: PhaseCode) {
        self.0 = true;
    }
}

/// Drives a pin high during a decision. Errors of the pin are ignored, because a strobe must not
/// stop a scheduler.
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
