//! State spaces: local, constant, module, dynamic shared, generic, and parameters of functions and
//! kernels.

use super::harness::{Device, count, program, random, row};
use mias_ptx::Arg;
use mias_warp_trace::SECTOR_BYTES;
use mias_warp_trace::isa::{Class, Space};

fn steps(mut n: u32) -> i32 {
    let mut s = 0;
    while n != 1 {
        if s > 100 {
            return -1;
        }
        n = if n & 1 == 1 { 3 * n + 1 } else { n / 2 };
        s += 1;
    }
    s
}

#[test]
fn device_functions_hand_over_scalars_and_structures() {
    let n = 150usize;
    let mut device = Device::default();
    let (out, wides, floats) = (device.zeros(4 * n), device.zeros(8 * n), device.zeros(4 * n));
    let args = [Arg::U64(out), Arg::U64(wides), Arg::U64(floats), Arg::I32(n as i32)];
    let trace = device.run(&program("device_functions", "device_functions"), row(3, 64), &args).unwrap();
    let squares = |i: i32| i * i;
    for (i, (found, (wide, float))) in
        device.read_ints(out, n).into_iter().zip(device.read_longs(wides, n).into_iter().zip(device.read_floats(floats, n))).enumerate()
    {
        let x = i as i32;
        let odd = if x & 1 == 1 { steps(i as u32 + 1) } else { 0 };
        assert_eq!(found, 2 * squares(x) + squares(x + 1) + odd + (2.5 * x as f32) as i32 + (x & 7), "{i}");
        let b = i64::from((x * 7) as u8);
        assert_eq!(wide, ((i as i64) << 33).wrapping_mul(b).wrapping_add(i64::from((x * -300) as i16)), "{i}");
        let f = x as f32;
        let expected = 0.5 * (f + 2.0 * (f + 1.0) + 3.0 * (f + 2.0) + 4.0 * (f + 3.0)) + f + 0.5 * f;
        assert_eq!(float, expected, "{i}");
    }
    // Passing arguments costs no memory access: only three stores remain.
    assert_eq!(count(&trace, Class::Load(Space::Global)) + count(&trace, Class::Load(Space::Local)), 0);
}

#[test]
fn arrays_of_a_thread_are_its_own() {
    let n = 129usize;
    let input: Vec<i32> = random(1).take(n + 1).map(|x| (x >> 40) as i32 % 1000).collect();
    let mut device = Device::default();
    let (out, data) = (device.zeros(4 * 128), device.ints(input.clone()));
    let trace =
        device.run(&program("local_arrays", "local_arrays"), row(2, 64), &[Arg::U64(out), Arg::U64(data), Arg::I32(n as i32)]).unwrap();
    for (i, found) in device.read_ints(out, 128).into_iter().enumerate() {
        let mut a: Vec<i32> = (0..16).map(|k| input[(i * 16 + k) % n]).collect();
        a.sort_unstable();
        let pick = (input[i] & 15) as usize;
        let sum: i32 = a[..pick].iter().sum();
        let k = (input[i + 1] & 7) as usize;
        assert_eq!(found, a[pick] * 3 + sum + (input[i] & 3) + 2 * i as i32 + i32::from((i + 40 * k) as u8), "{i}");
    }
    assert!(count(&trace, Class::Load(Space::Local)) > 16 && count(&trace, Class::Store(Space::Local)) >= 16);
    // Lanes that store the same element of theirs fill whole sectors.
    let warp = trace.warp(0, 0);
    let range = trace.shape(warp.shape);
    let mut mem = warp.first_mem;
    let mut full = 0;
    for inst in &trace.shape_insts()[range.start as usize..range.end as usize] {
        let stat = &trace.statics()[inst.index()];
        if stat.class == Class::Store(Space::Local) && inst.lanes() == 32 && stat.width_bytes >= 4 {
            let sectors = trace.pattern(trace.mem(mem).pattern);
            let together = sectors.len() as u64 * SECTOR_BYTES == 32 * u64::from(stat.width_bytes);
            full += usize::from(together && sectors.iter().all(|s| s.byte_mask == u32::MAX));
        }
        mem += u32::from(stat.class.is_offchip());
    }
    // The sort moves different elements in each lane; the arrays are filled in step.
    assert!(full >= 6, "{full}");
}

