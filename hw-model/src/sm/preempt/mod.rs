//! Who leaves an SM before its end, and how: drain, flush, switch (Shieh 2016, section 2.3; sources.md D133).
//!
//! Asked between cycles: [`Sm::preempt`] when the firmware commands it. In a cycle contexts move after the load/store unit has had the
//! injection port ([`Sm::move_contexts`]). What has left is taken with what has ended ([`Sm::take_left`]). State beside [`TbSlot`]: 32 places
//! with two ranges and counts each; an SM without this has none of it, and its TBs leave when they have ended.
//!
//! | technique | the TB | its place |
//! |---|---|---|
//! | drain | runs to its end | free then |
//! | flush | is dropped, if it may be executed again; what it had in flight comes back to nobody | free at once |
//! | switch | runs until its turn; then issues nothing more, and when its accesses in flight have come, its context goes out | free when the context has gone |
//!
//! Contexts of an SM go one after the other (partial context switching: Wang et al. 2016, as in Shieh 2016, section 5.3), and the next TB stops
//! when the one before it begins to go, so that others run meanwhile. With the paper's own model all that are commanded stop at once.
//!
//! Room that the firmware has reserved is kept for its kernel: ranges, and as many threads, TB slots and so on as its TBs take.

mod ended;
mod places;
mod traffic;

pub use ended::Ended;
pub(super) use traffic::TAG_CONTEXT;

use super::suspend::{Return, SuspendedTb};
use super::tb::TbSlot;
use super::{KERNEL_SLOTS, Programs, Resources, Sm};
use crate::config::{GpuConfig, PreemptionConfig, ResumeOn, SwitchModel};
use crate::memory::Port;
use mias_firmware::regs::preempt::{MAX_PLACES, MAX_POSITIONS};
use mias_firmware::regs::{preempt_command, preempt_reserve, technique};
use places::{Places, Ranges};
use traffic::{Traffic, Way};

/// What happens to a TB that is on its way out or in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing.
    #[default]
    Runs,
    /// It runs to its end.
    Drains,
    /// It runs until its context's turn has come: the number of the command.
    Waits(u64),
    /// Its accesses in flight are waited for, since this cycle.
    Settles(u64),
    /// Its context goes out.
    Goes,
    /// Its context comes in.
    Comes,
}

/// A TB on the SM, by its place.
#[derive(Clone, Debug)]
struct Resident {
    /// Its index among the SM's TB slots.
    tb_slot: u8,
    state: State,
    /// Cycle in which it came or came back, and cycles that it had been here before.
    since: u64,
    before: u64,
    /// Warp instructions of all of it.
    insts: u64,
    /// Of each warp, the instruction that forbids to flush it, as an index into its kernel's shapes; none before it was asked for.
    ends: Option<Box<[u32]>>,
    /// What will be put back, while it is switched out.
    saved: Option<Box<SuspendedTb>>,
}

impl Resident {
    /// It has been settling for so long that arithmetic in flight would have ended.
    fn is_late(&self, now: u64) -> bool {
        matches!(self.state, State::Settles(since) if now >= since + SETTLE_CYCLES)
    }
}

/// Cycles in which arithmetic that is in flight ends, if nothing holds it up (assumption: beyond the latencies of the usual units).
const SETTLE_CYCLES: u64 = 64;

/// Room that is kept for a kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Reserved {
    slot: Option<u8>,
    whole_sm: bool,
    positions: u64,
    demand: Resources,
}

/// A TB that has left by command.
#[derive(Clone, Debug)]
pub(crate) struct LeftTb {
    pub(crate) kernel: u8,
    pub(crate) tb: SuspendedTb,
}

/// What came of a command, as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Kernel slot and index of the TB.
    pub(crate) kernel: u8,
    pub(crate) index: u32,
    /// Warp instructions that it had issued, and the cycles that it had been here.
    pub(crate) insts: u64,
    pub(crate) cycles: u64,
    /// It has left already.
    pub(crate) left: bool,
}

