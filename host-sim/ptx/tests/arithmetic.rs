//! Integers, bits, and control flow.

use super::harness::{Device, program, random, row};
use mias_ptx::Arg;

#[test]
fn switches_go_where_they_say() {
    let n = 200usize;
    let input: Vec<i32> = random(7).take(n).map(|x| (x >> 40) as i32 - (1 << 23)).collect();
    let mut device = Device::default();
    let (out, data) = (device.zeros(4 * n), device.ints(input.clone()));
    device.run(&program("switches", "switches"), row(4, 64), &[Arg::U64(out), Arg::U64(data), Arg::I32(n as i32)]).unwrap();
    let expected = |i: usize| {
        let (x, mut r) = (input[i], 0i32);
        for k in 0..3 {
            match (x + k) & 15 {
                0 => r = r.wrapping_add(x * 3),
                1 => r ^= x + 7,
                2 => r = r.wrapping_sub(x / 3),
                3 => r = r.wrapping_add(input[(i + 1) % n]),
                4 => r = r.wrapping_mul(5) + 1,
                5 => r = r.count_ones() as i32 + x,
                6 => r = (!r).wrapping_add(77),
                7 => r = r.wrapping_add(77),
                8 => r = if r > x { r.wrapping_sub(x) } else { x.wrapping_sub(r) },
                9 => return r,
                10 => r += 10_000,
                11 => r <<= 2,
                12 => r >>= 1,
                _ => r += 1,
            }
        }
        r
    };
    assert_eq!(device.read_ints(out, n), (0..n).map(expected).collect::<Vec<_>>());
}

#[test]
fn loops_end_early() {
    let n = 37usize;
    let input: Vec<i32> = random(8).take(n).map(|x| (x >> 40) as i32 & 31).collect();
    let find = |k_count: usize, what: i32| -> i32 {
        for i in 0..n {
            for k in 0..k_count {
                if input[(i * k_count + k) % n] == what {
                    return (i * k_count + k) as i32;
                }
                if i + k > 40 {
                    return -1;
                }
            }
        }
        -1
    };
    let (grid, block) = ([2u32, 2, 2], [8u32, 4, 3]);
    let total = 16 * 8 * 6;
    let mut device = Device::default();
    let (out, data) = (device.ints(std::iter::repeat_n(i32::MIN, total)), device.ints(input.clone()));
    device.run(&program("loops", "loops"), (grid, block), &[Arg::U64(out), Arg::U64(data), Arg::I32(n as i32)]).unwrap();
    for (i, found) in device.read_ints(out, total).into_iter().enumerate() {
        let (x, y, z) = (i as i32 % 16, i as i32 / 16 % 8, i as i32 / 128);
        let mut r = find(3, x * 7 % 32) + 100 * find(1, y + z);
        if x ^ y ^ z == 5 {
            r = i32::MIN;
        } else if r < 0 {
            r = -r;
        } else {
            loop {
                r = r * 3 % 1009;
                if r == 77 || !(r % 13 != 4 && r > 20) {
                    break;
                }
            }
        }
        assert_eq!(found, r, "{x} {y} {z}");
    }
}

#[test]
fn sixty_four_bits_divide() {
    let n = 96usize;
    let shifted = |seed: u64| random(seed).take(n).map(|x| ((x | 1) as i64) >> (x >> 58)).collect::<Vec<i64>>();
    let (a, b) = (shifted(9), shifted(10));
    let mut device = Device::default();
    let (out, left, right) = (device.zeros(128 * n), device.longs(a.clone()), device.longs(b.clone()));
    device
        .run(&program("division", "division"), row(3, 32), &[Arg::U64(out), Arg::U64(left), Arg::U64(right), Arg::I32(n as i32)])
        .unwrap();
    for (i, found) in device.read_longs(out, 16 * n).chunks(16).enumerate() {
        let (x, y) = (a[i], b[i]);
        let (ux, uy) = (x as u64, y as u64);
        let shift = (y & 63) as u32;
        let expected = [
            x.wrapping_div(y),
            x.wrapping_rem(y),
            (ux / uy) as i64,
            (ux % uy) as i64,
            ((i128::from(x) * i128::from(y)) >> 64) as i64,
            ((u128::from(ux) * u128::from(uy)) >> 64) as i64,
            x >> shift,
            (ux << shift) as i64,
            x.count_ones().into(),
            x.leading_zeros().into(),
            x.reverse_bits(),
            if x == 0 { 0 } else { i64::from(x.trailing_zeros()) + 1 },
            (x as i32).wrapping_div(y as i32 | 1).into(),
            i64::from(x as u32 % (y as u32 | 1)),
            x / 1_000_003,
            i64::from(i32::from(x as i16) / i32::from(y as i16 | 1)) as i16 as i64 + i64::from(x as i8 % 7),
        ];
        assert_eq!(found[..15], expected[..15], "{x} {y}");
        // The quotient is an int in C, even that of the lowest short by -1.
        let quotient = i32::from(x as i16) / i32::from(y as i16 | 1);
        assert_eq!(found[15], i64::from(quotient + i32::from(x as i8 % 7)), "{x} {y}");
    }
}

