//! Whole products on the tensor unit: by `wmma` from global memory, and by `mma` from copies in
//! shared memory.

use super::harness::{Device, program};
use mias_ptx::Arg;
use mias_warp_trace::KernelTrace;
use mias_warp_trace::isa::{Class, Space};

/// Returns a whole number from -4 to 4 for a place, so that every sum is exact.
fn number(row: usize, column: usize) -> i32 {
    ((row * 7 + column * 13 + row * column) % 9) as i32 - 4
}

fn product(m: usize, n: usize, k: usize) -> Vec<f32> {
    let at = |place: usize| (0..k).map(|l| number(place / n, l) * number(l, place % n)).sum::<i32>();
    (0..m * n).map(|place| at(place) as f32).collect()
}

/// Converts a whole number up to 4 to a half.
fn half(value: i32) -> u16 {
    let bits = (value as f32).to_bits();
    // The exponent has another bias.
    let magnitude = if value == 0 { 0 } else { (bits >> 13 & 0x3_ffff) - (112 << 10) };
    (bits >> 16 & 0x8000 | magnitude) as u16
}

fn classes(trace: &KernelTrace, class: Class) -> usize {
    super::harness::count(trace, class)
}

#[test]
fn a_product_by_warps() {
    let kernel = program("warp_product", "warp_product");
    let n = 48;
    let mut device = Device::default();
    let halves = (0..n * n).flat_map(|at| half(number(at / n, at % n)).to_le_bytes()).collect::<Vec<u8>>();
    let (a, b, c) = (device.put(&halves), device.put(&halves), device.zeros(4 * n * n));
    let args = [Arg::U64(a), Arg::U64(b), Arg::U64(c), Arg::I32(n as i32)];
    let trace = device.run(&kernel, ([3, 3, 1], [32, 1, 1]), &args).unwrap();
    assert_eq!(device.read_floats(c, n * n), product(n, n, n));
    // Three steps of a product, with two factors of four tiles each; then four tiles of the sum.
    // Each product is four HMMA, as nvcc has it.
    assert_eq!(classes(&trace, Class::Tensor), 3 * 4);
    assert_eq!(classes(&trace, Class::Load(Space::Global)), 3 * 8);
    assert_eq!(classes(&trace, Class::Store(Space::Global)), 4);
}

#[test]
fn a_pipeline_of_copies() {
    let kernel = program("pipeline", "pipeline");
    let (m, n, k) = (32, 24, 80);
    let mut device = Device::default();
    let brain = |value: i32| ((value as f32).to_bits() >> 16) as u16;
    let left: Vec<u8> = (0..m * k).flat_map(|at| brain(number(at / k, at % k)).to_le_bytes()).collect();
    let right: Vec<u8> = (0..n * k).flat_map(|at| brain(number(at % k, at / k)).to_le_bytes()).collect();
    let (a, b, c) = (device.put(&left), device.put(&right), device.zeros(4 * m * n));
    let args = [Arg::U64(a), Arg::U64(b), Arg::U64(c), Arg::I32(n as i32), Arg::I32(k as i32)];
    let trace = device.run(&kernel, ([3, 2, 1], [32, 1, 1]), &args).unwrap();
    assert_eq!(device.read_floats(c, m * n), product(m, n, k));
    // A product of m16n8k16 is two of the depth that the unit has.
    assert_eq!(classes(&trace, Class::Tensor), 5 * 2);
    assert_eq!(classes(&trace, Class::Load(Space::Global)), 10);
    assert_eq!(classes(&trace, Class::Load(Space::Shared)), 10);
    let passes = |width: u8| {
        let insts = trace.shape(trace.warp(0, 0).shape).map(|at| trace.shape_insts()[at as usize]);
        let mut found: Vec<u32> = Vec::new();
        for inst in insts {
            let kind = &trace.statics()[inst.index()];
            if kind.class == Class::Load(Space::Shared) && kind.width_bytes == width {
                found.push(inst.passes());
            }
        }
        found
    };
    // All 512 bytes of one, all 256 of the other, none twice: 128 in each pass.
    assert_eq!(passes(16), vec![4; 5]);
    assert_eq!(passes(8), vec![2; 5]);
}
