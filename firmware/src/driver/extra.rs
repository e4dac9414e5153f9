//! Reading what a policy wants to know beside the sums of counters: progress by kernel, or misses of the L2
//! ([`Extra`]).

use super::counters::Reading;
use crate::bus::{self, Bus};
use crate::configs::{ConfigTable, MAX_KERNELS};
use crate::counters::{Counter, Extra};
use crate::regs::sm;

/// Measures it for every configuration of the current round, once its counters have been read.
#[inline(never)]
pub(super) fn read_extra<const C: usize>(table: &mut ConfigTable<C>, bus: &mut impl Bus, reading: &Reading<'_>, extra: Extra) {
    let rates = rates(table);
    let registers =
        if reading.instructions == Counter::WarpInstructions { sm::SLOT_WARP_INSTRUCTIONS } else { sm::SLOT_THREAD_INSTRUCTIONS };
    table.measure_extra(|slots, first, step| {
        let mut sum = 0_u32;
        for sm in (first..reading.sms.into()).step_by(step.max(1)).filter(|sm| reading.done.contains(*sm as u16)) {
            let base = sm::at(sm, 0);
            let mut more = |amount: u32| sum = sum.saturating_add(amount);
            if extra == Extra::Progress {
                for (slot, rate) in slots.iter().zip(&rates) {
                    let instructions = bus::read(bus, base + registers + 4 * u32::from(*slot));
                    // 24 bits times 40, to parts of 2^16.
                    more((u64::from(instructions).wrapping_mul(*rate) >> 24) as u32);
                }
            } else {
                let hits = bus::read(bus, base + Counter::L2Hits.register());
                more(bus::read(bus, base + Counter::L2Accesses.register()).saturating_sub(hits));
            }
        }
        sum
    });
}

/// `2^40` over the instructions of each kernel alone in a window, rounded up; 0 for one that was not measured alone, or did nothing.
#[inline(never)]
fn rates<const C: usize>(table: &ConfigTable<C>) -> [u64; MAX_KERNELS] {
    let mut rates = [0; MAX_KERNELS];
    for (kernel, rate) in rates.iter_mut().enumerate() {
        let alone = table.entries().iter().find(|entry| entry.vector.get(kernel) != 0 && entry.vector.present() == 1);
        let instructions = alone.and_then(|entry| entry.sums.instructions.checked_div(entry.sums.sms.into()));
        if let Some(instructions @ 1..) = instructions {
            // A long division in two steps, the second of 8 bits: what remains of the first is below 2^24, as the counter is.
            let (high, left) = (u32::MAX / instructions, (u32::MAX % instructions).wrapping_add(1));
            // Rounded up, so that as many instructions as alone make a whole.
            *rate = (u64::from(high) << 8) + u64::from((left << 8) / instructions) + 1;
        }
    }
    rates
}
