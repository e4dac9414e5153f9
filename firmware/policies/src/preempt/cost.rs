//! Cost of removing a TB from its SM by each technique: latency in cycles, and throughput overhead
//! in lost warp instructions (Shieh 2016, section 3.3.2; open details: sources.md D135).
//!
//! | technique | latency | overhead |
//! |---|---|---|
//! | drain | remaining instructions times cycles per instruction | 0; under Chimera the issue slots that idle until the last TB has left |
//! | switch | bytes of context over the SM's share of DRAM bandwidth | IPC of a TB of the kernel on that SM, times twice the latency |
//! | flush | 0 | executed instructions |
//!
//! An unknown value counts as the largest number. All quotients are rounded down.

use super::quotient::{mul_div, narrow};
use mias_firmware::resources::Resources;

/// Cost of removing one TB or several from an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Cycles until the TBs have left, saturating.
    pub latency: u32,
    /// Lost warp instructions, saturating.
    pub overhead: u32,
}

impl Cost {
    /// Cost of no removal.
    pub const NONE: Self = Self { latency: 0, overhead: 0 };
    /// Cost of an unknown removal.
    pub const MOST: Self = Self { latency: u32::MAX, overhead: u32::MAX };

    /// Returns the cost of both together: the larger latency and the sum of overheads (Shieh 2016,
    /// equations 3.1 and 3.2).
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { latency: self.latency.max(other.latency), overhead: self.overhead.saturating_add(other.overhead) }
    }
}

/// Estimate of the time until a TB ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draining {
    /// From the TB's own cycles per instruction (Park et al. 2015, as described in Shieh 2016).
    Chimera,
    /// From the TB's own cycles per instruction or those of ended TBs, whichever varies less (Shieh
    /// 2016).
    Shieh,
}

/// Progress of a running TB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Warp instructions issued.
    pub insts: u32,
    /// Cycles since the TB arrived.
    pub cycles: u32,
    /// Whether the TB may be flushed.
    pub flushable: bool,
}

impl Progress {
    /// Returns the cycles per instruction in sixteenths, at most 4,095, as hardware does for ended
    /// TBs; none before the first instruction.
    fn cpi(self) -> Option<u32> {
        const MOST: u32 = 4_095;
        (self.insts != 0).then(|| mul_div(self.cycles, 16, self.insts).min(MOST))
    }

    /// Returns the cost of a flush, which loses the executed instructions; none if the TB may not
    /// be flushed.
    #[must_use]
    pub fn flush(self) -> Option<Cost> {
        self.flushable.then_some(Cost { latency: 0, overhead: self.insts })
    }

    /// Returns the instructions that the TB executes in `cycles`.
    #[must_use]
    pub fn insts_in(self, cycles: u32) -> u32 {
        mul_div(cycles, self.insts, self.cycles)
    }
}

/// Sums over the running TBs of a kernel on an SM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Running {
    insts: u64,
    cycles: u64,
    /// TBs that have issued an instruction, the sum of their cycles per instruction in sixteenths,
    /// and the sum of its squares.
    tbs: u32,
    cpi: u32,
    cpi_squares: u32,
}

impl Running {
    /// Adds one TB, of at most 255.
    pub fn add(&mut self, tb: Progress) {
        self.insts = self.insts.wrapping_add(tb.insts.into());
        self.cycles = self.cycles.wrapping_add(tb.cycles.into());
        if let Some(cpi) = tb.cpi() {
            self.tbs = self.tbs.wrapping_add(1);
            self.cpi = self.cpi.wrapping_add(cpi);
            self.cpi_squares = self.cpi_squares.saturating_add(cpi.wrapping_mul(cpi));
        }
    }

    /// Returns the cost of saving a context that takes `latency` cycles, and restoring it: the
    /// instructions of a TB in that time.
    #[must_use]
    pub fn switch(&self, latency: u32) -> Cost {
        let (insts, cycles) = narrow(self.insts, self.cycles);
        Cost { latency, overhead: mul_div(latency.saturating_mul(2), insts, cycles) }
    }
}

/// Sums over the ended TBs of a kernel on an SM, as in the register block
/// ([`mias_registers::preempt::ENDED_TBS`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Number of TBs.
    pub tbs: u32,
    /// Warp instructions of the TBs.
    pub insts: u32,
    /// Cycles of the TBs.
    pub cycles: u32,
    /// Sum of the cycles per instruction, in sixteenths.
    pub cpi: u32,
    /// Sum of the squares of the cycles per instruction.
    pub cpi_squares: u32,
}

/// Prediction of the time until a TB of a kernel on an SM ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// Instructions of a TB; none if no TB has ended.
    each: Option<u32>,
    /// Cycles and instructions of ended TBs; none if each TB continues at its own rate.
    rate: Option<(u32, u32)>,
}

