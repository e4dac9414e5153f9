//! Random arbiter of the crossbar: selects among the inputs that request an output (Lin et al.
//! 2018, section 3.1; sources.md D168).
//!
//! The paper names no generator. Here it is xorshift64* (Vigna 2016) with a fixed seed, so that
//! equal runs select equally. A single candidate needs no draw.

/// Seed of the generator (assumption: any word except 0 works).
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// Random arbiter: a generator with its state.
#[derive(Clone, Debug)]
pub(super) struct RandomArbiter(u64);

impl Default for RandomArbiter {
    fn default() -> Self {
        RandomArbiter(SEED)
    }
}

impl RandomArbiter {
    /// Random number below `n`, from the 32 highest bits, which have the best quality.
    #[inline]
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32;
        ((bits * u64::from(n)) >> 32) as u32
    }

    /// Random member of a nonempty set, all with equal probability; 0 if it is empty.
    #[inline]
    pub(super) fn member(&mut self, set: &[u64]) -> usize {
        let members = set.iter().map(|word| word.count_ones()).sum();
        let mut before = if members > 1 { self.below(members) } else { 0 };
        for (w, &word) in set.iter().enumerate() {
            if before < word.count_ones() {
                let rest = (0..before).fold(word, |rest, _| rest & (rest - 1));
                return w * 64 + rest.trailing_zeros() as usize;
            }
            before -= word.count_ones();
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 60,000 draws of sets of one word and of three: each member equally often, within five
    /// standard deviations of a fair draw; no other number.
    #[test]
    fn members_are_equally_likely() {
        for members in [&[5usize][..], &[0, 63], &[1, 2, 3, 40, 62], &[0, 64, 70, 128, 129, 190]] {
            let mut set = [0u64; 3];
            members.iter().for_each(|&member| set[member / 64] |= 1 << (member % 64));
            let mut arbiter = RandomArbiter::default();
            let mut drawn = [0u32; 192];
            (0..60_000).for_each(|_| drawn[arbiter.member(&set)] += 1);
            let fair = 60_000.0 / members.len() as f64;
            let deviation = (fair * (1.0 - 1.0 / members.len() as f64)).sqrt();
            for (member, &times) in drawn.iter().enumerate() {
                let expected = if members.contains(&member) { fair } else { 0.0 };
                assert!((f64::from(times) - expected).abs() <= 5.0 * deviation, "{members:?}: {member} {times} times");
            }
        }
    }

    /// A single candidate leaves the generator unchanged.
    #[test]
    fn nothing_is_drawn_without_a_choice() {
        let mut arbiter = RandomArbiter::default();
        assert_eq!((arbiter.member(&[0, 1 << 7]), arbiter.0), (71, SEED));
        arbiter.member(&[3]);
        assert_ne!(arbiter.0, SEED);
    }
}
