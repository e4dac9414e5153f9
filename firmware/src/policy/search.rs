//! Searches: a policy may determine the contents of SMs in steps.
//!
//! The scheduler times the steps, the driver lends the search its bus, and the policy decides what
//! to try. An image with a policy that never searches contains no search code ([`NoSearch`]).

use mias_registers::bus::TryBus;

use super::Context;
use crate::configs::{Entry, TbVector};
use crate::gpu::{GpuProperties, Settings};

/// Action after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Try a placement: one window to settle, one window to measure.
    Measure,
    /// Keep the current placement.
    Done,
    /// Keep the current placement for this number of cycles, and then continue the search.
    Rest(u32),
}

/// Assignment of the scheduled kernels to SMs.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// Properties of the GPU.
    pub gpu: &'a GpuProperties,
    /// Parameters of the scheduler.
    pub settings: &'a Settings,
    /// Slots of the scheduled kernels, in the order of the vectors' components.
    pub slots: &'a [u8],
    /// Assigned configurations, one for each kernel.
    pub dealt: &'a [Entry],
}

/// A search, in steps of two windows each.
pub trait Search {
    /// Starts with the firmware: reads the parameters, and undoes the state that a firmware left
    /// before a reset.
    ///
    /// # Errors
    /// The bus failed.
    fn start<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties) -> Result<(), B::Error>;

    /// Restarts with an even split of `sms` SMs among `kernels` kernels.
    fn begin(&mut self, sms: u16, kernels: usize);

    /// Selects the next action, after a step or at the start of the search.
    fn next(&mut self, context: &Context<'_>) -> Next;

    /// Aborts the search. The placement stays, and no SM is stalled.
    fn give_up(&mut self);

    /// Ends the search, because another mechanism places TBs from now on.
    fn leave(&mut self);

    /// Continues the search after a rest.
    fn go_on(&mut self);

    /// Rests for `cycles` once the result is in effect.
    fn rest_for(&mut self, cycles: u32);

    /// Returns the cycles of the rest that starts now; none if the search is over.
    fn take_rest(&mut self) -> Option<u32>;

    /// Notes that the changes of the step have settled, and the counters of kernels were read.
    fn warmed_up(&mut self);

    /// Returns whether the search controls the SMs.
    fn is_running(&self) -> bool;

    /// Returns whether the search controls the SMs and is not over.
    fn is_measuring(&self) -> bool;

    /// Returns whether the hardware supports the search.
    fn is_able(&self) -> bool;

    /// Returns the cycles in which the changes of a step settle.
    fn settle_cycles(&self) -> u32;

    /// Returns the cycles in which kernels are measured.
    fn measure_cycles(&self) -> u32;

    /// Returns the most TBs of each kernel on an SM, for a table with one entry per kernel.
    fn quotas(&self, sm: u16, entries: &[Entry]) -> TbVector;

    /// Returns whether the requested SM states are in effect.
    fn is_in_effect(&self) -> bool;

    /// Lets all SMs issue from all warps.
    ///
    /// # Errors
    /// The bus failed.
    fn resume_all<B: TryBus>(&mut self, bus: &mut B, sms: u16) -> Result<(), B::Error>;

    /// Latches the counters of all scheduled kernels at one instant, and reads them.
    ///
    /// # Errors
    /// The bus failed.
    fn read_kernels<B: TryBus>(&mut self, bus: &mut B, placement: &Placement<'_>) -> Result<(), B::Error>;

    /// Stages the quotas of all SMs, which are 0 before, commits them, and writes the state of
    /// every SM and the result so far.
    ///
    /// `vacate` makes the TBs of the kernel in a slot leave a reassigned SM: by draining, if its
    /// last argument is `true`.
    ///
    /// # Errors
    /// The bus failed.
    fn apply<B: TryBus>(
        &mut self,
        bus: &mut B,
        placement: &Placement<'_>,
        vacate: impl Fn(&mut B, u16, u8, bool) -> Result<(), B::Error>,
    ) -> Result<(), B::Error>;
}

/// Search of a policy without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoSearch {}

impl Search for NoSearch {
    fn start<B: TryBus>(&mut self, _: &mut B, _: &GpuProperties) -> Result<(), B::Error> {
        match *self {}
    }

    fn begin(&mut self, _: u16, _: usize) {
        match *self {}
    }

    fn next(&mut self, _: &Context<'_>) -> Next {
        match *self {}
    }

    fn give_up(&mut self) {
        match *self {}
    }

    fn leave(&mut self) {
        match *self {}
    }

    fn go_on(&mut self) {
        match *self {}
    }

    fn rest_for(&mut self, _: u32) {
        match *self {}
    }

    fn take_rest(&mut self) -> Option<u32> {
        match *self {}
    }

    fn warmed_up(&mut self) {
        match *self {}
    }

    fn is_running(&self) -> bool {
        match *self {}
    }

    fn is_measuring(&self) -> bool {
        match *self {}
    }

    fn is_able(&self) -> bool {
        match *self {}
    }

    fn settle_cycles(&self) -> u32 {
        match *self {}
    }

    fn measure_cycles(&self) -> u32 {
        match *self {}
    }

    fn quotas(&self, _: u16, _: &[Entry]) -> TbVector {
        match *self {}
    }

    fn is_in_effect(&self) -> bool {
        match *self {}
    }

    fn resume_all<B: TryBus>(&mut self, _: &mut B, _: u16) -> Result<(), B::Error> {
        match *self {}
    }

    fn read_kernels<B: TryBus>(&mut self, _: &mut B, _: &Placement<'_>) -> Result<(), B::Error> {
        match *self {}
    }

    fn apply<B: TryBus>(
        &mut self,
        _: &mut B,
        _: &Placement<'_>,
        _: impl Fn(&mut B, u16, u8, bool) -> Result<(), B::Error>,
    ) -> Result<(), B::Error> {
        match *self {}
    }
}
