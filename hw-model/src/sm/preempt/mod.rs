//! Preemption on an SM: drain, flush and switch (Shieh 2016, section 2.3; sources.md D133).
//!
//! The firmware's command calls [`Sm::preempt`] between cycles. In a cycle, contexts move after the
//! load/store unit has used the injection port ([`Sm::move_contexts`]). TBs that have left are
//! taken with those that have ended ([`Sm::take_left`]). The state in addition to [`TbSlot`] is 32
//! positions with two ranges and counts each. An SM without preemption has none of it.
//!
//! | technique | TB | its position |
//! |---|---|---|
//! | drain | runs until it has issued everything | free then; its replies in flight are dropped |
//! | flush | is dropped, if it may be executed again; its replies in flight are dropped | free at once |
//! | switch | runs until its turn; then issues nothing more, and after its accesses in flight have returned, its context moves out | free when the context has left |
//!
//! A TB that has issued everything is not flushed or switched: it has ended.
//!
//! Contexts of an SM move one after the other (partial context switching: Wang et al. 2016, as in
//! Shieh 2016, section 5.3). The next TB stops when the previous context begins to move, so that
//! later TBs run meanwhile and the transport is busy. With the paper's own model, all commanded TBs
//! stop at once.
//!
//! Capacity reserved by the firmware is kept for its kernel: ranges, and the threads, TB slots and
//! other resources of its TBs.

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

/// State of a TB that may be on its way out or in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The TB runs normally.
    Runs,
    /// The TB runs until it has issued everything.
    Drains,
    /// The TB runs until its context's turn; with the number of the command.
    Waits(u64),
    /// The TB waits for its accesses in flight, since this cycle.
    Settles(u64),
    /// The TB moves its context out.
    Goes,
    /// The TB moves its context in.
    Comes,
}

/// Resident TB in a position.
#[derive(Clone, Debug)]
struct Resident {
    /// Index among the SM's TB slots.
    tb_slot: u8,
    state: State,
    /// Cycle in which the TB arrived or resumed, and its resident cycles before that.
    since: u64,
    before: u64,
    /// Number of warp instructions of the whole TB.
    insts: u64,
    /// First non-idempotent instruction of each warp, as an index into its kernel's shapes; none
    /// before it is computed.
    ends: Option<Box<[u32]>>,
    /// State to restore, while the TB is switched out.
    saved: Option<Box<SuspendedTb>>,
    /// Cycle from which the TB issues nothing, since it is being switched out.
    stopped: Option<u64>,
}

impl Resident {
    /// Creates the state of a TB that has taken a TB slot, from cycle `from` on, with `before`
    /// earlier cycles on SMs.
    fn new(tb_slot: usize, tb: &TbSlot, before: u64, program: &Program, from: u64) -> Self {
        let insts = program.part(tb.part).map_or(0, |(trace, first_tb)| {
            let warps = (0..u32::from(tb.warps)).map(|warp| trace.warp(tb.index - first_tb, warp));
            warps.map(|warp| trace.shape(warp.shape).len() as u64).sum()
        });
        Resident { tb_slot: tb_slot as u8, state: State::Runs, since: from, before, insts, ends: None, saved: None, stopped: None }
    }

    /// True if the TB has settled for so long that arithmetic in flight would have ended.
    fn is_late(&self, now: u64) -> bool {
        matches!(self.state, State::Settles(since) if now >= since + SETTLE_CYCLES)
    }
}

/// Cycles in which undelayed arithmetic in flight ends (assumption: beyond the latencies of the
/// usual units).
const SETTLE_CYCLES: u64 = 64;

/// TB that has left by command.
#[derive(Clone, Debug)]
pub(crate) struct LeftTb {
    pub(crate) kernel: u8,
    pub(crate) tb: SuspendedTb,
    /// Cycle from which the TB issued nothing, if that was before it left.
    pub(crate) stopped: Option<u64>,
}

/// Result of an accepted command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Carried {
    /// Kernel slot and grid index of the TB.
    pub(crate) kernel: u8,
    pub(crate) index: u32,
    /// Number of warp instructions that the TB had issued, and of its resident cycles.
    pub(crate) insts: u64,
    pub(crate) cycles: u64,
    /// True if the TB has already left.
    pub(crate) left: bool,
    /// True if the TB had issued everything: it has then ended under any technique.
    pub(crate) ended: bool,
}

