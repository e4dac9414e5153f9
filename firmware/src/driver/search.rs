//! The driver's part of a search: shares into quotas and states of SMs, counters of kernels into the search.

use super::{Firmware, Observer, stage};
use crate::policy::Policy;
use crate::scheduler::{Phase, SearchCommand};
use crate::search::{Beside, Holder, KernelCounts, Parameters, Shares, SmState};
use mias_registers::bus::{TryBus, read, write};
use mias_registers::{KERNEL_SLOTS, feature, global, search_found, sm, sm_state};

impl<P: Policy, const C: usize> Firmware<P, C> {
    /// Learns what a search is asked for, if the policy ever searches. A firmware before a reset may have left SMs stalled or gated: they go on.
    pub(super) fn start_searching<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        self.shares = Shares::NONE;
        if !self.scheduler.policy().searches() {
            return Ok(());
        }
        let parameters = Parameters::read(bus, self.scheduler.machine())?;
        self.scheduler.search_mut().parameters = parameters;
        if read(bus, global::FEATURES)? & feature::SM_STATES != 0 { self.resume_all(bus) } else { Ok(()) }
    }

    /// Carries out what a search asks for. True if the counters were read that its next step depends on.
    #[inline(never)]
    pub(super) fn search<B: TryBus>(
        &mut self,
        bus: &mut B,
        observer: &mut impl Observer,
        command: SearchCommand,
    ) -> Result<bool, B::Error> {
        match command {
            SearchCommand::ApplyShares => {
                self.apply_shares(bus)?;
                self.tell_found(bus)?;
                observer.quotas_committed();
            }
            SearchCommand::ResumeAll => {
                self.resume_all(bus)?;
                write(bus, global::SEARCH_FOUND, 0)?;
            }
            SearchCommand::BeginCounting => write(bus, global::KERNEL_SNAPSHOT, self.scheduled_mask())?,
            SearchCommand::ReadKernels => {
                let decides = matches!(self.scheduler.phase(), Phase::Decide);
                if decides {
                    observer.decision_begins();
                }
                self.read_kernels(bus)?;
                return Ok(decides);
            }
        }
        Ok(false)
    }

    /// All SMs are to issue, from all warps, whatever the shares say.
    pub(super) fn resume_all<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        self.shares = Shares::NONE;
        if self.limits_warps() {
            (global::ACTIVE_WARPS_ALL..).step_by(4).take(KERNEL_SLOTS).try_for_each(|register| write(bus, register, 0))?;
        }
        (0..self.scheduler.machine().sm_count).try_for_each(|sm| request(bus, sm, SmState::Active))
    }

    /// The policy limits active warps, and the hardware can.
    fn limits_warps(&self) -> bool {
        self.scheduler.policy().limits_warps() && self.scheduler.search().parameters.limits_warps
    }

    /// Says what is found so far: for traces.
    fn tell_found<B: TryBus>(&self, bus: &mut B) -> Result<(), B::Error> {
        let search = self.scheduler.search();
        let slots = self.scheduler.scheduled_slots().iter().enumerate();
        let of = |(kernel, slot): (usize, &u8)| u32::from(search.memory >> kernel & 1).checked_shl((*slot).into()).unwrap_or(0);
        let memory = slots.fold(0, |set, named| set | of(named)) & search_found::MEMORY_MASK;
        let windows = (u32::from(search.windows) & search_found::WINDOWS_MASK) << search_found::WINDOWS_SHIFT;
        for (slot, progress) in self.scheduler.scheduled_slots().iter().zip(search.progress().unwrap_or(&[])) {
            write(bus, global::SEARCH_PROGRESS + 4 * (u32::from(*slot) % KERNEL_SLOTS as u32), *progress)?;
        }
        let limits = if self.scheduler.policy().limits_warps() { search_found::LIMITS_WARPS } else { 0 };
        write(bus, global::SEARCH_FOUND, memory | windows | limits | if search.measuring() { 0 } else { search_found::DONE })
    }

    /// Slots of the scheduled kernels, one bit each.
    fn scheduled_mask(&self) -> u32 {
        self.scheduler.scheduled_slots().iter().fold(0, |mask, slot| mask | 1_u32.checked_shl((*slot).into()).unwrap_or(0))
    }

    /// Latches the counters of all scheduled kernels at one instant, and reads them.
    fn read_kernels<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        write(bus, global::KERNEL_SNAPSHOT, self.scheduled_mask())?;
        let beside = Beside {
            warp_ipc: self.scheduler.settings().warp_ipc,
            row_hits: self.scheduler.search().counts_row_hits(),
            l1: self.scheduler.policy().limits_warps(),
        };
        for kernel in 0..self.scheduler.scheduled_slots().len() {
            let slot = self.scheduler.scheduled_slots().get(kernel).copied().unwrap_or(0) % KERNEL_SLOTS as u8;
            let counts = KernelCounts::read(bus, slot, beside)?;
            if let Some(entry) = self.scheduler.search_mut().counts.get_mut(kernel) {
                *entry = counts;
            }
        }
        Ok(())
    }

    /// Stages the quotas of all SMs as the shares say, commits them, and then says what every SM is to be. SMs that change hands first get
    /// the quotas of their new kernel, then go on: what is on them leaves as the quotas say, or at once where the firmware preempts.
    fn apply_shares<B: TryBus>(&mut self, bus: &mut B) -> Result<(), B::Error> {
        self.clear_quotas(bus)?;
        if self.limits_warps() {
            for (slot, limit) in self.scheduler.scheduled_slots().iter().zip(self.scheduler.search().limits()) {
                write(bus, global::ACTIVE_WARPS_ALL + 4 * (u32::from(*slot) % KERNEL_SLOTS as u32), limit.into())?;
            }
        }
        if let Some(vector) = self.scheduler.search().together() {
            stage(bus, global::QUOTA_ALL, self.scheduler.scheduled_slots(), vector)?;
            write(bus, global::COMMIT, 1)?;
            return if self.shares.sms() != 0 { self.resume_all(bus) } else { Ok(()) };
        }
        let shares = self.scheduler.search().shares;
        let (slots, sms) = (self.scheduler.scheduled_slots(), shares.sms());
        for (kernel, entry) in self.scheduler.dealt().iter().enumerate() {
            let mut holders = shares.holders();
            for word in 0..sms.div_ceil(32) {
                let bits = (0..32).zip(holders.by_ref().take(32));
                let bits = bits.fold(0, |bits, (bit, holder)| bits | u32::from(holder.kernel == Some(kernel)) << bit);
                write(bus, global::QUOTA_SMS + 4 * u32::from(word), bits)?;
            }
            stage(bus, global::QUOTA_SOME, slots, entry.vector)?;
        }
        write(bus, global::COMMIT, 1)?;
        let before = core::mem::replace(&mut self.shares, shares);
        let mut held = before.holders();
        for (sm, holder) in (0..).zip(shares.holders()) {
            // Without shares before them, every SM issues.
            let old = held.next().unwrap_or(Holder { state: SmState::Active, ..holder });
            if old.state != holder.state {
                request(bus, sm, holder.state)?;
            }
            // Before the first window the shares are other kernels'.
            #[cfg(feature = "preempt")]
            if let Some(kernel) = old.kernel.filter(|_| old.kernel != holder.kernel && self.scheduler.search().windows != 0) {
                self.move_away(bus, sm, kernel)?;
            }
        }
        Ok(())
    }

    /// Makes the TBs of a kernel leave an SM that is another's now, if the firmware preempts: by draining if the kernel ended a TB while the
    /// search began, else by a context switch (Zhao et al. 2018, section 4.1.2).
    #[cfg(feature = "preempt")]
    fn move_away<B: TryBus>(&self, bus: &mut B, sm: u16, kernel: usize) -> Result<(), B::Error> {
        use crate::preempt::Scheme;
        use mias_registers::{preempt, preempt_command, preempt_tb, technique};
        if self.scheme == Scheme::None {
            return Ok(());
        }
        let Some(slot) = self.scheduler.scheduled_slots().get(kernel).copied() else { return Ok(()) };
        let drains = self.scheduler.search().drains >> kernel & 1 != 0;
        let how = if drains { technique::DRAIN } else { technique::SWITCH } << preempt_command::TECHNIQUE_SHIFT;
        let base = preempt::at(sm.into(), 0);
        for place in 0..preempt::MAX_PLACES as u32 {
            let tb = read(bus, base + preempt::TB + 4 * place)?;
            if tb & preempt_tb::LIVE != 0 && tb >> preempt_tb::SLOT_SHIFT & 7 == u32::from(slot) {
                write(bus, base + preempt::COMMAND + 4 * place, how)?;
            }
        }
        Ok(())
    }
}

/// Asks for a state of an SM.
fn request<B: TryBus>(bus: &mut B, sm: u16, state: SmState) -> Result<(), B::Error> {
    let code = match state {
        SmState::Active => sm_state::ACTIVE,
        SmState::Stalled => sm_state::STALLED,
        SmState::Gated => sm_state::GATED,
    };
    write(bus, sm::at(sm.into(), sm::STATE_REQUEST), code)
}
