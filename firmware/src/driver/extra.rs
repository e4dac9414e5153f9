//! Reading what a policy wants to know beside the sums of counters: progress by kernel, misses of the L2, or what the whole GPU would
//! do ([`Extra`]).

use super::counters::Reading;
use crate::bus::{self, Bus};
use crate::configs::{ConfigTable, Entry, MAX_KERNELS, Measurement};
use crate::counters::{Counter, Extra};
use crate::metric::roofline::{self, Objective};
use crate::quantity::{Count, Gain, GainRate, SectorRate, Share, product, saturating};
use crate::regs::sm;

/// What to measure of an SM.
enum Wanted<'a> {
    /// L2 accesses that did not hit.
    L2Misses,
    /// Sectors that DRAM moves.
    Traffic,
    /// What kernels did, at their rates.
    Gains(&'a Rates),
}

/// How instructions become progress and speedup.
struct Rates {
    /// Of each kernel: one over its instructions alone in a window; 0 for one that was not measured alone, or did nothing.
    kernels: [GainRate; MAX_KERNELS],
    /// The same of the mean kernel.
    mean: GainRate,
    /// As the whole GPU would do it; none: as measured.
    whole: Option<Objective>,
    /// Most sectors that DRAM moves per cycle.
    dram_sectors: SectorRate,
}

/// Measures it for every configuration of the current round, once its counters have been read. DRAM moves at most `dram_sectors` per
/// cycle.
#[inline(never)]
pub(super) fn read_extra<const C: usize>(
    table: &mut ConfigTable<C>,
    bus: &mut impl Bus,
    reading: &Reading<'_>,
    extra: Extra,
    dram_sectors: SectorRate,
) {
    let whole = match extra {
        Extra::L2Misses => return measure(table, bus, reading, &Wanted::L2Misses),
        Extra::Progress => None,
        Extra::Speedup => Some(Objective::Both),
        Extra::WholeProgress => Some(Objective::Stp),
    };
    if whole.is_some() {
        measure(table, bus, reading, &Wanted::Traffic);
    }
    let mut rates = Rates { kernels: [GainRate::ZERO; MAX_KERNELS], mean: GainRate::ZERO, whole, dram_sectors };
    rates.fill(table, reading.sms);
    measure(table, bus, reading, &Wanted::Gains(&rates));
}

#[inline(never)]
fn measure<const C: usize>(table: &mut ConfigTable<C>, bus: &mut impl Bus, reading: &Reading<'_>, wanted: &Wanted<'_>) {
    let warps = reading.instructions == Counter::WarpInsts;
    let registers = if warps { sm::SLOT_WARP_INSTS } else { sm::SLOT_THREAD_INSTS };
    table.measure_extra(|slots, entry, first, step| {
        let mut sum = Measurement::NONE;
        reading.each_done(first, step, |base| {
            if let Wanted::Gains(rates) = wanted {
                for (slot, rate) in slots.iter().zip(&rates.kernels) {
                    let gain = gain(bus::read(bus, base + registers + 4 * u32::from(*slot)), *rate);
                    sum = Measurement::of_gain(sum.gain().saturating_add(gain));
                }
            } else {
                let mut read = |counter: Counter| bus::read(bus, base + counter.register());
                let (accesses, hits) = (read(Counter::L2Accesses), read(Counter::L2Hits));
                // Without stores the traffic is the accesses that did not hit.
                let loads = if matches!(wanted, Wanted::Traffic) { read(Counter::LoadRequests) } else { accesses };
                sum = Measurement::of_count(sum.count().wrapping_add(roofline::traffic(loads, accesses, hits)));
            }
        });
        match wanted {
            Wanted::Gains(rates) => rates.value(entry, sum.gain(), reading.sms),
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
    fn value(&self, entry: &Entry, progress: Gain, sms: u16) -> Measurement {
        match (self.whole, progress.checked_div_int(entry.sums.sms.into()), per_sm(entry.sums.instructions, entry)) {
            // A second round needs the traffic of the kernels alone again.
            (Some(_), ..) if entry.vector.present() == 1 => entry.extra,
            (Some(objective), Some(progress), Some(instructions)) => {
                Measurement::of_worth(roofline::value(objective, gain(instructions, self.mean), progress, self.share(entry, sms)))
            }
            _ => Measurement::of_gain(progress),
        }
    }

    /// What would remain of a configuration's instructions, whose traffic has been measured.
    #[inline(never)]
    fn share(&self, entry: &Entry, sms: u16) -> Share {
        match self.whole {
            None => Share::ONE,
            Some(_) => roofline::share(entry.extra.count(), entry.sums.cycles, sms, self.dram_sectors),
        }
    }
}

/// The mean over a configuration's SMs.
#[inline(always)]
fn per_sm(count: u32, entry: &Entry) -> Option<u32> {
    count.checked_div(entry.sums.sms.into())
}

/// Instructions at a rate: 24 bits times 40.
#[inline(always)]
fn gain(instructions: u32, rate: GainRate) -> Gain {
    saturating(product(rate, Count::from_bits(instructions)))
}

/// One over a count of at most 24 bits, rounded up, so that as many instructions as alone make a whole; 0 for none.
#[inline(never)]
fn inverse(count: u32) -> GainRate {
    if count == 0 {
        return GainRate::ZERO;
    }
    // A long division in two steps, the second of 8 bits: what remains of the first is below 2^24, as the counter is.
    let (high, left) = (u32::MAX / count, (u32::MAX % count).wrapping_add(1));
    GainRate::from_bits((u64::from(high) << 8) + u64::from((left << 8) / count) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A gain is the quotient of 24-bit counts, or, since the rate is rounded up, one part of 2^16 more.
        #[test]
        fn a_gain_is_the_quotient(instructions in 0_u32..1 << 24, alone in 1_u32..1 << 24) {
            let exact = (u64::from(instructions) << 16) / u64::from(alone);
            let found = u64::from(gain(instructions, inverse(alone)).to_bits());
            let most = u64::from(u32::MAX);
            prop_assert!((exact.min(most)..=(exact + 1).min(most)).contains(&found), "{found}, not {exact}");
            prop_assert!(gain(alone, inverse(alone)) >= Gain::ONE);
        }
    }

    #[test]
    fn without_instructions_alone_there_is_no_gain() {
        assert_eq!(gain(u32::MAX, inverse(0)), Gain::ZERO);
    }
}
