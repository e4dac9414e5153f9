//! Register block of the scheduler as a device: the hardware side of [`mias_registers`].
//!
//! Firmware accesses it through [`mias_registers::bus::Bus`] (the access rules are in `access.rs`);
//! the timing model uses the methods here. In each cycle the model must:
//!
//! 1. report changes ([`RegisterBlock::set_resident`], [`RegisterBlock::set_unissued`],
//!    [`RegisterBlock::post_launch`], ...);
//! 2. call [`RegisterBlock::tick`] if [`RegisterBlock::needs_tick`]; it requests the counters of
//!    just those SMs whose window starts or ends in this cycle, so that windows are exact;
//! 3. run the firmware if [`RegisterBlock::calls_firmware`], and tick once more if needed;
//! 4. apply [`RegisterBlock::quota`] whenever [`RegisterBlock::generation`] has changed.
//!
//! Without reports, nothing happens before [`RegisterBlock::next_deadline`], so a model may skip
//! ahead to it.

mod access;
mod active_warps;
mod activity;
mod broadcast;
mod busy;
mod counters;
mod description;
mod dram;
mod kernels;
mod launch;
mod memory;
mod oversubscription;
mod preempt;
mod queue;
mod shares;
mod sm_states;
mod state;
mod ways;
mod windows;

#[cfg(test)]
mod tests;

use mias_registers::{MAX_WINDOW, PhaseCode, SM_WORDS, fault, global, interrupt, mode};

pub use activity::{Activity, ActivityEvent};
pub use counters::RawCounters;
pub use description::{GpuDescription, KernelDescriptor, SearchStraps, Straps};
pub use kernels::RawKernel;
pub use oversubscription::{ExtraTbLimit, Peak};
pub use preempt::{PreemptAction, ShownTb};
pub use queue::Admitted;

use active_warps::ActiveWarpsBlock;
use activity::ActivityLog;
use broadcast::QuotaBus;
use busy::Busy;
use dram::DramBlock;
use kernels::KernelBlock;
use memory::MemoryBlock;
use oversubscription::OversubscriptionBlock;
use preempt::PreemptBlock;
use queue::QueueBlock;
use shares::SharesBlock;
use sm_states::StateBlock;
use state::{Notes, SlotState, SmState, Timer, Watchdog};
use ways::WaysBlock;

/// Register block of the scheduler. Two equal blocks answer every access alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterBlock {
    gpu: GpuDescription,
    now: u64,
    cycle_high: u32,
    sms: Vec<SmState>,
    slots: Vec<SlotState>,
    /// Slots in the launch FIFO, oldest first.
    launches: Vec<usize>,
    rejected: u32,
    timer: Timer,
    watchdog: Watchdog,
    /// Preemption of TBs.
    preempt: PreemptBlock,
    int_status: u32,
    int_enable: u32,
    drained: u32,
    completed: u32,
    partition: [u32; SM_WORDS],
    profile_done: [u32; SM_WORDS],
    /// Mask of the SMs to which the next row of quotas applies.
    quota_sms: [u32; SM_WORDS],
    mode: u32,
    profile_window: u32,
    notes: Notes,
    faults: u32,
    generation: u32,
    /// True if an armed SM may have reached its partition.
    evaluate: bool,
    /// Quotas on the bus to the SMs.
    quota_bus: QuotaBus,
    /// Memory-issue control.
    memory: MemoryBlock,
    /// Partitioning of cache ways.
    ways: WaysBlock,
    /// Shares of warp instructions and miss resources.
    shares: SharesBlock,
    /// Requested and actual states of SMs.
    states: StateBlock,
    /// Limits of active warps.
    warps: ActiveWarpsBlock,
    /// Order of DRAM requests.
    dram: DramBlock,
    /// Counters of kernels.
    kernels: KernelBlock,
    /// Extra TBs of oversubscription.
    oversubscription: OversubscriptionBlock,
    /// Window of the launch queue.
    queue: QueueBlock,
    /// Earliest end of a window, timer, watchdog, memory-issue interval or decision, or next step
    /// of the quota bus.
    deadline: Option<u64>,
    /// Decision time of the firmware.
    busy: Busy,
    /// Log of events, if recorded.
    activity: Option<ActivityLog>,
}

impl RegisterBlock {
    /// Creates a register block after reset: no kernels, all quotas 0, all interrupts disabled,
    /// drain mode, longest window.
    #[must_use]
    pub fn new(gpu: GpuDescription) -> Self {
        let gpu = gpu.within_map();
        Self {
            sms: vec![SmState::default(); gpu.sm_count as usize],
            slots: vec![SlotState::default(); gpu.slot_count as usize],
            memory: MemoryBlock::new(gpu.sm_count as usize),
            ways: WaysBlock::new(gpu.sm_count as usize),
            shares: SharesBlock::default(),
            states: StateBlock::new(gpu.sm_count as usize),
            warps: ActiveWarpsBlock::new(gpu.sm_count as usize),
            dram: DramBlock::default(),
            kernels: KernelBlock::default(),
            oversubscription: OversubscriptionBlock::default(),
            queue: QueueBlock::default(),
            gpu,
            now: 0,
            cycle_high: 0,
            launches: Vec::new(),
            rejected: 0,
            timer: Timer::default(),
            watchdog: Watchdog::default(),
            preempt: PreemptBlock::default(),
            int_status: 0,
            int_enable: 0,
            drained: 0,
            completed: 0,
            partition: [0; SM_WORDS],
            profile_done: [0; SM_WORDS],
            quota_sms: [0; SM_WORDS],
            mode: mode::DRAIN,
            profile_window: MAX_WINDOW,
            notes: Notes::default(),
            faults: 0,
            generation: 0,
            evaluate: false,
            quota_bus: QuotaBus::default(),
            deadline: None,
            busy: Busy::default(),
            activity: None,
        }
    }

