//! The scheduler's register block as a device: the hardware's end of [`mias_registers`].
//!
//! Firmware reaches it through [`mias_registers::bus::Bus`] (the access rules are in `access.rs`); the timing model through
//! the methods here. The model's part of the deal, per cycle:
//!
//! 1. report what changed ([`RegisterBlock::set_resident`], [`RegisterBlock::set_unissued`], [`RegisterBlock::post_launch`], ...);
//! 2. if [`RegisterBlock::needs_tick`], call [`RegisterBlock::tick`], which asks for the counters of just those SMs whose
//!    window starts or ends in this cycle, so that windows are exact;
//! 3. if [`RegisterBlock::calls_firmware`], let the firmware run, and tick once more if needed;
//! 4. follow [`RegisterBlock::quota`] whenever [`RegisterBlock::generation`] has changed.
//!
//! Between two such cycles nothing happens before [`RegisterBlock::next_deadline`], so a model may skip ahead to it.

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

/// The register block. Two that are equal answer every access alike.
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
    /// TBs that leave by command.
    preempt: PreemptBlock,
    int_status: u32,
    int_enable: u32,
    drained: u32,
    completed: u32,
    partition: [u32; SM_WORDS],
    profile_done: [u32; SM_WORDS],
    /// SMs that the next row of quotas is for, one bit each.
    quota_sms: [u32; SM_WORDS],
    mode: u32,
    profile_window: u32,
    notes: Notes,
    faults: u32,
    generation: u32,
    /// An armed SM may have reached its partition.
    evaluate: bool,
    /// Quotas on their way to the SMs.
    quota_bus: QuotaBus,
    /// Memory issue.
    memory: MemoryBlock,
    /// Ways of the caches.
    ways: WaysBlock,
    /// Warp instructions and miss resources.
    shares: SharesBlock,
    /// What SMs are to be, and are.
    states: StateBlock,
    /// Limits of active warps.
    warps: ActiveWarpsBlock,
    /// The order of DRAM requests.
    dram: DramBlock,
    /// Counters of kernels.
    kernels: KernelBlock,
    /// Extra TBs.
    oversubscription: OversubscriptionBlock,
    /// The window of the queue of launches.
    queue: QueueBlock,
    /// Earliest end of a window, timer, watchdog, interval of memory issue or decision, or turn on the quota bus.
    deadline: Option<u64>,
    /// The firmware's time.
    busy: Busy,
    /// What happened, if it is recorded.
    activity: Option<ActivityLog>,
}

impl RegisterBlock {
    /// A register block after reset: no kernels, all quotas 0, all interrupts disabled, drain mode, longest window.
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

    /// The machine that it was built for.
    #[must_use]
    pub fn gpu(&self) -> &GpuDescription {
        &self.gpu
    }

    /// The same block with other straps, as if it had been wired so from the beginning.
    #[must_use]
    pub fn with_straps(mut self, straps: Straps) -> Self {
        self.gpu.straps = straps;
        self
    }

    /// TBs of the kernel in `slot` that `sm` may hold, as far as a commit has come; 0 for SMs and slots that do not exist.
    #[must_use]
    pub fn quota(&self, sm: usize, slot: usize) -> u32 {
        self.sms.get(sm).and_then(|sm| sm.active.get(slot)).copied().map_or(0, u32::from)
    }

    /// Changes whenever a quota, an arm bit or the transition mode does.
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.generation
    }

    /// Whether transitions are ideal (0 cycles) instead of drained.
    #[must_use]
    pub fn ideal_transition(&self) -> bool {
        self.mode == mode::IDEAL
    }

    /// Cycle of the last [`RegisterBlock::tick`] or [`RegisterBlock::set_now`].
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sets the cycle counter without evaluating anything; the firmware sees it. Time never runs backwards.
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

    /// TBs of `slot` resident on `sm` as last reported.
    #[must_use]
    pub fn resident(&self, sm: usize, slot: usize) -> u32 {
        self.sms.get(sm).and_then(|sm| sm.resident.get(slot)).copied().map_or(0, u32::from)
    }

    /// Hands over the cumulative counts of an SM. To be done before the firmware runs, which may take snapshots by command; windows
    /// get theirs through [`RegisterBlock::tick`].
    pub fn load_counters(&mut self, sm: usize, raw: RawCounters) {
        self.memory.load(sm, &raw);
        if let Some(state) = self.sms.get_mut(sm) {
            state.counters.load(raw);
        }
    }

    /// [`interrupt`] events that have happened and that the firmware has not cleared.
    #[must_use]
    pub fn pending_events(&self) -> u32 {
        self.int_status
    }

    /// Disables all interrupts, as a firmware that is never to be called again would.
    pub(crate) fn sleep(&mut self) {
        self.int_enable = 0;
    }

    /// Whether the interrupt line is high.
    #[must_use]
    pub fn interrupt_pending(&self) -> bool {
        self.int_status & self.int_enable != 0
    }

    /// Scheduler phase as the firmware last reported it; none for a code that does not exist.
    #[must_use]
    pub fn phase(&self) -> Option<PhaseCode> {
        PhaseCode::from_code(self.notes.get(global::PHASE))
    }

    /// Reschedulings as the firmware last reported them.
    #[must_use]
    pub fn reschedulings(&self) -> u32 {
        self.notes.get(global::RESCHEDULINGS)
    }

    /// What a search for SMs has found, as the firmware last said it: [`mias_registers::search_found`].
    #[must_use]
    pub fn search_found(&self) -> u32 {
        self.notes.get(global::SEARCH_FOUND)
    }

    /// The progress of the kernel in a slot on the shares found, as the firmware last estimated it, in parts of 2^14; 0 if it does not.
    #[must_use]
    pub fn search_progress(&self, slot: usize) -> u32 {
        self.notes.progress.get(slot).copied().unwrap_or(0)
    }

    /// [`fault`] bits that are set.
    #[must_use]
    pub fn faults(&self) -> u32 {
        self.faults
    }

    /// Whether the watchdog has expired since it was last fed.
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

    /// Clamps a value into its field, and says so.
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
