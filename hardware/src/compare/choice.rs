//! Configurations that need no measurement: SMK-P's, the middle one, and the even one by threads.

use crate::fit::{self, Need, fits};

/// Threads, registers and TBs of an SM, and its shared memory (as `fit`).
const CAPACITY: [u32; 4] = [fit::THREADS, fit::REGISTERS, fit::TBS, fit::SHARED];

/// Returns the configuration of SMK-P (sources.md D52, `firmware/policies/src/policy/smk.rs`); none
/// if a kernel gets no TB.
///
/// TBs go one by one to the kernel with the smallest dominant share, the first of equals. A kernel
/// without space for another is done. Grids are assumed to have enough TBs. Space follows `fit`,
/// which counts registers by parts of an SM. The firmware counts those of the whole SM.
pub fn smk(needs: &[Need]) -> Option<Vec<u32>> {
    let share = |need: &Need, count: u32| {
        let takes = [need.threads, need.threads * need.registers.next_multiple_of(8), 1, need.shared];
        takes.iter().zip(CAPACITY).map(|(&takes, capacity)| f64::from(takes) / f64::from(capacity)).fold(0.0, f64::max) * f64::from(count)
    };
    let mut counts = vec![0; needs.len()];
    let mut done = vec![false; needs.len()];
    loop {
        let open = (0..needs.len()).filter(|&kind| !done[kind]);
        let Some(poorest) = open.min_by(|&a, &b| share(&needs[a], counts[a]).total_cmp(&share(&needs[b], counts[b]))) else { break };
        counts[poorest] += 1;
        if !fits(needs, &counts) {
            counts[poorest] -= 1;
            done[poorest] = true;
        }
    }
    counts.iter().all(|&count| count > 0).then_some(counts)
}

/// Returns the index of the middle configuration in lexicographic order; of two, the first.
pub fn middle(configurations: usize) -> Option<usize> {
    (configurations > 0).then(|| (configurations - 1) / 2)
}

/// Returns the index of the configuration with the most even threads: the smallest difference
/// between most and fewest, the first of equals.
pub fn even(needs: &[Need], configurations: &[&Vec<u32>]) -> Option<usize> {
    let apart = |counts: &Vec<u32>| {
        let threads = || needs.iter().zip(counts).map(|(need, count)| need.threads * count);
        threads().max().unwrap_or(0) - threads().min().unwrap_or(0)
    };
    (0..configurations.len()).min_by_key(|&place| apart(configurations[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn need(threads: u32, registers: u32) -> Need {
        Need { threads, registers, shared: 0 }
    }

    #[test]
    fn equal_kernels_get_equal_shares_and_others_equal_dominant_ones() {
        assert_eq!(smk(&[need(256, 32), need(256, 32)]), Some(vec![4, 4]));
        // 64 warps of 128 threads are half: 8 TBs with 4 of 256.
        assert_eq!(smk(&[need(256, 32), need(128, 32)]), Some(vec![4, 8]));
        // 96 registers: 3/32 of the registers per TB of 64 threads, against 1/8. At 5 and 3 the
        // fourth of the second does not fit: 3 x 3,072 and 8 x 1,024 registers of 16,384 in a part.
        // A sixth of the first does.
        assert_eq!(smk(&[need(64, 96), need(256, 32)]), Some(vec![6, 3]));
        assert_eq!(smk(&[need(1024, 64), need(64, 32)]), None);
    }

    #[test]
    fn the_middle_and_the_even_one() {
        assert_eq!([0, 1, 2, 7].map(middle), [None, Some(0), Some(0), Some(3)]);
        let configurations = [vec![1, 14], vec![3, 10], vec![4, 8], vec![5, 6]];
        let all: Vec<&Vec<u32>> = configurations.iter().collect();
        assert_eq!(even(&[need(256, 32), need(128, 32)], &all), Some(2));
    }
}
