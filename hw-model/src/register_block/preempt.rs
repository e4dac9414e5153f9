//! Preemption: TBs on each SM, requests for capacity, and commands of the firmware.
//!
//! Registers: [`mias_registers::preempt`]; sources.md D133. The model reports the TBs of the SMs
//! before the firmware runs ([`RegisterBlock::show_tb`]). It then executes the firmware's writes in
//! order ([`RegisterBlock::take_preempt_actions`]).

use super::RegisterBlock;
use crate::sm::Ended;
use mias_registers::preempt::{self, MAX_PLACES};
use mias_registers::{KERNEL_SLOTS, SM_WORDS, fault, feature, global, interrupt, mode, preempt_command, preempt_tb, sm_bit, technique};

/// A TB as shown to the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownTb {
    /// Slot of the TB's kernel.
    pub slot: u8,
    /// True if the TB may be flushed.
    pub flush: bool,
    /// [`technique`](mias_registers::technique) by which the TB is leaving.
    pub leaving: u32,
    /// Number of warp instructions that the TB has issued.
    pub insts: u64,
    /// Number of cycles that the TB has been resident.
    pub cycles: u64,
    /// Index of the TB's first register.
    pub first_register: u32,
    /// Offset of the TB's first byte of shared memory.
    pub first_shared: u32,
    /// Cycles until the TB ends, if known.
    pub left: Option<u64>,
    /// Cycle in which the TB arrived or resumed, which identifies it within its position. The
    /// firmware does not see it. A command applies to this TB, even if another one is in the
    /// position when it takes effect.
    pub came_cycle: u64,
}

/// Write of the firmware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptAction {
    /// Preemption of the TB in a position.
    Command {
        /// Position of the TB.
        place: usize,
        /// [`technique`](mias_registers::technique) of the command.
        technique: u32,
        /// Cycles that the firmware expects the preemption to take.
        estimate: u32,
        /// Arrival cycle of the TB that the firmware was shown in the position; none if it was
        /// shown none.
        came_cycle: Option<u64>,
    },
    /// Reservation of positions for a kernel.
    Reserve {
        /// Value as in [`preempt::RESERVED_SLOT`].
        word: u32,
        /// Mask of the positions.
        positions: u64,
    },
}

/// Preemption state of an SM.
#[derive(Clone, Debug, PartialEq, Eq)]
struct PreemptSm {
    tbs: [Option<ShownTb>; MAX_PLACES],
    results: [u32; MAX_PLACES],
    ended: [Ended; KERNEL_SLOTS],
    wanted: u32,
    reserved: u32,
    positions: u64,
}

/// State of preemption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PreemptBlock {
    /// State of each SM; empty if SMs do not preempt.
    sms: Vec<PreemptSm>,
    wanted: [u32; SM_WORDS],
    /// Mask of the requesting SMs that the firmware acknowledged at its last read.
    looked_at: [u32; SM_WORDS],
    done: [u32; SM_WORDS],
    /// Writes by SM, in order.
    actions: Vec<(u16, PreemptAction)>,
}

impl RegisterBlock {
    /// Enables or disables preemption by the SMs.
    #[must_use]
    pub fn with_preemption(mut self, on: bool) -> Self {
        if on {
            let sm = PreemptSm {
                tbs: [None; MAX_PLACES],
                results: [0; MAX_PLACES],
                ended: [Ended::default(); KERNEL_SLOTS],
                wanted: 0,
                reserved: 0,
                positions: 0,
            };
            self.preempt.sms = vec![sm; self.sms.len()];
            self.gpu.features |= feature::PREEMPT;
        }
        self
    }

    /// True if SMs execute preemption commands.
    #[must_use]
    pub fn preempts(&self) -> bool {
        self.mode == mode::PREEMPT
    }

    /// Shows the TB in a position of an SM, and the result of the last command for it.
    pub fn show_tb(&mut self, sm: usize, place: usize, tb: Option<ShownTb>, result: u32) {
        if let Some(sm) = self.preempt.sms.get_mut(sm) {
            (sm.tbs[place], sm.results[place]) = (tb, result);
        }
    }

    /// Shows statistics of the ended TBs of a slot's kernel on an SM.
    pub fn show_ended(&mut self, sm: usize, slot: usize, ended: Ended) {
        if let Some(sm) = self.preempt.sms.get_mut(sm) {
            sm.ended[slot] = ended;
        }
    }

