//! Firmware side of the register block, with every access rule of [`mias_registers`].

use mias_registers::bus::Bus;
use mias_registers::counters::COUNTERS;
use mias_registers::{
    ID_VALUE, KERNEL_SLOTS, MAX_SMS, MAX_WINDOW, SM_WORDS, VERSION_VALUE, fault, feature, global, interrupt, memory, mode, preempt, queue,
    slot, slot_control, slot_status, sm, sm_bit, sm_control, sm_status,
};

use super::RegisterBlock;
use super::activity::ActivityEvent;

/// Register that an offset refers to.
enum Target {
    Global(u32),
    Slot(usize, u32),
    Sm(usize, u32),
    Memory(usize, u32),
    Preempt(usize, u32),
    Queue(usize, u32),
}

/// Splits an offset into region, index and register.
fn decode(offset: u32) -> Target {
    if offset >= preempt::BASE {
        let rest = offset - preempt::BASE;
        Target::Preempt((rest / preempt::STRIDE) as usize, rest % preempt::STRIDE)
    } else if offset >= sm::BASE {
        let rest = offset - sm::BASE;
        Target::Sm((rest / sm::STRIDE) as usize, rest % sm::STRIDE)
    } else if (slot::BASE..slot::BASE + KERNEL_SLOTS as u32 * slot::STRIDE).contains(&offset) {
        let rest = offset - slot::BASE;
        Target::Slot((rest / slot::STRIDE) as usize, rest % slot::STRIDE)
    } else if (memory::BASE..memory::BASE + MAX_SMS as u32 * memory::STRIDE).contains(&offset) {
        let rest = offset - memory::BASE;
        Target::Memory((rest / memory::STRIDE) as usize, rest % memory::STRIDE)
    } else if (queue::BASE..queue::BASE + queue::ENTRIES as u32 * queue::STRIDE).contains(&offset) {
        let rest = offset - queue::BASE;
        Target::Queue((rest / queue::STRIDE) as usize, rest % queue::STRIDE)
    } else {
        Target::Global(offset)
    }
}

/// Returns `bit` if `set`, else 0.
fn flag(set: bool, bit: u32) -> u32 {
    if set { bit } else { 0 }
}

/// Index of `offset` within a register array.
pub(super) fn element(offset: u32, base: u32, count: usize) -> Option<usize> {
    let index = (offset.checked_sub(base)? / 4) as usize;
    (index < count).then_some(index)
}

impl Bus for RegisterBlock {
    fn read32(&mut self, offset: u32) -> u32 {
        let value = if !offset.is_multiple_of(4) {
            None
        } else {
            match decode(offset) {
                Target::Global(register) => self.read_global(register),
                Target::Slot(index, register) => self.read_slot(index, register),
                Target::Sm(index, register) => self.read_sm(index, register),
                Target::Memory(sm, register) => self.ways.read(sm, register).or_else(|| self.memory.read(sm, register, self.slots.len())),
                Target::Preempt(sm, register) => self.read_preempt(sm, register),
                Target::Queue(entry, register) => self.queue.read(entry, register),
            }
        };
        let value = value.unwrap_or_else(|| {
            self.raise_fault(fault::BAD_ACCESS);
            0
        });
        self.note(ActivityEvent::Read { offset, value });
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if self.busy.hold(offset, value) {
            return;
        }
        self.note(ActivityEvent::Write { offset, value });
        let done = if !offset.is_multiple_of(4) {
            None
        } else {
            match decode(offset) {
                Target::Global(register) => self.write_global(register, value),
                Target::Slot(index, register) => self.write_slot(index, register, value),
                Target::Sm(index, register) => self.write_sm(index, register, value),
                Target::Memory(sm, register) => self.write_ways(sm, register, value).or_else(|| self.write_memory(sm, register, value)),
                Target::Preempt(sm, register) => self.write_preempt(sm, register, value),
                Target::Queue(..) => None,
            }
        };
        if done.is_none() {
            self.raise_fault(fault::BAD_ACCESS);
        }
    }
}

