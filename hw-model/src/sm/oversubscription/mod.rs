//! Oversubscription: TBs beyond those that fit an SM. Contexts of waiting TBs lie in spare storage
//! of the SM and swap places with others (Virtual Thread: Yoon et al. 2016, as Lin et al. 2018
//! describe it; GPUDuet: Lin et al. 2018, section 6; sources.md D160 to D165).
//!
//! A TB that fits with the resident ones is *native*: quotas count it, and it takes its resources.
//! Where no more fit, the hardware may accept *extra* ones, at most [`Sm::set_most_extra`]. When a
//! native TB ends, the oldest extra one becomes native. An extra TB is accepted only for a kernel
//! that has the SM alone. From the first extra TB until the last has become native, the contexts of
//! that kernel are *switched*, and no other kernel's TBs are accepted.
//!
//! A warp has a number, which identifies it in replies, scoreboard and barriers, and which
//! determines its sub-core. It has a slot of that sub-core only while all of its context is in
//! place. Without a slot it is in no mask of its sub-core.
//!
//! Contexts are switched after issue and before the cycle is accounted ([`Sm::switch_contexts`]):
//! it updates the waiting and the ready warps and the context mover. One context moves at a time.
//!
//! | file | content |
//! |---|---|
//! | `plan` | switched state of a kernel, its level, and the maximum number of extra TBs |
//! | `space` | allocated units of registers, shared memory and L1 |
//! | `tables` | tables of warps and TBs, and their cost in bits |
//! | `arrive` | arrival and end of TBs |
//! | `waiting` | warps that wait for a long event |
//! | `states` | states of warps, and the queues of those that wait for a switch |
//! | `switch` | context moves and their times |
//! | `kept` | the TB that is not switched, if any |
//! | `pinned` | TBs that leave the SM or return to it |
//! | `retry` | repeated examination of an SM for a TB |
//! | `counts` | counts of extra TBs |
//! | `record` | log of context moves, for timelines |
//! | `accesses` | memory accesses of a move |
//! | `check` | validation |
//!
//! [`Storage`] gives the number of bits of the additional state. An SM without oversubscription has
//! none of it.

mod accesses;
mod arrive;
mod check;
mod counts;
mod kept;
mod pinned;
mod plan;
mod record;
mod retry;
mod space;
mod states;
mod switch;
mod tables;
mod waiting;

pub use counts::OversubscriptionCounts;
pub(crate) use plan::Plans;
pub use plan::Unswitchable;
pub use record::{CONTEXT_STORAGE, ContextEvent, ContextNote, MovedContext};
pub use tables::Storage;

use super::operands::MAX_SUB_CORES;
use super::warp::{MAX_WARPS, RegSet};
use super::{KERNEL_SLOTS, Sm};
use crate::config::{ContextsInL1, GpuConfig, OversubscriptionConfig};
use counts::{Summed, TbTime};
use plan::{AddressMap, Level, Plan};
use record::Record;
use space::Space;
use switch::Move;
use tables::Tables;

/// Number of entries of a queue of warps, and of a queue of TBs (Lin et al. 2018, table 4).
const WARP_QUEUE: usize = 16;
const TB_QUEUE: usize = 8;

/// Oversubscription state of an SM.
#[derive(Clone, Debug)]
pub(super) struct Oversubscription {
    config: OversubscriptionConfig,
    map: AddressMap,
    /// Bytes of an L1 access.
    l1_access_bytes: u32,
    /// Number of warp slots of a sub-core.
    slots_per_sub_core: u32,
    sub_cores: u32,
    /// Plans by kernel slot.
    plans: [Option<Plans>; KERNEL_SLOTS],
    most_extra: [u32; KERNEL_SLOTS],
    /// Mask of kernels whose contexts may be stored in the L1.
    lent_to: u8,
    /// Kernel whose contexts are switched, and its plan.
    switched: Option<(u8, Plan)>,
    /// Number of resident extra TBs.
    extras: u32,
    tables: Tables,
    space: Space,
    /// Mask of free slots, by sub-core.
    slots: [u32; MAX_SUB_CORES],
    /// Warps, or TB slots, that wait to be switched out; then in.
    stalled: Vec<u8>,
    ready: Vec<u8>,
    /// Last entries of the queues of units that wait to be switched out, and in.
    last_stalled: u8,
    last_ready: u8,
    moving: Option<Move>,
    /// TB slot of the kept TB, if any.
    kept: Option<u8>,
    /// Mask of TB slots whose contexts are pinned.
    pinned: u64,
    /// Mask of pinned TBs that leave.
    leaving: u64,
    /// True after an event that may change a state or enable a move.
    look: bool,
    /// Registers that will be written by a load that has missed or bypasses the L1, by warp.
    missed: Box<[RegSet; MAX_WARPS]>,
    counts: [OversubscriptionCounts; KERNEL_SLOTS],
    times: [TbTime; KERNEL_SLOTS],
    /// Number of absent warps, by kernel slot.
    away: [Summed; KERNEL_SLOTS],
    /// Counts of kernels that have left their slots.
    before: OversubscriptionCounts,
    /// Launch of each kernel slot.
    launches: [u32; KERNEL_SLOTS],
    /// Log of context moves, if recorded.
    record: Option<Box<Record>>,
}

