//! Reference `walsh-pass` for `fwt`: one radix-4 pass of a fast Walsh transform in place, with
//! stride n / 4.
//!
//! Inputs are integers up to 15, which a transform of 2^20 elements multiplies by at most 2^20:
//! floats up to 2^24 are exact.

use super::Host;
use crate::kernels::Expected;
use crate::kernels::given::Inputs;

/// Returns the host side for the buffer `data`.
pub(super) fn host(_: &Inputs) -> Result<Host, String> {
    Ok(Host::new(move |filled| {
        let input = filled.floats("data")?;
        let reference = move || {
            let mut values = input.clone();
            pass(&mut values);
            values
        };
        Ok(Expected::floats(filled.buffer("data")?, Expected::equal, reference))
    }))
}

/// Two radix-2 passes: with stride n / 2, then n / 4.
fn pass(data: &mut [f32]) {
    for stride in [data.len() / 2, data.len() / 4] {
        for block in data.chunks_mut(2 * stride.max(1)) {
            let (low, high) = block.split_at_mut(stride.min(block.len()));
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use mias_ptx::lower::record::execute;
    use mias_ptx::{Arg, Buffer, DeviceMemory, Launch, Program};

    /// One launch of a transform, with 256 threads per TB.
    struct Pass {
        entry: &'static str,
        radix: u64,
        stride: u64,
    }

    impl Pass {
        fn launch(&self, buffer: Buffer, length: u64) -> Launch {
            let data = Arg::U64(buffer.address);
            let args = vec![data.clone(), data, Arg::I32(self.stride as i32)];
            Launch { grid: [(length / self.radix / 256) as u32, 1, 1], block: [256, 1, 1], args, shared_bytes: 0, ..Launch::default() }
        }
    }

    /// Returns all passes of a transform of `length`, a power of two: radix 2 first if the number
    /// of halvings is odd.
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
        let files = mias_kernels::find("fwt").unwrap();
        for pass in passes(length) {
            let program = Program::parse(files.ptx_file, files.ptx, pass.entry).unwrap();
            execute(&program, &pass.launch(buffer, length), memory).unwrap();
        }
    }

    fn input(length: u64, seed: u64) -> Vec<f32> {
        let mut random = Random::new(seed);
        (0..length).map(|_| random.integer(-15, 15) as f32).collect()
    }

    /// By definition, element i of the transform is the sum over j of (-1)^popcount(i & j) times
    /// element j.
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

    /// A pass of the host equals the definition of the transform for four elements.
    #[test]
    fn a_pass_of_four_elements_is_the_transform() {
        let mut values = [1.0, 2.0, 3.0, 5.0];
        pass(&mut values);
        assert_eq!(values, [11.0, -3.0, -5.0, 1.0]);
    }
}
