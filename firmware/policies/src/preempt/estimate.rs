//! Choice of the technique for each TB of an SM, and its cost: the data of its kernel there give
//! the costs of each technique (Shieh 2016, section 3.3.2), among those that the scheme allows
//! (sources.md D134, D135).

use super::Scheme;
use super::candidates::{Places, bits};
use super::cost::{Cost, Ended, Prediction, Running};
use super::residents::{Residents, Tb, info};
use super::select::{Choice, Costs, technique};
use super::slots::Slots;
use mias_registers::KERNEL_SLOTS;
use mias_registers::bus::{TryBus, read};
use mias_registers::preempt::{self, MAX_PLACES};

/// Known data of a kernel on an SM.
#[derive(Clone, Copy)]
struct Known {
    prediction: Prediction,
    switch: Cost,
}

/// Writes the technique of each TB that must yield on an SM, by scheme and limit. Other places do
/// not change.
#[inline(never)]
pub(super) fn choose<B: TryBus>(
    bus: &mut B,
    sm: u16,
    residents: &Residents,
    (scheme, limit): (Scheme, u32),
    slots: &Slots,
    choices: &mut [Choice; MAX_PLACES],
) -> Result<(), B::Error> {
    let victims = residents.yielding();
    let mut switches = [Cost::MOST; KERNEL_SLOTS];
    let mut rest = victims;
    // One kernel after the other.
    while let Some(first) = bits(rest).next() {
        let slot = residents.tb(first as usize).slot;
        let of_slot =
            |places: Places| bits(places).map(|place| (place, residents.tb(place as usize))).filter(move |(_, tb)| tb.slot == slot);
        let mut running = Running::default();
        of_slot(residents.live()).for_each(|(_, tb)| running.add(tb.progress));
        let ended = read_ended(bus, sm, slot)?;
        let known = Known {
            prediction: Prediction::new(scheme.draining(), &running, &ended),
            switch: running.switch(info(slots, slot).switch_latency),
        };
        if let Some(switch) = switches.get_mut(usize::from(slot)) {
            *switch = known.switch;
        }
        for (place, tb) in of_slot(victims) {
            if let Some(choice) = choices.get_mut(place as usize) {
                rest &= !(1 << place);
                choice.cost.latency = tb.left.unwrap_or_else(|| known.prediction.latency(tb.progress));
            }
        }
    }
    let last = if scheme.is_whole() { last_in_time(victims, choices, limit) } else { 0 };
    for place in bits(victims) {
        let tb = residents.tb(place as usize);
        let switch = switches.get(usize::from(tb.slot)).copied().unwrap_or(Cost::MOST);
        if let Some(choice) = choices.get_mut(place as usize) {
            let drain = drain(tb, choice.cost.latency, last);
            *choice = technique(&allowed(scheme, drain, switch, tb), limit);
        }
    }
    Ok(())
}

/// Returns the cost of draining a TB in `latency` cycles. If the whole SM is handed over, the
/// overhead includes its issue slots that idle until the `last` has left.
fn drain(tb: Tb, latency: u32, last: u32) -> Cost {
    let overhead = match last.saturating_sub(latency) {
        0 => 0,
        idle => tb.progress.insts_in(idle),
    };
    Cost { latency, overhead }
}

/// Returns the longest draining time of the TBs that meet the limit. The others will not be
/// drained.
fn last_in_time(victims: Places, choices: &[Choice; MAX_PLACES], limit: u32) -> u32 {
    let all = bits(victims).filter_map(|place| choices.get(place as usize));
    all.map(|choice| choice.cost.latency).filter(|latency| *latency <= limit && *latency != u32::MAX).max().unwrap_or(0)
}

/// Returns the costs of the techniques that a scheme allows for a TB.
fn allowed(scheme: Scheme, drain: Cost, switch: Cost, tb: Tb) -> Costs {
    let flush = tb.progress.flush();
    match scheme {
        Scheme::None | Scheme::Drain => [Some(drain), None, None],
        Scheme::Switch => [None, Some(switch), None],
        Scheme::Flush => [None, if flush.is_none() { Some(switch) } else { None }, flush],
        Scheme::Chimera | Scheme::ChimeraPlus | Scheme::Shieh | Scheme::Oracle => [Some(drain), Some(switch), flush],
    }
}

fn read_ended<B: TryBus>(bus: &mut B, sm: u16, slot: u8) -> Result<Ended, B::Error> {
    let mut field = |register| read(bus, preempt::at(sm.into(), register + 4 * u32::from(slot)));
    Ok(Ended {
        tbs: field(preempt::ENDED_TBS)?,
        insts: field(preempt::ENDED_INSTS)?,
        cycles: field(preempt::ENDED_CYCLES)?,
        cpi: field(preempt::ENDED_CPI)?,
        cpi_squares: field(preempt::ENDED_CPI_SQUARES)?,
    })
}