impl RegisterBlock {
    fn read_global(&mut self, offset: u32) -> Option<u32> {
        let gpu = &self.gpu;
        Some(match offset {
            global::ID => ID_VALUE,
            global::VERSION => VERSION_VALUE,
            global::FEATURES => gpu.features,
            global::SM_COUNT => gpu.sm_count,
            global::SLOT_COUNT => gpu.slot_count,
            global::SM_THREADS => gpu.sm_threads,
            global::SM_REGISTERS => gpu.sm_registers,
            global::SM_SHARED_BYTES => gpu.sm_shared_bytes,
            global::SM_TBS => gpu.sm_tbs,
            global::WARP_THREADS => gpu.warp_threads,
            global::REGISTER_GRANULE => gpu.register_granule,
            global::SHARED_GRANULE_BYTES => gpu.shared_granule_bytes,
            global::LINEAR_COEFFICIENT => gpu.linear_coefficient_q16,
            global::SM_SCHEDULERS => gpu.sm_schedulers,
            global::REPLY_SECTORS => gpu.reply_sectors_q16,
            global::DRAM_SECTORS => gpu.dram_sectors_q16,
            global::L2_SECTORS => gpu.l2_sectors_q16,
            global::L2_ACCESS_BYTES => gpu.l2_access_bytes,
            global::SM_WAKE_CYCLES => gpu.sm_wake_cycles,
            global::STRAP_POLICY => gpu.straps.policy as u32,
            global::STRAP_PROFILE_WINDOW => gpu.straps.profile_window,
            global::STRAP_COALESCE_WINDOW => gpu.straps.coalesce_window,
            global::STRAP_OPTIONS => gpu.straps.options,
            global::STRAP_LOSS_THRESHOLD => gpu.straps.loss_threshold_permille,
            global::STRAP_MEMORY_INTERVAL => gpu.straps.memory_interval,
            global::STRAP_CONTEXT_INTERVAL => gpu.straps.context_interval,
            global::STRAP_PREEMPT => gpu.straps.preempt,
            global::STRAP_PREEMPT_LIMIT => gpu.straps.preempt_limit,
            global::STRAP_SEARCH_WARM_UP => gpu.straps.search.warm_up_cycles,
            global::STRAP_SEARCH_WINDOW => gpu.straps.search.window_cycles,
            global::STRAP_SEARCH_LOSS => gpu.straps.search.loss_permille,
            global::STRAP_SEARCH_UTILIZATION => gpu.straps.search.utilization_permille,
            global::STRAP_SEARCH_REACH => gpu.straps.search.reach_permille,
            global::STRAP_SEARCH_REACH_OF_HITS => gpu.straps.search.reach_of_hits_permille,
            global::CYCLE_LOW => {
                self.cycle_high = (self.now >> 32) as u32;
                self.now as u32
            }
            global::CYCLE_HIGH => self.cycle_high,
            global::TIMER_LOW => self.timer.low,
            global::TIMER_HIGH => (self.timer.compare >> 32) as u32,
            global::TIMER_ARMED => u32::from(self.timer.armed),
            global::INT_STATUS => self.int_status,
            global::INT_ENABLE => self.int_enable,
            global::INT_PENDING => self.int_status & self.int_enable,
            global::DRAINED => self.drained,
            global::COMPLETED => self.completed,
            global::MODE => self.mode,
            global::PROFILE_WINDOW => self.profile_window,
            global::PHASE | global::RESCHEDULINGS | global::DECISION_BEGIN | global::DECISION_CYCLES | global::SEARCH_FOUND => {
                self.notes.get(offset)
            }
            global::FAULT => self.faults,
            global::WATCHDOG_PERIOD => self.watchdog.period,
            global::LAUNCH_COUNT => self.launches.len() as u32,
            global::LAUNCH_SLOT => self.launches.first().map_or(0, |slot| *slot as u32),
            _ => return self.read_global_array(offset),
        })
    }

    fn read_global_array(&self, offset: u32) -> Option<u32> {
        if let Some(index) = element(offset, global::STRAP_FIXED, KERNEL_SLOTS) {
            self.gpu.straps.fixed.get(index).copied().map(u32::from)
        } else if let Some(index) = element(offset, global::STRAP_SHARES, KERNEL_SLOTS) {
            self.gpu.straps.search.shares.get(index).copied()
        } else if let Some(slot) = element(offset, global::SEARCH_PROGRESS, KERNEL_SLOTS) {
            self.notes.progress.get(slot).copied()
        } else if let Some(word) = element(offset, global::ARM, SM_WORDS) {
            let sms = self.sms.iter().skip(word * 32).take(32).enumerate();
            Some(sms.fold(0, |bits, (bit, sm)| bits | u32::from(sm.armed) << bit))
        } else if let Some(word) = element(offset, global::PARTITION, SM_WORDS) {
            self.partition.get(word).copied()
        } else if let Some(word) = element(offset, global::PROFILE_DONE, SM_WORDS) {
            self.profile_done.get(word).copied()
        } else if let Some(word) = element(offset, global::QUOTA_SMS, SM_WORDS) {
            self.quota_sms.get(word).copied()
        } else {
            let found = self.read_preempt_global(offset).or_else(|| self.ways.read_global(offset));
            let found = found.or_else(|| self.shares.read(offset, self.slots.len())).or_else(|| self.dram.read(offset));
            let found = found.or_else(|| self.read_memory_global(offset)).or_else(|| self.read_kernels(offset));
            found.or_else(|| self.oversubscription.read(offset, self.slots.len())).or_else(|| self.read_queue_global(offset))
        }
    }

