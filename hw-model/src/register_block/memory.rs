//! Memory issue: counters of each kernel on each SM, latched on the firmware's command, and modes
//! and limits that the firmware sets.
//!
//! Registers: [`mias_registers::memory`]; sources.md D127. The model reports cumulative counts with
//! the other counts of an SM ([`RawCounters`]). It applies [`RegisterBlock::memory_settings`]
//! whenever [`RegisterBlock::memory_generation`] has changed. Settings reach the SMs in the cycle
//! in which they are written.

use super::RegisterBlock;
use super::counters::RawCounters;
use crate::config::MemoryIssueConfig;
use crate::sm::{KernelMemoryCounts, MemorySettings};
use mias_registers::{KERNEL_SLOTS, SM_WORDS, fault, feature, global, memory, memory_active, memory_mode, sm_bit};

/// Memory-issue state of an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct MemorySm {
    mode: u32,
    limits: [u8; KERNEL_SLOTS],
    /// True from arming until the first quotas after the window.
    undecided: bool,
    raw: [KernelMemoryCounts; KERNEL_SLOTS],
    base: [KernelMemoryCounts; KERNEL_SLOTS],
    /// Latched counts: differences to `base`, and the peak.
    latched: [KernelMemoryCounts; KERNEL_SLOTS],
    /// Mask of slots latched by the last snapshot.
    ready: u8,
}

/// State of memory issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MemoryBlock {
    sms: Vec<MemorySm>,
    /// Start of the restrictions: [`memory_active`].
    active: u32,
    interval: u32,
    /// End of the interval.
    pub(super) at: Option<u64>,
    generation: u32,
    /// Masks by SM of slots latched since the model's last query; their peaks restart.
    latched: Vec<u8>,
    /// Limit of each slot after reset.
    reset: [u8; KERNEL_SLOTS],
}

impl MemoryBlock {
    pub(super) fn new(sms: usize) -> Self {
        MemoryBlock {
            sms: vec![MemorySm::default(); sms],
            active: memory_active::ON,
            interval: 0,
            at: None,
            generation: 0,
            latched: vec![0; sms],
            reset: [0; KERNEL_SLOTS],
        }
    }

    /// Suspends the restrictions of an armed SM, so that profiling runs without them.
    pub(super) fn armed(&mut self, sm: usize) {
        self.set_undecided(sm, true);
    }

    /// Restores the restrictions of an SM that is not armed and has its quotas.
    pub(super) fn decided(&mut self, sm: usize) {
        self.set_undecided(sm, false);
    }

    fn set_undecided(&mut self, sm: usize, undecided: bool) {
        let Some(sm) = self.sms.get_mut(sm) else { return };
        let changes = std::mem::replace(&mut sm.undecided, undecided) != undecided;
        if changes && self.active == memory_active::FROM_DECISION {
            self.changed();
        }
    }

    /// Stores the model's counts of an SM.
    pub(super) fn load(&mut self, sm: usize, raw: &RawCounters) {
        if let Some(sm) = self.sms.get_mut(sm) {
            sm.raw = raw.memory;
        }
    }

    /// Latches, on all SMs, the slots with enough requests.
    fn snapshot(&mut self) {
        for (sm, taken) in self.sms.iter_mut().zip(&mut self.latched) {
            sm.ready = 0;
            for slot in 0..KERNEL_SLOTS {
                let (now, base) = (sm.raw[slot], &mut sm.base[slot]);
                if now.requests.saturating_sub(base.requests) < u64::from(memory::SAMPLE_REQUESTS) {
                    continue;
                }
                sm.latched[slot] = KernelMemoryCounts {
                    requests: now.requests - base.requests,
                    fails: now.fails - base.fails,
                    held_cycles: now.held_cycles - base.held_cycles,
                    ..now
                };
                *base = now;
                sm.ready |= 1 << slot;
                // At a second snapshot before the model's next counts, the peak is the number in
                // flight.
                sm.raw[slot].peak = now.in_flight;
            }
            *taken |= sm.ready;
        }
    }

