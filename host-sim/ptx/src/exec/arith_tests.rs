//! f64, rounding modifiers, saturation and f16 against the host and by hand; the approximate
//! functions against their bounds.

use super::super::testing::{double, word};
use super::*;
use proptest::prelude::*;

fn canonical(x: f64) -> u64 {
    if x.is_nan() { F64.nan } else { x.to_bits() }
}

fn canonical32(x: f32) -> u32 {
    if x.is_nan() { 0x7fff_ffff } else { x.to_bits() }
}

/// Returns the relative error of a result.
fn relative(found: u32, expected: f64) -> f64 {
    (f64::from(f32::from_bits(found)) / expected - 1.0).abs()
}

proptest! {
    /// The upper halves of operand and result have 20 digits, so that either errs by 2^-20 at most;
    /// beyond the normal range is zero.
    #[test]
    fn approximate_doubles_keep_half_of_their_digits(mantissa in 1f64..2.0, exponent in -1000i32..1000, negative: bool) {
        let x = mantissa * 2f64.powi(exponent) * if negative { -1.0 } else { 1.0 };
        let found = |inst: &str, x: f64| f64::from_bits(double(&format!("{inst} %rd7, %rd0;"), &[x.to_bits()]));
        prop_assert!((found("rcp.approx.ftz.f64", x) * x - 1.0).abs() <= 2f64.powi(-19));
        prop_assert!((found("rsqrt.approx.ftz.f64", x.abs()) * x.abs().sqrt() - 1.0).abs() <= 2f64.powi(-19));
        prop_assert_eq!(found("rcp.approx.ftz.f64", f64::MAX), 0.0);
        prop_assert_eq!(found("rcp.approx.ftz.f64", f64::MIN_POSITIVE / 4.0), f64::INFINITY);
    }

    #[test]
    fn doubles_are_ieee(a: u64, b: u64, c: u64) {
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        for (inst, expected) in [
            ("add.f64", x + y), ("sub.rn.f64", x - y), ("mul.f64", x * y), ("div.rn.f64", x / y),
        ] {
            prop_assert_eq!(double(&format!("{inst} %rd7, %rd0, %rd1;"), &[a, b]), canonical(expected), "{}", inst);
        }
        prop_assert_eq!(double("fma.rn.f64 %rd7, %rd0, %rd1, %rd2;", &[a, b, c]), canonical(x.mul_add(y, z)));
        prop_assert_eq!(double("sqrt.rn.f64 %rd7, %rd0;", &[a]), canonical(x.sqrt()));
        prop_assert_eq!(double("rcp.rn.f64 %rd7, %rd0;", &[a]), canonical(1.0 / x));
        prop_assert_eq!(double("neg.f64 %rd7, %rd0;", &[a]), a ^ 1 << 63);
        prop_assert_eq!(double("abs.f64 %rd7, %rd0;", &[a]), a & !(1 << 63));
        prop_assert_eq!(double("copysign.f64 %rd7, %rd0, %rd1;", &[a, b]), y.copysign(x).to_bits());
        prop_assume!(!x.is_nan() && !y.is_nan());
        prop_assert_eq!(double("min.f64 %rd7, %rd0, %rd1;", &[a, b]), if x.total_cmp(&y).is_le() { a } else { b });
        prop_assert_eq!(double("max.f64 %rd7, %rd0, %rd1;", &[a, b]), if x.total_cmp(&y).is_ge() { a } else { b });
    }

    #[test]
    fn f32_division_and_roots(a: u32, b: u32) {
        let [x, y] = [a, b].map(f32::from_bits);
        prop_assert_eq!(word("div.rn.f32 %r7, %r0, %r1;", &[a, b]), canonical32(x / y));
        prop_assert_eq!(word("sqrt.rn.f32 %r7, %r0;", &[a]), canonical32(x.sqrt()));
        prop_assert_eq!(word("rcp.rn.f32 %r7, %r0;", &[a]), canonical32(1.0 / x));
        let sum = x + y;
        let clamped = if sum.is_nan() { 0.0 } else { sum.clamp(0.0, 1.0) };
        prop_assert_eq!(word("add.sat.f32 %r7, %r0, %r1;", &[a, b]), (clamped + 0.0).to_bits());
        // Integers below 2^20 times 2^-10: the sum in f64 is exact.
        let (i, j) = (a as i32 >> 4, b as i32 >> 9);
        let exact = f64::from(i) + f64::from(j) * 2f64.powi(-20);
        let s = |inst: &str| f32::from_bits(word(inst, &[(i as f32).to_bits(), (j as f32 * 2f32.powi(-20)).to_bits()]));
        let exact = if (i as f32) as i32 == i && (j as f32) as i32 == j { exact } else { f64::NAN };
        prop_assume!(!exact.is_nan());
        prop_assert!(f64::from(s("add.rm.f32 %r7, %r0, %r1;")) <= exact);
        prop_assert!(f64::from(s("add.rp.f32 %r7, %r0, %r1;")) >= exact);
        prop_assert!(f64::from(s("add.rz.f32 %r7, %r0, %r1;")).abs() <= exact.abs());
    }

    /// The bounds of PTX ISA 7.8 section 9.7.3 for each function.
    #[test]
    fn approximations_are_within_their_bounds(a in 1e-30f32..1e30, b in 1e-30f32..1e30, angle in -std::f32::consts::PI..std::f32::consts::PI, power in -100f32..100.0) {
        let (x, y) = (f64::from(a), f64::from(b));
        let ulp = 2f64.powi(-23);
        let at = |inst: &str, v: f32| word(&format!("{inst} %r7, %r0;"), &[v.to_bits()]);
        prop_assert!(relative(at("rcp.approx.ftz.f32", a), 1.0 / x) <= ulp);
        prop_assert!(relative(at("sqrt.approx.f32", a), x.sqrt()) <= ulp);
        prop_assert!(relative(at("rsqrt.approx.f32", a), 1.0 / x.sqrt()) <= 2f64.powf(-22.4));
        prop_assert!(relative(at("ex2.approx.ftz.f32", power), f64::from(power).exp2()) <= 2f64.powi(-22));
        prop_assert!(relative(at("tanh.approx.f32", angle), f64::from(angle).tanh()) <= 2f64.powi(-11));
        let absolute = |found: u32, expected: f64| (f64::from(f32::from_bits(found)) - expected).abs();
        prop_assert!(absolute(at("sin.approx.f32", angle), f64::from(angle).sin()) <= 2f64.powf(-20.9));
        prop_assert!(absolute(at("cos.approx.f32", angle), f64::from(angle).cos()) <= 2f64.powf(-20.9));
        let near = 1.0 + angle / 10.0;
        prop_assert!(absolute(at("lg2.approx.f32", near), f64::from(near).log2()) <= 2f64.powf(-22.6));
        if (1e-30..1e30).contains(&(x / y)) {
            prop_assert!(relative(word("div.full.f32 %r7, %r0, %r1;", &[a.to_bits(), b.to_bits()]), x / y) <= 2.0 * ulp);
            prop_assert!(relative(word("div.approx.ftz.f32 %r7, %r0, %r1;", &[a.to_bits(), b.to_bits()]), x / y) <= 2.0 * ulp);
        }
    }

    /// A pair is two halves. The sum of two small integers is exact in half precision.
    #[test]
    fn pairs_of_halves(a in -500i32..500, b in -500i32..500, c in -30i32..30, d in -30i32..30) {
        let half = |v: i32| F16.round(crate::ieee::Exact { negative: v < 0, mantissa: v.unsigned_abs().into(), exponent: 0, sticky: false }, Mode::Zero) as u32;
        let pair = |x: i32, y: i32| half(x) | half(y) << 16;
        // An exact sum of zero is +0 for any signs of the operands here.
        prop_assert_eq!(word("add.f16x2 %r7, %r0, %r1;", &[pair(a, c), pair(b, d)]), pair(a + b, c + d));
        prop_assert_eq!(word("sub.f16 %r7, %r0, %r1;", &[half(a), half(b)]), half(a - b));
        prop_assume!(c != 0 && d != 0);
        prop_assert_eq!(word("mul.rn.f16 %r7, %r0, %r1;", &[half(c), half(d)]), half(c * d));
        prop_assert_eq!(word("fma.rn.f16x2 %r7, %r0, %r1, %r2;", &[pair(c, d), pair(d, c), pair(a, b)]), pair(c * d + a, c * d + b));
    }
}