    fn write_global(&mut self, offset: u32, value: u32) -> Option<()> {
        match offset {
            global::TIMER_LOW => self.timer.low = value,
            global::TIMER_HIGH => {
                self.timer.compare = u64::from(value) << 32 | u64::from(self.timer.low);
                self.timer.armed = true;
                self.update_deadline();
            }
            global::TIMER_ARMED => {
                self.timer.armed = value & 1 != 0;
                self.update_deadline();
            }
            global::INT_STATUS => self.int_status &= !value,
            global::INT_ENABLE => self.int_enable = value & interrupt::ALL,
            global::DRAINED => self.drained &= !value,
            global::COMPLETED => self.completed &= !value,
            global::MODE => {
                let features = self.gpu.features;
                let known = if features & feature::IDEAL_TRANSITION != 0 { mode::IDEAL } else { mode::DRAIN };
                let preempts = value == mode::PREEMPT && features & feature::PREEMPT != 0;
                self.mode = if preempts { mode::PREEMPT } else { self.in_range(value, 0, known) };
                self.changed();
            }
            global::PROFILE_WINDOW => self.profile_window = self.in_range(value, 1, MAX_WINDOW),
            global::COMMIT => self.commit(),
            global::KERNEL_SNAPSHOT => self.latch_kernels(value),
            global::PHASE => self.report_phase(value),
            global::RESCHEDULINGS => self.report_reschedulings(value),
            global::DECISION_BEGIN | global::DECISION_CYCLES | global::SEARCH_FOUND => self.notes.set(offset, value),
            global::FAULT => self.faults &= !value,
            global::FAULT_SET => self.raise_fault(value & fault::BY_FIRMWARE),
            global::WATCHDOG_PERIOD => {
                self.watchdog.period = value;
                self.watchdog.feed(self.now);
                self.update_deadline();
            }
            global::WATCHDOG_FEED => {
                self.watchdog.feed(self.now);
                self.update_deadline();
            }
            global::LAUNCH_POP => {
                if !self.launches.is_empty() {
                    self.launches.remove(0);
                }
            }
            _ => return self.write_global_array(offset, value),
        }
        Some(())
    }

    fn write_global_array(&mut self, offset: u32, value: u32) -> Option<()> {
        let bits = (0..32).filter(|bit| value >> bit & 1 != 0);
        if let Some(word) = element(offset, global::ARM, SM_WORDS) {
            bits.for_each(|bit| self.arm(word * 32 + bit));
        } else if let Some(word) = element(offset, global::DISARM, SM_WORDS) {
            bits.for_each(|bit| self.disarm(word * 32 + bit));
        } else if let Some(word) = element(offset, global::PARTITION, SM_WORDS) {
            *self.partition.get_mut(word)? &= !value;
        } else if let Some(word) = element(offset, global::PROFILE_DONE, SM_WORDS) {
            *self.profile_done.get_mut(word)? &= !value;
        } else if let Some(word) = element(offset, global::QUOTA_SMS, SM_WORDS) {
            *self.quota_sms.get_mut(word)? = value;
        } else if let Some(slot) = element(offset, global::QUOTA_ALL, KERNEL_SLOTS) {
            self.stage_row([u32::MAX; SM_WORDS], slot, value)?;
        } else if let Some(slot) = element(offset, global::QUOTA_SOME, KERNEL_SLOTS) {
            self.stage_row(self.quota_sms, slot, value)?;
        } else if let Some(slot) = element(offset, global::SEARCH_PROGRESS, KERNEL_SLOTS) {
            *self.notes.progress.get_mut(slot)? = value;
        } else {
            let done = self.write_preempt_global(offset, value).or_else(|| self.write_ways_global(offset, value));
            let done = done.or_else(|| self.write_active_warps_global(offset, value)).or_else(|| self.write_shares(offset, value));
            let done = done.or_else(|| self.write_oversubscription(offset, value)).or_else(|| self.write_dram(offset, value));
            done.or_else(|| self.write_queue_global(offset, value)).or_else(|| self.write_memory_global(offset, value))?;
        }
        Some(())
    }

