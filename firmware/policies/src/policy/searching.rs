//! Policies that search, with the state of their search: conversion of shares to quotas and SM
//! states, and of kernel counters to search input.

use mias_firmware::configs::{ConfigTable, Entry, TbVector};
use mias_firmware::driver::stage;
use mias_firmware::gpu::GpuProperties;
use mias_firmware::policy::{Context, Next, Placement, Plan, Policy, Search as Steps};
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{KERNEL_SLOTS, feature, global, search_found, sm, sm_state};

use super::{CdSearch, EffectiveBandwidth, FairShare, GivenShares, MOST_CLIMBS, MOST_TUNED, MaestroSearch, MiasTrial};
use crate::search::{Beside, Holder, KernelCounts, Limits, Parameters, Search, Searches, Shares, SmState};

/// Returns the most windows of a search on a number of SMs.
///
/// One window classifies. The performance mode takes at least one SM in each window, and leaves one
/// to each kernel. The power mode has one window for the first SMs, one for the estimate, and
/// returns at least one SM in each later one. Then the result is measured, if it was not, and TB
/// vectors may be tried, one and its neighbors. Fair share has a window alone for each kernel, at
/// most as many steps as neighbors, and the even split. Limits on active warps take at most
/// [`MOST_TUNED`] windows, for any number of SMs.
#[must_use]
pub const fn most_windows(sms: u16) -> u16 {
    let of_shares = sms.saturating_add(1).saturating_add(2 + MOST_CLIMBS as u16);
    if of_shares < MOST_TUNED { MOST_TUNED } else { of_shares }
}

/// One of the searching policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPolicy {
    /// Classification-driven search.
    CdSearch(CdSearch),
    /// Spatial with given numbers of SMs.
    GivenShares(GivenShares),
    /// Maestro with hill climbing.
    MaestroSearch(MaestroSearch),
    /// Fair share.
    FairShare(FairShare),
    /// Effective bandwidth.
    EffectiveBandwidth(EffectiveBandwidth),
    /// Trials on the whole GPU.
    MiasTrial(MiasTrial),
}

/// Evaluates the same expression for every searching policy.
macro_rules! each {
    ($self:ident, $policy:ident => $call:expr) => {
        match $self {
            Self::CdSearch($policy) => $call,
            Self::GivenShares($policy) => $call,
            Self::MaestroSearch($policy) => $call,
            Self::FairShare($policy) => $call,
            Self::EffectiveBandwidth($policy) => $call,
            Self::MiasTrial($policy) => $call,
        }
    };
}

impl Searches for SearchPolicy {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        each!(self, policy => policy.generate_configs(context, table))
    }

    fn begin(&mut self) {
        each!(self, policy => policy.begin());
    }

    fn search(&mut self, context: &Context<'_>, search: &mut Search) -> Next {
        each!(self, policy => policy.search(context, search))
    }

    fn settled(&mut self, search: &mut Search) {
        each!(self, policy => policy.settled(search));
    }

    fn give_up(&mut self, search: &mut Search) {
        each!(self, policy => policy.give_up(search));
    }

    fn settle_cycles(&self, parameters: &Parameters) -> u32 {
        each!(self, policy => policy.settle_cycles(parameters))
    }

    fn measure_cycles(&self, parameters: &Parameters) -> u32 {
        each!(self, policy => policy.measure_cycles(parameters))
    }

    fn limits(&self) -> Option<Limits> {
        each!(self, policy => policy.limits())
    }

    fn counts_row_hits(&self) -> bool {
        each!(self, policy => policy.counts_row_hits())
    }

    fn progress(&self) -> &[u32] {
        each!(self, policy => policy.progress())
    }
}

/// A searching policy with its search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Searching {
    /// Policy that decides.
    pub by: SearchPolicy,
    /// State of the search, also after its end.
    pub state: Search,
    /// Shares in effect; those of no SM while every SM issues and another mechanism places TBs.
    in_effect: Shares,
}

impl Searching {
    /// Creates a search that has not started.
    #[must_use]
    pub const fn new(by: SearchPolicy) -> Self {
        Self { by, state: Search::NONE, in_effect: Shares::NONE }
    }