impl Oversubscription {
    pub(super) fn new(gpu: &GpuConfig) -> Option<Box<Self>> {
        let config = gpu.sm.oversubscription?;
        let map = AddressMap::of(gpu);
        Some(Box::new(Oversubscription {
            config,
            map,
            l1_access_bytes: gpu.l1.sector_bytes << gpu.l1.fetch_bits(),
            sub_cores: gpu.sm.sub_cores,
            slots_per_sub_core: gpu.sm.threads / 32 / gpu.sm.sub_cores,
            plans: [None; KERNEL_SLOTS],
            most_extra: [0; KERNEL_SLOTS],
            lent_to: 0,
            switched: None,
            extras: 0,
            tables: Tables::new(2 * gpu.sm.tbs as usize),
            space: Space::new(map.end),
            slots: [0; MAX_SUB_CORES],
            stalled: Vec::with_capacity(WARP_QUEUE),
            ready: Vec::with_capacity(WARP_QUEUE),
            last_stalled: 0,
            last_ready: 0,
            moving: None,
            kept: None,
            pinned: 0,
            leaving: 0,
            look: false,
            missed: Box::new([RegSet::default(); MAX_WARPS]),
            counts: [OversubscriptionCounts::default(); KERNEL_SLOTS],
            times: [TbTime::default(); KERNEL_SLOTS],
            away: [Summed::default(); KERNEL_SLOTS],
            before: OversubscriptionCounts::default(),
            launches: [0; KERNEL_SLOTS],
            record: None,
        }))
    }

    /// Number of warp numbers.
    pub(super) fn numbers(&self) -> u32 {
        self.config.warps()
    }

    /// True if a warp's context is not in place.
    pub(super) fn is_away(&self, number: u8) -> bool {
        self.tables.away() >> number & 1 != 0
    }

    /// True if contexts are switched.
    pub(super) fn is_switching(&self) -> bool {
        self.switched.is_some()
    }

    /// Counts of extra TBs of the kernel in `slot`, before cycle `now`.
    fn counts_of(&self, slot: usize, now: u64) -> OversubscriptionCounts {
        let mut counts = self.counts[slot];
        self.times[slot].add_to(&mut counts, now);
        counts.absent_warp_cycles = self.away[slot].until(now);
        counts
    }

    /// Number of entries of each queue.
    fn queue_places(level: Level) -> usize {
        match level {
            Level::Warp => WARP_QUEUE,
            Level::Tb => TB_QUEUE,
        }
    }

    /// Stops switching; all contexts are in place.
    fn stop_switching(&mut self) {
        self.switched = None;
        self.tables.clear();
        self.stalled.clear();
        self.ready.clear();
        self.moving = None;
        self.kept = None;
    }
}

impl Sm {
    /// Sets the launch in a slot and its plans, from cycle `from` on; none if it is not switched.
    pub(crate) fn plan_oversubscription(&mut self, slot: u8, launch: u32, plans: Option<Plans>, from: u64) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        let at = usize::from(slot);
        if oversubscription.switched.is_some_and(|(kernel, _)| kernel == slot) {
            oversubscription.stop_switching();
            oversubscription.note_held(slot, from);
        }
        let before = oversubscription.counts_of(at, from);
        oversubscription.before.add(&before);
        oversubscription.launches[at] = launch;
        oversubscription.plans[at] = plans;
        oversubscription.most_extra[at] = 0;
        oversubscription.lent_to &= !(1 << slot);
        oversubscription.counts[at] = OversubscriptionCounts::default();
        oversubscription.times[at] = TbTime::default();
        oversubscription.away[at] = Summed::default();
        self.lend_l1(from);
    }

    /// Sets the maximum number of extra TBs of the kernel in `slot` from cycle `from` on, and
    /// whether contexts may be stored in the L1. Surplus TBs stay, but no more are accepted.
    pub(crate) fn set_most_extra(&mut self, slot: u8, most: u32, in_l1: bool, from: u64) {
        let Some(oversubscription) = &mut self.oversubscription else { return };
        oversubscription.most_extra[usize::from(slot)] = most;
        let lends = in_l1 && oversubscription.config.in_l1 != ContextsInL1::Never && most > 0;
        oversubscription.lent_to = oversubscription.lent_to & !(1 << slot) | u8::from(lends) << slot;
        self.lend_l1(from);
    }

    /// Takes the L1 for contexts, or returns it, if no context is in a forbidden place.
    pub(super) fn lend_l1(&mut self, from: u64) {
        let Some(oversubscription) = &self.oversubscription else { return };
        let past = self.lsu.is_past_l1();
        if oversubscription.is_switching() {
            return;
        }
        let kernel = self.resident_kernels.trailing_zeros() as usize;
        let alone = self.resident_kernels.is_power_of_two();
        let lent = alone
            && oversubscription.lent_to & self.resident_kernels != 0
            && oversubscription.plans[kernel & (KERNEL_SLOTS - 1)].is_some_and(|plans| plans.in_l1.is_some());
        if lent != past {
            self.account_sleep(from);
            self.lsu.pass_l1(lent);
            self.reset_l1(self.l1_ways(), from);
        }
    }

    /// Counts of extra TBs of the kernel in `slot` on this SM, before cycle `now`.
    pub(crate) fn context_counts(&self, slot: usize, now: u64) -> Option<OversubscriptionCounts> {
        Some(self.oversubscription.as_ref()?.counts_of(slot, now))
    }

    /// Counts of extra TBs of all kernels that this SM has had, before cycle `now`.
    pub(crate) fn all_context_counts(&self, now: u64) -> Option<OversubscriptionCounts> {
        let oversubscription = self.oversubscription.as_ref()?;
        let mut counts = oversubscription.before;
        (0..KERNEL_SLOTS).for_each(|slot| counts.add(&oversubscription.counts_of(slot, now)));
        Some(counts)
    }

    /// True if contexts are switched on this SM.
    pub(super) fn switches(&self) -> bool {
        self.oversubscription.as_ref().is_some_and(|oversubscription| oversubscription.is_switching())
    }
}
