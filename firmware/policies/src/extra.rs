//! Additional measurements of a policy, next to the sums of counters: progress by kernel, L2
//! misses, or predictions for the whole GPU ([`Extra`]).

use crate::metric::roofline::{self, Objective};
use mias_firmware::configs::{ConfigTable, Entry, MAX_KERNELS, Measurement, TRIAL, WARM_UP};
use mias_firmware::counters::Reading;
use mias_firmware::quantity::{Count, Gain, GainRate, SectorRate, Share, product, saturating};
use mias_registers::bus::TryBus;
use mias_registers::counters::Counter;
use mias_registers::sm;

/// Additional measurement of a configuration, stored in [`mias_firmware::configs::Entry::extra`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    /// Progress: instructions of each kernel over its isolated instructions in the same time,
    /// summed over kernels and SMs, as a [`mias_firmware::quantity::Gain`]. The isolated rate comes
    /// from the configuration with TBs of that kernel only.
    Progress,
    /// L2 accesses that did not hit, summed over SMs.
    L2Misses,
    /// Predicted speedup and progress for the whole GPU, in one number
    /// ([`crate::metric::roofline`]); for single-kernel configurations, their traffic.
    Speedup,
    /// Predicted progress for the whole GPU; for single-kernel configurations, their traffic.
    WholeProgress,
}

/// Quantity to measure on an SM.
enum Wanted<'a> {
    /// L2 accesses that did not hit.
    L2Misses,
    /// Sectors that DRAM transfers.
    Traffic,
    /// Progress of the kernels, at their rates.
    Gains(&'a Rates),
}

/// Rates that convert instructions to progress and speedup.
struct Rates {
    /// Rate of each kernel: one over its isolated instructions in a window; 0 if it was not
    /// measured alone, or did nothing.
    kernels: [GainRate; MAX_KERNELS],
    /// Rate of the mean kernel.
    mean: GainRate,
    /// Objective for a prediction of the whole GPU; none for measured values.
    whole: Option<Objective>,
    /// Peak DRAM bandwidth, in sectors per cycle.
    dram_sectors: SectorRate,
}

/// Takes the additional measurement of every configuration of the current round, once its counters
/// have been read.
///
/// DRAM transfers at most `dram_sectors` per cycle.
///
/// # Errors
/// The bus failed.
#[inline(never)]
pub(crate) fn read_extra<const C: usize, B: TryBus>(
    table: &mut ConfigTable<C>,
    bus: &mut B,
    reading: &Reading<'_>,
    extra: Extra,
    dram_sectors: SectorRate,
) -> Result<(), B::Error> {
    let whole = match extra {
        Extra::L2Misses => return measure(table, bus, reading, &Wanted::L2Misses),
        Extra::Progress => None,
        Extra::Speedup => Some(Objective::Both),
        Extra::WholeProgress => Some(Objective::Stp),
    };
    // A trial needs no reduction for traffic, and its warm-up is not judged.
    let on_all = table.tried_on_all().map(|entry| entry.position);
    if on_all == Some(WARM_UP) {
        return Ok(());
    }
    if whole.is_some() && on_all.is_none() {
        measure(table, bus, reading, &Wanted::Traffic)?;
    }
    let mut rates = Rates { kernels: [GainRate::ZERO; MAX_KERNELS], mean: GainRate::ZERO, whole, dram_sectors };
    rates.fill(table, reading.sms);
    measure(table, bus, reading, &Wanted::Gains(&rates))
}