/// A TB as the register block shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbStatus {
    pub(crate) kernel: u8,
    /// Index in its grid.
    pub(crate) index: u32,
    /// [`technique`] by which it leaves.
    pub(crate) leaving: u32,
    pub(crate) flush: bool,
    pub(crate) insts: u64,
    pub(crate) cycles: u64,
    pub(crate) first_register: u32,
    pub(crate) first_shared: u32,
}

/// What an SM that preempts has beside.
#[derive(Clone, Debug)]
pub(super) struct Preemption {
    config: PreemptionConfig,
    /// Sectors of 32 bytes that are the SM's share of what DRAM moves per core cycle: numerator and denominator.
    share: (u64, u64),
    places: Places,
    residents: [Option<Resident>; MAX_PLACES],
    /// What came of the last command for each place: [`preempt_command`].
    results: [u32; MAX_PLACES],
    /// By kernel slot.
    ended: [Ended; KERNEL_SLOTS],
    reserved: Reserved,
    traffic: Traffic,
    left: Vec<LeftTb>,
    /// Switches commanded so far.
    switches: u64,
}

impl Preemption {
    pub(super) fn new(config: &GpuConfig, sm: u16) -> Option<Box<Self>> {
        let own = config.sm.preemption?;
        let beats = u64::from(config.dram.channels) * u64::from(config.dram.beats_per_cycle) * u64::from(config.clocks.dram_khz);
        let per = u64::from(config.dram.burst_beats) * u64::from(config.clocks.core_khz) * u64::from(config.sm.count);
        Some(Box::new(Preemption {
            config: own,
            share: (beats, per),
            places: Places::new(&Resources::of_sm(&config.sm)),
            residents: [const { None }; MAX_PLACES],
            results: [0; MAX_PLACES],
            ended: [Ended::default(); KERNEL_SLOTS],
            reserved: Reserved::default(),
            traffic: Traffic::new(sm, 1 << config.l1.fetch_bits()),
            left: Vec::new(),
            switches: 0,
        }))
    }

    /// Where the next TB of the kernel in `slot` would lie, if `others` of other kernels are here and so much is free.
    fn find(&self, slot: u8, demand: &Resources, others: bool, free: &Resources) -> Option<(Ranges, Option<usize>)> {
        let reserved = &self.reserved;
        let Some(owner) = reserved.slot else { return Some((self.places.find(demand, &[])?, None)) };
        if owner == slot {
            if reserved.whole_sm && others {
                return None;
            }
            let mine = (0..MAX_POSITIONS).filter(|position| reserved.positions >> position & 1 != 0);
            let mut free_ones = mine.filter_map(|position| Some((self.places.position(position, demand)?, Some(position))));
            let found = free_ones.find(|(ranges, _)| self.places.is_free(*ranges));
            let any = || Some((self.places.find(demand, &[])?, None));
            return found.or_else(|| if reserved.positions == 0 { any() } else { None });
        }
        if reserved.whole_sm {
            return None;
        }
        // What is kept for the owner is not there.
        let kept = reserved.positions.count_ones();
        let left = |have: u32, each: u32| have.checked_sub(each.saturating_mul(kept));
        let of = &reserved.demand;
        let threads = left(free.threads, of.threads)?;
        let tbs = left(free.tbs, of.tbs)?;
        if demand.threads > threads || demand.tbs > tbs {
            return None;
        }
        let mut blocked = [Ranges::default(); MAX_POSITIONS];
        let mut count = 0;
        for position in (0..MAX_POSITIONS).filter(|position| reserved.positions >> position & 1 != 0) {
            if let Some(ranges) = self.places.position(position, of) {
                blocked[count] = ranges;
                count += 1;
            }
        }
        Some((self.places.find(demand, &blocked[..count])?, None))
    }

