//! Freeing space for every kernel that needs some: one candidate at a time on each SM, over all SMs
//! in turn, until its remaining TBs have space (Shieh 2016, section 3.1; sources.md D134).
//!
//! The number of candidates per SM is known in advance. When SMs take turns, every SM frees as many
//! as any other, or all that it needs, and the first ones one more. Each SM is therefore visited
//! once. Its sets are computed once and updated after each candidate. Its positions are reserved
//! before the first TB is commanded.
//!
//! An SM that requests space has no command in progress. If positions are still reserved there, a
//! command was refused, because its TB could no longer be flushed or had ended. These positions are
//! chosen anew, at no cost if no TB blocks them.

use super::candidates::{Places, bits};
use super::estimate::choose;
use super::residents::{Residents, read_reserved};
use super::select::{Choice, victims};
use super::selection::Selection;
use super::slots::{Slots, read_limit, read_slots};
use super::{Scheme, whole};
use crate::extras::WatchesPreemption;
use mias_firmware::gpu::GpuProperties;
use mias_registers::bus::{TryBus, read, write};
use mias_registers::preempt::{self, MAX_PLACES, MAX_POSITIONS};
use mias_registers::{KERNEL_SLOTS, MAX_SMS, SM_WORDS, global, preempt_command, preempt_reserve, slot};

/// Rounds over the SMs, if some freed less than their part. The rest then waits for the next event.
const ROUNDS: u32 = 3;

/// Largest estimate that fits a command.
const MOST_ESTIMATE: u32 = (1 << 24) - 1;

/// Positions needed on each SM of the GPU.
pub(super) type Wanted = [u8];

/// Working state for one SM after the other.
pub(super) struct Inspection {
    pub(super) residents: Residents,
    pub(super) choices: [Choice; MAX_PLACES],
}

/// Kernel that needs space, and all data that are the same on every SM.
pub(super) struct Request<'a> {
    pub(super) scheme: Scheme,
    pub(super) gpu: &'a GpuProperties,
    pub(super) slots: &'a Slots,
    pub(super) slot: u8,
    pub(super) limit: u32,
}

/// Serves all SMs that request space.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub(super) fn serve<B: TryBus>(
    scheme: Scheme,
    gpu: &GpuProperties,
    bus: &mut B,
    observer: &mut impl WatchesPreemption,
) -> Result<(), B::Error> {
    let mut sms = [0_u32; SM_WORDS];
    for (word, sms) in (0_u32..).zip(&mut sms).take(usize::from(gpu.sm_count.div_ceil(32))) {
        *sms = read(bus, global::PREEMPT_WANTED + 4 * word)?;
        write(bus, global::PREEMPT_WANTED + 4 * word, *sms)?;
    }
    if scheme == Scheme::None {
        return Ok(());
    }
    let slots = read_slots(bus, gpu)?;
    let mut inspection = Inspection { residents: Residents::NONE, choices: [Choice::default(); MAX_PLACES] };
    let mut wanted = [0; MAX_SMS];
    let wanted = wanted.get_mut(..usize::from(gpu.sm_count)).unwrap_or_default();
    for slot in 0..gpu.slot_count {
        let mut need = read_wanted(bus, &sms, slot, wanted)?;
        if need == 0 {
            continue;
        }
        let request = Request { scheme, gpu, slots: &slots, slot, limit: read_limit(bus, slot)? };
        if scheme.is_whole() {
            whole::make_room(&request, bus, observer, &mut inspection, wanted, need)?;
            continue;
        }
        for round in 0..ROUNDS {
            let given = in_turn(&request, bus, observer, &mut inspection, wanted, (need, round == 0))?;
            need = need.saturating_sub(given);
            if need == 0 || given == 0 {
                break;
            }
        }
    }
    Ok(())
}

/// Returns the positions that the kernel in a slot needs on each SM, and its total need: its
/// unissued TBs, less those reserved on SMs without a request.
#[inline(never)]
fn read_wanted<B: TryBus>(bus: &mut B, sms: &[u32; SM_WORDS], slot: u8, wanted: &mut Wanted) -> Result<u32, B::Error> {
    let mut any = false;
    for (sm, wanted) in (0_u16..).zip(wanted.iter_mut()) {
        let asks = sms.get(usize::from(sm / 32)).is_some_and(|word| word >> (sm % 32) & 1 != 0);
        *wanted = 0;
        let value = if asks { read(bus, preempt::at(sm.into(), preempt::WANTED))? } else { 0 };
        if value & 0xF == u32::from(slot) + 1 {
            *wanted = (value >> 8) as u8;
            any |= *wanted != 0;
        }
    }
    if !any {
        return Ok(0);
    }
    let mut coming = 0_u32;
    for (sm, _) in (0_u16..).zip(wanted.iter()).filter(|(_, wanted)| **wanted == 0) {
        coming = coming.wrapping_add(read_reserved(bus, sm, slot)?.count_ones());
    }
    Ok(read(bus, slot::at(slot.into(), slot::UNISSUED_TBS))?.saturating_sub(coming))
}

