//! Searches: a policy may find in steps what SMs are to have. The scheduler times the steps, the driver hands the search its bus; what is
//! tried is the policy's. A policy that never searches has none of it in an image ([`NoSearch`]).

use mias_registers::bus::TryBus;

use super::Context;
use crate::configs::{Entry, TbVector};
use crate::gpu::{GpuProperties, Settings};

/// What follows a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Something is tried: a window to settle, a window to measure.
    Measure,
    /// What is placed stays.
    Done,
    /// It stays for so many cycles, and then the search goes on.
    Rest(u32),
}

/// What is scheduled where.
#[derive(Clone, Copy, Debug)]
pub struct Placement<'a> {
    /// The machine.
    pub gpu: &'a GpuProperties,
    /// Parameters.
    pub settings: &'a Settings,
    /// Slots of the scheduled kernels, in the order of the vectors' components.
    pub slots: &'a [u8],
    /// The configurations that are dealt, one for each kernel.
    pub dealt: &'a [Entry],
}

/// A search, in steps of two windows each.
pub trait Search {
    /// The firmware starts: learns what is asked for, and what a firmware before a reset left is undone.
    ///
    /// # Errors
    /// The bus failed.
    fn start<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties) -> Result<(), B::Error>;

    /// Begins anew with the even split of so many SMs among so many kernels.
    fn begin(&mut self, sms: u16, kernels: usize);

    /// A step is over, or the search begins: what is next?
    fn next(&mut self, context: &Context<'_>) -> Next;

    /// Gives up: what is placed stays, and nothing is stalled.
    fn give_up(&mut self);

    /// Something else places TBs from here on.
    fn leave(&mut self);

    /// It has rested and goes on.
    fn go_on(&mut self);

    /// It rests for so many cycles once what it has found is in effect.
    fn rest_for(&mut self, cycles: u32);

    /// How long it rests from now on; none if it is over.
    fn take_rest(&mut self) -> Option<u32>;

    /// What the step changes has settled, and the counters of kernels were read.
    fn warmed_up(&mut self);

    /// Whether it says what SMs have.
    fn is_running(&self) -> bool;

    /// Whether it is running and not over.
    fn is_measuring(&self) -> bool;

    /// Whether the hardware can do what it asks for.
    fn is_able(&self) -> bool;

    /// Cycles in which what a step changes settles.
    fn settle_cycles(&self) -> u32;

    /// Cycles in which kernels are measured.
    fn measure_cycles(&self) -> u32;

    /// TBs that an SM may hold of each kernel, of which the table has an entry each.
    fn quotas(&self, sm: u16, entries: &[Entry]) -> TbVector;

    /// Whether SMs are as it has asked for.
    fn is_in_effect(&self) -> bool;

    /// All SMs are to issue, from all warps.
    ///
    /// # Errors
    /// The bus failed.
    fn resume_all<B: TryBus>(&mut self, bus: &mut B, sms: u16) -> Result<(), B::Error>;

    /// Latches the counters of all scheduled kernels at one instant, and reads them.
    ///
    /// # Errors
    /// The bus failed.
    fn read_kernels<B: TryBus>(&mut self, bus: &mut B, placement: &Placement<'_>) -> Result<(), B::Error>;

    /// Stages the quotas of all SMs, which are 0, commits them, and says what every SM is to be, and what is found so far. `vacate` makes
    /// the TBs of the kernel in a slot leave an SM that is another's now: by draining, if that is `true`.
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

/// The search of a policy that has none.
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
