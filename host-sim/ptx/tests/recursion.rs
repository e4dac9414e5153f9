//! Functions that call themselves: results against the same functions on the host, and the stack
//! that they need.

use super::harness::{Device, count, program, random, row};
use mias_ptx::lower::record::{self, RecordError};
use mias_ptx::{Arg, Launch, Limits, Program};
use mias_warp_trace::isa::Class;

fn fib(n: i32) -> i32 {
    if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
}

/// Runs one TB with a stack of `stack_bytes` bytes per thread.
fn run_with(device: &Device, program: &Program, threads: u32, args: &[Arg], stack_bytes: u32) -> Result<(), RecordError> {
    let limits = Limits { stack_bytes, ..Limits::default() };
    let launch = Launch { grid: [1; 3], block: [threads, 1, 1], args: args.to_vec(), limits, ..Launch::default() };
    Ok(record::execute(program, &launch, &device.0)?)
}

#[test]
fn each_lane_has_its_own_depth() {
    let mut device = Device::default();
    let out = device.zeros(4 * 40);
    let trace = device.run(&program("recursion", "recursion"), row(1, 18), &[Arg::U64(out)]).unwrap();
    assert_eq!(device.read_ints(out, 18), (0..18).map(fib).collect::<Vec<_>>());
    // The warp calls as often as the lane that calls most: calls of fib(n), itself included, are 2
    // fib(n + 1) - 1. Each has a branch that lanes may take apart, a call and a return.
    let calls = 2 * fib(18) - 1;
    assert!(count(&trace, Class::Branch) >= 3 * calls as usize, "{} branches, {calls} calls", count(&trace, Class::Branch));
}

#[test]
fn factorials() {
    let mut device = Device::default();
    let out = device.longs([0; 100]);
    device.run(&program("recursion", "factorials"), row(2, 45), &[Arg::U64(out), Arg::I32(80)]).unwrap();
    let expected = |i: i64| if i < 80 { (1..=i % 21).product() } else { 0 };
    assert_eq!(device.read_longs(out, 100), (0..100).map(expected).collect::<Vec<_>>());
}

#[test]
fn two_functions_call_each_other() {
    let mut device = Device::default();
    let (out, steps) = (device.zeros(4 * 32), device.zeros(4 * 32));
    device.run(&program("recursion", "parity"), row(1, 32), &[Arg::U64(out), Arg::U64(steps)]).unwrap();
    assert_eq!(device.read_ints(out, 32), (0..32).map(|i| 1 - i % 2).collect::<Vec<_>>());
    // `is_even` is called with n, n - 2, .. down to 0 or 1, and `is_odd` with those between, down
    // to 0 or 1.
    let expected = (0..32).map(|n| n / 2 + 1 + 1000 * ((n + 1) / 2));
    assert_eq!(device.read_ints(steps, 32), expected.collect::<Vec<i32>>());
}

#[test]
fn quicksort_of_own_arrays() {
    let mut device = Device::default();
    // Few values, so that there are equal ones; some arrays are sorted already, and some backwards.
    let mut values: Vec<i32> = random(3).take(16 * 70).map(|x| (x >> 40) as i32 % 23 - 11).collect();
    values[..16].sort_unstable();
    values[16..32].sort_unstable_by(|a, b| b.cmp(a));
    let data = device.ints(values.clone());
    device.run(&program("recursion", "sort"), row(2, 35), &[Arg::U64(data)]).unwrap();
    values.chunks_mut(16).for_each(<[i32]>::sort_unstable);
    assert_eq!(device.read_ints(data, values.len()), values);
}

/// Builds a search tree of these keys as (key, left, right).
fn tree(keys: &[i32]) -> Vec<[i32; 3]> {
    let mut nodes: Vec<[i32; 3]> = Vec::new();
    for &key in keys {
        let new = nodes.len() as i32;
        nodes.push([key, -1, -1]);
        // From the root down to where a child is missing.
        let mut next = if new == 0 { -1 } else { 0 };
        while let Ok(at) = usize::try_from(next) {
            let side = if key < nodes[at][0] { 1 } else { 2 };
            next = nodes[at][side];
            if next < 0 {
                nodes[at][side] = new;
            }
        }
    }
    nodes
}

#[test]
fn lanes_take_different_ways_through_a_tree_and_meet_at_a_barrier() {
    let keys: Vec<i32> = random(5).take(60).map(|x| (x >> 33) as i32 % 1000).collect();
    let bounds: Vec<i32> = random(6).take(2 * 90).map(|x| (x >> 33) as i32 % 1000).collect();
    let mut device = Device::default();
    let nodes = device.ints(tree(&keys).concat());
    let (out, bound) = (device.zeros(4 * 96), device.ints(bounds.clone()));
    let n = 85;
    let args = [Arg::U64(out), Arg::U64(nodes), Arg::U64(bound), Arg::I32(n)];
    device.run_shared(&program("recursion", "tree"), row(1, 96), &args, 4 * 96).unwrap();
    let sum = |i: i32| -> i32 {
        let (low, high) = (bounds[2 * i as usize], bounds[2 * i as usize + 1]);
        if i % 3 == 1 { 0 } else { keys.iter().filter(|&&key| low <= key && key < high).sum() }
    };
    let expected: Vec<i32> = (0..96).map(|i| if i < n { sum((i + 1) % n) } else { 0 }).collect();
    assert_eq!(device.read_ints(out, 96), expected);
}