    /// Description of the machine.
    #[must_use]
    pub fn gpu(&self) -> &GpuDescription {
        &self.gpu
    }

    /// Replaces the straps, as if they had been set from the beginning.
    #[must_use]
    pub fn with_straps(mut self, straps: Straps) -> Self {
        self.gpu.straps = straps;
        self
    }

    /// Quota of the kernel in `slot` on `sm`, as far as a commit has arrived; 0 for SMs and slots
    /// that do not exist.
    #[must_use]
    pub fn quota(&self, sm: usize, slot: usize) -> u32 {
        self.sms.get(sm).and_then(|sm| sm.active.get(slot)).copied().map_or(0, u32::from)
    }

    /// Number that changes whenever a quota, an arm bit or the transition mode does.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// True if transitions are ideal (0 cycles) instead of drained.
    #[must_use]
    pub fn ideal_transition(&self) -> bool {
        self.mode == mode::IDEAL
    }

    /// Cycle of the last [`RegisterBlock::tick`] or [`RegisterBlock::set_now`].
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sets the cycle counter without evaluating anything; the firmware sees it. Time never
    /// decreases.
    pub fn set_now(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// Reports the TBs of `slot` that are resident on `sm`, at most 255.
    pub fn set_resident(&mut self, sm: usize, slot: usize, tbs: u32) {
        let tbs = u8::try_from(tbs).unwrap_or(u8::MAX);
        if let Some(state) = self.sms.get_mut(sm)
            && let Some(resident) = state.resident.get_mut(slot)
            && *resident != tbs
        {
            *resident = tbs;
            self.evaluate |= state.armed;
            self.note(ActivityEvent::Resident { sm: sm as u16, slot: slot as u8, tbs });
        }
    }

    /// Number of TBs of `slot` resident on `sm` as last reported.
    #[must_use]
    pub fn resident(&self, sm: usize, slot: usize) -> u32 {
        self.sms.get(sm).and_then(|sm| sm.resident.get(slot)).copied().map_or(0, u32::from)
    }

    /// Stores the cumulative counts of an SM.
    ///
    /// Call it before the firmware runs, since the firmware may take snapshots by command. Windows
    /// get their counts through [`RegisterBlock::tick`].
    pub fn load_counters(&mut self, sm: usize, raw: RawCounters) {
        self.memory.load(sm, &raw);
        if let Some(state) = self.sms.get_mut(sm) {
            state.counters.load(raw);
        }
    }

    /// Pending [`interrupt`] events: raised and not cleared by the firmware.
    #[must_use]
    pub fn pending_events(&self) -> u32 {
        self.int_status
    }

    /// Disables all interrupts, as for a firmware that is never called again.
    pub(crate) fn sleep(&mut self) {
        self.int_enable = 0;
    }

    /// True if the interrupt line is high.
    #[must_use]
    pub fn interrupt_pending(&self) -> bool {
        self.int_status & self.int_enable != 0
    }

    /// Scheduler phase that the firmware last reported; none for an unknown code.
    #[must_use]
    pub fn phase(&self) -> Option<PhaseCode> {
        PhaseCode::from_code(self.notes.get(global::PHASE))
    }

    /// Number of reschedulings that the firmware last reported.
    #[must_use]
    pub fn reschedulings(&self) -> u32 {
        self.notes.get(global::RESCHEDULINGS)
    }

    /// Result of the SM search that the firmware last reported: [`mias_registers::search_found`].
    #[must_use]
    pub fn search_found(&self) -> u32 {
        self.notes.get(global::SEARCH_FOUND)
    }

    /// Progress of the kernel in a slot with the SMs found, as last estimated by the firmware, in
    /// parts of 2^14; 0 without an estimate.
    #[must_use]
    pub fn search_progress(&self, slot: usize) -> u32 {
        self.notes.progress.get(slot).copied().unwrap_or(0)
    }

    /// Raised [`fault`] bits.
    #[must_use]
    pub fn faults(&self) -> u32 {
        self.faults
    }

    /// True if the watchdog has expired since it was last fed.
    #[must_use]
    pub fn watchdog_expired(&self) -> bool {
        self.watchdog.expired
    }

    fn raise(&mut self, events: u32) {
        self.int_status |= events;
        self.note(ActivityEvent::Raised(events));
    }

    fn raise_fault(&mut self, faults: u32) {
        let new = faults & fault::ALL & !self.faults;
        if new != 0 {
            self.faults |= new;
            self.raise(interrupt::FAULT);
        }
    }

    /// Clamps a value into its field and raises a fault if it was out of range.
    fn in_range(&mut self, value: u32, min: u32, max: u32) -> u32 {
        let clamped = value.clamp(min, max);
        if clamped != value {
            self.raise_fault(fault::VALUE_RANGE);
        }
        clamped
    }

    fn changed(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.evaluate = true;
    }
}
