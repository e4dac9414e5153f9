//! Who leaves an SM before its end, and how: drain, flush, switch (Shieh 2016, section 2.3; sources.md D133).
//!
//! Asked between cycles: [`Sm::preempt`] when the firmware commands it. In a cycle contexts move after the load/store unit has had the
//! injection port ([`Sm::move_contexts`]). What has left is taken with what has ended ([`Sm::take_left`]). State beside [`TbSlot`]: 32 places
//! with two ranges and counts each; an SM without this has none of it, and its TBs leave when they have ended.
//!
//! | technique | the TB | its place |
//! |---|---|---|
//! | drain | runs until it has issued all it has | free then; what it had in flight comes back to nobody |
//! | flush | is dropped, if it may be executed again; what it had in flight comes back to nobody | free at once |
//! | switch | runs until its turn; then issues nothing more, and when its accesses in flight have come, its context goes out | free when the context has gone |
//!
//! A TB that has issued all it has is not flushed or switched: it has ended.
//!
//! Contexts of an SM go one after the other (partial context switching: Wang et al. 2016, as in Shieh 2016, section 5.3), and the next TB stops
//! when the context before it begins to move, so that those behind it run meanwhile and the way is not idle. With the paper's own model all
//! that are commanded stop at once.
//!
//! Room that the firmware has reserved is kept for its kernel: ranges, and as many threads, TB slots and so on as its TBs take.

mod contexts;
mod ended;
mod extras;
mod leave;
mod places;
mod reservation;
mod status;
mod traffic;

pub use ended::Ended;
pub(super) use traffic::TAG_CONTEXT;

use super::suspend::SuspendedTb;
use super::tb::TbSlot;
use super::{KERNEL_SLOTS, Program, Resources};
use crate::config::{GpuConfig, PreemptionConfig, SwitchModel};
use mias_registers::preempt::MAX_PLACES;
use mias_registers::preempt_command;
use places::{Places, Ranges};
use reservation::Reserved;
use traffic::{Traffic, Way};

/// What happens to a TB that is on its way out or in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing.
    Runs,
    /// It runs until it has issued all it has.
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
    /// Cycle from which it issues nothing more, since it is being switched out.
    stopped: Option<u64>,
}

impl Resident {
    /// A TB that has come into a TB slot, from cycle `from` on, and has been on SMs for `before` cycles.
    fn new(tb_slot: usize, tb: &TbSlot, before: u64, program: &Program, from: u64) -> Self {
        let insts = program.part(tb.part).map_or(0, |(trace, first_tb)| {
            let warps = (0..u32::from(tb.warps)).map(|warp| trace.warp(tb.index - first_tb, warp));
            warps.map(|warp| trace.shape(warp.shape).len() as u64).sum()
        });
        Resident { tb_slot: tb_slot as u8, state: State::Runs, since: from, before, insts, ends: None, saved: None, stopped: None }
    }

    /// It has been settling for so long that arithmetic in flight would have ended.
    fn is_late(&self, now: u64) -> bool {
        matches!(self.state, State::Settles(since) if now >= since + SETTLE_CYCLES)
    }
}

/// Cycles in which arithmetic that is in flight ends, if nothing holds it up (assumption: beyond the latencies of the usual units).
const SETTLE_CYCLES: u64 = 64;

/// A TB that has left by command.
#[derive(Clone, Debug)]
pub(crate) struct LeftTb {
    pub(crate) kernel: u8,
    pub(crate) tb: SuspendedTb,
    /// Cycle from which it issued nothing more, if that was before it left.
    pub(crate) stopped: Option<u64>,
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
    /// It had issued all it has: it has ended, by whatever technique.
    pub(crate) ended: bool,
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
    /// Cycle in which it came or came back.
    pub(crate) came_cycle: u64,
}

/// What an SM that preempts has beside.
#[derive(Clone, Debug)]
pub(super) struct Preemption {
    config: PreemptionConfig,
    /// Sectors of 32 bytes that are the SM's share of what DRAM moves per core cycle: numerator and denominator.
    share: (u64, u64),
    places: Places,
    residents: [Option<Resident>; MAX_PLACES],
    /// Places of those that drain by command, one bit each.
    drains: u32,
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
        let (sectors, cycles) = config.dram_sectors();
        Some(Box::new(Preemption {
            config: own,
            share: (sectors, cycles * u64::from(config.sm.count)),
            places: Places::new(&Resources::of_sm(&config.sm)),
            residents: [const { None }; MAX_PLACES],
            drains: 0,
            results: [0; MAX_PLACES],
            ended: [Ended::default(); KERNEL_SLOTS],
            reserved: Reserved::default(),
            traffic: Traffic::new(sm, 1 << config.l1.fetch_bits()),
            left: Vec::new(),
            switches: 0,
        }))
    }

    /// The place of the TB that waits longest for its switch, if no other has stopped whose context does not move yet.
    fn next_to_stop(&self) -> Option<usize> {
        let residents = || self.residents.iter().enumerate().filter_map(|(place, resident)| Some((place, resident.as_ref()?.state)));
        if self.traffic.is_queued() || residents().any(|(_, state)| matches!(state, State::Settles(_))) {
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

    /// A TB has come into a place.
    fn comes(&mut self, place: usize, ranges: Ranges, resident: Resident) {
        self.places.take(place, ranges);
        self.results[place] = 0;
        self.residents[place] = Some(resident);
    }

    /// The TB in a place is gone.
    fn gone(&mut self, place: usize) {
        self.places.give_back(place);
        self.residents[place] = None;
        self.drains &= !(1 << place);
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
