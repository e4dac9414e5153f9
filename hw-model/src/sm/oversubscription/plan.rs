//! Plan of a kernel's switching: switched state, level, and maximum number of extra TBs (Lin et al.
//! 2018, sections 6.2, 6.4 and 6.7; sources.md D160 and D161).
//!
//! | limiting resource | virtual thread | GPUDuet | TBs only |
//! |---|---|---|---|
//! | warp or TB slots | slots, TB by TB | slots and registers, warp by warp | the same, TB by TB |
//! | registers | - | slots and registers, warp by warp | the same, TB by TB |
//! | shared memory | - | slots and shared memory, TB by TB | the same |
//! | registers and shared memory | - | - | - |

use super::super::Resources;
use crate::config::{ContextsInL1, GpuConfig, OversubscriptionConfig, OversubscriptionMechanism};

/// Bytes of an address unit of the unified space: a register of a warp (Lin et al. 2018, section
/// 6.6).
pub(crate) const UNIT_BYTES: u32 = 128;

/// Step to which shared memory is rounded down in the unified space (assumption: of 98 KB, the 96
/// of the paper's address map).
const SHARED_STEP_BYTES: u32 = 16 << 10;

/// Unit of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// One warp.
    Warp,
    /// All warps of a TB.
    Tb,
}

/// Part of a context that leaves its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Warp slots.
    Slots,
    /// Warp slots and registers.
    Registers,
    /// Warp slots and shared memory.
    Shared,
}

/// Reason why a kernel has no extra TBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Unswitchable {
    /// Virtual thread moves only slots.
    #[error("its registers or its shared memory limit how many TBs fit, and virtual thread moves warp slots only")]
    Capacity,
    /// Registers and shared memory are equally limiting.
    #[error("both registers and shared memory limit how many TBs fit, and contexts of neither can lie in the other")]
    Both,
    /// More TBs or warps than the tables hold.
    #[error("the context tables have no entries for more TBs than fit without them")]
    Tables,
    /// Not enough storage.
    #[error("what its TBs leave of registers and shared memory holds no further context")]
    NoSpace,
}

/// Unified address space of an SM: starts of registers, shared memory and the L1, and its end, in
/// units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AddressMap {
    pub(crate) shared: u32,
    pub(crate) l1: u32,
    pub(crate) end: u32,
}

impl AddressMap {
    pub(crate) fn of(config: &GpuConfig) -> Self {
        let shared = 4 * config.sm.registers / UNIT_BYTES;
        let whole = config.sm.shared_bytes / SHARED_STEP_BYTES * SHARED_STEP_BYTES;
        let bytes = if whole == 0 { config.sm.shared_bytes } else { whole };
        let l1 = shared + bytes / UNIT_BYTES;
        let line = config.l1.sets.saturating_mul(config.l1.ways).saturating_mul(config.l1.line_bytes);
        AddressMap { shared, l1, end: l1 + line / UNIT_BYTES }
    }
}

/// Storage for contexts of one kind and size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capacity {
    /// Units of each context.
    pub(crate) units: u32,
    /// Number of contexts.
    pub(crate) count: u32,
}

/// Spare storage of contexts that are not in place, from the top down: in each part of the space a
/// number of contexts, ending there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spilled {
    pub(crate) units: u32,
    /// End of each part of the space, and its number of contexts: shared memory, the L1, registers.
    pub(crate) parts: [(u32, u32); 3],
}

impl Spilled {
    pub(crate) fn count(&self) -> u32 {
        self.parts.iter().map(|(_, count)| count).sum()
    }
}

/// Plan of a kernel's TBs on an SM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) level: Level,
    pub(crate) limit: Limit,
    /// Number of TBs that fit without switching.
    pub(crate) native: u32,
    /// Maximum number of extra TBs.
    pub(crate) most_extra: u32,
    /// Number of warps of a TB.
    pub(crate) warps: u32,
    /// Registers of warps, from the start of the space.
    pub(crate) registers: Capacity,
    /// Shared memory of TBs, from the start of its part.
    pub(crate) shared: Capacity,
    pub(crate) spilled: Spilled,
    /// Units of registers in a spilled context; the state of its warps follows.
    pub(crate) spilled_registers: u32,
    /// Bytes that move for a warp, and for a TB in addition to its warps.
    pub(crate) warp_bytes: u32,
    pub(crate) tb_bytes: u32,
    /// True if contexts are stored in the L1.
    pub(crate) in_l1: bool,
}

/// Plans of a kernel on a GPU: without contexts in the L1, and with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plans {
    pub(crate) usual: Result<Plan, Unswitchable>,
    /// None if the L1 is never used or is not needed.
    pub(crate) in_l1: Option<Plan>,
}

impl Plans {
    /// Creates the plans of a kernel whose TBs take `demand`. `live` is the number of live
    /// registers per thread where its warps are switched, if known.
    pub(crate) fn new(gpu: &GpuConfig, config: &OversubscriptionConfig, demand: &Resources, live: Option<u32>) -> Self {
        let usual = plan(gpu, config, demand, live, false);
        let tries = config.in_l1 != ContextsInL1::Never && config.mechanism != OversubscriptionMechanism::Virtual;
        let in_l1 = if tries && usual == Err(Unswitchable::NoSpace) { plan(gpu, config, demand, live, true).ok() } else { None };
        Plans { usual, in_l1 }
    }