/// TB as shown in the register block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TbStatus {
    pub(crate) kernel: u8,
    /// Index of the TB in its grid.
    pub(crate) index: u32,
    /// [`technique`] by which the TB leaves.
    pub(crate) leaving: u32,
    pub(crate) flush: bool,
    pub(crate) insts: u64,
    pub(crate) cycles: u64,
    pub(crate) first_register: u32,
    pub(crate) first_shared: u32,
    /// Cycle in which the TB arrived or resumed.
    pub(crate) came_cycle: u64,
}

/// Preemption state of an SM.
#[derive(Clone, Debug)]
pub(super) struct Preemption {
    config: PreemptionConfig,
    /// SM's share of DRAM bandwidth in 32-byte sectors per core cycle: numerator and denominator.
    share: (u64, u64),
    places: Places,
    residents: [Option<Resident>; MAX_PLACES],
    /// Mask of the positions that drain by command.
    drains: u32,
    /// Result of the last command for each position: [`preempt_command`].
    results: [u32; MAX_PLACES],
    /// Statistics of ended TBs by kernel slot.
    ended: [Ended; KERNEL_SLOTS],
    reserved: Reserved,
    traffic: Traffic,
    left: Vec<LeftTb>,
    /// Number of switches commanded so far.
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

    /// Position of the TB that has waited longest for its switch, if no other TB has stopped with a
    /// context that does not move yet.
    fn next_to_stop(&self) -> Option<usize> {
        let residents = || self.residents.iter().enumerate().filter_map(|(place, resident)| Some((place, resident.as_ref()?.state)));
        if self.traffic.is_queued() || residents().any(|(_, state)| matches!(state, State::Settles(_))) {
            return None;
        }
        let waiting = residents().filter_map(|(place, state)| if let State::Waits(number) = state { Some((number, place)) } else { None });
        waiting.min().map(|(_, place)| place)
    }

    /// Position of the TB in a TB slot.
    fn place_of(&self, tb_slot: usize) -> Option<usize> {
        self.residents.iter().position(|resident| resident.as_ref().is_some_and(|resident| usize::from(resident.tb_slot) == tb_slot))
    }

    fn resident_mut(&mut self, place: usize) -> Option<&mut Resident> {
        self.residents.get_mut(place)?.as_mut()
    }

    /// Adds a TB in a position.
    fn comes(&mut self, place: usize, ranges: Ranges, resident: Resident) {
        self.places.take(place, ranges);
        self.results[place] = 0;
        self.residents[place] = Some(resident);
    }

    /// Removes the TB in a position.
    fn gone(&mut self, place: usize) {
        self.places.give_back(place);
        self.residents[place] = None;
        self.drains &= !(1 << place);
        if self.results[place] & preempt_command::BUSY != 0 {
            self.results[place] = self.results[place] & !preempt_command::BUSY | preempt_command::DONE;
        }
    }

    /// Bytes of the context of a TB with this many warps.
    fn context_bytes(&self, demand: &Resources, warps: u8) -> u32 {
        4 * demand.registers + demand.shared_bytes + self.config.warp_state_bytes * u32::from(warps)
    }

    /// Starts the move of a TB's context, by the GPU's model.
    fn begin(&mut self, place: usize, way: Way, tb: &TbSlot, now: u64) {
        match self.config.switch {
            SwitchModel::Traffic => {
                let bytes = self.context_bytes(&tb.demand, tb.warps);
                self.traffic.send(place as u8, way, tb.kernel, tb.index, bytes);
            }
            SwitchModel::Stall => {
                // The paper's estimate: registers and shared memory over the SM's share of
                // bandwidth.
                let bytes = u64::from(4 * tb.demand.registers + tb.demand.shared_bytes);
                let cycles = (bytes * self.share.1).div_ceil(32 * self.share.0.max(1));
                self.traffic.wait(place as u8, way, tb.kernel, now + cycles);
            }
        }
    }
}