    /// Returns the limits on active warps, if the policy has them and the hardware supports them.
    fn limits(&self) -> Option<Limits> {
        self.by.limits().filter(|_| self.state.parameters.limits_warps)
    }

    /// Writes the result so far, for traces.
    fn tell_found<B: TryBus>(&self, bus: &mut B, placed: &[u8]) -> Result<(), B::Error> {
        let search = &self.state;
        let slots = placed.iter().enumerate();
        let of = |(kernel, slot): (usize, &u8)| u32::from(search.memory >> kernel & 1).checked_shl((*slot).into()).unwrap_or(0);
        let memory = slots.fold(0, |set, named| set | of(named)) & search_found::MEMORY_MASK;
        let windows = (u32::from(search.windows) & search_found::WINDOWS_MASK) << search_found::WINDOWS_SHIFT;
        for (slot, progress) in placed.iter().zip(self.by.progress()) {
            write(bus, global::SEARCH_PROGRESS + 4 * (u32::from(*slot) % KERNEL_SLOTS as u32), *progress)?;
        }
        let limits = if self.by.limits().is_some() { search_found::LIMITS_WARPS } else { 0 };
        write(bus, global::SEARCH_FOUND, memory | windows | limits | if search.measuring() { 0 } else { search_found::DONE })
    }

    /// Stages and commits the quotas of the shares on all SMs, and then requests every SM's state.
    /// Reassigned SMs first get the quotas of their new kernel, then resume. Their old TBs leave by
    /// the quotas, or at once if the firmware preempts.
    fn apply_shares<B: TryBus>(
        &mut self,
        bus: &mut B,
        placement: &Placement<'_>,
        vacate: impl Fn(&mut B, u16, u8, bool) -> Result<(), B::Error>,
    ) -> Result<(), B::Error> {
        let slots = placement.slots;
        if let Some(limits) = self.limits() {
            for (slot, limit) in slots.iter().zip(limits) {
                write(bus, global::ACTIVE_WARPS_ALL + 4 * (u32::from(*slot) % KERNEL_SLOTS as u32), limit.into())?;
            }
        }
        if let Some(vector) = self.state.on_all {
            stage(bus, global::QUOTA_ALL, slots, vector)?;
            bus.try_barrier()?;
            write(bus, global::COMMIT, 1)?;
            return if self.in_effect.sms() != 0 { self.resume_all(bus, placement.gpu.sm_count) } else { Ok(()) };
        }
        let shares = self.state.shares;
        let sms = shares.sms();
        for (kernel, entry) in placement.dealt.iter().enumerate() {
            let mut holders = shares.holders();
            for word in 0..sms.div_ceil(32) {
                let bits = (0..32).zip(holders.by_ref().take(32));
                let bits = bits.fold(0, |bits, (bit, holder)| bits | u32::from(holder.kernel == Some(kernel)) << bit);
                write(bus, global::QUOTA_SMS + 4 * u32::from(word), bits)?;
            }
            stage(bus, global::QUOTA_SOME, slots, entry.vector)?;
        }
        bus.try_barrier()?;
        write(bus, global::COMMIT, 1)?;
        let before = core::mem::replace(&mut self.in_effect, shares);
        let mut held = before.holders();
        for (sm, holder) in (0..).zip(shares.holders()) {
            // Before the first shares every SM issues.
            let old = held.next().unwrap_or(Holder { state: SmState::Active, ..holder });
            if old.state != holder.state {
                request(bus, sm, holder.state)?;
            }
            // Before the first window the shares belong to other kernels.
            if let Some(kernel) = old.kernel.filter(|_| old.kernel != holder.kernel && self.state.windows != 0)
                && let Some(slot) = slots.get(kernel)
            {
                // A kernel that ended a TB at the start of the search drains (Zhao et al. 2018,
                // section 4.1.2).
                vacate(bus, sm, *slot, self.state.drains >> kernel & 1 != 0)?;
            }
        }
        Ok(())
    }
}

impl Policy for Searching {
    fn generate_configs<const C: usize>(&self, context: &Context<'_>, table: &mut ConfigTable<C>) -> Plan {
        self.by.generate_configs(context, table)
    }

    fn search(&self) -> Option<&impl Steps> {
        Some(self)
    }

    fn search_mut(&mut self) -> Option<&mut impl Steps> {
        Some(self)
    }
}

