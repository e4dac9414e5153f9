//! Preemption of whole SMs: Chimera and Chimera+ (Park et al. 2015, as described in Shieh 2016,
//! sections 2.3, 4.2 and 4.3; sources.md D134).
//!
//! Each SM is one candidate: all TBs of other kernels leave, each by the technique of least cost.
//! SMs are taken in the order of their costs, the lowest among equals, until the need is covered.
//! An SM with a TB that does not have to yield is not a candidate.

use super::estimate::choose;
use super::select::{Victims, cost, rank};
use super::selection::Selection;
use super::serve::{Inspection, Request, Wanted, command, reserve};
use crate::extras::WatchesPreemption;
use mias_registers::bus::TryBus;
use mias_registers::{MAX_SMS, preempt_reserve};

/// Rank of an SM that is not a candidate.
const NEVER: u32 = u32::MAX;

/// Hands over SMs until `need` TBs have space.
#[inline(never)]
pub(super) fn make_room<B: TryBus>(
    request: &Request<'_>,
    bus: &mut B,
    observer: &mut impl WatchesPreemption,
    inspection: &mut Inspection,
    wanted: &mut Wanted,
    mut need: u32,
) -> Result<(), B::Error> {
    let mut ranks = [NEVER; MAX_SMS];
    let ranks = ranks.get_mut(..wanted.len()).unwrap_or_default();
    for ((sm, rank), wanted) in (0_u16..).zip(ranks.iter_mut()).zip(wanted.iter()) {
        if *wanted != 0 {
            *rank = visit(request, bus, &mut (), inspection, (sm, *wanted), false)?.0;
        }
    }
    while need != 0 {
        let mut best = (0, NEVER);
        for (sm, rank) in (0_u16..).zip(ranks.iter()) {
            if *rank < best.1 {
                best = (sm, *rank);
            }
        }
        let (sm, rank) = best;
        let (Some(ranked), Some(wanted)) = (ranks.get_mut(usize::from(sm)), wanted.get(usize::from(sm))) else { break };
        if rank == NEVER {
            break;
        }
        *ranked = NEVER;
        need = need.saturating_sub(visit(request, bus, observer, inspection, (sm, *wanted), true)?.1);
    }
    Ok(())
}

/// Returns the rank of an SM and the number of TBs for which it has space, up to `count`. It hands
/// the SM over if it is the one `asked` for.
#[inline(never)]
fn visit<B: TryBus>(
    request: &Request<'_>,
    bus: &mut B,
    observer: &mut impl WatchesPreemption,
    inspection: &mut Inspection,
    (sm, count): (u16, u8),
    asked: bool,
) -> Result<(u32, u32), B::Error> {
    let Request { scheme, gpu, slots, slot, limit } = *request;
    let Inspection { residents, choices } = inspection;
    residents.read(bus, (sm, slot), 0, (gpu, slots), scheme.knows())?;
    let Some((places, positions)) = residents.everyone(slot, count, slots) else { return Ok((NEVER, 0)) };
    choose(bus, sm, residents, (scheme, limit), slots, choices)?;
    let chosen = Victims { position: positions.trailing_zeros() as u8, places, cost: cost(places, choices) };
    if asked {
        observer.preemption(&Selection { sm, slot, scheme, limit, chosen, positions, residents, choices, gpu, slots });
        reserve(bus, sm, positions, preempt_reserve::WHOLE_SM | (u32::from(slot) + 1))?;
        command(bus, sm, places, choices)?;
    }
    Ok((rank(chosen.cost, limit), positions.count_ones()))
}
