//! Oversubscription: TBs beyond what fits an SM. Contexts of those that wait lie on spare storage
//! of the SM, and change places with others' (Virtual Thread: Yoon et al. 2016, as Lin et al. 2018
//! describe it; GPUDuet: Lin et al. 2018, section 6; sources.md D160 to D165).
//!
//! A TB that fits beside what is here is *native*: quotas count it, and it takes what it needs. Where no more fit, the hardware may take
//! *extra* ones, at most [`Sm::set_most_extra`]. When a native TB ends, the oldest extra one is native from then on. An extra TB is taken only
//! for a kernel that has the SM alone; from the first one until the last has become native the contexts of that kernel are *switched*, and no
//! other's TBs are taken.
//!
//! A warp has a number, by which replies, scoreboard and barriers know it and which says its sub-core, and a slot of that sub-core, which it
//! has only while all of its context is in its place. Without a slot it is in none of the masks of its sub-core.
//!
//! In a cycle contexts are switched after issue and before the cycle is accounted ([`Sm::switch_contexts`]): who waits, who is ready, and what
//! the mover does next. One context moves at a time.
//!
//! | file | |
//! |---|---|
//! | `plan` | what of a kernel is switched, at which level, and how many extra TBs there is room for |
//! | `space` | which units of registers, shared memory and L1 are taken |
//! | `tables` | what is remembered of warps and TBs, and what that takes in bits |
//! | `arrive` | TBs come and end |
//! | `waiting` | who waits for something that takes long |
//! | `states` | what warps are, and the queues of those that wait to be switched |
//! | `switch` | what moves, and when it is there |
//! | `kept` | the TB that is not switched, where one is not |
//! | `pinned` | TBs that leave the SM, or come back to it |
//! | `retry` | when an SM is looked at again for a TB |
//! | `counts` | what is counted |
//! | `record` | what moves, noted for drawings |
//! | `accesses` | what moving takes of the memories |
//! | `check` | the validation hook's look at all this |
//!
//! State beside the warps': [`Storage`] says how many bits. An SM without this has none of it.

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

/// Places of a queue of warps, and of a queue of TBs (Lin et al. 2018, table 4).
const WARP_QUEUE: usize = 16;
const TB_QUEUE: usize = 8;

/// What an SM has beside that takes extra TBs.
#[derive(Clone, Debug)]
pub(super) struct Oversubscription {
    config: OversubscriptionConfig,
    map: AddressMap,
    /// Bytes of an access of the L1.
    l1_access_bytes: u32,
    /// Warp slots of a sub-core.
    slots_per_sub_core: u32,
    sub_cores: u32,
    /// By kernel slot.
    plans: [Option<Plans>; KERNEL_SLOTS],
    most_extra: [u32; KERNEL_SLOTS],
    /// Kernels for whose contexts the L1 may be taken, a bit each.
    lent_to: u8,
    /// Whose contexts are switched, and how.
    switched: Option<(u8, Plan)>,
    /// Extra TBs here.
    extras: u32,
    tables: Tables,
    space: Space,
    /// Free slots by sub-core, a bit each.
    slots: [u32; MAX_SUB_CORES],
    /// Warps, or TB slots, that wait to be switched out, and in.
    stalled: Vec<u8>,
    ready: Vec<u8>,
    /// The ones that entered these queues last.
    last_stalled: u8,
    last_ready: u8,
    moving: Option<Move>,
    /// The TB that is not switched, by its TB slot, if one is not.
    kept: Option<u8>,
    /// TBs whose contexts stay where they are, by TB slot, a bit each.
    pinned: u64,
    /// Those of them that leave.
    leaving: u64,
    /// Something has happened that may change a state or let something move.
    look: bool,
    /// By warp, registers that a load will write that has missed the L1 or passes it by.
    missed: Box<[RegSet; MAX_WARPS]>,
    counts: [OversubscriptionCounts; KERNEL_SLOTS],
    times: [TbTime; KERNEL_SLOTS],
    /// Warps that are away, by kernel slot.
    away: [Summed; KERNEL_SLOTS],
    /// What has been counted of kernels that have left their slots.
    before: OversubscriptionCounts,
    /// By kernel slot, the launch that has it.
    launches: [u32; KERNEL_SLOTS],
    /// What moves, if that is noted.
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

