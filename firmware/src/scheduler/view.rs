//! What the driver, reports and tests see of the scheduler: which SM gets what, and where measurements go.

use super::{Phase, Report, Scheduler};
use crate::configs::{ConfigTable, Entry, Sums, TbVector};
use crate::gpu::{GpuProperties, Settings};
use crate::kernel::Kernel;
use crate::policy::{Policy, Search};
use crate::sm_set::SmSet;

impl<P: Policy, const C: usize> Scheduler<P, C> {
    /// TBs that an SM may hold of the kernel in each slot of [`Scheduler::scheduled_slots`]; all 0 for an SM without a
    /// configuration.
    #[must_use]
    pub fn quotas(&self, sm: usize) -> TbVector {
        if let Some(search) = self.policy.search().filter(|search| search.is_running()) {
            return search.quotas(u16::try_from(sm).unwrap_or(u16::MAX), self.table.entries());
        }
        self.broadcast.or_else(|| Some(self.table.entries().get(self.table.assigned(sm)?)?.vector)).unwrap_or_default()
    }

    /// The configurations that are dealt to the SMs, unless all get the same: SM `i` of a machine gets the `i mod n`-th of the `n`.
    #[must_use]
    pub fn dealt(&self) -> &[Entry] {
        self.table.current()
    }

    /// The vector that all SMs get, if they all get the same.
    #[must_use]
    pub fn broadcast(&self) -> Option<TbVector> {
        self.broadcast.or(match self.table.entries() {
            [only] => Some(only.vector),
            _ => None,
        })
    }

    /// Slots of the scheduled kernels, in the order of the vectors' components.
    #[must_use]
    pub fn scheduled_slots(&self) -> &[u8] {
        self.table.slots()
    }

    /// SMs whose window of the current round is over.
    #[must_use]
    pub fn done(&self) -> &SmSet {
        &self.done
    }

    /// Where to add the counters of an SM that is done; none if it runs no configuration.
    pub fn sums_mut(&mut self, sm: u16) -> Option<&mut Sums> {
        let index = self.table.assigned(usize::from(sm))?;
        self.table.sums_mut(index)
    }

    /// The table to add counters to, the SMs whose counters count, and the policy and the machine for which they do.
    pub fn measured(&mut self) -> (&mut ConfigTable<C>, &SmSet, &P, &GpuProperties) {
        (&mut self.table, &self.done, &self.policy, &self.gpu)
    }

    /// The launched kernels in launch order.
    #[must_use]
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Where to refresh what changes while a kernel runs.
    pub fn kernels_mut(&mut self) -> &mut [Kernel] {
        &mut self.kernels
    }

    /// Whether one more kernel can be taken from the launch FIFO.
    #[must_use]
    pub fn has_room(&self) -> bool {
        !self.kernels.is_full()
    }

    /// Current phase.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Reschedulings so far.
    #[must_use]
    pub fn reschedulings(&self) -> u32 {
        self.reschedulings
    }

    /// The policy.
    #[must_use]
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The policy, to be told what it has not read from a register block.
    pub fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    /// The parameters.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The machine.
    #[must_use]
    pub fn gpu(&self) -> &GpuProperties {
        &self.gpu
    }

    /// What was tried and why the winner won.
    #[must_use]
    pub fn report(&self) -> Report<'_, P, C> {
        Report::new(&self.policy, &self.table, self.broadcast, self.reschedulings)
    }
}