    /// A TB of the kernel in `slot` has gone; whether others of it are here.
    pub(super) fn vacated(&mut self, slot: u8, others: bool) {
        let reserved = &mut self.reserved;
        if reserved.slot == Some(slot) && reserved.positions == 0 && !(reserved.whole_sm && others) {
            *reserved = Reserved::default();
        }
    }

    /// The place of the TB that waits longest for its switch, if no other is waited for.
    fn next_to_stop(&self) -> Option<usize> {
        let residents = || self.residents.iter().enumerate().filter_map(|(place, resident)| Some((place, resident.as_ref()?.state)));
        if residents().any(|(_, state)| matches!(state, State::Settles(_))) {
            return None;
        }
        let waiting = residents().filter_map(|(place, state)| if let State::Waits(number) = state { Some((number, place)) } else { None });
        waiting.min().map(|(_, place)| place)
    }

    /// The place of the TB in an SM's TB slot.
    fn place_of(&self, tb_slot: usize) -> Option<usize> {
        self.residents.iter().position(|resident| resident.as_ref().is_some_and(|resident| usize::from(resident.tb_slot) == tb_slot))
    }

    fn resident_mut(&mut self, place: usize) -> Option<&mut Resident> {
        self.residents.get_mut(place)?.as_mut()
    }

    /// The TB in a place is gone.
    fn gone(&mut self, place: usize) {
        self.places.give_back(place);
        self.residents[place] = None;
        if self.results[place] & preempt_command::BUSY != 0 {
            self.results[place] = self.results[place] & !preempt_command::BUSY | preempt_command::DONE;
        }
    }

    /// Bytes of the context of a TB of so many warps.
    fn context_bytes(&self, demand: &Resources, warps: u8) -> u32 {
        4 * demand.registers + demand.shared_bytes + self.config.warp_state_bytes * u32::from(warps)
    }

    /// A context of a TB begins to move, as the machine's model has it.
    fn begin(&mut self, place: usize, way: Way, tb: &TbSlot, now: u64) {
        match self.config.switch {
            SwitchModel::Traffic => {
                let bytes = self.context_bytes(&tb.demand, tb.warps);
                self.traffic.send(place as u8, way, tb.kernel, tb.index, bytes);
            }
            SwitchModel::Stall => {
                // As the paper estimates it: registers and shared memory over the SM's share of bandwidth.
                let bytes = u64::from(4 * tb.demand.registers + tb.demand.shared_bytes);
                let cycles = (bytes * self.share.1).div_ceil(32 * self.share.0.max(1));
                self.traffic.wait(place as u8, way, tb.kernel, now + cycles);
            }
        }
    }
}

impl Sm {
    /// Whether a place is to be had for a TB of the kernel in `slot`.
    pub(super) fn has_place(&self, slot: u8, demand: &Resources) -> bool {
        let others = self.resident_kernels & !(1 << slot) != 0;
        self.preemption.as_ref().is_none_or(|preemption| {
            preemption.places.free_place().is_some() && preemption.find(slot, demand, others, &self.free).is_some()
        })
    }

    /// A TB that is new has come, or one that was away, into a TB slot. `cycles` that it has been here before.
    pub(super) fn takes_place(&mut self, tb_slot: usize, cycles: u64, programs: &super::Program, from: u64) {
        let others = self.resident_kernels & !(1 << self.tbs[tb_slot].kernel) != 0;
        let (tb, free) = (&self.tbs[tb_slot], &mut self.free);
        let Some(preemption) = &mut self.preemption else { return };
        // Its own demand is taken already.
        free.give_back(&tb.demand);
        let found = preemption.find(tb.kernel, &tb.demand, others, free);
        free.take(&tb.demand);
        let (Some(place), Some((ranges, position))) = (preemption.places.free_place(), found) else { return };
        let insts = programs.part(tb.part).map_or(0, |(trace, first_tb)| {
            let warps = (0..u32::from(tb.warps)).map(|warp| trace.warp(tb.index - first_tb, warp));
            warps.map(|warp| trace.shape(warp.shape).len() as u64).sum()
        });
        preemption.places.take(place, ranges);
        if let Some(position) = position {
            preemption.reserved.positions &= !(1 << position);
            // A whole SM is its kernel's until it has left.
            if preemption.reserved.positions == 0 && !preemption.reserved.whole_sm {
                preemption.reserved = Reserved::default();
            }
        }
        preemption.results[place] = 0;
        preemption.residents[place] =
            Some(Resident { tb_slot: tb_slot as u8, state: State::Runs, since: from, before: cycles, insts, ends: None, saved: None });
    }

