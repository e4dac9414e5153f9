//! The TBs of an SM from the view of a preempting kernel: the TBs that block it, those that must
//! yield, and their resources that are not bound to a position (sources.md D134).
//!
//! Every TB of a kernel of lower priority must yield. Of a kernel of the same priority, as many TBs
//! must yield as exceed its quota. A TB that is already leaving counts as gone. A candidate is a
//! position that TBs that must yield can free. It must also free the threads (and with them the
//! warp slots) and the TB slot that a TB needs. If the blocking TBs do not, further TBs that must
//! yield join them in the order of their places.

use super::candidates::{Places, Sets, bits};
use super::cost::Progress;
use super::slots::{SlotInfo, Slots};
use mias_firmware::gpu::GpuProperties;
use mias_registers::bus::{TryBus, read};
use mias_registers::preempt::{self, MAX_PLACES};
use mias_registers::{KERNEL_SLOTS, preempt_reserve, preempt_tb, sm};

/// A TB in its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tb {
    /// Slot of the TB's kernel.
    pub slot: u8,
    /// Progress of the TB.
    pub progress: Progress,
    /// Cycles until the TB ends, if known.
    pub left: Option<u32>,
}

impl Tb {
    /// An empty place.
    const NONE: Self = Self { slot: 0, progress: Progress { insts: 0, cycles: 0, flushable: false }, left: None };
}

/// TBs of an SM.
#[derive(Clone, Debug)]
pub struct Residents {
    tbs: [Tb; MAX_PLACES],
    sets: Sets,
    /// Places with a TB.
    live: Places,
    /// TBs that are not leaving.
    staying: Places,
    /// Staying TBs that must yield.
    yielding: Places,
    /// Number of TBs of each slot that must yield.
    excess: [u8; KERNEL_SLOTS],
    /// Threads and TB slots of the staying TBs, and of reserved positions.
    used: Taken,
}

/// Resources that are not bound to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Taken {
    threads: u32,
    tbs: u32,
}

impl Taken {
    fn add(&mut self, threads: u32) {
        *self = Self { threads: self.threads.saturating_add(threads), tbs: self.tbs.saturating_add(1) };
    }

    fn remove(&mut self, threads: u32) {
        *self = Self { threads: self.threads.saturating_sub(threads), tbs: self.tbs.saturating_sub(1) };
    }
}

/// Reads the positions of a slot's kernel that are reserved on an SM, and not taken yet: one bit
/// each.
pub(super) fn read_reserved<B: TryBus>(bus: &mut B, sm: u16, slot: u8) -> Result<u64, B::Error> {
    let base = preempt::at(sm.into(), 0);
    if read(bus, base + preempt::RESERVED_SLOT)? & preempt_reserve::SLOT != u32::from(slot) + 1 {
        return Ok(0);
    }
    let (low, high) = (read(bus, base + preempt::RESERVED_LOW)?, read(bus, base + preempt::RESERVED_HIGH)?);
    Ok(u64::from(high) << 32 | u64::from(low))
}

impl Residents {
    /// Empty state, to be [read](Self::read) in place repeatedly, so that no large data is moved or
    /// cleared.
    pub(super) const NONE: Self = Self {
        tbs: [Tb::NONE; MAX_PLACES],
        sets: Sets::NONE,
        live: 0,
        staying: 0,
        yielding: 0,
        excess: [0; KERNEL_SLOTS],
        used: Taken { threads: 0, tbs: 0 },
    };

