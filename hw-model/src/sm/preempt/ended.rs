//! Statistics of a kernel's ended TBs on an SM: their number, instructions and cycles, and the
//! variance of their cycles per instruction (Shieh 2016, section 3.3.2, which predicts from the
//! statistic with the lower variance).

/// Largest cycles per warp instruction that is counted, in sixteenths.
const MOST_CPI: u64 = 4_095;

/// Sums over ended TBs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Number of ended TBs.
    pub tbs: u32,
    /// Sum of the ended TBs' warp instructions.
    pub insts: u32,
    /// Sum of the ended TBs' cycles on the SM.
    pub cycles: u32,
    /// Sum of the ended TBs' cycles per warp instruction, in sixteenths.
    pub cpi: u32,
    /// Sum of the squares of the ended TBs' cycles per warp instruction, in 256ths.
    pub cpi_squares: u32,
}

impl Ended {
    /// Adds an ended TB that issued `insts` in `cycles`.
    pub(super) fn add(&mut self, insts: u64, cycles: u64) {
        let Some(cpi) = (cycles * 16).checked_div(insts) else { return };
        let cpi = cpi.min(MOST_CPI);
        let mut sums = [u64::from(self.tbs) + 1, u64::from(self.insts) + insts, u64::from(self.cycles) + cycles];
        let mut rates = [u64::from(self.cpi) + cpi, u64::from(self.cpi_squares) + cpi * cpi];
        while sums.iter().chain(&rates).any(|&sum| sum > u64::from(u32::MAX)) {
            sums.iter_mut().chain(&mut rates).for_each(|sum| *sum /= 2);
        }
        // The sums are halved until they fit in a word.
        let [tbs, insts, cycles] = sums.map(|sum| sum as u32);
        let [cpi, cpi_squares] = rates.map(|sum| sum as u32);
        *self = Ended { tbs: tbs.max(1), insts, cycles, cpi, cpi_squares };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Halving preserves means, and nothing wraps.
        #[test]
        fn means_survive(insts in 1u64..1 << 22, cpi in 1u64..200, many in 1usize..4000) {
            let mut ended = Ended::default();
            (0..many).for_each(|_| ended.add(insts, insts * cpi));
            let tbs = u64::from(ended.tbs);
            let near = |sum: u32, each: u64| (u64::from(sum) / tbs).abs_diff(each) * 50 <= each + 50;
            prop_assert!(near(ended.insts, insts) || tbs < 50, "{ended:?}");
            prop_assert!(near(ended.cpi, (16 * cpi).min(MOST_CPI)) || tbs < 50, "{ended:?}");
            prop_assert!(ended.tbs >= 1);
        }
    }

    #[test]
    fn sums_are_exact_while_they_fit() {
        let mut ended = Ended::default();
        ended.add(100, 250);
        ended.add(50, 100);
        // 2.5 and 2 cycles per instruction.
        assert_eq!(ended, Ended { tbs: 2, insts: 150, cycles: 350, cpi: 40 + 32, cpi_squares: 1600 + 1024 });
        ended.add(0, 100);
        assert_eq!(ended.tbs, 2);
    }
}
