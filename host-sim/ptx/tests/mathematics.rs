//! The mathematics library in double, single and half precision, against the host's functions.

use super::harness::{Device, program, random, row};
use mias_ptx::Arg;

fn numbers(count: usize) -> Vec<f64> {
    // Some are large enough for the long reduction of angles.
    let spread = random(13).take(count).map(|x| (x >> 11) as f64 / (1u64 << 53) as f64 * 40.0 - 20.0);
    spread.enumerate().map(|(i, x)| if i % 16 == 5 { x * 1e6 } else { x }).collect()
}

/// Computes the error function by its Taylor series, good to 1e-13 for |x| < 3.
fn erf(x: f64) -> f64 {
    let (mut term, mut sum) = (x, x);
    for n in 1..80 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

/// Computes the gamma function by Stirling's series far out, and the recurrence back.
fn gamma(x: f64) -> f64 {
    let (mut far, mut product) = (x, 1.0);
    while far < 30.0 {
        product *= far;
        far += 1.0;
    }
    let series = 1.0 / (12.0 * far) - 1.0 / (360.0 * far.powi(3)) + 1.0 / (1260.0 * far.powi(5));
    ((far - 0.5) * far.ln() - far + (2.0 * std::f64::consts::PI).ln() / 2.0 + series).exp() / product
}

fn near(found: f64, expected: f64, relative: f64) -> bool {
    found == expected || (found - expected).abs() <= relative * expected.abs().max(1e-3)
}

#[test]
fn doubles_as_the_host_computes_them() {
    let n = 64usize;
    let input = numbers(n);
    let mut device = Device::default();
    let out = device.zeros(128 * n);
    let data = device.put(&input.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    device.run(&program("doubles", "doubles"), row(2, 32), &[Arg::U64(out), Arg::U64(data), Arg::I32(n as i32)]).unwrap();
    for (&x, found) in input.iter().zip(device.read_doubles(out, 16 * n).chunks(16)) {
        let a = x.abs();
        let expected = [
            x.sin(),
            x.cos(),
            (x * 0.1).exp(),
            (a + 1e-3).ln(),
            a.powf(1.7),
            a.sqrt(),
            x.cbrt(),
            x.atan2(2.0),
            x.tanh(),
            1.0 / (x + 100.0),
            x % 0.7,
            x.floor() + x.ceil() + x.round_ties_even(),
        ];
        for (which, (&found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(near(found, expected, 1e-13), "{which} of {x}: {found} {expected}");
        }
        if a < 20.0 {
            assert!(near(found[12], erf(x * 0.2), 1e-11), "erf {x}");
            assert!(near(found[13], gamma(a * 0.1 + 1.5), 1e-11), "tgamma {x}");
        }
        assert!(near(found[14], x.hypot(3.0), 1e-13) && near(found[15], x.tan(), 1e-11), "{x}");
        // Operations that PTX requires to be IEEE equal the host's bit for bit.
        assert_eq!((found[5], found[9], found[10], found[11]), (expected[5], expected[9], expected[10], expected[11]), "{x}");
    }
}

#[test]
fn singles_as_the_host_computes_them() {
    let n = 64usize;
    let input: Vec<f32> = numbers(n).into_iter().map(|x| x as f32).collect();
    let mut device = Device::default();
    let out = device.zeros(64 * n);
    let data = device.put(&input.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    device.run(&program("doubles", "singles"), row(2, 32), &[Arg::U64(out), Arg::U64(data), Arg::I32(n as i32)]).unwrap();
    for (&single, found) in input.iter().zip(device.read_floats(out, 16 * n).chunks(16)) {
        let x = f64::from(single);
        let a = x.abs();
        let tenth = f64::from(single * 0.1);
        let expected = [
            x.sin(),
            x.cos(),
            tenth.exp(),
            (a + 1e-3).ln(),
            a.powf(f64::from(1.7f32)),
            a.sqrt(),
            x.cbrt(),
            x.atan2(2.0),
            x.tanh(),
            1.0 / (x + 100.0),
            f64::from(single % 0.7f32),
            x.floor() + x.ceil() + x.round_ties_even(),
            if a < 20.0 { erf(x * 0.2) } else { x.signum() },
            1.0 / (a + 1.0).sqrt(),
            x.hypot(3.0),
        ];
        for (which, (&found, expected)) in found.iter().zip(expected).enumerate() {
            // Exponents that large overflow: the host's double does not.
            let expected = if expected > f64::from(f32::MAX) { f64::INFINITY } else { expected };
            assert!(near(found.into(), expected, 4e-6), "{which} of {x}: {found} {expected}");
        }
        assert_eq!((found[5], found[10]), (single.abs().sqrt(), single % 0.7), "{x}");
    }
}

fn wide(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 => return if fraction == 0.0 { f64::INFINITY } else { f64::NAN },
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if half >> 15 == 1 { -magnitude } else { magnitude }
}

/// Rounds to half precision, to nearest even, for normal results.
fn half(value: f64) -> u16 {
    let sign = u16::from(value.is_sign_negative()) << 15;
    if value == 0.0 {
        return sign;
    }
    let exponent = value.abs().log2().floor() as i32;
    let digits = (value.abs() * 2f64.powi(10 - exponent)).round_ties_even() as i32;
    sign | ((exponent + 15) * 1024 + digits - 1024) as u16
}

#[test]
fn halves_round_once() {
    let n = 96usize;
    // Multiples of 1/64 up to 4, so that products and sums are exact in a double.
    let values = |seed| random(seed).take(n).map(|x| half((x >> 40) as f64 % 256.0 / 64.0 - 2.0 + 1.0 / 64.0)).collect::<Vec<u16>>();
    let (a, b) = (values(14), values(15));
    let mut device = Device::default();
    let put = |device: &mut Device, v: &[u16]| device.put(&v.iter().flat_map(|h| h.to_le_bytes()).collect::<Vec<u8>>());
    let (left, right) = (put(&mut device, &a), put(&mut device, &b));
    let out = device.zeros(24 * n);
    device.run(&program("halves", "halves"), row(3, 32), &[Arg::U64(out), Arg::U64(left), Arg::U64(right), Arg::I32(n as i32)]).unwrap();
    let found = device.read_halves(out, 12 * n);
    for (i, found) in found.chunks(12).enumerate() {
        let (x, y) = (wide(a[i]), wide(b[i]));
        let exact = [x + y, x * y, x * y + x, x - y];
        assert_eq!(found[..4], exact.map(half), "{x} {y}");
        let larger = if x > y { a[i] } else { b[i] };
        let less = if x < y { a[i] } else { b[i] };
        assert_eq!((found[5], found[6], found[7]), (larger, a[i] ^ 0x8000, less), "{x} {y}");
        assert_eq!((found[10], found[11]), (half(x * 3.0), half(i as f64)), "{x}");
        for (which, expected) in [(4, x / y), (8, x.exp()), (9, x.abs().sqrt())] {
            assert!(!expected.is_finite() || near(wide(found[which]), expected, 2e-3), "{which} of {x} {y}: {}", wide(found[which]));
        }
    }
    let pairs = device.zeros(4 * (4 * n + 1));
    let count = n as i32 / 2;
    device.run(&program("halves", "pairs"), row(2, 32), &[Arg::U64(pairs), Arg::U64(left), Arg::U64(right), Arg::I32(count)]).unwrap();
    let found = device.read_halves(pairs, 8 * n + 2);
    let (mut low, mut high) = (0.0, 0.0);
    for (i, found) in found[..8 * n].chunks(16).enumerate() {
        for side in 0..2 {
            let (bits, other) = (a[2 * i + side], b[2 * i + side]);
            let (x, y) = (wide(bits), wide(other));
            let at = |k: usize| found[2 * k + side];
            assert_eq!([at(0), at(1), at(2)], [x + y, x * y, x * y + x].map(half), "{x} {y}");
            assert_eq!((at(3), at(4), at(6)), (half(f64::from(x > y)), other, a[2 * i + 1 - side]), "{x} {y}");
            assert!(near(wide(at(5)), x.exp2(), 2e-3) && wide(at(7)) == x.min(y), "{x} {y}");
        }
        (low, high) = (wide(half(low + wide(a[2 * i]))), wide(half(high + wide(a[2 * i + 1]))));
    }
    assert_eq!(found[8 * n..], [half(low), half(high)], "sums in the order of the threads");
}