    /// Reads the TBs of an SM, for the kernel in a slot that already has `reserved` positions
    /// there. It reads the remaining cycles of TBs if `known`.
    #[inline(never)]
    pub(super) fn read<B: TryBus>(
        &mut self,
        bus: &mut B,
        (sm, slot): (u16, u8),
        reserved: u64,
        (gpu, slots): (&GpuProperties, &Slots),
        known: bool,
    ) -> Result<(), B::Error> {
        let this = self;
        let wanting = info(slots, slot);
        (this.live, this.staying, this.yielding, this.used) = (0, 0, 0, Taken::default());
        this.sets.begin(&wanting.demand, wanting.max_tbs);
        this.excess = excess(bus, (sm, slot), wanting.priority, slots)?;
        this.sets.close(reserved);
        for _ in 0..reserved.count_ones() {
            this.used.add(wanting.demand.threads);
        }
        let base = preempt::at(sm.into(), 0);
        let places = this.tbs.iter_mut().take(gpu.limits.capacity.tbs as usize);
        for ((place, of_place), tb) in (0_u32..).map(|place| (place, base + 4 * place)).zip(places) {
            let mut field = |register| read(bus, of_place + register);
            let state = field(preempt::TB)?;
            if state & preempt_tb::LIVE == 0 {
                continue;
            }
            let number = (state >> preempt_tb::SLOT_SHIFT) as u8 % KERNEL_SLOTS as u8;
            let demand = &info(slots, number).demand;
            let flushable = state & preempt_tb::FLUSH != 0;
            let progress = Progress { insts: field(preempt::TB_INSTS)?, cycles: field(preempt::TB_CYCLES)?, flushable };
            let left = if known { Some(field(preempt::TB_LEFT)?).filter(|left| *left != preempt::UNKNOWN) } else { None };
            *tb = Tb { slot: number, progress, left };
            this.live |= 1 << place;
            if state >> preempt_tb::LEAVING_SHIFT & 3 != 0 {
                // It counts as running, and blocks no position.
                continue;
            }
            this.staying |= 1 << place;
            this.used.add(demand.threads);
            if this.excess.get(usize::from(number)).is_some_and(|excess| *excess != 0) {
                this.yielding |= 1 << place;
            }
            let (registers, shared) = (field(preempt::TB_REGISTERS)?, field(preempt::TB_SHARED)?);
            this.sets.add(place as usize, (registers, demand.registers), (shared, demand.shared_bytes));
        }
        // Leaving TBs are not beyond the quota anymore.
        for place in bits(this.live & !this.staying) {
            let number = this.slot(place);
            if let Some(excess) = this.excess.get_mut(usize::from(number)).filter(|excess| **excess != u8::MAX) {
                *excess = excess.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Returns the TB in an occupied place.
    #[must_use]
    pub fn tb(&self, place: usize) -> Tb {
        self.tbs.get(place).copied().unwrap_or(Tb::NONE)
    }

    /// Returns the slot of the kernel whose TB is in a place.
    pub(super) fn slot(&self, place: u32) -> u8 {
        self.tbs.get(place as usize).map_or(0, |tb| tb.slot)
    }

    /// Returns the places with a TB, leaving or not.
    #[must_use]
    pub fn live(&self) -> Places {
        self.live
    }

    /// Returns the TBs that are not leaving.
    #[must_use]
    pub fn staying(&self) -> Places {
        self.staying
    }

    /// Returns the staying TBs that must yield.
    #[must_use]
    pub fn yielding(&self) -> Places {
        self.yielding
    }

    /// Returns the candidates: positions, and the TBs that must leave for each. `gpu` has the SM's
    /// capacity.
    pub fn candidates<'a>(&'a self, gpu: &'a GpuProperties, slots: &'a Slots, slot: u8) -> impl Iterator<Item = (u8, Places)> + 'a {
        let threads = info(slots, slot).demand.threads;
        self.sets.iter().filter_map(move |(position, set)| Some((position, self.complete(set, threads, gpu, slots)?)))
    }

    /// Returns the TBs that must leave, including further ones for the threads and the TB slot;
    /// none if that is impossible.
    fn complete(&self, set: Places, threads: u32, gpu: &GpuProperties, slots: &Slots) -> Option<Places> {
        if set & !self.yielding != 0 {
            return None;
        }
        let capacity = &gpu.limits.capacity;
        let mut used = self.used;
        used.add(threads);
        let mut excess = self.excess;
        let mut victims = 0;
        for place in bits(set) {
            self.give_up(place, &mut used, &mut excess, slots)?;
            victims |= 1 << place;
        }
        let mut others = bits(self.yielding & !set);
        while used.threads > capacity.threads || used.tbs > capacity.tbs {
            let place = others.next()?;
            if self.give_up(place, &mut used, &mut excess, slots).is_some() {
                victims |= 1 << place;
            }
        }
        Some(victims)
    }

    /// Removes a TB; none if no more TBs of its kernel must yield.
    fn give_up(&self, place: u32, used: &mut Taken, excess: &mut [u8; KERNEL_SLOTS], slots: &Slots) -> Option<()> {
        let slot = self.slot(place);
        let left = excess.get_mut(usize::from(slot))?;
        if *left != u8::MAX {
            *left = left.checked_sub(1)?;
        }
        used.remove(info(slots, slot).demand.threads);
        Some(())
    }

    /// Takes a candidate's position, and removes its victims.
    pub(super) fn take(&mut self, position: u8, victims: Places, slot: u8, slots: &Slots) {
        let (mut used, mut excess) = (self.used, self.excess);
        for place in bits(victims) {
            let _ = self.give_up(place, &mut used, &mut excess, slots);
        }
        used.add(info(slots, slot).demand.threads);
        (self.used, self.excess) = (used, excess);
        self.staying &= !victims;
        self.yielding &= !victims;
        self.sets.update(victims);
        self.sets.close(1_u64.checked_shl(position.into()).unwrap_or(0));
    }

    /// Returns all other TBs, if all must yield, and up to `count` positions that are not the
    /// kernel's own already.
    pub(super) fn everyone(&self, slot: u8, count: u8, slots: &Slots) -> Option<(Places, u64)> {
        let own = bits(self.staying).filter(|place| self.slot(*place) == slot).fold(0, |own, place| own | 1 << place);
        let others = self.staying & !own;
        let (mut used, mut excess) = (self.used, self.excess);
        for place in bits(others) {
            self.give_up(place, &mut used, &mut excess, slots)?;
        }
        let free = self.sets.iter().filter(|(_, set)| set & own == 0);
        // TBs of the kernel that are already here take their part of threads and TB slots.
        let most = slots.get(usize::from(slot)).map_or(0, |slot| slot.max_tbs);
        let count = count.min(most.saturating_sub(own.count_ones() as u8));
        let positions =
            free.take(count.into()).fold(0, |positions, (position, _)| positions | 1_u64.checked_shl(position.into()).unwrap_or(0));
        (positions != 0).then_some((others, positions))
    }
}

/// Returns the number of TBs of each slot on an SM that must yield to the kernel in `slot` with
/// this priority: the largest number for all, or those beyond the quota.
fn excess<B: TryBus>(bus: &mut B, (sm, slot): (u16, u8), priority: u32, slots: &Slots) -> Result<[u8; KERNEL_SLOTS], B::Error> {
    let mut excess = [0; KERNEL_SLOTS];
    for ((number, info), excess) in (0_u32..).zip(slots).zip(&mut excess) {
        if info.priority < priority {
            *excess = u8::MAX;
        } else if info.priority == priority && info.max_tbs != 0 && number != u32::from(slot) {
            let of_slot = sm::at(sm.into(), 4 * number);
            let (resident, quota) = (read(bus, of_slot + sm::RESIDENT)?, read(bus, of_slot + sm::ACTIVE_QUOTA)?);
            // There are no more places.
            *excess = resident.saturating_sub(quota).min(MAX_PLACES as u32) as u8;
        }
    }
    Ok(excess)
}

/// Returns the kernel in a slot.
pub(super) fn info(slots: &Slots, slot: u8) -> &SlotInfo {
    slots.get(usize::from(slot)).unwrap_or(&SlotInfo::NONE)
}
