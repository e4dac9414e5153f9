//! Load/store unit, one per SM: an in-order pipeline for shared-memory, off-chip and constant
//! accesses.
//!
//! One instruction at a time is divided into accesses. While one of them cannot be accepted, all
//! later memory instructions of the SM wait (Dai et al. 2018, section 2.1). The stages of a cycle,
//! in Accel-Sim's order: write one result back, use one reply, send one miss, look up the L1 banks,
//! divide the current instruction, take the next one.

mod cut;
mod later;
mod loads;
mod piece;
mod returns;
mod texels;

use super::counters::KernelCounters;
use super::inflight::{Inflight, MemKind};
use super::l1::{L1, Lookup};
use super::memory_issue::InFlight;
use super::operands::OperandStage;
use super::program::{Program, Programs};
use crate::config::{ConstantCacheConfig, GpuConfig};
use crate::memory::{Port, Reply};
use crate::queue::Queue;
use later::Later;
use loads::Loads;
use mias_warp_trace::KernelTrace;
use piece::Piece;
use returns::WriteBack;
use texels::TextureCache;

/// Event of a warp's instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    /// A load has all its data: its register is written.
    Loaded { warp: u8, dst: u16 },
    /// An atomic has all its data.
    Atomic { warp: u8, dst: u16 },
    /// A store has left the pipeline without a register write.
    Passed { warp: u8 },
    /// A fence has left the pipeline.
    Fenced { warp: u8 },
    /// A store was sent; its acknowledgment is awaited.
    StoreSent { warp: u8 },
    /// A store was acknowledged.
    StoreAcknowledged { warp: u8 },
}

/// State outside the unit that a cycle uses.
pub(super) struct Surroundings<'a, 'p> {
    pub port: &'a mut Port<'p>,
    pub programs: &'a Programs,
    pub counters: &'a mut [KernelCounters],
    pub operands: &'a mut OperandStage,
    pub sub_core_mask: u8,
}

/// Handling of data that arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    /// The register is written.
    #[default]
    Load,
    /// The warp waits for the data, even if it does not read the register.
    Atomic,
    /// The texture unit makes a result of the texels.
    Texels,
}

/// Load or atomic with data outstanding.
#[derive(Clone, Copy, Debug, Default)]
struct Outstanding {
    warp: u8,
    dst: u16,
    kind: Kind,
    /// Number of pieces still to arrive.
    pieces: u32,
}

/// Instruction being divided into accesses.
#[derive(Clone, Copy, Debug)]
struct Current {
    mem: MemKind,
    warp: u8,
    dst: u16,
    kernel: u8,
    /// Part of the kernel's trace that contains the instruction.
    part: u32,
    base_sector: u64,
    /// Start of the instruction's sectors within those of the trace's patterns.
    pattern: u32,
    /// Number of off-chip sectors not yet accepted, taken from the highest address down, as in
    /// Accel-Sim.
    sectors_left: u32,
    /// Cycles left in the banks of shared memory, or in the constant cache.
    passes_left: u32,
    /// Index in `outstanding`, for loads and atomics; for stores, the tag bits above the warp.
    token: u32,
}

impl Current {
    /// Tag of a store's requests.
    fn store_tag(&self) -> u32 {
        self.token << u8::BITS | u32::from(self.warp)
    }

    /// Next piece to request; there must be sectors left.
    #[inline]
    fn highest(&self, trace: &KernelTrace, fetch_bits: u32) -> Piece {
        piece::highest(trace, self.pattern, self.sectors_left, self.base_sector, fetch_bits)
    }
}

/// Tag of a request that fills the L1; the sector identifies it.
pub(super) const TAG_FILL: u32 = 1 << 31;

/// Tag of a request that fills the texture cache. The bit between both is
/// [`super::preempt::TAG_CONTEXT`].
const TAG_TEXELS: u32 = 1 << 29;

/// Number of replies that can wait in the SM. Assumption: Accel-Sim's ejection buffer.
const REPLIES: u32 = 32;

/// Load/store unit.
#[derive(Clone, Debug)]
pub(super) struct Lsu {
    sm: u16,
    current: Option<Current>,
    pub(super) l1: L1,
    /// Texture cache; none: texels come through the L1.
    texels: Option<Box<TextureCache>>,
    shared_latency: u64,
    /// Constant cache; none: perfect.
    constant_cache: Option<ConstantCacheConfig>,
    /// Cycles of the texture unit in addition to the L1.
    texel_latency: u32,
    /// Results of the constant cache and of the texture unit.
    later: Later,
    /// Shared-memory accesses in flight: cycle of arrival, warp, register.
    shared: Queue<(u64, u8, u16)>,
    writing: Option<WriteBack>,
    /// Sector that bypassed the L1.
    bypassed: Option<u32>,
    /// Next client of the write-back port.
    turn: u8,
    /// Replies, each with the first cycle in which it may be used.
    replies: Queue<(u64, Reply)>,
    /// Ended instructions; none where this is not needed.
    in_flight: Option<Box<InFlight>>,
    /// Loads in flight and loads that have missed; none where this is not needed.
    loads: Option<Box<Loads>>,
    /// True if loads and stores bypass the L1.
    past_l1: bool,
    outstanding: Vec<Outstanding>,
    free_tokens: Vec<u32>,
    /// Events of this cycle, for the SM to handle.
    pub(super) done: Vec<Done>,
}

