//! The driver's part of a search: it lends the bus to the search, and reports that its counters
//! were read.

use super::{Extension, Firmware, Observer};
use crate::policy::{Policy, Search};
use crate::scheduler::{Phase, SearchCommand};
use mias_registers::bus::{TryBus, write};
use mias_registers::global;

impl<P: Policy, E: Extension, const C: usize> Firmware<P, E, C> {
    /// Reads the search parameters, if the policy ever searches.
    pub(super) fn start_searching<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        match self.scheduler.search_mut() {
            Some((search, placement)) => search.start(bus, placement.gpu),
            None => Ok(()),
        }
    }

    /// Lets all SMs issue again, if a search has stalled or gated any.
    #[inline(always)]
    pub(super) fn end_shares<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        if !self.scheduler.policy().search().is_some_and(Search::is_in_effect) {
            return Ok(());
        }
        match self.scheduler.search_mut() {
            Some((search, placement)) => search.resume_all(bus, placement.gpu.sm_count),
            None => Ok(()),
        }
    }

    /// Executes a command of a search. Returns true if it read the counters that the next step
    /// depends on.
    #[inline(never)]
    pub(super) fn search<B: TryBus>(
        &mut self,
        bus: &mut B,
        observer: &mut impl Observer,
        command: SearchCommand,
    ) -> Result<bool, B::Error> {
        if command == SearchCommand::ApplyShares {
            self.clear_quotas(bus)?;
        }
        let decides = matches!(self.scheduler.phase(), Phase::Decide);
        let extension = &self.extension;
        let Some((search, placement)) = self.scheduler.search_mut() else { return Ok(false) };
        match command {
            SearchCommand::ApplyShares => {
                search.apply(bus, &placement, |bus, sm, slot, drains| extension.vacate(bus, sm, slot, drains))?;
                observer.quotas_committed();
            }
            SearchCommand::ResumeAll => {
                search.resume_all(bus, placement.gpu.sm_count)?;
                write(bus, global::SEARCH_FOUND, 0)?;
            }
            SearchCommand::BeginCounting => write(bus, global::KERNEL_SNAPSHOT, mask(placement.slots))?,
            SearchCommand::ReadKernels => {
                if decides {
                    observer.decision_begins();
                }
                write(bus, global::KERNEL_SNAPSHOT, mask(placement.slots))?;
                search.read_kernels(bus, &placement)?;
                return Ok(decides);
            }
        }
        Ok(false)
    }
}

/// Returns the slots as a mask, one bit each.
fn mask(slots: &[u8]) -> u32 {
    slots.iter().fold(0, |mask, slot| mask | 1_u32.checked_shl((*slot).into()).unwrap_or(0))
}