impl Steps for Searching {
    /// Reads the parameters, and resumes SMs that a firmware before a reset may have left stalled
    /// or gated.
    fn start<B: TryBus>(&mut self, bus: &mut B, gpu: &GpuProperties) -> Result<(), B::Error> {
        self.in_effect = Shares::NONE;
        self.state.parameters = Parameters::read(bus, gpu)?;
        if read(bus, global::FEATURES)? & feature::SM_STATES != 0 { self.resume_all(bus, gpu.sm_count) } else { Ok(()) }
    }

    fn begin(&mut self, sms: u16, kernels: usize) {
        self.state.begin(sms, kernels);
        self.by.begin();
    }

    fn next(&mut self, context: &Context<'_>) -> Next {
        self.by.search(context, &mut self.state)
    }

    fn give_up(&mut self) {
        self.by.give_up(&mut self.state);
        self.state.give_up();
    }

    fn leave(&mut self) {
        self.state.leave();
    }

    fn go_on(&mut self) {
        self.state.go_on();
    }

    fn rest_for(&mut self, cycles: u32) {
        self.state.rest = Some(cycles);
    }

    fn take_rest(&mut self) -> Option<u32> {
        self.state.rest.take()
    }

    fn warmed_up(&mut self) {
        self.by.settled(&mut self.state);
        self.state.windows = self.state.windows.saturating_add(1);
    }

    fn is_running(&self) -> bool {
        self.state.running()
    }

    fn is_measuring(&self) -> bool {
        self.state.measuring()
    }

    fn is_able(&self) -> bool {
        let parameters = &self.state.parameters;
        parameters.able && (parameters.limits_warps || self.by.limits().is_none())
    }

    fn settle_cycles(&self) -> u32 {
        self.by.settle_cycles(&self.state.parameters)
    }

    fn measure_cycles(&self) -> u32 {
        self.by.measure_cycles(&self.state.parameters)
    }

    fn quotas(&self, sm: u16, entries: &[Entry]) -> TbVector {
        if let Some(vector) = self.state.on_all {
            return vector;
        }
        let holder = self.state.shares.holder(sm);
        holder.kernel.and_then(|kernel| Some(entries.get(kernel)?.vector)).unwrap_or_default()
    }

    fn is_in_effect(&self) -> bool {
        self.in_effect.sms() != 0
    }

    /// Lets all SMs issue from all warps, independent of the shares.
    fn resume_all<B: TryBus>(&mut self, bus: &mut B, sms: u16) -> Result<(), B::Error> {
        self.in_effect = Shares::NONE;
        if self.limits().is_some() {
            (global::ACTIVE_WARPS_ALL..).step_by(4).take(KERNEL_SLOTS).try_for_each(|register| write(bus, register, 0))?;
        }
        (0..sms).try_for_each(|sm| request(bus, sm, SmState::Active))
    }

    fn read_kernels<B: TryBus>(&mut self, bus: &mut B, placement: &Placement<'_>) -> Result<(), B::Error> {
        let beside = Beside { warp_ipc: placement.settings.warp_ipc, row_hits: self.by.counts_row_hits(), l1: self.by.limits().is_some() };
        for (kernel, slot) in placement.slots.iter().enumerate() {
            let counts = KernelCounts::read(bus, *slot % KERNEL_SLOTS as u8, beside)?;
            if let Some(entry) = self.state.counts.get_mut(kernel) {
                *entry = counts;
            }
        }
        Ok(())
    }

    fn apply<B: TryBus>(
        &mut self,
        bus: &mut B,
        placement: &Placement<'_>,
        vacate: impl Fn(&mut B, u16, u8, bool) -> Result<(), B::Error>,
    ) -> Result<(), B::Error> {
        self.apply_shares(bus, placement, vacate)?;
        self.tell_found(bus, placement.slots)
    }
}

/// Requests a state of an SM.
fn request<B: TryBus>(bus: &mut B, sm: u16, state: SmState) -> Result<(), B::Error> {
    let code = match state {
        SmState::Active => sm_state::ACTIVE,
        SmState::Stalled => sm_state::STALLED,
        SmState::Gated => sm_state::GATED,
    };
    write(bus, sm::at(sm.into(), sm::STATE_REQUEST), code)
}