    /// Plan with or without contexts in the L1.
    pub(crate) fn get(&self, in_l1: bool) -> Option<&Plan> {
        if in_l1 { self.in_l1.as_ref() } else { self.usual.as_ref().ok() }
    }

    /// True if only the L1 has capacity for extra TBs.
    pub(crate) fn needs_l1(&self) -> bool {
        self.usual.is_err()
    }

    /// Maximum number of extra TBs.
    pub(crate) fn bound(&self) -> u32 {
        [self.usual.ok(), self.in_l1].into_iter().flatten().map(|plan| plan.most_extra).max().unwrap_or(0)
    }
}

fn plan(
    gpu: &GpuConfig,
    config: &OversubscriptionConfig,
    demand: &Resources,
    live: Option<u32>,
    in_l1: bool,
) -> Result<Plan, Unswitchable> {
    let all = Resources::of_sm(&gpu.sm);
    let native = all.count(demand);
    let (level, limit) = switched(config.mechanism, &all, demand, native)?;
    let map = AddressMap::of(gpu);
    let warps = demand.threads / 32;
    let register_units = demand.registers / demand.threads.max(1);
    let shared_units = demand.shared_bytes.div_ceil(UNIT_BYTES);
    if native > config.tbs() || native * shared_units > map.l1 - map.shared {
        return Err(Unswitchable::Tables);
    }
    let (state_bytes, tb_state_units) = (config.state_bytes(), (warps * config.state_bytes()).div_ceil(UNIT_BYTES));
    let (spilled_registers, spilled_units, warp_bytes, tb_bytes) = match limit {
        Limit::Slots => (0, tb_state_units, state_bytes, 0),
        Limit::Registers => {
            let moved = config.moved_registers(register_units, live);
            (moved, moved + state_bytes.div_ceil(UNIT_BYTES), state_bytes + moved * UNIT_BYTES, 0)
        }
        Limit::Shared => (0, shared_units + tb_state_units, state_bytes, demand.shared_bytes),
    };
    // Spilled contexts per TB.
    let each = if limit == Limit::Registers { warps } else { 1 };
    let with = |extra: u32| {
        let tbs = native + extra;
        let registers = if limit == Limit::Registers { native * warps } else { tbs * warps };
        let shared = if limit == Limit::Shared { native } else { tbs };
        let rest = |from: u32, end: u32, used: u32| (end - from).checked_sub(used).map(|rest| rest / spilled_units.max(1));
        let in_registers = rest(0, map.shared, registers * register_units)?;
        let in_shared = rest(map.shared, map.l1, shared * shared_units)?;
        let beyond = if in_l1 { (map.end - map.l1) / spilled_units.max(1) } else { 0 };
        // Slots are saved in shared memory (Lin et al. 2018, section 5.2).
        let in_registers = if limit == Limit::Slots { 0 } else { in_registers };
        let mut left = 128;
        let parts = [(map.l1, in_shared), (map.end, beyond), (map.shared, in_registers)].map(|(end, count)| {
            let count = count.min(left);
            left -= count;
            (end, count)
        });
        let spilled = Spilled { units: spilled_units, parts };
        (spilled.count() >= extra * each).then_some(Plan {
            level,
            limit,
            native,
            most_extra: extra,
            warps,
            registers: Capacity { units: register_units, count: registers },
            shared: Capacity { units: shared_units, count: shared },
            spilled,
            spilled_registers,
            warp_bytes,
            tb_bytes,
            in_l1,
        })
    };
    let most = (config.tbs() - native).min((config.warps() / warps.max(1)).saturating_sub(native));
    if config.tbs() == native || config.warps() / warps.max(1) <= native {
        return Err(Unswitchable::Tables);
    }
    // More extra TBs leave less storage for spilled contexts.
    (1..=most.max(1)).map_while(with).last().ok_or(Unswitchable::NoSpace)
}

/// Limiting resource and level of a kernel of which `native` TBs fit.
fn switched(
    mechanism: OversubscriptionMechanism,
    all: &Resources,
    demand: &Resources,
    native: u32,
) -> Result<(Level, Limit), Unswitchable> {
    let one_more = |each: u32, all: u32| u64::from(each) * (u64::from(native) + 1) > u64::from(all);
    let registers = one_more(demand.registers, all.registers);
    let shared = one_more(demand.shared_bytes, all.shared_bytes);
    match (mechanism, registers, shared) {
        (OversubscriptionMechanism::Virtual, false, false) => Ok((Level::Tb, Limit::Slots)),
        (OversubscriptionMechanism::Virtual, ..) => Err(Unswitchable::Capacity),
        (_, true, true) => Err(Unswitchable::Both),
        (_, false, true) => Ok((Level::Tb, Limit::Shared)),
        (OversubscriptionMechanism::Duet, _, false) => Ok((Level::Warp, Limit::Registers)),
        (OversubscriptionMechanism::DuetTb, _, false) => Ok((Level::Tb, Limit::Registers)),
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