    /// The context of a TB that has just come back is on its way. Whether there is such a context, without which it may start.
    pub(super) fn fetches_context(&mut self, tb_slot: usize, now: u64) -> bool {
        let Some(preemption) = &mut self.preemption else { return false };
        let Some(place) = preemption.place_of(tb_slot) else { return false };
        if let Some(resident) = preemption.resident_mut(place) {
            resident.state = State::Comes;
        }
        preemption.begin(place, Way::In, &self.tbs[tb_slot], now);
        true
    }

    /// The last warp of a TB has gone by cycle `now`. Whether the TB keeps its place, since it is being switched out; else it has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn stays_in_place(&mut self, tb_slot: usize, now: u64) -> bool {
        let tb = self.tbs[tb_slot];
        let Some(preemption) = &mut self.preemption else { return false };
        let Some(place) = preemption.place_of(tb_slot) else { return false };
        let Some(resident) = preemption.resident_mut(place) else { return false };
        match resident.state {
            State::Settles(_) => {
                resident.state = State::Goes;
                preemption.begin(place, Way::Out, &tb, now);
                true
            }
            State::Goes => true,
            State::Runs | State::Drains | State::Waits(_) | State::Comes => {
                let (insts, cycles) = (resident.insts, resident.before + now.saturating_sub(resident.since));
                preemption.ended[usize::from(tb.kernel)].add(insts, cycles);
                preemption.gone(place);
                false
            }
        }
    }

    /// Makes the TB in a place leave. `now` is the coming cycle.
    ///
    /// # Errors
    /// One of the reasons of [`preempt_command`].
    pub(crate) fn preempt(&mut self, place: usize, how: u32, now: u64, programs: &Programs) -> Result<Carried, u32> {
        let outcome = self.try_preempt(place, how, now, programs);
        if let Some(preemption) = &mut self.preemption
            && let Some(result) = preemption.results.get_mut(place)
        {
            *result = how << preempt_command::TECHNIQUE_SHIFT
                | match outcome {
                    Ok(Carried { left: true, .. }) => preempt_command::DONE,
                    Ok(_) => preempt_command::BUSY,
                    Err(reason) => preempt_command::REFUSED | reason << preempt_command::REASON_SHIFT,
                };
        }
        outcome
    }

    fn try_preempt(&mut self, place: usize, how: u32, now: u64, programs: &Programs) -> Result<Carried, u32> {
        let status = self.tb_status(place, now, how == technique::FLUSH, programs).ok_or(preempt_command::NO_TB)?;
        let Some(preemption) = &mut self.preemption else { return Err(preempt_command::MODE) };
        let stands = preemption.config.switch == SwitchModel::Stall;
        let Some(resident) = preemption.resident_mut(place) else { return Err(preempt_command::NO_TB) };
        if !matches!(resident.state, State::Runs | State::Drains | State::Waits(_)) {
            return Err(preempt_command::LEAVING);
        }
        let tb_slot = usize::from(resident.tb_slot);
        let TbStatus { kernel, index, insts, cycles, .. } = status;
        let carried = |left| Carried { kernel, index, insts, cycles, left };
        // A TB that has issued all it has ends by itself.
        let ends = self.tbs[tb_slot].issuing == 0;
        match how {
            technique::FLUSH if !status.flush => Err(preempt_command::NOT_IDEMPOTENT),
            technique::FLUSH if !ends => {
                let tb = SuspendedTb::anew(index, self.tbs[tb_slot].part);
                preemption.gone(place);
                self.stop(tb_slot, now);
                self.evict(tb_slot, now);
                self.preemption.iter_mut().for_each(|preemption| preemption.left.push(LeftTb { kernel, tb: tb.clone() }));
                Ok(carried(true))
            }
            technique::SWITCH if !ends => {
                preemption.switches += 1;
                if stands {
                    self.stop_to_leave(place, State::Goes, now);
                } else {
                    let number = preemption.switches;
                    if let Some(resident) = preemption.resident_mut(place) {
                        resident.state = State::Waits(number);
                    }
                    self.next_switch(now);
                }
                self.retire(now);
                Ok(carried(false))
            }
            technique::DRAIN | technique::FLUSH | technique::SWITCH => {
                resident.state = State::Drains;
                Ok(carried(false))
            }
            _ => Err(preempt_command::NO_TB),
        }
    }

    /// A TB that is to be switched out issues nothing more, and is in `state`.
    fn stop_to_leave(&mut self, place: usize, state: State, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let (same, stands) = (preemption.config.resume == ResumeOn::SameSm, preemption.config.switch == SwitchModel::Stall);
        let Some(resident) = preemption.resident_mut(place) else { return };
        let (tb_slot, cycles) = (usize::from(resident.tb_slot), resident.before + now.saturating_sub(resident.since));
        resident.state = state;
        let home = same.then_some(self.lsu.sm());
        let mut saved = self.stop(tb_slot, now);
        saved.back = Return::Restored { cycles, home };
        let tb = self.tbs[tb_slot];
        if let Some(preemption) = &mut self.preemption {
            if let Some(resident) = preemption.resident_mut(place) {
                resident.saved = Some(Box::new(saved));
            }
            if stands {
                preemption.begin(place, Way::Out, &tb, now);
            }
        }
    }

    /// A TB whose accesses in flight have all come begins to go, though it has arithmetic in flight still: in a busy pipeline that may be held
    /// up for as long as others issue, and needs no place of the TB's.
    fn go_if_settled(&mut self, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let settles = preemption.residents.iter().position(|resident| resident.as_ref().is_some_and(|resident| resident.is_late(now)));
        let Some(place) = settles else { return };
        let Some(resident) = preemption.resident_mut(place) else { return };
        let tb = self.tbs[usize::from(resident.tb_slot)];
        let accesses = |number: u8| {
            let warp = &self.warps[number];
            warp.live && (!warp.loading.is_empty() || warp.stores > 0 || warp.atomics > 0)
        };
        if !(tb.first_warp..tb.first_warp + tb.warps).any(accesses) {
            resident.state = State::Goes;
            preemption.begin(place, Way::Out, &tb, now);
        }
    }

    /// The TB that waits longest for its switch stops, if no other is waited for.
    fn next_switch(&mut self, now: u64) {
        let Some(place) = self.preemption.as_ref().and_then(|preemption| preemption.next_to_stop()) else { return };
        let Some(resident) = self.preemption.as_mut().and_then(|preemption| preemption.resident_mut(place)) else { return };
        if self.tbs[usize::from(resident.tb_slot)].issuing == 0 {
            resident.state = State::Drains;
        } else {
            self.stop_to_leave(place, State::Settles(now), now);
        }
    }

    /// Contexts move, and TBs whose context has arrived leave or go on.
    #[cold]
    #[inline(never)]
    pub(super) fn move_contexts(&mut self, now: u64, port: &mut Port<'_>) {
        let Some(preemption) = &mut self.preemption else { return };
        preemption.traffic.cycle(port);
        self.go_if_settled(now);
        self.next_switch(now);
        while let Some((place, way)) = self.preemption.as_mut().and_then(|preemption| preemption.traffic.take_arrived(now)) {
            self.context_arrived(place.into(), way, now);
        }
    }

    fn context_arrived(&mut self, place: usize, way: Way, now: u64) {
        let Some(preemption) = &mut self.preemption else { return };
        let Some(resident) = preemption.resident_mut(place) else { return };
        let tb_slot = usize::from(resident.tb_slot);
        match way {
            Way::In => {
                resident.state = State::Runs;
                let TbSlot { first_warp, warps, .. } = self.tbs[tb_slot];
                for number in first_warp..first_warp + warps {
                    if self.warps[number].live {
                        self.fetch_first(number, now);
                    }
                }
            }
            Way::Out => {
                let saved = resident.saved.take();
                let kernel = self.tbs[tb_slot].kernel;
                preemption.gone(place);
                if let Some(tb) = saved {
                    preemption.left.push(LeftTb { kernel, tb: *tb });
                }
                self.evict(tb_slot, now + 1);
            }
        }
    }

    /// A request of a context has been answered, which is seen from cycle `from` on.
    #[cold]
    #[inline(never)]
    pub(super) fn context_answered(&mut self, tag: u32, from: u64) {
        if let Some(preemption) = &mut self.preemption {
            preemption.traffic.answered((tag & !TAG_CONTEXT) as u8, from);
        }
    }

    /// The next cycle after `now` in which contexts move by themselves.
    pub(super) fn next_context(&self, now: u64) -> Option<u64> {
        let preemption = self.preemption.as_ref()?;
        let stops = preemption.next_to_stop().map(|_| now + 1);
        let settles = preemption.residents.iter().flatten().filter_map(|resident| match resident.state {
            State::Settles(since) => Some((since + SETTLE_CYCLES).max(now + 1)),
            _ => None,
        });
        stops.into_iter().chain(settles).chain(preemption.traffic.next_event(now)).min()
    }

    /// TBs that have left by command since the last call.
    pub(crate) fn take_left(&mut self, each: impl FnMut(LeftTb)) {
        if let Some(preemption) = &mut self.preemption {
            preemption.left.drain(..).for_each(each);
        }
    }

    /// Whether TBs have left by command since they were taken.
    pub(super) fn has_left_tbs(&self) -> bool {
        self.preemption.as_ref().is_some_and(|preemption| !preemption.left.is_empty())
    }

    /// Keeps positions for the kernel in a slot, whose TBs take `demand`, as `word` ([`preempt_reserve`]) says; a word of 0 gives them free.
    pub(crate) fn reserve(&mut self, word: u32, positions: u64, demand: &Resources) {
        if let Some(preemption) = &mut self.preemption {
            let slot = (word & preempt_reserve::SLOT).checked_sub(1).map(|slot| slot as u8);
            let whole_sm = word & preempt_reserve::WHOLE_SM != 0;
            let there = (0..MAX_POSITIONS).filter(|position| preemption.places.position(*position, demand).is_some());
            let positions = there.fold(0, |there, position| there | 1 << position) & positions;
            preemption.reserved = slot.map_or(Reserved::default(), |_| Reserved { slot, whole_sm, positions, demand: *demand });
        }
    }

    /// Nothing is kept for more TBs of the kernel in a slot. An SM that it has whole is its own while TBs of it are there.
    pub(crate) fn give_reserved_free(&mut self, slot: u8) {
        let here = self.resident.get(usize::from(slot)).is_some_and(|&tbs| tbs > 0);
        if let Some(preemption) = &mut self.preemption
            && preemption.reserved.slot == Some(slot)
        {
            preemption.reserved.positions = 0;
            preemption.vacated(slot, here);
        }
    }

    /// What is kept, as [`Sm::reserve`] takes it.
    pub(crate) fn reserved(&self) -> (u32, u64) {
        let Some(Reserved { slot, whole_sm, positions, .. }) = self.preemption.as_ref().map(|preemption| preemption.reserved) else {
            return (0, 0);
        };
        let whole = if whole_sm { preempt_reserve::WHOLE_SM } else { 0 };
        slot.map_or((0, 0), |slot| ((u32::from(slot) + 1) | whole, positions))
    }

    /// The TB in a place in cycle `now`; whether it may be flushed only if it is `asked`, since that takes a look at its trace.
    pub(crate) fn tb_status(&mut self, place: usize, now: u64, asked: bool, programs: &Programs) -> Option<TbStatus> {
        let preemption = self.preemption.as_mut()?;
        let ranges = preemption.places.of(place)?;
        let resident = preemption.resident_mut(place)?;
        let tb = self.tbs.get(usize::from(resident.tb_slot))?;
        let trace = programs.get(tb.kernel).and_then(|program| program.part(tb.part));
        if asked && resident.ends.is_none() {
            resident.ends = trace.map(|(trace, first_tb)| {
                let ends = trace.idempotence_ends(tb.index - first_tb);
                let starts = (0..).map(|warp| trace.shape(trace.warp(tb.index - first_tb, warp).shape).start);
                ends.into_iter().zip(starts).map(|(end, start)| end.map_or(u32::MAX, |end| start + end)).collect()
            });
        }
        let (mut left, mut flush) = (0, asked);
        let saved = resident.saved.as_deref();
        for warp in 0..tb.warps {
            let end = resident.ends.as_deref().and_then(|ends| ends.get(usize::from(warp)).copied()).unwrap_or(u32::MAX);
            let state = &self.warps[tb.first_warp + warp];
            let here = state.live && state.tb_slot == resident.tb_slot;
            // A warp that has gone has issued all it had.
            let next = match (saved, here) {
                (Some(saved), _) => saved.next(usize::from(warp)),
                (None, true) => (!state.issued_all).then_some((state.next, state.end)),
                (None, false) => None,
            };
            left += next.map_or(0, |(next, end)| u64::from(end - next));
            flush &= next.map_or(end == u32::MAX, |(next, _)| next <= end);
        }
        let leaving = match resident.state {
            State::Runs => technique::NONE,
            State::Drains => technique::DRAIN,
            State::Waits(_) | State::Settles(_) | State::Goes | State::Comes => technique::SWITCH,
        };
        Some(TbStatus {
            kernel: tb.kernel,
            index: tb.index,
            leaving,
            flush: flush && matches!(resident.state, State::Runs | State::Drains | State::Waits(_)),
            insts: resident.insts - left,
            cycles: resident.before + now.saturating_sub(resident.since),
            first_register: ranges.first_register(),
            first_shared: ranges.first_shared(),
        })
    }

    /// What came of the last command for a place.
    pub(crate) fn preempt_result(&self, place: usize) -> u32 {
        self.preemption.as_ref().and_then(|preemption| preemption.results.get(place)).copied().unwrap_or(0)
    }

    /// TBs of the kernel in `slot` that have ended here.
    pub(crate) fn ended(&self, slot: usize) -> Ended {
        self.preemption.as_ref().map_or(Ended::default(), |preemption| preemption.ended[slot])
    }

    /// Forgets what is known of a slot's kernel.
    pub(super) fn forget_ended(&mut self, slot: u8) {
        if let Some(preemption) = &mut self.preemption {
            preemption.ended[usize::from(slot)] = Ended::default();
        }
    }

    /// TBs of the kernel in a slot that are leaving.
    pub(crate) fn leaving(&self, slot: usize) -> u32 {
        let Some(preemption) = &self.preemption else { return 0 };
        let leaves = |resident: &&Resident| {
            matches!(resident.state, State::Drains | State::Waits(_) | State::Settles(_) | State::Goes)
                && usize::from(self.tbs[usize::from(resident.tb_slot)].kernel) == slot
        };
        preemption.residents.iter().flatten().filter(leaves).count() as u32
    }

    /// Whether a command is being carried out.
    pub(crate) fn is_preempting(&self) -> bool {
        self.preemption.as_ref().is_some_and(|preemption| preemption.results.iter().any(|result| result & preempt_command::BUSY != 0))
    }
}