    pub(super) fn changed(&mut self) {
        self.generation = self.generation.wrapping_add(1);
    }

    /// Register value of an SM; none if it does not exist or is not readable.
    pub(super) fn read(&self, sm: usize, offset: u32, slots: usize) -> Option<u32> {
        let state = self.sms.get(sm)?;
        let (count, in_flight) = (most(memory::COUNT_BITS), most(memory::IN_FLIGHT_BITS));
        let narrow = |value: u64, most: u32| value.min(most.into()) as u32;
        match offset {
            memory::MODE => return Some(state.mode),
            memory::READY => return Some(state.ready.into()),
            _ => {}
        }
        let slot = (offset / 4) as usize % KERNEL_SLOTS;
        let (now, latched) = (&state.raw[slot], &state.latched[slot]);
        let value = match offset & !(4 * KERNEL_SLOTS as u32 - 1) {
            memory::REQUESTS => narrow(latched.requests, count),
            memory::FAILS => narrow(latched.fails, count),
            memory::HELD_CYCLES => narrow(latched.held_cycles, count),
            memory::PEAK => narrow(latched.peak.into(), in_flight),
            memory::IN_FLIGHT => narrow(now.in_flight.into(), in_flight),
            memory::LIMIT if state.mode & memory_mode::LIMITS == memory_mode::WRITTEN => state.limits[slot].into(),
            memory::LIMIT => now.limit.into(),
            _ => return None,
        };
        (slot < slots).then_some(value)
    }

    /// Number of SMs with slots in the last snapshot, and maximum number of such slots per SM.
    pub(super) fn latched_kernels(&self) -> (u32, u32) {
        let kernels = || self.sms.iter().map(|sm| sm.ready.count_ones()).filter(|kernels| *kernels > 0);
        (kernels().count() as u32, kernels().max().unwrap_or(0))
    }

    /// Word of the bit map of SMs with slots in the last snapshot.
    fn ready(&self, word: usize) -> u32 {
        let of_word = self.sms.iter().enumerate().filter(|(sm, state)| sm_bit(*sm).0 == word && state.ready != 0);
        of_word.fold(0, |bits, (sm, _)| bits | sm_bit(sm).1)
    }
}

/// Maximum value of this many bits.
const fn most(bits: u32) -> u32 {
    (1 << bits) - 1
}

impl RegisterBlock {
    /// Enables memory-issue control, with the GPU file's settings after reset.
    #[must_use]
    pub fn with_memory_issue(mut self, config: Option<&MemoryIssueConfig>) -> Self {
        if let Some(config) = config {
            let MemorySettings { mode, limits, warp_quotas, .. } = MemorySettings::of(config);
            self.memory.reset = limits;
            for sm in &mut self.memory.sms {
                (sm.mode, sm.limits) = (mode, limits);
            }
            self.gpu.features |= feature::MEMORY_ISSUE;
            self = self.with_warp_quotas(warp_quotas);
        }
        self
    }

    /// Number that changes whenever [`RegisterBlock::memory_settings`] of an SM do.
    #[must_use]
    pub fn memory_generation(&self) -> u32 {
        self.memory.generation
    }

    /// Memory-issue settings of an SM.
    #[must_use]
    pub fn memory_settings(&self, sm: usize) -> MemorySettings {
        let Some(state) = self.memory.sms.get(sm) else { return MemorySettings::default() };
        let active = match self.memory.active {
            memory_active::FROM_DECISION => !state.undecided,
            active => active == memory_active::ON,
        };
        let (watched, warp_quotas) = (self.memory.interval != 0, self.shares.warp_quotas);
        MemorySettings { mode: state.mode, limits: state.limits, active, watched, warp_quotas }
    }

    /// Takes the mask of an SM's slots latched since the last call; their peaks restart at the
    /// number in flight.
    pub fn take_latched(&mut self, sm: usize) -> u8 {
        self.memory.latched.get_mut(sm).map_or(0, std::mem::take)
    }