    /// Shows the reservation of an SM.
    pub fn show_reserved(&mut self, sm: usize, word: u32, positions: u64) {
        if let Some(sm) = self.preempt.sms.get_mut(sm) {
            (sm.reserved, sm.positions) = (word, positions);
        }
    }

    /// Requests capacity on an SM for `tbs` TBs of the kernel in `slot`; none withdraws the
    /// request.
    pub fn want_room(&mut self, sm: usize, wanted: Option<(usize, u32)>) {
        let value = wanted.map_or(0, |(slot, tbs)| (slot as u32 + 1) | tbs.min(0xFF) << 8);
        let Some(state) = self.preempt.sms.get_mut(sm) else { return };
        state.wanted = value;
        if value != 0 {
            let (word, bit) = sm_bit(sm);
            self.preempt.wanted[word] |= bit;
            self.raise(interrupt::PREEMPT);
        }
    }

    /// True if an SM has an unserved request for capacity.
    #[must_use]
    pub fn wants_room(&self, sm: usize) -> bool {
        let (word, bit) = sm_bit(sm);
        self.preempt.wanted[word] & bit != 0
    }

    /// Marks an SM's requests as answered by commands, even those made while the firmware chose. It
    /// requests again when its commands are done.
    pub(crate) fn answered(&mut self, sm: usize) {
        let (word, bit) = sm_bit(sm);
        self.preempt.wanted[word] &= !bit;
    }

    /// Reports that all commands of an SM are done.
    pub fn post_preempt_done(&mut self, sm: usize) {
        let (word, bit) = sm_bit(sm);
        self.preempt.done[word] |= bit;
        self.raise(interrupt::PREEMPT_DONE);
    }

    /// Takes the firmware's writes since the last call.
    pub fn take_preempt_actions(&mut self) -> Vec<(u16, PreemptAction)> {
        std::mem::take(&mut self.preempt.actions)
    }

    /// True if the firmware has written since the last call.
    #[must_use]
    pub fn has_preempt_actions(&self) -> bool {
        !self.preempt.actions.is_empty()
    }

    /// Number of SMs that requested capacity at the firmware's last read, and number of TBs on
    /// them. The decision time depends on both.
    #[must_use]
    pub fn preempt_work(&self) -> (u32, u32) {
        self.preempt_work_by_sm().fold((0, 0), |(sms, all), (tbs, _)| (sms + 1, all + tbs))
    }

    /// Number of TBs on each SM that requested capacity at the firmware's last read, and number of
    /// TBs that it requested capacity for.
    pub fn preempt_work_by_sm(&self) -> impl Iterator<Item = (u32, u32)> {
        let looked_at = |sm: usize| {
            let (word, bit) = sm_bit(sm);
            self.preempt.looked_at[word] & bit != 0
        };
        let wanting = self.preempt.sms.iter().enumerate().filter(move |(sm, _)| looked_at(*sm));
        wanting.map(|(_, sm)| (sm.tbs.iter().flatten().count() as u32, sm.wanted >> 8))
    }

    pub(super) fn read_preempt_global(&self, offset: u32) -> Option<u32> {
        let word = |base: u32| offset.checked_sub(base).map(|rest| (rest / 4) as usize).filter(|word| *word < SM_WORDS);
        match (word(global::PREEMPT_WANTED), word(global::PREEMPT_DONE)) {
            (Some(word), _) => Some(self.preempt.wanted[word]),
            (None, Some(word)) => Some(self.preempt.done[word]),
            (None, None) => None,
        }
    }

    pub(super) fn write_preempt_global(&mut self, offset: u32, value: u32) -> Option<()> {
        let word = |base: u32| offset.checked_sub(base).map(|rest| (rest / 4) as usize).filter(|word| *word < SM_WORDS);
        match (word(global::PREEMPT_WANTED), word(global::PREEMPT_DONE)) {
            (Some(word), _) => {
                self.preempt.looked_at[word] = self.preempt.wanted[word] & value;
                self.preempt.wanted[word] &= !value;
                self.busy.begin_preemption();
            }
            (None, Some(word)) => self.preempt.done[word] &= !value,
            (None, None) => return None,
        }
        Some(())
    }

