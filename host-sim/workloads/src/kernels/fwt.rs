//! `fwt`: fast Walsh transform, the radix-4 pass in global memory (`kernels/cuda-samples/fwt/fwt.cu`; Nasef 2023, section 4.1.2, SDK
//! `fwtBatch2Kernel`).
//!
//! The co-scheduled kernel is one pass of stride n / 4, in place, as the SDK begins; its tests run
//! whole transforms.

use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::random::Random;
use mias_ptx::{Arg, Buffer, DeviceMemory, Launch};

/// Threads per TB.
const THREADS: u64 = 256;

/// Smallest vector: one TB of the radix-4 pass.
const MIN_LENGTH: u64 = 4 * THREADS;

/// Largest vector: its indices and their sums stay below 2^31.
const MAX_LENGTH: u64 = 1 << 28;

/// Inputs are integers up to this magnitude. A radix-4 pass multiplies it by at most 4 and a transform of 2^20 by at most 2^20:
/// floats up to 2^24 are exact.
const MAX_VALUE: i32 = 15;

/// One vector of `size` elements.
#[derive(Debug)]
pub(super) struct Fwt;

impl Kernel for Fwt {
    fn name(&self) -> &'static str {
        "fwt"
    }

    fn description(&self) -> &'static str {
        "fast Walsh transform, one radix-4 pass in global memory"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Memory
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/cuda-samples/fwt/fwt.ptx",
            ptx: include_str!("../../../../kernels/cuda-samples/fwt/fwt.ptx"),
            report_file: "kernels/cuda-samples/fwt/fwt.ptxas.txt",
            report: include_str!("../../../../kernels/cuda-samples/fwt/fwt.ptxas.txt"),
        }
    }

    /// 4,096 TBs on 16 MiB of data.
    fn default_size(&self) -> u64 {
        1 << 22
    }

    fn size_unit(&self) -> &'static str {
        "elements, a power of two"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if !size.is_power_of_two() || !(MIN_LENGTH..=MAX_LENGTH).contains(&size) {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a power of two from 1024 to 268435456" });
        }
        let mut random = Random::new(seed);
        let input: Vec<f32> = (0..size).map(|_| random.integer(-MAX_VALUE, MAX_VALUE) as f32).collect();
        let mut memory = DeviceMemory::new();
        let buffer = memory.allocate(input.iter().map(|v| v.to_bits()));
        let pass = Pass { entry: "fwt_radix4", radix: 4, stride: size / 4 };
        let reference = move || {
            let mut values = input.clone();
            pass.reference(&mut values);
            values
        };
        let expected = Expected::floats(buffer, Expected::equal, reference);
        Ok(Instance { launch: pass.launch(buffer, size), entry: pass.entry.into(), memory, expected: Some(expected) })
    }
}

/// One launch of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    entry: &'static str,
    radix: u64,
    stride: u64,
}

impl Pass {
    fn launch(&self, buffer: Buffer, length: u64) -> Launch {
        let data = Arg::U64(buffer.address);
        Launch {
            grid: [(length / self.radix / THREADS) as u32, 1, 1],
            block: [THREADS as u32, 1, 1],
            args: vec![data.clone(), data, Arg::I32(self.stride as i32)],
            shared_bytes: 0,
        }
    }

    /// The pass on the host, as radix-2 butterflies: of stride 2s, then s.
    fn reference(&self, data: &mut [f32]) {
        let mut stride = self.stride as usize * (self.radix as usize / 2);
        while stride >= self.stride as usize && stride > 0 {
            for block in data.chunks_mut(2 * stride) {
                let (low, high) = block.split_at_mut(stride);
                for (a, b) in low.iter_mut().zip(high) {
                    (*a, *b) = (*a + *b, *a - *b);
                }
            }
            stride /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mias_ptx::Program;
    use mias_ptx::lower::record::execute;

    /// All passes of a transform of `length`, a power of two: radix 2 first if the number of halvings is odd.
    fn passes(length: u64) -> Vec<Pass> {
        let mut passes = Vec::new();
        let mut span = length;
        if length.trailing_zeros() % 2 == 1 {
            passes.push(Pass { entry: "fwt_radix2", radix: 2, stride: length / 2 });
            span /= 2;
        }
        while span > 1 {
            passes.push(Pass { entry: "fwt_radix4", radix: 4, stride: span / 4 });
            span /= 4;
        }
        passes
    }

    fn transform(memory: &DeviceMemory, buffer: Buffer, length: u64) {
        let compiled = Fwt.compiled();
        for pass in passes(length) {
            let program = Program::parse(compiled.ptx_file, compiled.ptx, pass.entry).unwrap();
            execute(&program, &pass.launch(buffer, length), memory).unwrap();
        }
    }

    fn input(length: u64, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..length).map(|_| random.integer(-15, 15) as f32).collect()
    }

    /// By definition: element i of the transform is the sum over j of (-1)^popcount(i & j) times element j.
    #[test]
    fn the_transform_is_the_walsh_matrix() {
        for length in [1024u64, 2048] {
            let values = input(length, length);
            let mut memory = DeviceMemory::new();
            let buffer = memory.allocate(values.iter().map(|v| v.to_bits()));
            transform(&memory, buffer, length);
            let found = memory.floats(buffer);
            for i in (0..length as usize).step_by(7) {
                let sign = |j: usize| if (i & j).count_ones().is_multiple_of(2) { 1 } else { -1 };
                let expected: i64 = values.iter().enumerate().map(|(j, &v)| sign(j) * v as i64).sum();
                assert_eq!(found[i] as i64, expected, "length {length}, element {i}");
            }
        }
    }

    #[test]
    fn twice_is_n_times() {
        for length in [1024u64, 8192, 16384] {
            let values = input(length, 3);
            let mut memory = DeviceMemory::new();
            let buffer = memory.allocate(values.iter().map(|v| v.to_bits()));
            transform(&memory, buffer, length);
            assert_ne!(memory.floats(buffer), values);
            transform(&memory, buffer, length);
            let expected: Vec<f32> = values.iter().map(|v| v * length as f32).collect();
            assert_eq!(memory.floats(buffer), expected, "length {length}");
        }
    }
}
