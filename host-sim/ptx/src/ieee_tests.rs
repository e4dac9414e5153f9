//! The integer arithmetic against the host's, which rounds to nearest, and directed rounding by
//! what it means.

use super::*;
use proptest::prelude::*;

/// Generates all patterns of a width, special ones and close exponents often.
fn bits(format: Format) -> impl Strategy<Value = u64> {
    let one = format.emax as u64;
    let special = [0, 1, (1 << (format.digits - 1)) - 1, 1 << (format.digits - 1), format.infinity(false), format.infinity(false) - 1];
    let mask = u64::MAX >> (64 - format.bits);
    prop_oneof![
        any::<u64>().prop_map(move |x| x & mask),
        (prop::sample::select(special.to_vec()), any::<bool>()).prop_map(move |(b, n)| b | format.sign(n)),
        (any::<u64>(), 0u64..12, any::<bool>())
            .prop_map(move |(f, e, n)| { format.sign(n) | (one + e - 6) << (format.digits - 1) | f & ((1 << (format.digits - 1)) - 1) }),
    ]
}

fn same64(found: u64, host: f64) -> bool {
    if host.is_nan() { found == F64.nan } else { found == host.to_bits() }
}

fn same32(found: u64, host: f32) -> bool {
    if host.is_nan() { found == F32.nan } else { found == u64::from(host.to_bits()) }
}

/// Returns the rank of a non-NaN pattern, -0 below +0.
fn key(format: Format, x: u64) -> i64 {
    let magnitude = (x & !format.sign(true)) as i64;
    if x & format.sign(true) != 0 { -1 - magnitude } else { magnitude }
}

proptest! {
    #[test]
    fn nearest_is_the_hosts_f64(a in bits(F64), b in bits(F64), c in bits(F64)) {
        let [x, y, z] = [a, b, c].map(f64::from_bits);
        prop_assert!(same64(F64.add(a, b, Mode::Nearest), x + y));
        prop_assert!(same64(F64.mul(a, b, Mode::Nearest), x * y));
        prop_assert!(same64(F64.div(a, b, Mode::Nearest), x / y));
        prop_assert!(same64(F64.sqrt(a, Mode::Nearest), x.sqrt()));
        prop_assert!(same64(F64.fma(a, b, c, Mode::Nearest), x.mul_add(y, z)));
    }

    #[test]
    fn nearest_is_the_hosts_f32(a in bits(F32), b in bits(F32), c in bits(F32)) {
        let [x, y, z] = [a, b, c].map(|v| f32::from_bits(v as u32));
        prop_assert!(same32(F32.add(a, b, Mode::Nearest), x + y));
        prop_assert!(same32(F32.mul(a, b, Mode::Nearest), x * y));
        prop_assert!(same32(F32.div(a, b, Mode::Nearest), x / y));
        prop_assert!(same32(F32.sqrt(a, Mode::Nearest), x.sqrt()));
        prop_assert!(same32(F32.fma(a, b, c, Mode::Nearest), x.mul_add(y, z)));
    }

    /// Down and up enclose the value within one step and are equal only if it is exact; towards
    /// zero is the one of them with the smaller magnitude; nearest is one of them.
    #[test]
    fn directed_results_enclose(a in bits(F32), b in bits(F32), c in bits(F32), op in 0..5) {
        let f = |mode| match op {
            0 => F32.add(a, b, mode),
            1 => F32.mul(a, b, mode),
            2 => F32.div(a, b, mode),
            3 => F32.sqrt(a, mode),
            _ => F32.fma(a, b, c, mode),
        };
        let [near, zero, down, up] = [Mode::Nearest, Mode::Zero, Mode::Down, Mode::Up].map(f);
        prop_assume!(near != F32.nan);
        let step = key(F32, up) - key(F32, down);
        prop_assert!((0..=1).contains(&step), "{down:x} {up:x}");
        prop_assert!(near == down || near == up);
        let smaller = if down & !F32.sign(true) <= up & !F32.sign(true) { down } else { up };
        // A zero sum that is exact is -0 downwards, +0 otherwise.
        prop_assert!(zero == smaller || zero == 0 && smaller == F32.sign(true), "{zero:x} {smaller:x}");
        // Exact in f64 for sums of near exponents and for products: then the enclosure is checked
        // against the value itself.
        let [x, y] = [a, b].map(|v| f64::from(f32::from_bits(v as u32)));
        if op == 1 {
            prop_assert!(f64::from(f32::from_bits(down as u32)) <= x * y && x * y <= f64::from(f32::from_bits(up as u32)));
        }
    }
}

#[test]
fn half_precision_by_hand() {
    // 1 + 2^-11 is a tie, to even; 65504 + 16 is a tie that overflows; 2^-24 is the smallest
    // number.
    assert_eq!(F16.add(0x3c00, 0x1000, Mode::Nearest), 0x3c00);
    assert_eq!(F16.add(0x3c00, 0x1000, Mode::Up), 0x3c01);
    assert_eq!(F16.add(0x7bff, 0x4c00, Mode::Nearest), 0x7c00);
    assert_eq!(F16.add(0x7bff, 0x4c00, Mode::Zero), 0x7bff);
    assert_eq!(F16.mul(0x0001, 0x3800, Mode::Nearest), 0x0000);
    assert_eq!(F16.mul(0x0001, 0x3801, Mode::Nearest), 0x0001);
    assert_eq!(F16.mul(0x0001, 0x3800, Mode::Up), 0x0001);
}
