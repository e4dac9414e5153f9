//! The run-time system and the whole grid: pointers to functions, printf, malloc, cooperative
//! launches.

use super::harness::{Device, program, row};
use mias_ptx::lower::observe::Job;
use mias_ptx::lower::record::{RecordLimit, Recorder};
use mias_ptx::{Arg, Launch, Program};
use mias_warp_trace::KernelInfo;

#[test]
fn calls_through_pointers() {
    let mut device = Device::default();
    let out = device.zeros(4 * 32);
    device.run(&program("indirect", "indirect"), row(1, 32), &[Arg::U64(out)]).unwrap();
    assert_eq!(device.read_ints(out, 32), (0..32).map(|t| if t & 1 == 0 { t + 1 } else { t * 2 }).collect::<Vec<_>>());

    let mut device = Device::default();
    let (out, sums) = (device.zeros(4 * 100), device.zeros(8 * 100));
    device.run(&program("pointers", "pointers"), row(1, 100), &[Arg::U64(out), Arg::U64(sums)]).unwrap();
    let called = |t: i32| match t % 3 {
        _ if t % 5 == 0 => t,
        0 => t + 7,
        1 => t * 7,
        _ => (t + 7) * 1000 + t * 7,
    };
    let paired = |t: i32| {
        let x = i64::from(called(t));
        if t >> 3 & 1 == 0 { 2 * x + x } else { x * x - x }
    };
    assert_eq!(device.read_ints(out, 100), (0..100).map(called).collect::<Vec<_>>());
    assert_eq!(device.read_longs(sums, 100), (0..100).map(paired).collect::<Vec<_>>());
}

#[test]
fn a_pointer_to_nothing_is_told() {
    let mut device = Device::default();
    let out = device.zeros(4 * 32);
    let error = device.run(&program("pointers", "wild"), row(1, 32), &[Arg::U64(out), Arg::U64(8)]).unwrap_err().to_string();
    assert!(error.contains("thread [0, 0, 0]: stopped by a call through a pointer to no function"), "{error}");
}

/// Returns the output of a launch of one TB.
fn printed(program: &Program, threads: u32, device: &Device, args: Vec<Arg>) -> (u64, String) {
    let (grid, block) = row(1, threads);
    let launch = Launch { grid, block, args, shared_bytes: 0, ..Launch::default() };
    let info = KernelInfo { name: "k".into(), grid, block, registers_per_thread: 32, shared_bytes: 0 };
    let job = Job { program, launch: &launch, device: &device.0 };
    let mut recorder = Recorder::new(job, info).unwrap();
    recorder.advance(job, RecordLimit::ANY, &mut |_, _| Ok(()), &mut |_| true).unwrap();
    let printed = recorder.take_printed();
    (printed.calls, printed.text)
}

#[test]
fn threads_print_in_their_order() {
    let mut device = Device::default();
    let data = device.ints((0..40).map(|i| i * i - 100));
    let expected: String = (0..40).map(|i| format!("{}\n", i * i - 100)).collect();
    assert_eq!(printed(&program("print", "print"), 40, &device, vec![Arg::U64(data)]), (40, expected));
}

/// The lines are those of a C compiler's printf.
#[test]
fn every_conversion() {
    let args = vec![Arg::F64(-1234.5), Arg::U64(0x1_2345_6789)];
    let line = |name: &str, n: i32| format!("{name} {n:5}|42  |x 4886718345 0x123456789 -1234.500 -1.234500e+03 -1234.5 100% 0x1234\n");
    let expected = line("zero", -7) + &line("one", -8);
    assert_eq!(printed(&program("print", "formats"), 32, &Device::default(), args), (2, expected));
}

#[test]
fn lists_on_the_heap() {
    let mut device = Device::default();
    let (out, missing) = (device.zeros(8 * 192), device.zeros(4));
    device.run(&program("heap", "heap"), row(3, 64), &[Arg::U64(out), Arg::U64(missing)]).unwrap();
    let expected: Vec<i64> = (0..192).map(|t| (0..=t % 4).map(|i| t * 10 + i).sum()).collect();
    assert_eq!((device.read_longs(out, 192), device.read_ints(missing, 1)[0]), (expected, 0));

    let mut device = Device::default();
    let out = device.zeros(8 * 32);
    device.run(&program("heap", "greedy"), row(1, 32), &[Arg::U64(out)]).unwrap();
    let given = device.read_longs(out, 32);
    assert_eq!(given.iter().filter(|&&address| address != 0).count(), 8, "8 MiB in pieces of 1 MiB");
}

#[test]
fn a_grid_waits_for_itself() {
    let (n, rounds) = (1000usize, 9usize);
    let mut device = Device::default();
    let mut values: Vec<i32> = (0..n as i32).map(|i| i * 37 % 101 - 50).collect();
    let (a, b) = (device.ints(values.clone()), device.zeros(4 * n));
    let args = [Arg::U64(a), Arg::U64(b), Arg::I32(n as i32), Arg::I32(rounds as i32)];
    device.run(&program("cooperative", "cooperative"), row(8, 128), &args).unwrap();
    for _ in 0..rounds {
        values = (0..n).map(|i| values[(i + 1) % n].wrapping_add(values[(i + n - 1) % n])).collect();
    }
    assert_eq!(device.read_ints(if rounds % 2 == 1 { b } else { a }, n), values);
}
