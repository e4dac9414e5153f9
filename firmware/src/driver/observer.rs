//! Who may watch the driver at work: a strobe for a logic analyser, a log, a record for the time after a fault.
//!
//! The driver calls an [`Observer`] at the few points that matter; `()` watches nothing and costs nothing. The strobe is an
//! [`embedded_hal::digital::OutputPin`]: high from the end of profiling to the moment that the configuration is chosen, so that
//! an oscilloscope shows the decision latency (quota writes come after its falling edge).

use embedded_hal::digital::OutputPin;

use crate::policy::Policy;
use crate::scheduler::{Event, Report};
use mias_registers::PhaseCode;

/// Watches the driver. Every method does nothing by default, and must return soon: it runs inside the interrupt.
pub trait Observer {
    /// An event is about to be handed to the scheduler, at core cycle `now`.
    fn event(&mut self, event: &Event, now: u64) {
        let _ = (event, now);
    }

    /// The scheduler entered a phase.
    fn phase(&mut self, phase: PhaseCode) {
        let _ = phase;
    }

    /// The firmware raised faults: [`mias_registers::fault`].
    fn fault(&mut self, faults: u32) {
        let _ = faults;
    }

    /// The bus failed when the register at this byte offset was accessed. Nothing follows until the firmware is started again.
    fn bus_failed(&mut self, register: u32) {
        let _ = register;
    }

    /// Profiling is over; the counters are about to be read.
    fn decision_begins(&mut self) {}

    /// The configuration is chosen, or a second round is; no quota has been written yet.
    fn decision_made(&mut self) {}

    /// The quotas of all SMs have been written and committed, after a decision or not.
    fn quotas_committed(&mut self) {}

    /// What was tried, and what was chosen, right after [`Observer::decision_made`].
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

/// Two observers; the first is told first.
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