    /// Resets a slot's counts, limit and quota for a new kernel. The model must have reported the
    /// counts of all SMs.
    pub fn memory_kernel_placed(&mut self, slot: usize) {
        for sm in &mut self.memory.sms {
            let raw = sm.raw.get(slot).copied().unwrap_or_default();
            for (table, begin) in [(&mut sm.base, raw), (&mut sm.latched, KernelMemoryCounts::default())] {
                table.get_mut(slot).into_iter().for_each(|of_slot| *of_slot = begin);
            }
            sm.ready &= !(1 << slot);
            if let (Some(limit), Some(reset)) = (sm.limits.get_mut(slot), self.memory.reset.get(slot)) {
                *limit = *reset;
            }
        }
        self.shares.kernel_placed(slot);
        self.memory.latched.iter_mut().for_each(|taken| *taken |= 1 << slot);
        self.memory.changed();
    }

    pub(super) fn read_memory_global(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            global::MEMORY_INTERVAL => self.memory.interval,
            global::MEMORY_ACTIVE => self.memory.active,
            _ => {
                let word = (offset.checked_sub(global::MEMORY_READY)? / 4) as usize;
                (word < SM_WORDS).then(|| self.memory.ready(word))?
            }
        })
    }

    pub(super) fn write_memory_global(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            global::MEMORY_INTERVAL => {
                if (value != 0) != (self.memory.interval != 0) {
                    self.memory.changed();
                }
                self.memory.interval = value;
                self.memory.at = (value != 0).then(|| self.now.saturating_add(value.into()));
                self.update_deadline();
            }
            global::MEMORY_SNAPSHOT => {
                self.memory.snapshot();
                self.busy.begin_memory();
            }
            global::MEMORY_ACTIVE => {
                let active = self.in_range(value, 0, memory_active::FROM_DECISION);
                if self.has_memory_issue() {
                    self.memory.active = active;
                    self.memory.changed();
                }
            }
            global::MEMORY_MODE_ALL => {
                for sm in 0..self.memory.sms.len() {
                    self.write_memory(sm, memory::MODE, value)?;
                }
            }
            _ => {
                let slot = (offset.checked_sub(global::MEMORY_LIMIT_ALL)? / 4) as usize;
                self.slots.get(slot)?;
                for sm in 0..self.memory.sms.len() {
                    self.write_memory(sm, memory::LIMIT + 4 * slot as u32, value)?;
                }
            }
        }
        Some(())
    }

    /// Writes a register of an SM; none if it does not exist or is not writable.
    pub(super) fn write_memory(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        self.memory.sms.get(sm)?;
        let slot = offset.checked_sub(memory::LIMIT).map(|rest| (rest / 4) as usize);
        if offset != memory::MODE && slot.is_none_or(|slot| slot >= self.slots.len()) {
            return None;
        }
        let value = match slot {
            Some(_) => self.in_range(value, 0, memory::MOST_IN_FLIGHT),
            None => self.in_range(value & memory_mode::ORDER, 0, memory_mode::QUOTA) | value & memory_mode::LIMITS,
        };
        if self.has_memory_issue() {
            let state = &mut self.memory.sms[sm];
            match slot {
                Some(slot) => *state.limits.get_mut(slot)? = value as u8,
                None => state.mode = value,
            }
            self.memory.changed();
        }
        Some(())
    }

    /// True if the SMs have memory-issue control; raises a fault if not.
    pub(super) fn has_memory_issue(&mut self) -> bool {
        let has = self.gpu.features & feature::MEMORY_ISSUE != 0;
        if !has {
            self.raise_fault(fault::UNSUPPORTED);
        }
        has
    }

    /// Ends the interval if its end has come, and starts the next.
    pub(super) fn end_memory_interval(&mut self) -> bool {
        let Some(at) = self.memory.at.filter(|at| *at <= self.now) else { return false };
        self.memory.at = Some(at.saturating_add(self.memory.interval.into()).max(self.now + 1));
        true
    }
}