#[test]
fn intrinsics_on_bits() {
    let n = 96usize;
    let (a, b): (Vec<u32>, Vec<u32>) = random(11).zip(random(12)).take(n).map(|(x, y)| ((x >> 20) as u32, (y >> 25) as u32)).unzip();
    let mut device = Device::default();
    let out = device.zeros(64 * n);
    let (left, right) = (device.ints(a.iter().map(|&x| x as i32)), device.ints(b.iter().map(|&x| x as i32)));
    device.run(&program("bits", "bits"), row(3, 32), &[Arg::U64(out), Arg::U64(left), Arg::U64(right), Arg::I32(n as i32)]).unwrap();
    for (i, found) in device.read_ints(out, 16 * n).chunks(16).enumerate() {
        let (x, y) = (a[i], b[i]);
        let (sx, sy) = (i64::from(x as i32), i64::from(y as i32));
        let both = u64::from(y) << 32 | u64::from(x);
        let permuted = (0..4).fold(0, |word, k| {
            let select = (0x5410 ^ (i as u32 & 7)) >> (4 * k) & 7;
            word | (both >> (8 * select) & 0xff) << (8 * k)
        });
        let low24 = |v: i64| v << 40 >> 40;
        let bytes = |v: u32| v.to_le_bytes().map(u32::from);
        let dp4a = bytes(x).iter().zip(bytes(y)).fold(3, |sum, (a, b)| sum + a * b);
        let dp2a = (x & 0xffff).wrapping_mul(bytes(y)[0]).wrapping_add((x >> 16).wrapping_mul(bytes(y)[1])).wrapping_add(4);
        let signed = |shift: u32| i64::from((y >> shift) as i8);
        let dp2a_hi = i64::from(x as i16) * signed(16) + i64::from((x >> 16) as i16) * signed(24) - 4;
        let expected = [
            permuted as u32,
            ((both << (i % 32)) >> 32) as u32,
            if i >= 32 { (both >> 32) as u32 } else { (both >> i) as u32 },
            x.reverse_bits(),
            x.leading_zeros() + if y == 0 { 0 } else { y.trailing_zeros() + 1 },
            x.count_ones(),
            ((sx - sy).unsigned_abs() + 5) as u32,
            x.abs_diff(y).wrapping_add(9),
            (low24(sx) * low24(sy)) as u32,
            (u64::from(x & 0xff_ffff) * u64::from(y & 0xff_ffff)) as u32,
            dp4a,
            dp2a,
            dp2a_hi as u32,
            (((sx + sy) >> 1) + ((sx + sy + 1) >> 1)) as u32,
            ((sx * sy) >> 32) as u32 ^ ((u64::from(x) * u64::from(y)) >> 32) as u32,
            (x & y) ^ (x | 0x55) ^ (!y & x),
        ];
        assert_eq!(found.iter().map(|&v| v as u32).collect::<Vec<_>>(), expected, "{i}: {x:x} {y:x}");
    }
}

/// Parts of words have the differences and sums of CUDA's SIMD intrinsics.
#[test]
fn parts_of_words() {
    let n = 40usize;
    let words: Vec<u32> = random(21).take(n + 1).map(|x| (x >> 31) as u32).collect();
    let mut device = Device::default();
    // `discard` names memory that must be there on a device.
    let out = device.zeros(4 * 8192);
    let data = device.ints(words.iter().map(|&word| word as i32));
    device.run(&program("parts", "parts"), row(1, n as u32), &[Arg::U64(out), Arg::U64(data)]).unwrap();
    let halves = |word: u32| [word as i16, (word >> 16) as i16];
    let expected = words.windows(2).flat_map(|pair| {
        let (x, y) = (pair[0].to_le_bytes(), pair[1].to_le_bytes());
        let apart: [u8; 4] = std::array::from_fn(|i| x[i].abs_diff(y[i]));
        let sum: u32 = apart.iter().map(|&byte| u32::from(byte)).sum();
        let far: u32 = halves(pair[0]).iter().zip(halves(pair[1])).map(|(a, b)| u32::from(a.abs_diff(b))).sum();
        let held: [u8; 4] = std::array::from_fn(|i| (x[i] as i8).saturating_add(y[i] as i8) as u8);
        [u32::from_le_bytes(apart), sum, far, u32::from_le_bytes(held)].map(|word| word as i32)
    });
    assert_eq!(device.read_ints(out, 4 * n), expected.collect::<Vec<_>>());
}

/// Without a debugger, a breakpoint ends the kernel.
#[test]
fn breakpoints_end_the_kernel() {
    let mut device = Device::default();
    let (out, data) = (device.zeros(4 * 8192), device.ints([0, 0, -1, 0, 0]));
    let error = device.run(&program("parts", "parts"), row(1, 4), &[Arg::U64(out), Arg::U64(data)]).unwrap_err().to_string();
    assert!(error.ends_with("kernel `parts`, TB [0, 0, 0], thread [2, 0, 0]: stopped by a breakpoint"), "{error}");
}