#[test]
fn constants_and_module_variables_hold_their_first_values() {
    let n = 90usize;
    let mut device = Device::default();
    let out = device.zeros(4 * n);
    let kernel = program("constants", "constants");
    assert!(device.0.load(&kernel.image));
    let given = [1000i32, 2000, 3000, 4000];
    let symbol = kernel.image.find("given").unwrap();
    assert_eq!(symbol.bytes, 16);
    device.0.write(symbol.address, &given.map(i32::to_le_bytes).concat()).unwrap();
    assert!(device.0.write(symbol.address + 4, &[0; 16]).is_err(), "beyond its end");
    device.run(&kernel, row(3, 32), &[Arg::U64(out), Arg::I32(n as i32)]).unwrap();
    let shape = [[1, 2, 3], [4, 5, 6]];
    let table = [10, 20, 30, 40, 50, 60];
    let small = [-1, 2, -3, 4, -5];
    for (i, found) in device.read_ints(out, n).into_iter().enumerate() {
        let first = if i & 1 == 1 { (i & 7) as i32 + 1 } else { 3 };
        let mixed = [i32::from(b'a') + 7 + 10 + i32::from(b'i'), i32::from(b'b') - 8 - 2 + i32::from(b'h')][i & 1];
        let expected = first + shape[i & 1][i % 3] * 100 + given[i & 3] + table[i % 6] + small[i % 5] + 30 + mixed;
        assert_eq!(found, expected, "{i}");
    }
    // Another kernel of the module sees what the first one left.
    device.run(&program("constants", "read_counter"), row(1, 1), &[Arg::U64(out)]).unwrap();
    assert_eq!(device.read_ints(out, 1), [5 + n as i32]);
    let other = device.run(&program("asserts", "asserts"), row(1, 1), &[Arg::U64(out), Arg::I32(9)]).unwrap_err();
    assert_eq!(other.to_string(), "asserts.ptx: kernel `asserts`: the device memory holds the variables of another module");
}

#[test]
fn dynamic_shared_memory_stands_behind_the_static() {
    let (tbs, threads) = (2u32, 96u32);
    let total = (tbs * threads) as usize;
    let mut device = Device::default();
    let out = device.zeros(4 * total);
    let kernel = program("dynamic_shared", "dynamic_shared");
    assert_eq!((kernel.shared_bytes, kernel.dynamic_shared), (128, Some(128)));
    let args = [Arg::U64(out), Arg::I32(0)];
    device.run_shared(&kernel, row(tbs, threads), &args, 6 * threads).unwrap();
    for (i, found) in device.read_ints(out, total).into_iter().enumerate() {
        let t = i as i32 % threads as i32;
        let o = threads as i32 - 1 - t;
        assert_eq!(found, 3 * o - o + 11 * (t & 31), "{i}");
    }
    let short = device.run_shared(&kernel, row(tbs, threads), &args, 6 * threads - 2).unwrap_err().to_string();
    assert!(short.contains("thread [95, 0, 0]: out of bounds shared access of 2 bytes at address 0x2be"), "{short}");
    let large = device.run_shared(&kernel, row(1, 32), &args, 1 << 20).unwrap_err().to_string();
    assert!(large.contains("at most 227 KiB of shared memory"), "{large}");
}