impl Prediction {
    /// Creates the prediction from the sums of the kernel on this SM.
    #[must_use]
    pub fn new(draining: Draining, running: &Running, ended: &Ended) -> Self {
        let by_ended = draining == Draining::Shieh && varies_less(ended, running);
        Self { each: ended.insts.checked_div(ended.tbs), rate: by_ended.then_some((ended.cycles, ended.insts)) }
    }

    /// Returns the cycles until a TB ends.
    #[must_use]
    pub fn latency(&self, tb: Progress) -> u32 {
        let Some(each) = self.each else { return u32::MAX };
        let (cycles, insts) = self.rate.unwrap_or((tb.cycles, tb.insts));
        mul_div(each.saturating_sub(tb.insts), cycles, insts)
    }
}

/// Returns whether to use the cycles per instruction of ended TBs: the running TBs do not have the
/// lower standard deviation. Fewer than two TBs have none. Then the others count, and the running
/// TBs if neither group has one.
fn varies_less(ended: &Ended, running: &Running) -> bool {
    match (ended.tbs, running.tbs) {
        (0 | 1, _) => false,
        (_, 0 | 1) => true,
        // Squared deviations, each times the square of its number of TBs and of the other's.
        (n, m) => scaled(ended.cpi, ended.cpi_squares, n, m) <= scaled(running.cpi, running.cpi_squares, m, n),
    }
}

/// Returns the variance of `n` numbers from their sum and the sum of their squares, times the
/// squares of `n` and `other`. This compares two variances without a division.
fn scaled(sum: u32, squares: u32, n: u32, other: u32) -> u128 {
    let variance = (u64::from(n) * u64::from(squares)).saturating_sub(u64::from(sum) * u64::from(sum));
    u128::from(variance) * u128::from(u64::from(other) * u64::from(other))
}