#[inline(never)]
fn measure<const C: usize, B: TryBus>(
    table: &mut ConfigTable<C>,
    bus: &mut B,
    reading: &Reading<'_>,
    wanted: &Wanted<'_>,
) -> Result<(), B::Error> {
    let warps = reading.instructions == Counter::WarpInsts;
    let registers = if warps { sm::SLOT_WARP_INSTS } else { sm::SLOT_THREAD_INSTS };
    // The traffic needs the loads that missed the L1. The count of L2 misses needs all L2 accesses
    // instead.
    let loads = if matches!(wanted, Wanted::Traffic) { Counter::LoadRequests } else { Counter::L2Accesses };
    let of_l2 = [loads, Counter::L2Accesses, Counter::L2Hits].map(Counter::register);
    table.measure_extra(|slots, entry, first, step| match wanted {
        Wanted::Gains(rates) => {
            let mut made = [0_u32; MAX_KERNELS];
            reading.each_done(first, step, |sm| {
                for (sum, slot) in made.iter_mut().zip(slots) {
                    let [count] = bus.try_read_sm_registers(sm, [registers + 4 * u32::from(*slot)])?;
                    // 24 bits each, and at most 256 SMs.
                    *sum = sum.wrapping_add(count);
                }
                Ok(())
            })?;
            Ok(rates.value(entry, &made, reading.sms))
        }
        _ => {
            let mut sum = 0_u32;
            reading.each_done(first, step, |sm| {
                let [loads, accesses, hits] = bus.try_read_sm_registers(sm, of_l2)?;
                sum = sum.wrapping_add(roofline::traffic(loads, accesses, hits));
                Ok(())
            })?;
            Ok(Measurement::of_count(sum))
        }
    })
}

impl Rates {
    /// Computes the rates from the isolated measurements of the kernels, in any round.
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
                // 24 bits each.
                (sum, kernels) = (sum.wrapping_add(instructions), kernels.wrapping_add(1));
            }
        }
        self.mean = inverse(sum.checked_div(kernels).unwrap_or(0));
    }

    /// Returns the value of a configuration whose kernels issued `made` instructions on its SMs
    /// together.
    #[inline(always)]
    fn value(&self, entry: &Entry, made: &[u32; MAX_KERNELS], sms: u16) -> Measurement {
        // A second round needs the traffic of the single-kernel configurations again.
        if self.whole.is_some() && entry.vector.present() == 1 {
            return entry.extra;
        }
        let mut progress = Gain::ZERO;
        for (made, rate) in made.iter().zip(&self.kernels) {
            // For the mean SM: one multiplication per kernel instead of one per kernel and SM.
            progress = progress.saturating_add(gain(per_sm(*made, entry).unwrap_or(0), *rate));
        }
        match (self.whole, per_sm(entry.sums.instructions, entry)) {
            (Some(objective), Some(instructions)) => {
                Measurement::of_worth(roofline::value(objective, gain(instructions, self.mean), progress, self.share(entry, sms)))
            }
            _ => Measurement::of_gain(progress.saturating_mul_int(entry.sums.sms.into())),
        }
    }

    /// Returns the share of a configuration's instructions that would remain, from its traffic; 1
    /// if all SMs ran it.
    #[inline(never)]
    fn share(&self, entry: &Entry, sms: u16) -> Share {
        match self.whole {
            None => Share::ONE,
            Some(_) if entry.position == TRIAL => Share::ONE,
            Some(_) => roofline::share(entry.extra.count(), entry.sums.cycles, sms, self.dram_sectors),
        }
    }
}

/// Returns the mean over a configuration's SMs.
#[inline(always)]
fn per_sm(count: u32, entry: &Entry) -> Option<u32> {
    count.checked_div(entry.sums.sms.into())
}

/// Converts instructions to a gain at a rate: 24 bits times 40.
#[inline(always)]
fn gain(instructions: u32, rate: GainRate) -> Gain {
    saturating(product(rate, Count::from_bits(instructions)))
}

/// Returns the reciprocal of a count of at most 24 bits, rounded up, so that the isolated count
/// gives at least 1; 0 for a count of 0.
#[inline(never)]
fn inverse(count: u32) -> GainRate {
    if count == 0 {
        return GainRate::ZERO;
    }
    // Long division in two steps, the second of 8 bits. The first remainder is below 2^24, as the
    // counter is.
    let (high, left) = (u32::MAX / count, (u32::MAX % count).wrapping_add(1));
    GainRate::from_bits((u64::from(high) << 8) + u64::from((left << 8) / count) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A gain is the quotient of 24-bit counts, or one part of 2^16 more, because the rate is
        /// rounded up.
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
