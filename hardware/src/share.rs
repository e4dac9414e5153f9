//! Separate SMs for each kernel: the first `n` twelfths of the SMs by `%smid` for the first kernel,
//! the rest for the second (Zhao et al. 2018, listing 1, where a TB checks its SM's number).

use std::ops::Range;

/// Number of parts into which SMs are divided.
pub const PARTS: u32 = 12;

/// SMs of each kernel of a run, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Twelfths of each kernel.
    pub twelfths: Vec<u32>,
    /// SMs of each kernel.
    pub sms: Vec<Range<u32>>,
}

impl Share {
    /// Returns `twelfths` twelfths of `sms` SMs for each kernel, one after the other. If SMs are
    /// not a multiple of twelve, borders are rounded down.
    pub fn of(twelfths: &[u32], sms: u32) -> Self {
        let border = |parts: u32| sms * parts.min(PARTS) / PARTS;
        let mut begin = 0;
        let ranges = twelfths.iter().map(|&parts| {
            let range = border(begin)..border(begin + parts);
            begin += parts;
            range
        });
        Share { sms: ranges.collect(), twelfths: twelfths.to_vec() }
    }

    /// Returns the number of SMs of a kernel.
    pub fn count(&self, kernel: usize) -> u32 {
        self.sms.get(kernel).map_or(0, |range| range.end - range.start)
    }

    /// Returns the SMs after those of a kernel, of all `sms`.
    pub fn behind(&self, kernel: usize, sms: u32) -> Range<u32> {
        self.sms.get(kernel).map_or(0..0, |range| range.end..sms)
    }
}

/// Returns all splits of the twelfths between two kernels, each at least one, in ascending order of
/// the first kernel's.
pub fn splits() -> Vec<[u32; 2]> {
    (1..PARTS).map(|first| [first, PARTS - first]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sm_has_one_kernel_in_every_split() {
        for sms in [12, 108, 132, 144] {
            for split in splits() {
                let share = Share::of(&split, sms);
                let owners = |sm: u32| share.sms.iter().filter(|range| range.contains(&sm)).count();
                assert!((0..sms).all(|sm| owners(sm) == 1), "{split:?} of {sms}");
                assert_eq!(share.behind(0, sms), share.sms[1]);
                assert!(share.behind(1, sms).is_empty());
            }
        }
        assert_eq!(splits().len(), 11);
    }

    #[test]
    fn a_twelfth_of_the_h100_is_eleven_sms() {
        let share = Share::of(&[3, 9], 132);
        assert_eq!((share.count(0), share.count(1), share.sms[1].clone()), (33, 99, 33..132));
        let alone = Share::of(&[1], 132);
        assert_eq!((alone.count(0), alone.count(1), alone.behind(0, 132)), (11, 0, 11..132));
        assert_eq!(Share::of(&[12], 132).sms[0], 0..132);
    }
}