/// Returns the cycles to move the context of a TB to DRAM: its registers of 4 bytes and its shared
/// memory.
///
/// The bandwidth is the share of one of `sms` SMs of `dram_sectors` sectors of 32 bytes per cycle,
/// in Q16.16.
#[must_use]
pub fn switch_latency(demand: &Resources, sms: u16, dram_sectors: u32) -> u32 {
    /// Fraction bits of the sectors, less those of 32 bytes.
    const BITS: u32 = 16 - 5;
    let bytes = demand.registers.saturating_mul(4).saturating_add(demand.shared_bytes);
    // At most 2^8 SMs, so no bit is lost.
    mul_div(bytes, u32::from(sms) << BITS, dram_sectors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    fn tb(insts: u32, cycles: u32) -> Progress {
        Progress { insts, cycles, flushable: true }
    }

    fn running(tbs: &[Progress]) -> Running {
        let mut running = Running::default();
        tbs.iter().for_each(|tb| running.add(*tb));
        running
    }

    /// Returns the sums over ended TBs as hardware adds them up.
    fn ended(tbs: &[Progress]) -> Ended {
        let mut sums = Ended::default();
        for tb in tbs {
            let cpi = (16 * tb.cycles / tb.insts).min(4_095);
            sums = Ended {
                tbs: sums.tbs + 1,
                insts: sums.insts + tb.insts,
                cycles: sums.cycles + tb.cycles,
                cpi: sums.cpi + cpi,
                cpi_squares: sums.cpi_squares + cpi * cpi,
            };
        }
        sums
    }

    /// Shieh 2016, table 4.1: 177.4 GB/s over 15 SMs of 1.4 GHz are 8.45 bytes per cycle and SM. At
    /// that rate 4,096 registers take 1,939 cycles. With a limit of 2 us, 2,800 cycles, 8,192
    /// registers are too many.
    #[test]
    fn a_context_moves_at_the_share_of_an_sm() {
        let sectors_per_cycle = 177.4e9 / 1.4e9 / 32.0;
        let dram_sectors = (sectors_per_cycle * 65_536.0) as u32;
        let latency = |registers, shared_bytes| switch_latency(&Resources { registers, shared_bytes, ..Resources::NONE }, 15, dram_sectors);
        assert_eq!(latency(4096, 0), 1939);
        assert!(latency(8192, 0) > 2800 && latency(8192, 0).abs_diff(2 * 1939) <= 1);
        // A byte of shared memory is a byte, a register is four.
        assert_eq!(latency(0, 4 * 4096), latency(4096, 0));
        assert_eq!(switch_latency(&Resources { registers: 1, ..Resources::NONE }, 15, 0), u32::MAX);
    }

    /// Two TBs that ran at 3 instructions in 8 cycles together: in 2 * 1,000 cycles a TB makes 750.
    #[test]
    fn a_switch_loses_what_a_tb_would_have_done_twice() {
        assert_eq!(running(&[tb(200, 400), tb(100, 400)]).switch(1000), Cost { latency: 1000, overhead: 750 });
        assert_eq!(Running::default().switch(1000).overhead, u32::MAX, "nothing is known");
        assert_eq!(running(&[tb(u32::MAX, u32::MAX); 32]).switch(1000).overhead, 2000, "sums beyond 32 bits");
    }

    #[test]
    fn a_flush_loses_what_was_done_and_needs_its_bit() {
        assert_eq!(tb(123, 456).flush(), Some(Cost { latency: 0, overhead: 123 }));
        assert_eq!(Progress { flushable: false, ..tb(123, 456) }.flush(), None);
    }

    /// TBs of 1,000 instructions: 600 done in 1,200 cycles leave 400, at 2 cycles each.
    #[test]
    fn what_is_left_takes_as_long_as_before() {
        let kernel = ended(&[tb(900, 900), tb(1100, 1100)]);
        let own = Prediction::new(Draining::Chimera, &Running::default(), &kernel);
        assert_eq!(own.latency(tb(600, 1200)), 800);
        assert_eq!(own.latency(tb(1500, 1500)), 0, "longer than the average: it may end now");
        assert_eq!(own.latency(tb(0, 50)), u32::MAX, "its rate is not known");
        let nothing = Prediction::new(Draining::Chimera, &Running::default(), &Ended::default());
        assert_eq!(nothing.latency(tb(600, 1200)), u32::MAX, "no TB has ended");
    }

    /// A TB with 400 instructions left takes 1 cycle for each, the rate of ended TBs, if those vary
    /// less; else its own 2.
    #[test]
    fn the_rate_is_that_of_those_that_vary_less() {
        let (steady, wild) = ([tb(1000, 1000), tb(1000, 1000)], [tb(1000, 500), tb(1000, 1500)]);
        let now = running(&[tb(600, 1200), tb(500, 1100)]);
        let predict =
            |draining, running: &Running, kernel: &[Progress]| Prediction::new(draining, running, &ended(kernel)).latency(tb(600, 1200));
        assert_eq!(predict(Draining::Shieh, &now, &steady), 400);
        assert_eq!(predict(Draining::Shieh, &now, &wild), 800);
        assert_eq!(predict(Draining::Chimera, &now, &steady), 800);
        // One TB has no deviation.
        let alone = running(&[tb(600, 1200)]);
        assert_eq!(predict(Draining::Shieh, &alone, &wild), 400);
        assert_eq!(predict(Draining::Shieh, &now, &steady[..1]), 800);
        assert_eq!(predict(Draining::Shieh, &alone, &steady[..1]), 800);
    }

    proptest! {
        /// The prediction agrees with the definition of a standard deviation, if the two deviations
        /// differ enough for `f64`.
        #[test]
        fn the_lower_standard_deviation_is_found(
            here in proptest::collection::vec((1..5_000_u32, 1..200_000_u32), 2..32),
            gone in proptest::collection::vec((1..5_000_u32, 1..200_000_u32), 2..60),
        ) {
            let [here, gone] = [here, gone].map(|tbs| tbs.into_iter().map(|(insts, cycles)| tb(insts, cycles)).collect::<Vec<_>>());
            let deviation = |tbs: &[Progress]| {
                let cpi = tbs.iter().map(|tb| f64::from((16 * tb.cycles / tb.insts).min(4_095)));
                let mean = cpi.clone().sum::<f64>() / tbs.len() as f64;
                (cpi.map(|cpi| (cpi - mean).powi(2)).sum::<f64>() / tbs.len() as f64).sqrt()
            };
            let (now, before) = (deviation(&here), deviation(&gone));
            prop_assume!((now - before).abs() > 1e-6);
            let prediction = Prediction::new(Draining::Shieh, &running(&here), &ended(&gone));
            prop_assert_eq!(prediction.rate.is_some(), before < now);
        }

        /// No cost overflows, for any counts that the register block returns.
        #[test]
        fn nothing_overflows(sums in any::<[u32; 5]>(), tbs in proptest::collection::vec(any::<(u32, u32)>(), 0..=32), latency: u32) {
            let [tbs_ended, insts, cycles, cpi, cpi_squares] = sums;
            let all: Vec<_> = tbs.into_iter().map(|(insts, cycles)| tb(insts, cycles)).collect();
            let prediction = Prediction::new(Draining::Shieh, &running(&all), &Ended { tbs: tbs_ended, insts, cycles, cpi, cpi_squares });
            let latest = all.iter().map(|tb| prediction.latency(*tb)).max();
            prop_assert!(latest.unwrap_or(0) <= running(&all).switch(latency).and(Cost::MOST).latency);
        }
    }
}
