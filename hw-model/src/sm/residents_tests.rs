//! Warps come and go at random; places must equal those of a plain list.

use super::*;
use proptest::prelude::*;

/// Plain warp: local number, kernel, age, and whether a mask contains it.
#[derive(Clone, Copy, Debug)]
struct Plain {
    local: u32,
    kernel: u8,
    age: u32,
    masked: bool,
}

proptest! {
    #[test]
    fn places_are_a_list_of_warps(
        scheduler in prop::sample::select(vec![WarpSchedulerKind::Gto, WarpSchedulerKind::Lrr, WarpSchedulerKind::KernelLrr]),
        steps in prop::collection::vec((0u32..32, 0u8..8, any::<bool>()), 1..200),
        // Local numbers beyond 31, of a sub-core with more warp slots than places; loose round
        // robin has none.
        high in prop::collection::vec(any::<bool>(), 32),
    ) {
        let mut residents = Residents::new(scheduler);
        let mut plain: Vec<Plain> = vec![];
        let mut mask = 0;
        for (age, (local, kernel, masked)) in (0u32..).zip(steps) {
            let local = if high[local as usize] && scheduler != WarpSchedulerKind::Lrr { local + 32 } else { local };
            if let Some(at) = plain.iter().position(|warp| warp.local == local) {
                mask &= !residents.bit(local);
                residents.leave(local);
                plain.remove(at);
            } else {
                if let Some(moves) = residents.arrive(local, kernel, age) {
                    mask = moves.of(mask);
                }
                plain.push(Plain { local, kernel, age, masked });
                mask |= if masked { residents.bit(local) } else { 0 };
            }
            prop_assert_eq!(residents.live().count_ones() as usize, plain.len());
            prop_assert_eq!(mask.count_ones() as usize, plain.iter().filter(|warp| warp.masked).count());
            for number in 0..64 {
                let bit = residents.bit(number);
                let Some(warp) = plain.iter().find(|warp| warp.local == number) else {
                    prop_assert_eq!(bit, 0);
                    continue;
                };
                prop_assert_eq!(bit.count_ones(), 1);
                prop_assert_eq!(bit & residents.live(), bit);
                prop_assert_eq!(bit & mask != 0, warp.masked);
                prop_assert_eq!(residents.local(bit.trailing_zeros()), number);
                prop_assert_eq!(residents.kernel(bit.trailing_zeros()), warp.kernel);
                prop_assert!(scheduler != WarpSchedulerKind::Lrr || bit == 1 << number);
            }
            let oldest = plain.iter().filter(|warp| warp.masked).min_by_key(|warp| warp.age);
            if let Some(oldest) = oldest {
                prop_assert_eq!(residents.local(residents.oldest(mask)), oldest.local);
            }
        }
    }
}