/// Visits each SM once for its part, for the `first` time or again, and returns the number of freed
/// positions. It leaves in `wanted` what each SM can still free.
fn in_turn<B: TryBus>(
    request: &Request<'_>,
    bus: &mut B,
    observer: &mut impl WatchesPreemption,
    inspection: &mut Inspection,
    wanted: &mut Wanted,
    (need, first): (u32, bool),
) -> Result<u32, B::Error> {
    let (each, mut more) = share(wanted, need);
    let mut all = 0_u32;
    for (sm, wanted) in (0_u16..).zip(wanted.iter_mut()) {
        let mut part = (*wanted).min(each);
        if *wanted > each && more != 0 {
            part = part.saturating_add(1);
            more = more.saturating_sub(1);
        }
        if part == 0 {
            continue;
        }
        let given = make_room(request, bus, observer, inspection, (sm, part, first))?;
        // An SM that could not free its part has no more.
        *wanted = if given < part { 0 } else { wanted.saturating_sub(given) };
        all = all.wrapping_add(given.into());
    }
    Ok(all)
}

/// Returns the part of each SM if all take turns until `need` is covered: the common number, or all
/// that an SM needs if that is less. The second number is of the first SMs with more need, which
/// free one more.
fn share(wanted: &Wanted, need: u32) -> (u8, u32) {
    let (mut each, mut rest) = (0_u8, need);
    while usize::from(each) < MAX_POSITIONS {
        let givers = wanted.iter().filter(|wanted| **wanted > each).count() as u32;
        if givers == 0 || givers > rest {
            break;
        }
        rest = rest.wrapping_sub(givers);
        each = each.wrapping_add(1);
    }
    (each, rest)
}

/// Frees space for up to `part` TBs on an SM, and returns their number. Earlier reservations count,
/// unless it is the `first` visit.
#[inline(never)]
fn make_room<B: TryBus>(
    request: &Request<'_>,
    bus: &mut B,
    observer: &mut impl WatchesPreemption,
    inspection: &mut Inspection,
    (sm, part, first): (u16, u8, bool),
) -> Result<u8, B::Error> {
    let Request { scheme, gpu, slots, slot, limit } = *request;
    let before = if first { 0 } else { read_reserved(bus, sm, slot)? };
    let Inspection { residents, choices } = inspection;
    residents.read(bus, (sm, slot), before, (gpu, slots), scheme.knows())?;
    choose(bus, sm, residents, (scheme, limit), slots, choices)?;
    let (mut given, mut reserved, mut leaving) = (0_u8, before, 0);
    while given < part {
        let Some(chosen) = victims(residents.candidates(gpu, slots, slot), choices, limit) else { break };
        let positions = 1_u64.checked_shl(chosen.position.into()).unwrap_or(0);
        observer.preemption(&Selection { sm, slot, scheme, limit, chosen, positions, residents, choices, gpu, slots });
        residents.take(chosen.position, chosen.places, slot, slots);
        reserved |= positions;
        leaving |= chosen.places;
        given = given.wrapping_add(1);
    }
    if given != 0 {
        reserve(bus, sm, reserved, u32::from(slot) + 1)?;
        command(bus, sm, leaving, choices)?;
    }
    Ok(given)
}

/// Reserves positions on an SM, for `who`: [`preempt_reserve`].
pub(super) fn reserve<B: TryBus>(bus: &mut B, sm: u16, positions: u64, who: u32) -> Result<(), B::Error> {
    let base = preempt::at(sm.into(), 0);
    write(bus, base + preempt::RESERVED_LOW, positions as u32)?;
    write(bus, base + preempt::RESERVED_HIGH, (positions >> 32) as u32)?;
    write(bus, base + preempt::RESERVED_SLOT, who)
}

/// Commands the techniques of TBs, with their estimated latencies.
pub(super) fn command<B: TryBus>(bus: &mut B, sm: u16, places: Places, choices: &[Choice; MAX_PLACES]) -> Result<(), B::Error> {
    for place in bits(places) {
        let choice = choices.get(place as usize).copied().unwrap_or_default();
        let estimate = choice.cost.latency.min(MOST_ESTIMATE) << preempt_command::ESTIMATE_SHIFT;
        let command = choice.technique.code() << preempt_command::TECHNIQUE_SHIFT | estimate;
        write(bus, preempt::at(sm.into(), preempt::COMMAND + 4 * place), command)?;
    }
    Ok(())
}

const _: () = assert!(KERNEL_SLOTS < preempt_reserve::SLOT as usize && MAX_POSITIONS == u64::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The parts of all SMs equal those of turns that are taken one by one.
        #[test]
        fn shares_are_those_of_taking_turns(counts in proptest::collection::vec(0..12_u8, 1..20), need in 0..120_u32) {
            let mut wanted = [0; MAX_SMS];
            wanted.iter_mut().zip(&counts).for_each(|(wanted, count)| *wanted = *count);
            let mut given = [0; MAX_SMS];
            let mut left = need;
            for _ in 0..12 {
                for sm in 0..counts.len() {
                    if given[sm] < wanted[sm] && left > 0 {
                        given[sm] += 1;
                        left -= 1;
                    }
                }
            }
            let (each, mut more) = share(&wanted[..], need);
            for sm in 0..counts.len() {
                let one_more = wanted[sm] > each && more > 0;
                more -= u32::from(one_more);
                prop_assert_eq!(wanted[sm].min(each) + u8::from(one_more), given[sm], "SM {}", sm);
            }
        }
    }
}