impl Lsu {
    pub(super) fn new(config: &GpuConfig, sm: u16) -> Self {
        // The number of outstanding loads is limited by destination registers, in practice to a few
        // per warp.
        let pool = config.sm.threads as usize / 32 * 64;
        // Per cycle, one constant load ends, and one fetch per last sector from a bank of the L1, a
        // fill or past the L1. With a texture cache, fetches end with a look-up of it or a fill.
        let per_cycle = config.l1.banks as usize + 2 + 2 * usize::from(config.sm.texture_cache.is_some());
        let constants = config.sm.constant_cache.map_or(0, |cache| cache.latency as usize);
        let most_later = constants + config.sm.texel_latency as usize * per_cycle;
        let l1 = L1::new(&config.l1, sm, TAG_FILL);
        Lsu {
            sm,
            current: None,
            l1: if config.sm.oversubscription.is_some() { l1.with_misses_told() } else { l1 },
            loads: config.sm.oversubscription.map(|_| Box::new(Loads::new())),
            past_l1: false,
            texels: config.sm.texture_cache.as_ref().map(|cache| Box::new(TextureCache::new(&cache.as_l1(&config.l1), sm))),
            shared_latency: u64::from(config.sm.shared_latency),
            constant_cache: config.sm.constant_cache,
            texel_latency: config.sm.texel_latency,
            later: Later::new(most_later),
            shared: Queue::new(config.sm.shared_latency),
            writing: None,
            bypassed: None,
            turn: 0,
            replies: Queue::new(REPLIES),
            in_flight: config.sm.memory_issue.as_ref().map(|_| Box::new(InFlight::new())),
            outstanding: vec![Outstanding::default(); pool],
            free_tokens: (0..pool as u32).rev().collect(),
            done: Vec::with_capacity(64),
        }
    }

    /// True if a reply from the crossbar can be accepted.
    pub(super) fn can_take_reply(&self) -> bool {
        !self.replies.is_full()
    }

    /// Accepts a reply from the crossbar, which can be used from cycle `usable` on.
    pub(super) fn take_reply(&mut self, reply: Reply, usable: u64) {
        self.replies.push((usable, reply));
    }

    /// Index of the unit's SM.
    pub(super) fn sm(&self) -> u16 {
        self.sm
    }

    /// True if the next instruction can be accepted.
    pub(super) fn is_free(&self) -> bool {
        self.current.is_none()
    }

    /// Earliest cycle after `now` with an internal event; none if only a reply or an instruction
    /// can wake the unit.
    pub(super) fn next_event(&self, now: u64) -> Option<u64> {
        let texels = self.texels.as_ref();
        let busy = self.l1.is_busy() || texels.is_some_and(|texels| texels.cache.is_busy());
        if self.current.is_some() | self.writing.is_some() | self.bypassed.is_some() | busy {
            return Some(now + 1);
        }
        let shared = self.shared.front().map(|&(cycle, ..)| cycle);
        let reply = self.replies.front().map(|&(cycle, _)| cycle);
        let fetch = texels.and_then(|texels| texels.cache.next_lookup());
        [shared, reply, self.l1.next_lookup(), fetch, self.later.next()].into_iter().flatten().min().map(|cycle| cycle.max(now + 1))
    }

    /// Number of sectors in flight to the L1 and to the texture cache (MSHR entries).
    pub(super) fn outstanding(&self) -> u32 {
        self.l1.outstanding() + self.texels.as_ref().map_or(0, |texels| texels.cache.outstanding())
    }

    /// True if the instruction at the head accesses a cache of the SM, or bypasses it.
    pub(super) fn head_through_l1(&self) -> bool {
        self.current.is_some_and(|current| matches!(current.mem, MemKind::OffChip { .. }))
    }

    /// True if nothing is in flight.
    pub(super) fn is_idle(&self) -> bool {
        let pipeline = self.current.is_none() && self.writing.is_none() && self.bypassed.is_none();
        pipeline
            && self.shared.is_empty()
            && self.later.next().is_none()
            && self.replies.is_empty()
            && self.l1.is_idle()
            && self.texels.as_ref().is_none_or(|texels| texels.cache.is_idle())
    }

