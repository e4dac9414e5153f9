//! Fixed-point numbers against 128-bit integers: products are exact, and truncation is as named.

use crate::cases::cases;
use mias_firmware::metric::Score;
use mias_firmware::metric::wide::{FixedU96, U96};
use mias_firmware::quantity::{
    AllSectorRate, Coefficient, Count, Cycles, Gain, GainRate, Scale, SmSectorRate, TbRatio, Utilization, WideWorth, Worth, product,
    saturating, times, whole, wrapping,
};
use mias_registers::counters::Counter;
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(256))]

    /// Products and their truncations equal those of wider integers.
    #[test]
    fn products_are_cut_off_behind_the_point(a: u32, b: u32, c: u64) {
        let wide = Gain::from_bits(a).wide_mul(Gain::from_bits(b));
        let exact = u64::from(a) * u64::from(b);
        let cut: [Gain; 2] = [saturating(wide), wrapping(wide)];
        prop_assert_eq!(cut.map(Gain::to_bits), [(exact >> 16).min(u32::MAX.into()) as u32, (exact >> 16) as u32]);
        // 40 fraction bits times 0.
        let gain: Gain = saturating(product(GainRate::from_bits(c), Count::from_bits(a)));
        let modulo = (u128::from(c) * u128::from(a)) as u64;
        prop_assert_eq!(u64::from(gain.to_bits()), (modulo >> 24).min(u32::MAX.into()));
        prop_assert_eq!(times(Worth::from_bits(a), b).to_bits(), a.saturating_mul(b));
    }

    /// Linear's correction: a 64-bit count times the coefficient, exact in 96 bits, with the
    /// fraction bits of the cycles.
    #[test]
    fn linears_correction_is_exact(difference: u64, coefficient: u32, cycles: u64) {
        let delta = FixedU96::product(difference, Coefficient::from_bits(coefficient));
        let exact = u128::from(difference) * u128::from(coefficient);
        prop_assert_eq!(delta.to_u128(), exact);
        prop_assert_eq!(u128::from(delta.saturating_to_64().to_bits()), exact.min(u64::MAX.into()));
        let sum = FixedU96::from(Cycles::from_bits(cycles)).wrapping_add(delta);
        prop_assert_eq!(sum.to_u128(), (exact + u128::from(cycles)) & ((1 << 96) - 1));
    }

    /// A score is a ratio that does not depend on the common fraction bits.
    #[test]
    fn the_fraction_of_both_numbers_cancels(a: u32, b in 1_u32..) {
        let integers = Score::new(U96::from(u64::from(a)), U96::from(u64::from(b)));
        prop_assert_eq!(Score::new(FixedU96::from(Gain::from_bits(a)), FixedU96::from(Gain::from_bits(b))), integers);
        prop_assert_eq!(Score::new(FixedU96::from(Worth::from_bits(a)), FixedU96::from(Worth::from_bits(b))), integers);
        prop_assert_eq!(Score::over_positive(FixedU96::from(Worth::from_bits(a)), FixedU96::from(Worth::from_bits(b))), integers);
    }
}

/// One is one in every unit, and ranges are those of the aliases.
#[test]
fn the_point_is_where_the_page_says() {
    assert_eq!([whole(1), Gain::ONE], [Gain::from_bits(1 << 16); 2]);
    assert_eq!([whole(1), Worth::ONE], [Worth::from_bits(1 << 24); 2]);
    assert_eq!([whole(1), Utilization::ONE], [Utilization::from_bits(1 << 10); 2]);
    assert_eq!([whole(1), SmSectorRate::ONE], [SmSectorRate::from_bits(1 << 13); 2]);
    assert_eq!([whole(1), AllSectorRate::ONE], [AllSectorRate::from_bits(1 << 20); 2]);
    assert_eq!([whole(1), TbRatio::ONE], [TbRatio::from_bits(1 << 12); 2]);
    assert_eq!([whole(1), Scale::ONE], [Scale::from_bits(1 << 15); 2]);
    assert_eq!((GainRate::ONE.to_bits(), WideWorth::ONE.to_bits(), Cycles::ONE.to_bits()), (1 << 40, 1 << 24, 1 << 16));
    let [sectors, score]: [u32; 2] = [SmSectorRate::MAX.int().to_num(), Worth::MAX.int().to_num()];
    assert_eq!([sectors, score], [Counter::L2Accesses.max(), 255]);
}
