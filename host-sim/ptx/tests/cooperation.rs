//! Tests of cooperation between threads: reductions, barriers, atomics, locks.

use super::harness::{Device, count, program, random, row};
use mias_ptx::Arg;
use mias_warp_trace::isa::Class;

#[test]
fn sums_votes_and_shuffles() {
    let (tbs, threads) = (2usize, 256usize);
    let input: Vec<i32> = random(6).take(tbs * threads).map(|x| (x >> 33) as i32 % 200 - 100).collect();
    let mut device = Device::default();
    let (ints, doubles, votes) = (device.zeros(4 * tbs), device.zeros(8 * tbs), device.zeros(32 * tbs * threads));
    let data = device.ints(input.clone());
    let args = [Arg::U64(ints), Arg::U64(doubles), Arg::U64(votes), Arg::U64(data)];
    device.run(&program("reduce", "reduces"), row(2, 256), &args).unwrap();
    let votes = device.read_ints(votes, 8 * tbs * threads);
    for (tb, values) in input.chunks(threads).enumerate() {
        let sum: i32 = values.iter().sum();
        assert_eq!(device.read_ints(ints, tbs)[tb], sum);
        assert_eq!(device.read_doubles(doubles, tbs)[tb], f64::from(sum) * 0.5);
        let positive = values.iter().filter(|&&v| v > 0).count() as i32;
        let (all, any) = (values.iter().all(|&v| v > -1000), values.contains(&7));
        for (t, &v) in values.iter().enumerate() {
            let warp = &values[t / 32 * 32..][..32];
            let lane = t % 32;
            let ballot = (0..32).fold(0u32, |bits, i| bits | u32::from(warp[i] & 1 == 1) << i);
            let alike = warp.iter().filter(|&&w| w & 3 == v & 3).count() as i32;
            let up = if lane % 16 < 2 { v } else { warp[lane - 2] };
            let both = i32::from(warp.iter().all(|&w| w > 0)) + 2 * i32::from(warp.iter().any(|&w| w > 90));
            let expected = [positive, all.into(), any.into(), ballot as i32, warp[lane / 8 * 8 + 3], up, alike, both];
            assert_eq!(votes[8 * (tb * threads + t)..][..8], expected, "TB {tb}, thread {t}");
        }
    }
}

#[test]
fn producers_and_consumers_meet_at_numbered_barriers() {
    let mut device = Device::default();
    let out = device.zeros(4 * 256);
    let trace = device.run(&program("named_barriers", "named_barriers"), row(1, 128), &[Arg::U64(out)]).unwrap();
    let expected: Vec<i32> = (0..256).map(|i| i % 64 * 10 + i / 64).collect();
    assert_eq!(device.read_ints(out, 256), expected);
    assert_eq!(count(&trace, Class::Barrier), 4, "who only arrives does not wait");
}

#[test]
fn atomics_of_every_type() {
    let (tbs, threads) = (2i64, 64i64);
    let n = tbs * threads;
    let mut device = Device::default();
    let i32s = device.zeros(64);
    let u32s = device.ints([-1, 0, 0, 0, 0]);
    let mut first = [0i64; 16];
    (first[1], first[3]) = (i64::MAX, -1);
    let u64s = device.longs(first);
    let s64s = device.longs([0, 0]);
    let (f32s, f64s, u16s, pairs, halves) = (device.zeros(4), device.zeros(8), device.zeros(4), device.zeros(4), device.zeros(4));
    let args = [i32s, u32s, u64s, s64s, f32s, f64s, u16s, pairs, halves].map(Arg::U64);
    device.run(&program("atomics", "atomics"), row(2, 64), &args).unwrap();
    let sum = n * (n - 1) / 2;
    let ints = device.read_ints(i32s, 10);
    assert_eq!(ints[..4].iter().map(|&v| i64::from(v)).collect::<Vec<_>>(), [sum, -sum, 1 - n, n - 1]);
    // One after the other each thread took what another left: all but the last.
    assert_eq!(i64::from(ints[4]) + i64::from(ints[5]), sum);
    assert_eq!((ints[6], ints[8], ints[9]), (n as i32, 64, 64));
    let words = device.read_ints(u32s, 5);
    let xor = (0..n as u32).fold(0, |x, t| x ^ (t * 77));
    // 128 increments modulo 11; as many decrements.
    assert_eq!(words, [0, -1, xor as i32, (n % 11) as i32, ((11 - n % 11) % 11) as i32]);
    let longs = device.read_longs(u64s, 10);
    let xor = (0..n).fold(0, |x, t| x ^ (t * 0x1_2345_6789));
    assert_eq!(longs[..6], [sum << 30, 1000 - (n - 1), (n - 1) << 40, 0, -1, xor]);
    assert!((1..=n).contains(&longs[6]) && longs[7] == 1, "one thread was first: {longs:?}");
    assert_eq!(longs[8..], [3 * 64, 3 * 64]);
    assert_eq!(device.read_longs(s64s, 2), [-(n - 1) << 35, (n - 1) << 35]);
    assert_eq!((device.read_floats(f32s, 1)[0], device.read_doubles(f64s, 1)[0]), (0.5 * sum as f32, 0.25 * sum as f64));
    let shorts = device.read_halves(u16s, 2);
    assert!(shorts[0] % 2 == 1 && shorts[1] % 2 == 0 && shorts[1] > 0, "{shorts:?}");
    // 128 and 64 as halves; 32.
    assert_eq!(device.read_halves(pairs, 2), [0x5800, 0x5400]);
    assert_eq!(device.read_halves(halves, 1), [0x5000]);
}

#[test]
fn warps_wait_for_each_other_without_a_barrier() {
    let (tbs, warps) = (2i32, 4i32);
    let mut device = Device::default();
    let (out, lock, total) = (device.zeros(4 * 8), device.zeros(4), device.zeros(4));
    device.run(&program("locks", "locks"), row(2, 128), &[Arg::U64(out), Arg::U64(lock), Arg::U64(total)]).unwrap();
    assert_eq!(device.read_ints(out, 8), (0..tbs * warps).map(|i| warps - 1 - i % warps).collect::<Vec<_>>());
    assert_eq!(device.read_ints(total, 1), [tbs * warps * (warps - 1) / 2]);
}