#[test]
fn special_values_of_the_approximations() {
    let at = |inst: &str, v: f32| f32::from_bits(word(&format!("{inst} %r7, %r0;"), &[v.to_bits()]));
    assert_eq!(at("rcp.approx.f32", -0.0), f32::NEG_INFINITY);
    assert_eq!(at("rsqrt.approx.f32", 0.0), f32::INFINITY);
    assert!(at("rsqrt.approx.f32", -1.0).is_nan());
    assert_eq!(at("lg2.approx.f32", 0.0), f32::NEG_INFINITY);
    assert_eq!(at("ex2.approx.f32", f32::NEG_INFINITY), 0.0);
    assert!(at("sin.approx.f32", f32::INFINITY).is_nan());
    // A subnormal is zero under ftz.
    assert_eq!(at("rcp.approx.ftz.f32", f32::from_bits(1)), f32::INFINITY);
}

/// Converts a bf16 to the host's f32.
fn brain(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds a number that is exact in double precision to the nearest bf16, ties to even. Patterns of
/// one sign are in the order of their values.
fn to_brain(value: f64) -> u32 {
    let cut = (value as f32).to_bits() >> 16;
    let candidates = [cut.wrapping_sub(1), cut, cut + 1].map(|bits| bits & 0xffff);
    let distance = |bits: u32| (f64::from(brain(bits)) - value).abs();
    candidates.into_iter().min_by(|&a, &b| distance(a).total_cmp(&distance(b)).then((a & 1).cmp(&(b & 1)))).unwrap_or_default()
}

proptest! {
    /// Numbers of moderate size: the products of two bf16, and a third added, are exact in double
    /// precision.
    #[test]
    fn brain_floats_round_once(a in 0x3c00u32..0x4400, b in 0x3c00u32..0x4400, c in 0x3c00u32..0x4400, signs in 0u32..8) {
        let sign = |bits: u32, at: u32| bits | (signs >> at & 1) << 15;
        let (a, b, c) = (sign(a, 0), sign(b, 1), sign(c, 2));
        let [x, y, z] = [a, b, c].map(|bits| f64::from(brain(bits)));
        let expected = to_brain(x * y + z);
        prop_assert_eq!(word("fma.rn.bf16 %r7, %r0, %r1, %r2;", &[a, b, c]), expected);
        let relu = if x * y + z < 0.0 { 0 } else { expected };
        prop_assert_eq!(word("fma.rn.relu.bf16x2 %r7, %r0, %r1, %r2;", &[a << 16 | a, b << 16 | b, c << 16 | c]), relu << 16 | relu);
        prop_assert_eq!(word("min.bf16 %r7, %r0, %r1;", &[a, b]), if x < y { a } else { b });
        prop_assert_eq!(word("max.bf16x2 %r7, %r0, %r1;", &[a << 16 | b, b << 16 | a]), if x > y { a << 16 | a } else { b << 16 | b });
        prop_assert_eq!(word("neg.bf16x2 %r7, %r0;", &[a << 16 | b]), (a << 16 | b) ^ 0x8000_8000);
        prop_assert_eq!(word("abs.bf16 %r7, %r0;", &[a]), a & 0x7fff);
        prop_assert_eq!(word("add.rn.bf16 %r7, %r0, %r1;", &[a, b]), to_brain(x + y));
        prop_assert_eq!(word("mul.bf16x2 %r7, %r0, %r1;", &[a, b]) & 0xffff, to_brain(x * y));
        prop_assert_eq!(word("max.NaN.bf16 %r7, %r0, %r1;", &[a, 0x7fc0]), 0x7fff);
    }
}