fn digits(n: i32, above: &mut [i32; 4]) -> i32 {
    let mut own = [n % 2, n % 3, n % 4, n % 5];
    if n > 0 {
        let more = digits(n / 2, &mut own);
        above[(n & 3) as usize] += more;
    }
    own.iter().fold(0i32, |sum, &digit| sum.wrapping_mul(3).wrapping_add(digit))
}

/// The address of a local variable of one activation is good in those that it calls.
#[test]
fn each_activation_has_its_own_variables() {
    let mut device = Device::default();
    let out = device.zeros(4 * 64);
    device.run(&program("recursion", "frames"), row(1, 64), &[Arg::U64(out)]).unwrap();
    let expected = |n| {
        let mut own = [1, 2, 3, 4];
        let sum = digits(n, &mut own);
        sum + own[0] + 5 * own[1] + 25 * own[2] + 125 * own[3]
    };
    assert_eq!(device.read_ints(out, 64), (0..64).map(expected).collect::<Vec<_>>());
}

fn visit(descends: bool, (tag, step, from, to): (i8, i16, i32, i32)) -> i32 {
    if !descends {
        return i32::from(tag) * from + i32::from(step);
    }
    let middle = (from + to) / 2;
    let low = visit(middle - from > 1, (tag + 1, step + 3, from, middle));
    low + 2 * visit(to - middle > 1, (tag, step, middle, to))
}

#[test]
fn recursion_through_a_pointer_with_a_structure() {
    let mut device = Device::default();
    let out = device.zeros(4 * 32);
    device.run(&program("recursion", "pointed"), row(1, 32), &[Arg::U64(out)]).unwrap();
    let expected = |i: i32| visit(true, (1, i as i16, 0, i + 2));
    assert_eq!(device.read_ints(out, 32), (0..32).map(expected).collect::<Vec<_>>());
}

/// Threads with a number from 0 to 12 end inside the recursion. The others continue to a barrier
/// that does not wait for those. In the second TB, all threads of a warp end.
#[test]
fn threads_may_end_inside() {
    let mut device = Device::default();
    let program = program("recursion", "leavers");
    for threads in [32, 45, 13, 1] {
        let out = device.zeros(4 * 45);
        device.run(&program, row(1, threads), &[Arg::U64(out)]).unwrap();
        let expected: Vec<i32> = (0..threads as i32).map(|i| if i <= 12 { -1 } else { 13 }).collect();
        assert_eq!(device.read_ints(out, threads as usize), expected);
    }
}

/// The bound on the stack is in bytes: calls times a frame's.
#[test]
fn the_stack_ends() {
    let mut device = Device::default();
    let out = device.zeros(4 * 32);
    let deep = program("recursion", "deep");
    let frame = deep.subroutines[0].frame_bytes;
    for stack in [1024, 4096, 4100] {
        let error = run_with(&device, &deep, 32, &[Arg::U64(out)], stack).unwrap_err().to_string();
        assert!(error.starts_with("recursion.ptx:"), "{error}");
        let calls = stack / frame + 1;
        let expected = format!(
            "kernel `deep`, TB [0, 0, 0], thread [0, 0, 0]: nested call {calls}, of `_Z7endlessi` (endless(int)) \
             with a frame of {frame} bytes, does not fit the stack of {stack} bytes; raise `stack_bytes` in the table [limits] of the \
             kernel's file, or end the recursion sooner"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
    // The recursion fits the stack exactly.
    let factorials = program("recursion", "factorials");
    let frame = factorials.subroutines[0].frame_bytes;
    let out = device.longs([0; 32]);
    let args = [Arg::U64(out), Arg::I32(32)];
    run_with(&device, &factorials, 21, &args, 21 * frame).unwrap();
    run_with(&device, &factorials, 21, &args, 21 * frame - 1).unwrap_err();
}

/// Frames by what ptxas says of the same functions (`-Xptxas -v`, sm_75): 16 bytes for `endless`,
/// 24 for `fib`, 48 for `between`. Ours are multiples of 16, and may be some registers less.
#[test]
fn frames_are_about_those_of_the_assembler() {
    for (entry, function, theirs) in [("deep", 0, 16u32), ("recursion", 0, 24), ("tree", 0, 48), ("frames", 0, 56), ("sort", 0, 40)] {
        let ours = program("recursion", entry).subroutines[function].frame_bytes;
        assert!(ours.abs_diff(theirs) <= 16, "{entry}: {ours} bytes, ptxas has {theirs}");
    }
}
