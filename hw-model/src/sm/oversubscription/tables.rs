//! Hardware tables of warps and TBs: warp context table and TB context table, with their cost in
//! bits (Lin et al. 2018, sections 6.5, 6.6 and 6.8, figures 9 and 11, table 4).

use super::super::warp::MAX_WARPS;
use super::plan::AddressMap;
use super::space::{Kind, Space};
use super::{TB_QUEUE, WARP_QUEUE};
use crate::config::GpuConfig;

/// State of a warp (figure 9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// Context completely in place, and not waiting to be switched out.
    #[default]
    Running,
    /// Waits for a long event, and to be switched out.
    Stalled,
    /// Switched out, and still waiting.
    Absent,
    /// Switched out, and waiting only for its place.
    Ready,
}

impl State {
    /// True if figure 9 has an arrow to `next`.
    pub(super) fn becomes(self, next: State) -> bool {
        matches!(
            (self, next),
            (State::Running, State::Stalled)
                | (State::Stalled, State::Running | State::Absent)
                | (State::Absent, State::Ready)
                | (State::Ready, State::Running)
        )
    }

    /// True if all of the warp's context is in place.
    pub(super) fn is_present(self) -> bool {
        matches!(self, State::Running | State::Stalled)
    }
}

/// Absence of a place.
pub(super) const NOWHERE: u8 = u8::MAX;

/// Entry of the warp context table. Regaddr and Metaaddr follow from the places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WarpEntry {
    pub(super) valid: bool,
    pub(super) state: State,
    /// Place in the register file.
    pub(super) registers: u8,
    /// Place in spare storage, if registers are switched.
    pub(super) spilled: u8,
    /// Slot of the warp in its sub-core.
    pub(super) slot: u8,
}

/// Entry without a warp.
pub(super) const NO_WARP: WarpEntry =
    WarpEntry { valid: false, state: State::Running, registers: NOWHERE, spilled: NOWHERE, slot: NOWHERE };

/// Entry of the TB context table. The mask of absent warps follows from their entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TbEntry {
    pub(super) valid: bool,
    /// Place in shared memory.
    pub(super) shared: u8,
    /// Place in spare storage, if TBs have one.
    pub(super) spilled: u8,
}

/// Entry without a TB.
pub(super) const NO_TB: TbEntry = TbEntry { valid: false, shared: NOWHERE, spilled: NOWHERE };

/// Warp context table and TB context table, with TBs by the SM's TB slots.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    pub(super) warps: Box<[WarpEntry; MAX_WARPS]>,
    pub(super) tbs: Box<[TbEntry]>,
    /// Mask of absent warps.
    away: u128,
}

impl Tables {
    pub(super) fn new(tb_slots: usize) -> Self {
        Tables { warps: Box::new([NO_WARP; MAX_WARPS]), tbs: vec![NO_TB; tb_slots].into(), away: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.warps.fill(NO_WARP);
        self.tbs.fill(NO_TB);
        self.away = 0;
    }

    /// Adds a warp.
    pub(super) fn put(&mut self, number: u8, entry: WarpEntry) {
        self.warps[usize::from(number)] = entry;
        self.note_place(number);
    }

    /// Removes a warp and returns its entry.
    pub(super) fn remove(&mut self, number: u8) -> WarpEntry {
        let entry = std::mem::replace(&mut self.warps[usize::from(number)], NO_WARP);
        self.note_place(number);
        entry
    }

    /// Mask of absent warps.
    pub(super) fn away(&self) -> u128 {
        self.away
    }

    fn note_place(&mut self, number: u8) {
        let entry = &self.warps[usize::from(number)];
        let away = entry.valid && !entry.state.is_present();
        self.away = self.away & !(1 << number) | u128::from(away) << number;
    }

    /// Mask of warps in one of the states.
    pub(super) fn of_state(&self, is: impl Fn(State) -> bool) -> u128 {
        let entries = self.warps.iter().enumerate();
        entries.fold(0, |set, (number, warp)| set | u128::from(warp.valid && is(warp.state)) << number)
    }

    /// Changes a warp's state, as figure 9 allows.
    pub(super) fn go(&mut self, number: u8, next: State) {
        let warp = &mut self.warps[usize::from(number)];
        debug_assert!(warp.state.becomes(next), "warp {number} goes from {:?} to {next:?}", warp.state);
        warp.state = next;
        self.note_place(number);
    }

    /// Validation: number of units of all entries.
    pub(super) fn units(&self, space: &Space) -> u32 {
        let of = |kind, place| if place == NOWHERE { 0 } else { space.units(kind, place).1 };
        let warps = self.warps.iter().map(|warp| of(Kind::Registers, warp.registers) + of(Kind::Spilled, warp.spilled));
        let tbs = self.tbs.iter().map(|tb| of(Kind::Shared, tb.shared) + of(Kind::Spilled, tb.spilled));
        warps.chain(tbs).sum()
    }
}

/// Number of bits that distinguish this many values.
fn bits_for(things: u32) -> u32 {
    things.next_power_of_two().trailing_zeros().max(1)
}

/// Storage cost of the mechanisms on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// Number of units of the space, of 128 bytes each.
    pub units: u32,
    /// Number of entries of the warp context table.
    pub warps: u32,
    /// Number of entries of the TB context table.
    pub tbs: u32,
    /// Number of entries of the queues of stalled and of ready warps, each.
    pub warp_queue: u32,
    /// Number of entries of the queues of stalled and of ready TBs, each.
    pub tb_queue: u32,
    /// Number of warp slots of the SM.
    pub slots: u32,
}

