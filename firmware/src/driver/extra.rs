//! Reading what a policy wants to know beside the sums of counters: progress by kernel, misses of the L2, or what the whole GPU would
//! do ([`Extra`]).

use fixed::types::U16F16;

use super::counters::Reading;
use crate::bus::{self, Bus};
use crate::configs::{ConfigTable, Entry, MAX_KERNELS};
use crate::counters::{Counter, Extra};
use crate::metric::roofline::{self, Objective};
use crate::regs::sm;

/// What to count of an SM.
enum Count<'a> {
    /// L2 accesses that did not hit.
    L2Misses,
    /// Sectors that DRAM moves.
    Traffic,
    /// What kernels did, at their rates.
    Gains(&'a Rates),
}

/// How instructions become progress and speedup.
struct Rates {
    /// Of each kernel: `2^40` over its instructions alone in a window; 0 for one that was not measured alone, or did nothing.
    kernels: [u64; MAX_KERNELS],
    /// The same of the mean kernel.
    mean: u64,
    /// As the whole GPU would do it; none: as measured.
    whole: Option<Objective>,
    /// Most sectors that DRAM moves per cycle.
    dram_sectors: U16F16,
}

/// Measures it for every configuration of the current round, once its counters have been read. DRAM moves at most `dram_sectors` per
/// cycle.
#[inline(never)]
pub(super) fn read_extra<const C: usize>(
    table: &mut ConfigTable<C>,
    bus: &mut impl Bus,
    reading: &Reading<'_>,
    extra: Extra,
    dram_sectors: U16F16,
) {
    let whole = match extra {
        Extra::L2Misses => return measure(table, bus, reading, &Count::L2Misses),
        Extra::Progress => None,
        Extra::Speedup => Some(Objective::Both),
        Extra::WholeProgress => Some(Objective::Stp),
    };
    if whole.is_some() {
        measure(table, bus, reading, &Count::Traffic);
    }
    let mut rates = Rates { kernels: [0; MAX_KERNELS], mean: 0, whole, dram_sectors };
    rates.fill(table, reading.sms);
    measure(table, bus, reading, &Count::Gains(&rates));
}

#[inline(never)]
fn measure<const C: usize>(table: &mut ConfigTable<C>, bus: &mut impl Bus, reading: &Reading<'_>, count: &Count<'_>) {
    let warps = reading.instructions == Counter::WarpInsts;
    let registers = if warps { sm::SLOT_WARP_INSTS } else { sm::SLOT_THREAD_INSTS };
    table.measure_extra(|slots, entry, first, step| {
        let mut sum = 0_u32;
        reading.each_done(first, step, |base| {
            if let Count::Gains(rates) = count {
                for (slot, rate) in slots.iter().zip(&rates.kernels) {
                    sum = sum.saturating_add(gain(bus::read(bus, base + registers + 4 * u32::from(*slot)), *rate));
                }
            } else {
                let mut read = |counter: Counter| bus::read(bus, base + counter.register());
                let (accesses, hits) = (read(Counter::L2Accesses), read(Counter::L2Hits));
                // Without stores the traffic is the accesses that did not hit.
                let loads = if matches!(count, Count::Traffic) { read(Counter::LoadRequests) } else { accesses };
                sum = sum.wrapping_add(roofline::traffic(loads, accesses, hits));
            }
        });
        match count {
            Count::Gains(rates) => rates.value(entry, sum, reading.sms),
            _ => sum,
        }
    });
}

impl Rates {
    /// From how the kernels alone were measured, in whichever round that was.
    #[inline(never)]
    fn fill<const C: usize>(&mut self, table: &ConfigTable<C>, sms: u16) {
        let (mut sum, mut kernels) = (0_u32, 0_u32);
        for kernel in 0..MAX_KERNELS {
            let alone = table.entries().iter().find(|entry| entry.vector.get(kernel) != 0 && entry.vector.present() == 1);
            if let Some((entry, counted)) = alone.and_then(|entry| Some((entry, per_sm(entry.sums.instructions, entry)?))) {
                let instructions = roofline::part(counted, self.share(entry, sms));
                if let Some(rate) = self.kernels.get_mut(kernel) {
                    *rate = inverse(instructions);
                }
                // Of 24 bits each.
                (sum, kernels) = (sum.wrapping_add(instructions), kernels.wrapping_add(1));
            }
        }
        self.mean = inverse(sum.checked_div(kernels).unwrap_or(0));
    }

    /// What a configuration is worth of which its SMs made `progress` together.
    #[inline(always)]
    fn value(&self, entry: &Entry, progress: u32, sms: u16) -> u32 {
        match (self.whole, per_sm(progress, entry), per_sm(entry.sums.instructions, entry)) {
            // A second round needs the traffic of the kernels alone again.
            (Some(_), ..) if entry.vector.present() == 1 => entry.extra,
            (Some(objective), Some(progress), Some(instructions)) => {
                roofline::value(objective, gain(instructions, self.mean), progress, self.share(entry, sms))
            }
            _ => progress,
        }
    }

    /// What would remain of a configuration's instructions, whose traffic has been measured.
    #[inline(never)]
    fn share(&self, entry: &Entry, sms: u16) -> u32 {
        match self.whole {
            None => roofline::ONE,
            Some(_) => roofline::share(entry.extra, entry.sums.cycles, sms, self.dram_sectors),
        }
    }
}

/// The mean over a configuration's SMs.
#[inline(always)]
fn per_sm(count: u32, entry: &Entry) -> Option<u32> {
    count.checked_div(entry.sums.sms.into())
}

/// Instructions at a rate, in parts of 2^16: 24 bits times 40.
#[inline(always)]
fn gain(instructions: u32, rate: u64) -> u32 {
    (u64::from(instructions).wrapping_mul(rate) >> 24).min(u32::MAX.into()) as u32
}

/// `2^40` over a count of at most 24 bits, rounded up, so that as many instructions as alone make a whole; 0 for none.
#[inline(never)]
fn inverse(count: u32) -> u64 {
    if count == 0 {
        return 0;
    }
    // A long division in two steps, the second of 8 bits: what remains of the first is below 2^24, as the counter is.
    let (high, left) = (u32::MAX / count, (u32::MAX % count).wrapping_add(1));
    (u64::from(high) << 8) + u64::from((left << 8) / count) + 1
}