    /// Register value of an SM; none if it does not exist or is not readable. SMs without
    /// preemption read as 0.
    pub(super) fn read_preempt(&self, sm: usize, offset: u32) -> Option<u32> {
        self.sms.get(sm)?;
        let register = preempt::REGISTERS.iter().rev().find(|register| register.offset <= offset)?;
        let element = ((offset - register.offset) / 4) as usize;
        if element >= register.count as usize {
            return None;
        }
        if matches!(register.offset, preempt::ENDED_TBS..=preempt::ENDED_CPI_SQUARES) && element >= self.slots.len() {
            return None;
        }
        let Some(state) = self.preempt.sms.get(sm) else {
            return Some(if register.offset == preempt::TB_LEFT { preempt::UNKNOWN } else { 0 });
        };
        let tb = || state.tbs.get(element).copied().flatten();
        let of_tb = |value: fn(ShownTb) -> u32| tb().map_or(0, value);
        let of_ended = |value: fn(&Ended) -> u32| state.ended.get(element).map_or(0, value);
        Some(match register.offset {
            preempt::TB => of_tb(|tb| {
                let flush = if tb.flush { preempt_tb::FLUSH } else { 0 };
                preempt_tb::LIVE | flush | u32::from(tb.slot) << preempt_tb::SLOT_SHIFT | tb.leaving << preempt_tb::LEAVING_SHIFT
            }),
            preempt::TB_INSTS => of_tb(|tb| saturated(tb.insts)),
            preempt::TB_CYCLES => of_tb(|tb| saturated(tb.cycles)),
            preempt::TB_REGISTERS => of_tb(|tb| tb.first_register),
            preempt::TB_SHARED => of_tb(|tb| tb.first_shared),
            preempt::TB_LEFT => tb().and_then(|tb| tb.left).map_or(preempt::UNKNOWN, saturated),
            preempt::COMMAND => state.results.get(element).copied().unwrap_or(0),
            preempt::ENDED_TBS => of_ended(|ended| ended.tbs),
            preempt::ENDED_INSTS => of_ended(|ended| ended.insts),
            preempt::ENDED_CYCLES => of_ended(|ended| ended.cycles),
            preempt::ENDED_CPI => of_ended(|ended| ended.cpi),
            preempt::ENDED_CPI_SQUARES => of_ended(|ended| ended.cpi_squares),
            preempt::WANTED => state.wanted,
            preempt::RESERVED_SLOT => state.reserved,
            preempt::RESERVED_LOW => state.positions as u32,
            preempt::RESERVED_HIGH => (state.positions >> 32) as u32,
            _ => return None,
        })
    }

    /// Writes a register of an SM; none if it does not exist or is not writable.
    pub(super) fn write_preempt(&mut self, sm: usize, offset: u32, value: u32) -> Option<()> {
        self.sms.get(sm)?;
        let place = offset.checked_sub(preempt::COMMAND).map(|rest| (rest / 4) as usize).filter(|place| *place < MAX_PLACES);
        let reserve = matches!(offset, preempt::RESERVED_SLOT | preempt::RESERVED_LOW | preempt::RESERVED_HIGH);
        if place.is_none() && !reserve {
            return None;
        }
        let in_mode = self.preempts();
        let Some(state) = self.preempt.sms.get_mut(sm) else {
            self.raise_fault(fault::UNSUPPORTED);
            return Some(());
        };
        let action = match (offset, place) {
            (_, Some(place)) => {
                let asked = value >> preempt_command::TECHNIQUE_SHIFT & 3;
                if !in_mode {
                    state.results[place] = asked | preempt_command::REFUSED | preempt_command::MODE << preempt_command::REASON_SHIFT;
                    return Some(());
                }
                let came_cycle = state.tbs[place].map(|tb| tb.came_cycle);
                // The command shows at once, so a firmware that reads again before its execution
                // sees it.
                if let Some(tb) = state.tbs[place].as_mut().filter(|tb| tb.leaving == technique::NONE) {
                    tb.leaving = asked;
                }
                PreemptAction::Command { place, technique: asked, estimate: value >> preempt_command::ESTIMATE_SHIFT, came_cycle }
            }
            (preempt::RESERVED_LOW, None) => {
                state.positions = state.positions & !u64::from(u32::MAX) | u64::from(value);
                return Some(());
            }
            (preempt::RESERVED_HIGH, None) => {
                state.positions = state.positions & u64::from(u32::MAX) | u64::from(value) << 32;
                return Some(());
            }
            (_, None) => {
                state.reserved = value;
                PreemptAction::Reserve { word: value, positions: state.positions }
            }
        };
        self.preempt.actions.push((sm as u16, action));
        Some(())
    }
}

/// Value saturated to a register.
fn saturated(value: u64) -> u32 {
    // The largest value means unknown.
    u32::try_from(value).unwrap_or(u32::MAX).min(preempt::UNKNOWN - 1)
}