    /// Accepts an instruction; the unit must be free.
    pub(super) fn accept(&mut self, inst: Inflight, kernel: u8, part: u32, program: &Program) {
        let mut passes_left = inst.executed.passes().max(1);
        let mut mem = program.decoded(inst.executed).mem;
        if self.past_l1
            && let MemKind::OffChip { bypass, texels: false, .. } = &mut mem
        {
            *bypass = true;
        }
        let (warp, dst) = (inst.warp, inst.dst);
        if mem == MemKind::Constant
            && let Some(cache) = &self.constant_cache
        {
            passes_left *= cache.word_cycles;
        }
        let mut current = Current { mem, warp, dst, kernel, part, base_sector: 0, pattern: 0, sectors_left: 0, passes_left, token: 0 };
        if let MemKind::OffChip { store, atomic, bypass, texels, .. } = mem
            && let Some(trace) = program.trace(|| part)
        {
            let reference = trace.mem(inst.mem_ref);
            current.base_sector = reference.base_sector + program.sector_offset;
            let pattern = trace.pattern_range(reference.pattern);
            current.pattern = pattern.start;
            current.sectors_left = pattern.end - pattern.start;
            if let Some(loads) = self.loads.as_mut().filter(|_| !store) {
                loads.begins(warp);
                if bypass && current.sectors_left > 0 {
                    loads.missed(warp, dst);
                }
            }
            if (!store || self.in_flight.is_some()) && current.sectors_left > 0 {
                // The texture cache fetches as much as the L1.
                let fetch_bits = if bypass { 0 } else { self.l1.fetch_bits() };
                let pieces = piece::count(trace, current.pattern, current.sectors_left, current.base_sector, fetch_bits);
                current.token = match &mut self.in_flight {
                    Some(in_flight) if store => in_flight.store(pieces),
                    _ => self.outstanding_token(Outstanding { warp, dst, kind: self.kind(atomic, texels), pieces }),
                };
            }
        }
        if let Some(in_flight) = &mut self.in_flight
            && current.sectors_left == 0
            && matches!(mem, MemKind::OffChip { store: true, .. })
        {
            in_flight.ended(warp);
        }
        self.current = Some(current);
    }

    /// Kind of a load of global memory, an atomic or a fetch on this GPU.
    fn kind(&self, atomic: bool, texels: bool) -> Kind {
        match (atomic, texels && self.texel_latency > 0) {
            (true, _) => Kind::Atomic,
            (false, true) => Kind::Texels,
            (false, false) => Kind::Load,
        }
    }

    fn outstanding_token(&mut self, load: Outstanding) -> u32 {
        if let Some(token) = self.free_tokens.pop() {
            self.outstanding[token as usize] = load;
            return token;
        }
        self.outstanding.push(load);
        self.outstanding.len() as u32 - 1
    }

    /// Sets whether loads and stores bypass the L1, from the next one on.
    pub(super) fn pass_l1(&mut self, past: bool) {
        self.past_l1 = past;
    }

    /// True if loads and stores bypass the L1.
    pub(super) fn is_past_l1(&self) -> bool {
        self.past_l1
    }

    /// Number of a warp's loads and atomics in flight through the L1 or past it, if counted.
    pub(super) fn loads_of(&self, warp: u8) -> u16 {
        self.loads.as_ref().map_or(0, |loads| loads.of(warp))
    }

    /// Takes the warp and register of a load that has missed, if recorded.
    pub(super) fn take_missed(&mut self) -> Option<(u8, u16)> {
        self.loads.as_mut().and_then(|loads| loads.take_missed())
    }

    /// Passes the warps whose off-chip memory instructions have ended since the last call to
    /// `each`, if recorded.
    pub(super) fn take_ended(&mut self, each: impl FnMut(u8)) {
        if let Some(in_flight) = &mut self.in_flight {
            in_flight.take(each);
        }
    }

    /// Runs one cycle, except for taking the next instruction. Events are left in `done`. Returns
    /// true if the L1 refused a look-up.
    pub(super) fn cycle(&mut self, now: u64, around: &mut Surroundings<'_, '_>) -> bool {
        while let Some((warp, dst)) = self.later.take(now) {
            self.done.push(Done::Loaded { warp, dst });
        }
        self.write_back(now, around);
        self.use_reply(now);
        let mut refused = self.texels_cycle(now, around);
        self.l1.send_miss(around.port);
        refused |= self.look_up(now, around.counters);
        if let Some(loads) = &mut self.loads {
            while let Some(token) = self.l1.take_missed() {
                let load = &self.outstanding[token as usize];
                loads.missed(load.warp, load.dst);
            }
        }
        self.cut(now, around);
        refused
    }

    /// Looks up the access at the head of every bank. Returns true if one was refused.
    fn look_up(&mut self, now: u64, counters: &mut [KernelCounters]) -> bool {
        let mut refused = false;
        while let Some(token) = self.l1.pop_hit(now) {
            self.sector_arrived(token, now);
        }
        let mut banks = self.l1.banks_due(now);
        if banks != 0 {
            self.l1.turn(now + 1);
        }
        while banks != 0 {
            let bank = banks.trailing_zeros() as usize;
            banks &= banks - 1;
            match self.l1.look_up(bank, counters) {
                Lookup::Hit(token) if self.l1.hit(token, now) => self.sector_arrived(token, now),
                Lookup::Hit(_) | Lookup::Accepted => {}
                Lookup::Failed => refused = true,
            }
        }
        refused
    }
}
