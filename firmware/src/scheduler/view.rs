//! The scheduler's state as seen by the driver, reports and tests: quotas of SMs, and places for
//! measurements.

use super::{Phase, Report, Scheduler};
use crate::configs::{ConfigTable, Entry, Sums, TbVector};
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::policy::{Policy, Search};
use crate::sm_set::SmSet;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// Returns the most TBs on an SM of the kernel in each slot of [`Scheduler::scheduled_slots`];
    /// all 0 for an SM without a configuration.
    #[must_use]
    pub fn quotas(&self, sm: usize) -> TbVector {
        if let Some(search) = self.policy.search().filter(|search| search.is_running()) {
            return search.quotas(u16::try_from(sm).unwrap_or(u16::MAX), self.table.entries());
        }
        self.broadcast.or_else(|| Some(self.table.entries().get(self.table.assigned(sm)?)?.vector)).unwrap_or_default()
    }

    /// Returns the configurations that are assigned to the SMs, unless all get the same: SM `i` of
    /// a machine gets the `i mod n`-th of the `n`.
    #[must_use]
    pub fn dealt(&self) -> &[Entry] {
        self.table.current()
    }

    /// Returns the vector of all SMs, if they all get the same.
    #[must_use]
    pub fn broadcast(&self) -> Option<TbVector> {
        self.broadcast.or(match self.table.entries() {
            [only] => Some(only.vector),
            _ => None,
        })
    }

    /// Returns the slots of the scheduled kernels, in the order of the vectors' components.
    #[must_use]
    pub fn scheduled_slots(&self) -> &[u8] {
        self.table.slots()
    }

    /// Returns the SMs whose window of the current round is over.
    #[must_use]
    pub fn done(&self) -> &SmSet {
        &self.done
    }

    /// Returns the sums for the counters of a finished SM; none if it runs no configuration.
    pub fn sums_mut(&mut self, sm: u16) -> Option<&mut Sums> {
        let index = self.table.assigned(usize::from(sm))?;
        self.table.sums_mut(index)
    }

    /// Returns the table for counters, the SMs whose counters are valid, the policy and the
    /// machine.
    pub fn measured(&mut self) -> (&mut ConfigTable<C>, &SmSet, &P, &GpuProperties) {
        (&mut self.table, &self.done, &self.policy, &self.gpu)
    }

    /// Returns the launched kernels in launch order.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Returns the kernels, to refresh the values that change while they run.
    pub fn kernels_mut(&mut self) -> &mut [Kernel] {
        &mut self.kernels
    }

    /// Returns whether one more kernel can be taken from the launch FIFO.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.kernels.is_full()
    }

    /// Returns the current phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the number of reschedulings so far.
    #[must_use]
    pub fn reschedulings(&self) -> u32 {
        self.reschedulings
    }

    /// Returns the policy.
    #[must_use]
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Returns the policy, to set values that it has not read from a register block.
    pub fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    /// Returns the parameters.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the machine.
    #[must_use]
    pub fn gpu(&self) -> &GpuProperties {
        &self.gpu
    }

    /// Returns the tried configurations and the reason for the choice.
    #[must_use]
    pub fn report(&self) -> Report<'_, P, C> {
        Report::new(&self.policy, &self.table, self.broadcast, self.reschedulings)
    }
}