impl Storage {
    /// Storage of a GPU's SM; none without oversubscription.
    #[must_use]
    pub fn of(gpu: &GpuConfig) -> Option<Self> {
        let oversubscription = gpu.sm.oversubscription.as_ref()?;
        Some(Storage {
            units: AddressMap::of(gpu).end,
            warps: oversubscription.warps(),
            tbs: oversubscription.tbs(),
            warp_queue: WARP_QUEUE as u32,
            tb_queue: TB_QUEUE as u32,
            slots: gpu.sm.threads / 32,
        })
    }

    /// Bits of the allocation bitmap.
    #[must_use]
    pub fn bitmap_bits(&self) -> u32 {
        self.units
    }

    /// Bits of a warp's entry: valid, one of four states, an address of its registers and one of
    /// its state.
    #[must_use]
    pub fn warp_entry_bits(&self) -> u32 {
        1 + 2 + 2 * bits_for(self.units)
    }

    /// Bits of a TB's entry: valid, the mask of 32 absent warps, and an address of its shared
    /// memory.
    #[must_use]
    pub fn tb_entry_bits(&self) -> u32 {
        1 + 32 + bits_for(self.units)
    }

    /// Bits of the four queues.
    #[must_use]
    pub fn queue_bits(&self) -> u32 {
        2 * self.warp_queue * bits_for(self.warps) + 2 * self.tb_queue * bits_for(self.tbs)
    }

    /// Bits of GPUDuet.
    #[must_use]
    pub fn duet_bits(&self) -> u32 {
        self.bitmap_bits() + self.warps * self.warp_entry_bits() + self.tbs * self.tb_entry_bits() + self.queue_bits()
    }

    /// Bits of virtual thread: the number of stalled warps of each TB, and the warp in each slot.
    #[must_use]
    pub fn virtual_bits(&self) -> u32 {
        // A TB's entry counts warps, of which an SM has as many as the table, and a slot's entry
        // names one.
        (self.tbs + self.slots) * bits_for(self.warps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Storage = Storage { units: 3_072, warps: 128, tbs: 32, warp_queue: 16, tb_queue: 8, slots: 64 };

    /// Lin et al. 2018, table 4: 3,072 + 3,456 + 1,440 + 224 + 80 bits are 1,034 bytes. In section
    /// 6.8, 224 + 448 bits are 84 bytes.
    #[test]
    fn storage_is_the_papers() {
        assert_eq!(PAPER.bitmap_bits(), 3_072);
        assert_eq!((PAPER.warp_entry_bits(), PAPER.warps * PAPER.warp_entry_bits()), (27, 3_456));
        assert_eq!((PAPER.tb_entry_bits(), PAPER.tbs * PAPER.tb_entry_bits()), (45, 1_440));
        assert_eq!(PAPER.queue_bits(), 224 + 80);
        assert_eq!((PAPER.duet_bits(), PAPER.duet_bits() / 8), (8_272, 1_034));
        assert_eq!((PAPER.virtual_bits(), PAPER.virtual_bits() / 8), (672, 84));
        // The text has 16 entries of TBs, with numbers of 4 bits.
        assert_eq!(Storage { tbs: 16, ..PAPER }.duet_bits(), 8_272 - 720 - 16);
    }

    /// The paper's GPU has 256 KB of registers, 96 of shared memory and 32 of L1 in its unified
    /// space.
    #[test]
    fn the_papers_gpu_has_the_papers_tables() {
        let mut gpu: GpuConfig = toml::from_str(mias_gpus::text("lin18-lines").expect("built in")).expect("valid");
        assert_eq!(Storage::of(&gpu), None);
        gpu.sm.oversubscription = Some(crate::config::OversubscriptionConfig::of(crate::config::OversubscriptionMechanism::Duet));
        assert_eq!(Storage::of(&gpu), Some(PAPER));
    }

    /// States change along the five arrows of Lin et al. 2018, figure 9.
    #[test]
    fn states_change_along_the_figure() {
        let all = [State::Running, State::Stalled, State::Absent, State::Ready];
        let arrows: Vec<(State, State)> = all.iter().flat_map(|&a| all.map(|b| (a, b))).filter(|(a, b)| a.becomes(*b)).collect();
        assert_eq!(
            arrows,
            [
                (State::Running, State::Stalled),
                (State::Stalled, State::Running),
                (State::Stalled, State::Absent),
                (State::Absent, State::Ready),
                (State::Ready, State::Running)
            ]
        );
    }
}