    /// Warp numbers that there are.
    pub(super) fn numbers(&self) -> u32 {
        self.config.warps()
    }

    /// Whether a warp's context is not in its place.
    pub(super) fn is_away(&self, number: u8) -> bool {
        self.tables.away() >> number & 1 != 0
    }

    /// Whether contexts are switched.
    pub(super) fn is_switching(&self) -> bool {
        self.switched.is_some()
    }

    /// What the kernel in `slot` has had of extra TBs, up to and without cycle `now`.
    fn counts_of(&self, slot: usize, now: u64) -> OversubscriptionCounts {
        let mut counts = self.counts[slot];
        self.times[slot].add_to(&mut counts, now);
        counts.absent_warp_cycles = self.away[slot].until(now);
        counts
    }

    /// Places of each queue.
    fn queue_places(level: Level) -> usize {
        match level {
            Level::Warp => WARP_QUEUE,
            Level::Tb => TB_QUEUE,
        }
    }

    /// All contexts are in their places.
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
    /// A launch has taken the slot, from cycle `from` on, and is switched like this, if at all.
    pub(crate) fn plan_contexts(&mut self, slot: u8, launch: u32, plans: Option<Plans>, from: u64) {
        let Some(contexts) = &mut self.oversubscription else { return };
        let at = usize::from(slot);
        if contexts.switched.is_some_and(|(kernel, _)| kernel == slot) {
            contexts.stop_switching();
            contexts.note_held(slot, from);
        }
        let before = contexts.counts_of(at, from);
        contexts.before.add(&before);
        contexts.launches[at] = launch;
        contexts.plans[at] = plans;
        contexts.most_extra[at] = 0;
        contexts.lent_to &= !(1 << slot);
        contexts.counts[at] = OversubscriptionCounts::default();
        contexts.times[at] = TbTime::default();
        contexts.away[at] = Summed::default();
        self.lend_l1(from);
    }

    /// From cycle `from` on the kernel in `slot` may have so many extra TBs here, and contexts may lie in the L1 if they need to; where
    /// there are more, no more are taken.
    pub(crate) fn set_most_extra(&mut self, slot: u8, most: u32, in_l1: bool, from: u64) {
        let Some(contexts) = &mut self.oversubscription else { return };
        contexts.most_extra[usize::from(slot)] = most;
        let lends = in_l1 && contexts.config.in_l1 != ContextsInL1::Never && most > 0;
        contexts.lent_to = contexts.lent_to & !(1 << slot) | u8::from(lends) << slot;
        self.lend_l1(from);
    }

    /// Takes the L1 for contexts, or gives it back, if no context is where it is not to be.
    pub(super) fn lend_l1(&mut self, from: u64) {
        let Some(contexts) = &self.oversubscription else { return };
        let past = self.lsu.is_past_l1();
        if contexts.is_switching() {
            return;
        }
        let kernel = self.resident_kernels.trailing_zeros() as usize;
        let alone = self.resident_kernels.is_power_of_two();
        let lent = alone
            && contexts.lent_to & self.resident_kernels != 0
            && contexts.plans[kernel & (KERNEL_SLOTS - 1)].is_some_and(|plans| plans.in_l1.is_some());
        if lent != past {
            self.account_sleep(from);
            self.lsu.pass_l1(lent);
            self.reset_l1(self.l1_ways(), from);
        }
    }

    /// What the kernel in `slot` has had here of extra TBs, up to and without cycle `now`.
    pub(crate) fn context_counts(&self, slot: usize, now: u64) -> Option<OversubscriptionCounts> {
        Some(self.oversubscription.as_ref()?.counts_of(slot, now))
    }

    /// The same of all kernels that this SM has had.
    pub(crate) fn all_context_counts(&self, now: u64) -> Option<OversubscriptionCounts> {
        let contexts = self.oversubscription.as_ref()?;
        let mut counts = contexts.before;
        (0..KERNEL_SLOTS).for_each(|slot| counts.add(&contexts.counts_of(slot, now)));
        Some(counts)
    }

    /// Whether contexts are switched here.
    pub(super) fn switches(&self) -> bool {
        self.oversubscription.as_ref().is_some_and(|contexts| contexts.is_switching())
    }
}
