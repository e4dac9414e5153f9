//! `mm`: matrix product by 16 x 16 tiles (`kernels/cuda-samples/mm/mm.cu`; Nasef 2023, section 4.1.2, SDK `matrixMul`).

use super::{Compiled, Expected, Input, Instance, Kernel, KernelError, KernelType};
use crate::random::Random;
use mias_ptx::{Arg, DeviceMemory, Launch};
use rayon::prelude::*;

/// Rows and columns of a tile.
const TILE: u64 = 16;

/// Largest side: indices of the square matrix stay below 2^31.
const MAX_SIDE: u64 = 32_768;

/// Square matrices of `size` rows.
#[derive(Debug)]
pub(super) struct Mm;

impl Kernel for Mm {
    fn name(&self) -> &'static str {
        "mm"
    }

    fn description(&self) -> &'static str {
        "matrix product by 16 x 16 tiles in shared memory"
    }

    fn kernel_type(&self) -> KernelType {
        KernelType::Compute
    }

    fn compiled(&self) -> Compiled {
        Compiled {
            ptx_file: "kernels/cuda-samples/mm/mm.ptx",
            ptx: include_str!("../../../../kernels/cuda-samples/mm/mm.ptx"),
            report_file: "kernels/cuda-samples/mm/mm.ptxas.txt",
            report: include_str!("../../../../kernels/cuda-samples/mm/mm.ptxas.txt"),
        }
    }

    /// 1,024 TBs of 32 tile steps: about 12.6 million warp instructions.
    fn default_size(&self) -> u64 {
        512
    }

    fn size_unit(&self) -> &'static str {
        "rows and columns of each matrix"
    }

    fn init(&self, input: &Input) -> Result<Instance, KernelError> {
        let (size, seed) = (input.size.unwrap_or(self.default_size()), input.seed);
        if size == 0 || !size.is_multiple_of(TILE) || size > MAX_SIDE {
            return Err(KernelError::Size { kernel: self.name(), size, message: "must be a multiple of 16, from 16 to 32768" });
        }
        let side = size as usize;
        let mut random = Random::new(seed);
        let mut matrix = || -> Vec<f32> { (0..side * side).map(|_| random.float()).collect() };
        let (a, b) = (matrix(), matrix());
        let mut memory = DeviceMemory::new();
        let c = memory.allocate(std::iter::repeat_n(f32::NAN.to_bits(), side * side));
        let mut upload = |values: &[f32]| memory.allocate(values.iter().map(|v| v.to_bits()));
        let (device_a, device_b) = (upload(&a), upload(&b));
        let tiles = (size / TILE) as u32;
        let launch = Launch {
            grid: [tiles, tiles, 1],
            block: [TILE as u32, TILE as u32, 1],
            args: vec![
                Arg::U64(c.address),
                Arg::U64(device_a.address),
                Arg::U64(device_b.address),
                Arg::I32(size as i32),
                Arg::I32(size as i32),
            ],
            shared_bytes: 0,
        };
        let expected = Expected::floats(c, Expected::equal, move || product(&a, &b, side));
        Ok(Instance { memory, entry: "mm".into(), launch, expected: Some(expected) })
    }
}

/// C = A * B with one fused multiply-add per term in ascending order, which is the kernel's order: equal bit for bit.
fn product(a: &[f32], b: &[f32], side: usize) -> Vec<f32> {
    let mut c = vec![0.0f32; side * side];
    c.par_chunks_mut(side).zip(a.par_chunks(side)).for_each(|(c_row, a_row)| {
        for (&factor, b_row) in a_row.iter().zip(b.chunks(side)) {
            for (sum, &value) in c_row.iter_mut().zip(b_row) {
                *sum = factor.mul_add(value, *sum);
            }
        }
    });
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference itself against exact arithmetic on small integers.
    #[test]
    fn the_reference_multiplies() {
        let a: Vec<f32> = (0..9u8).map(f32::from).collect();
        let b: Vec<f32> = (0..9u8).map(|i| f32::from(i) - 4.0).collect();
        let expected = [3.0, 6.0, 9.0, -6.0, 6.0, 18.0, -15.0, 6.0, 27.0];
        assert_eq!(product(&a, &b, 3), expected);
    }
}
