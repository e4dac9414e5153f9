//! Reproducible random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom
//! number generators", 2014).

/// A stream of random numbers that depends only on the seed.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the stream of a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Returns the next float in [-1, 1), a multiple of 2^-23.
    pub fn float(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Returns the next integer in `low..=high`, for ranges far below 2^64.
    pub fn integer(&mut self, low: i32, high: i32) -> i32 {
        let span = (i64::from(high) - i64::from(low) + 1).max(1) as u64;
        (i64::from(low) + (self.bits() % span) as i64) as i32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First outputs for seed 1234567, as published with the reference implementation.
    #[test]
    fn the_published_sequence() {
        let mut random = Random::new(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.bits()).collect();
        assert_eq!(found, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn ranges_hold() {
        let mut random = Random::new(1);
        for _ in 0..10_000 {
            assert!((-1.0..1.0).contains(&random.float()));
            assert!((-8..=8).contains(&random.integer(-8, 8)));
        }
    }
}