    /// Stages a quota for a slot on some SMs; none if the slot does not exist.
    fn stage_row(&mut self, sms: [u32; SM_WORDS], slot: usize, quota: u32) -> Option<()> {
        self.slots.get(slot)?;
        let quota = self.in_range(quota, 0, self.gpu.sm_tbs) as u8;
        for (index, sm) in self.sms.iter_mut().enumerate() {
            let (word, bit) = sm_bit(index);
            if sms[word] & bit != 0 {
                sm.staged[slot] = quota;
            }
        }
        Some(())
    }

    fn read_slot(&self, index: usize, offset: u32) -> Option<u32> {
        let state = self.slots.get(index)?;
        let kernel = state.kernel.unwrap_or_default();
        Some(match offset {
            slot::STATUS => {
                flag(state.kernel.is_some(), slot_status::OCCUPIED)
                    | flag(state.drained, slot_status::DRAINED)
                    | flag(state.completed, slot_status::COMPLETED)
            }
            slot::GRID_TBS => kernel.grid_tbs,
            slot::TB_THREADS => kernel.tb_threads,
            slot::THREAD_REGISTERS => kernel.thread_registers,
            slot::TB_SHARED_BYTES => kernel.tb_shared_bytes,
            slot::PRIORITY => kernel.priority,
            slot::STREAM => kernel.stream,
            slot::UNISSUED_TBS => state.unissued,
            slot::UNFINISHED_TBS => state.unfinished,
            slot::LATENCY_LIMIT => kernel.latency_limit,
            slot::IDENTITY => kernel.identity,
            _ => return None,
        })
    }

    fn write_slot(&mut self, index: usize, offset: u32, value: u32) -> Option<()> {
        let occupied = self.slots.get(index)?.kernel.is_some();
        if offset != slot::CONTROL {
            return None;
        }
        if occupied && value & slot_control::REJECT != 0 {
            self.rejected |= 1 << index;
            self.release(index);
        } else if occupied && value & slot_control::RELEASE != 0 {
            self.release(index);
        }
        Some(())
    }

    fn read_sm(&self, index: usize, offset: u32) -> Option<u32> {
        let state = self.sms.get(index)?;
        let slots = self.slots.len();
        if let Some(counter) = element(offset, sm::COUNTERS, COUNTERS) {
            return Some(state.counters.latched(counter));
        }
        for (base, values) in
            [(sm::SLOT_WARP_INSTS, state.counters.slot_warp_insts()), (sm::SLOT_THREAD_INSTS, state.counters.slot_thread_insts())]
        {
            if let Some(slot) = element(offset, base, slots) {
                return values.get(slot).copied();
            }
        }
        for (base, values) in [(sm::QUOTA, &state.staged), (sm::RESIDENT, &state.resident), (sm::ACTIVE_QUOTA, &state.active)] {
            if let Some(slot) = element(offset, base, slots) {
                return values.get(slot).copied().map(u32::from);
            }
        }
        match offset {
            sm::STATUS => Some(
                flag(state.armed, sm_status::ARMED)
                    | flag(state.window_end.is_some(), sm_status::RUNNING)
                    | flag(state.counters.saturated() != 0, sm_status::SATURATED),
            ),
            sm::SATURATED => Some(state.counters.saturated()),
            sm::STATE_REQUEST => Some(self.states.request(index)),
            sm::STATE => Some(self.states.shown(index)),
            _ => self.warps.word(index, offset),
        }
    }

    fn write_sm(&mut self, index: usize, offset: u32, value: u32) -> Option<()> {
        self.sms.get(index)?;
        if offset == sm::CONTROL {
            if value & sm_control::SNAPSHOT != 0 {
                self.sms[index].counters.latch();
            }
            if value & sm_control::DISARM != 0 {
                self.disarm(index);
            } else if value & sm_control::ARM != 0 {
                self.arm(index);
            }
            return Some(());
        }
        if offset == sm::STATE_REQUEST {
            self.request_state(index, value);
            return Some(());
        }
        if let Some(done) = self.write_active_warps(index, offset, value) {
            return Some(done);
        }
        let slot = element(offset, sm::QUOTA, self.slots.len())?;
        let quota = self.in_range(value, 0, self.gpu.sm_tbs) as u8;
        *self.sms[index].staged.get_mut(slot)? = quota;
        Some(())
    }
}