#[test]
fn generic_addresses_go_where_each_lane_says() {
    let data: Vec<i32> = (0..64).map(|t| 500 + 2 * t).collect();
    let mut device = Device::default();
    let (out, address) = (device.zeros(4 * 66), device.ints(data.clone()));
    let trace = device.run(&program("generic", "generic"), row(1, 64), &[Arg::U64(out), Arg::U64(address)]).unwrap();
    let found = device.read_ints(out, 66);
    for t in 0..64i32 {
        let (value, memory) = match t % 3 {
            0 => (100 + t, 1_000_000),
            1 => (data[t as usize], 2_000_000),
            _ => (if t & 1 == 0 { 7 * t } else { -t }, 4_000_000),
        };
        assert_eq!(found[t as usize], value + 1000 + memory, "{t}");
    }
    assert_eq!((found[64], found[65]), (1100 + 32, data[0] + 32));
    // The function's load and store, and the load behind the call, met all three memories each; the
    // atomic two.
    for space in [Space::Global, Space::Shared, Space::Local] {
        assert!(count(&trace, Class::Load(space)) >= 2, "{space:?}");
        assert!(count(&trace, Class::Store(space)) >= 1, "{space:?}");
    }
    assert_eq!((count(&trace, Class::Atomic(Space::Global)), count(&trace, Class::Atomic(Space::Shared))), (1, 1));
}

#[test]
fn vectors_of_all_widths_and_a_structure_by_value() {
    let n = 70usize;
    let mut device = Device::default();
    let bytes: Vec<u8> = random(2).take(4 * n).map(|x| x as u8).collect();
    let chars: Vec<u8> = random(3).take(2 * n).map(|x| x as u8).collect();
    let shorts: Vec<u8> = random(4).take(8 * n).map(|x| x as u8).collect();
    let ints: Vec<i32> = random(5).take(4 * n).map(|x| x as i32 >> 4).collect();
    let addresses = [device.put(&bytes), device.put(&chars), device.put(&shorts), device.ints(ints.clone())];
    let doubles = device.put(&(0..2 * n).flat_map(|i| (i as f64 * 0.5).to_le_bytes()).collect::<Vec<u8>>());
    let floats = device.put(&(0..2 * n).flat_map(|i| (i as f32 * 1.5).to_le_bytes()).collect::<Vec<u8>>());
    let seen = device.ints(0..n as i32);
    let mut big = Vec::new();
    big.extend(77i32.to_le_bytes());
    big.extend((0..6).flat_map(|k| (k as f32 * 10.0 + 0.75).to_le_bytes()));
    big.extend([0; 4]);
    big.extend(0.125f64.to_le_bytes());
    big.extend([5, 0xfa, 7, 0]);
    big.extend([(-3i16).to_le_bytes(), 9i16.to_le_bytes()].concat());
    let mut args: Vec<Arg> = addresses.iter().map(|&a| Arg::U64(a)).collect();
    args.extend([Arg::U64(doubles), Arg::U64(floats), Arg::Bytes(big), Arg::U64(seen), Arg::I32(n as i32)]);
    device.run(&program("vectors", "vectors"), row(3, 32), &args).unwrap();
    let found = device.read::<4>(addresses[0], n);
    let found_shorts = device.read_halves(addresses[2], 4 * n);
    let found_ints = device.read_ints(addresses[3], 4 * n);
    let found_doubles = device.read_doubles(doubles, 2 * n);
    assert_eq!(device.read_ints(seen, n), (1..=n as i32).collect::<Vec<_>>());
    for i in 0..n {
        let [b, c] = [&bytes[4 * i..], &chars[2 * i..]];
        assert_eq!(found[i], [b[0].wrapping_add(c[0]), b[1].wrapping_add(c[1]), b[3] ^ b[2], b[3]]);
        let s: Vec<u16> = shorts[8 * i..8 * i + 8].chunks(2).map(|c| u16::from_le_bytes([c[0], c[1]])).collect();
        assert_eq!(found_shorts[4 * i..4 * i + 4], [s[1].wrapping_add(s[2]), s[1], s[2], s[3].wrapping_neg()]);
        let c = [5, -6, 7][i % 3];
        assert_eq!(found_ints[4 * i..4 * i + 4], [ints[4 * i] + 77, (i % 6) as i32 * 10, c, ints[4 * i + 3] - 12]);
        let product = (2 * i) as f32 * 1.5 * ((2 * i + 1) as f32 * 1.5);
        assert_eq!(found_doubles[2 * i..2 * i + 2], [i as f64 + 0.125, f64::from(product)]);
    }
}
