//! The TBs of an SM as a kernel sees them that is to have room there: who is in the way, who has to yield, and what they hold of what is not
//! bound to a position (sources.md D134).
//!
//! To yield has every TB of a kernel of lower priority, and of a kernel of the same priority as many as it has beyond its quota. A TB that is
//! leaving already counts as gone. A candidate is a position that becomes free by TBs that have to yield. It must free the threads (and with
//! them the warp slots) and the TB slot that a TB needs, too: if those in the way do not, further TBs that have to yield join them in the order of
//! their places.

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
    /// The slot of its kernel.
    pub slot: u8,
    /// What it has done.
    pub progress: Progress,
    /// Cycles until it ends, where that is known.
    pub left: Option<u32>,
}

impl Tb {
    /// None.
    const NONE: Self = Self { slot: 0, progress: Progress { insts: 0, cycles: 0, flushable: false }, left: None };
}

/// An SM's TBs.
#[derive(Clone, Debug)]
pub struct Residents {
    tbs: [Tb; MAX_PLACES],
    sets: Sets,
    /// Where a TB is.
    live: Places,
    /// TBs that are not leaving.
    staying: Places,
    /// Those of them that have to yield.
    yielding: Places,
    /// Of each slot, how many TBs have to yield.
    excess: [u8; KERNEL_SLOTS],
    /// Threads and TB slots of those that stay, and of positions that are reserved.
    used: Taken,
}

/// What is not bound to a position.
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

/// Positions of a slot's kernel that are reserved on an SM, and not taken yet: a bit each.
pub(super) fn read_reserved<B: TryBus>(bus: &mut B, sm: u16, slot: u8) -> Result<u64, B::Error> {
    let base = preempt::at(sm.into(), 0);
    if read(bus, base + preempt::RESERVED_SLOT)? & preempt_reserve::SLOT != u32::from(slot) + 1 {
        return Ok(0);
    }
    let (low, high) = (read(bus, base + preempt::RESERVED_LOW)?, read(bus, base + preempt::RESERVED_HIGH)?);
    Ok(u64::from(high) << 32 | u64::from(low))
}

impl Residents {
    /// No TB, to be [read](Self::read) in place, again and again: nothing large is moved or cleared.
    pub(super) const NONE: Self = Self {
        tbs: [Tb::NONE; MAX_PLACES],
        sets: Sets::NONE,
        live: 0,
        staying: 0,
        yielding: 0,
        excess: [0; KERNEL_SLOTS],
        used: Taken { threads: 0, tbs: 0 },
    };

    /// Reads those of an SM, for the kernel in a slot that has `reserved` positions there already. How long TBs will take is read where it is
    /// `known`.
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
                // It counts among those that run, and is in nobody's way.
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
        // Those that are leaving are not beyond the quota any more.
        for place in bits(this.live & !this.staying) {
            let number = this.slot(place);
            if let Some(excess) = this.excess.get_mut(usize::from(number)).filter(|excess| **excess != u8::MAX) {
                *excess = excess.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// The TB in a place that has one.
    #[must_use]
    pub fn tb(&self, place: usize) -> Tb {
        self.tbs.get(place).copied().unwrap_or(Tb::NONE)
    }

    /// The slot of the kernel whose TB is in a place.
    pub(super) fn slot(&self, place: u32) -> u8 {
        self.tbs.get(place as usize).map_or(0, |tb| tb.slot)
    }

    /// Where a TB is, leaving or not.
    #[must_use]
    pub fn live(&self) -> Places {
        self.live
    }

    /// TBs that are not leaving.
    #[must_use]
    pub fn staying(&self) -> Places {
        self.staying
    }

    /// Those of them that have to yield.
    #[must_use]
    pub fn yielding(&self) -> Places {
        self.yielding
    }

    /// The candidates: positions, and who has to leave for each. The SM has `capacity`.
    pub fn candidates<'a>(&'a self, gpu: &'a GpuProperties, slots: &'a Slots, slot: u8) -> impl Iterator<Item = (u8, Places)> + 'a {
        let threads = info(slots, slot).demand.threads;
        self.sets.iter().filter_map(move |(position, set)| Some((position, self.complete(set, threads, gpu, slots)?)))
    }

    /// Who has to leave, beside those in the way, so that a TB has its threads and its TB slot; none if that cannot be had.
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

    /// Takes a TB off; none if its kernel has no more that have to yield.
    fn give_up(&self, place: u32, used: &mut Taken, excess: &mut [u8; KERNEL_SLOTS], slots: &Slots) -> Option<()> {
        let slot = self.slot(place);
        let left = excess.get_mut(usize::from(slot))?;
        if *left != u8::MAX {
            *left = left.checked_sub(1)?;
        }
        used.remove(info(slots, slot).demand.threads);
        Some(())
    }

    /// A candidate is to be preempted: its position is taken, and its victims are gone.
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

    /// Everybody else, if all have to yield; and as many as `count` positions that are not the kernel's own already.
    pub(super) fn everyone(&self, slot: u8, count: u8, slots: &Slots) -> Option<(Places, u64)> {
        let own = bits(self.staying).filter(|place| self.slot(*place) == slot).fold(0, |own, place| own | 1 << place);
        let others = self.staying & !own;
        let (mut used, mut excess) = (self.used, self.excess);
        for place in bits(others) {
            self.give_up(place, &mut used, &mut excess, slots)?;
        }
        let free = self.sets.iter().filter(|(_, set)| set & own == 0);
        // Those that are here already take their part of threads and TB slots.
        let most = slots.get(usize::from(slot)).map_or(0, |slot| slot.max_tbs);
        let count = count.min(most.saturating_sub(own.count_ones() as u8));
        let positions =
            free.take(count.into()).fold(0, |positions, (position, _)| positions | 1_u64.checked_shl(position.into()).unwrap_or(0));
        (positions != 0).then_some((others, positions))
    }
}

/// Of each slot, how many TBs on an SM have to yield to the kernel in `slot`, of this priority: all, which is the largest number, or those beyond the
/// quota.
fn excess<B: TryBus>(bus: &mut B, (sm, slot): (u16, u8), priority: u32, slots: &Slots) -> Result<[u8; KERNEL_SLOTS], B::Error> {
    let mut excess = [0; KERNEL_SLOTS];
    for ((number, info), excess) in (0_u32..).zip(slots).zip(&mut excess) {
        if info.priority < priority {
            *excess = u8::MAX;
        } else if info.priority == priority && info.max_tbs != 0 && number != u32::from(slot) {
            let of_slot = sm::at(sm.into(), 4 * number);
            let (resident, quota) = (read(bus, of_slot + sm::RESIDENT)?, read(bus, of_slot + sm::ACTIVE_QUOTA)?);
            // No place beyond these.
            *excess = resident.saturating_sub(quota).min(MAX_PLACES as u32) as u8;
        }
    }
    Ok(excess)
}

/// The kernel in a slot.
pub(super) fn info(slots: &Slots, slot: u8) -> &SlotInfo {
    slots.get(usize::from(slot)).unwrap_or(&SlotInfo::NONE)
}
