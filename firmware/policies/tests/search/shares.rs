//! Assignment of SMs to kernels.

use crate::cases::cases;
use mias_policies::search::{Rest, Shares, SmState};
use proptest::prelude::*;

fn held(shares: &Shares, kernel: usize) -> u16 {
    shares.holders().filter(|holder| holder.kernel == Some(kernel) && holder.state == SmState::Active).count() as u16
}

proptest! {
    #![proptest_config(cases(256))]

    /// For any kept and given SMs: every SM has one holder and one state, the numbers are as set,
    /// and every kernel has at least one SM.
    #[test]
    fn sms_are_conserved(
        (sms, kernels) in (1..257_u16, 1..5_usize),
        keep in any::<[u16; 4]>(),
        receivers in prop_oneof![Just(0_u8), 0..16_u8],
        rest in prop::sample::select(vec![Rest::Stalled, Rest::Gated, Rest::Idle]),
    ) {
        prop_assume!(usize::from(sms) >= kernels);
        let mut shares = Shares::even(sms, kernels);
        let even: u16 = (0..kernels).map(|kernel| shares.share(kernel)).sum();
        prop_assert_eq!((even, shares.unused()), (sms, 0));
        (0..kernels).for_each(|kernel| shares.keep(kernel, keep[kernel] % 300));
        shares.set_rest(rest);
        shares.give_to(receivers);
        prop_assert_eq!(shares.holders().count(), usize::from(sms));
        let active: u16 = (0..kernels).map(|kernel| held(&shares, kernel)).sum();
        prop_assert_eq!(active + shares.unused(), sms);
        let all_given = receivers as usize & ((1 << kernels) - 1) != 0;
        prop_assert!(!all_given || shares.unused() == 0, "SMs are left although somebody takes them");
        for kernel in 0..kernels {
            prop_assert_eq!(held(&shares, kernel), shares.active(kernel));
            prop_assert!(shares.active(kernel) >= 1 && shares.kept(kernel) <= shares.share(kernel));
        }
        let stalled = shares.holders().filter(|holder| holder.state == SmState::Stalled).count();
        let gated = shares.holders().filter(|holder| holder.state == SmState::Gated).count();
        let unused = usize::from(shares.unused());
        prop_assert_eq!((stalled, gated), (if rest == Rest::Stalled { unused } else { 0 }, if rest == Rest::Gated { unused } else { 0 }));
        // A stalled SM belongs to its kernel by the even split.
        for (sm, holder) in shares.holders().enumerate().filter(|(_, holder)| holder.state == SmState::Stalled) {
            prop_assert_eq!(holder.kernel, Some(sm % kernels));
        }
    }

    /// Given SMs are balanced: kernels that receive SMs differ by at most one, unless one had more
    /// before.
    #[test]
    fn sms_are_given_evenly(sms in 4..257_u16, keep in any::<[u16; 4]>(), receivers in 1..16_u8) {
        let mut shares = Shares::even(sms, 4);
        (0..4).filter(|kernel| receivers >> kernel & 1 == 0).for_each(|kernel| shares.keep(kernel, keep[kernel] % 64));
        shares.give_to(receivers);
        let sizes = || (0..4).filter(|kernel| receivers >> kernel & 1 != 0).map(|kernel| shares.active(kernel));
        prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
    }

    /// A kernel that runs alone keeps its SMs, all others stall under their kernels, and all resume
    /// as before.
    #[test]
    fn who_is_alone_stalls_all_others(sms in 4..257_u16, kernels in 1..5_usize, keep in any::<[u16; 4]>(), receivers in 1..16_u8, alone in 0..4_u8) {
        let mut shares = Shares::even(sms, kernels);
        (0..kernels).for_each(|kernel| shares.keep(kernel, keep[kernel] % 64));
        shares.give_to(receivers);
        let before: Vec<_> = shares.holders().collect();
        shares.leave_alone(Some(alone));
        for (now, then) in shares.holders().zip(&before) {
            let its = then.kernel == Some(usize::from(alone)) || then.kernel.is_none();
            prop_assert_eq!((now.kernel, now.state), (then.kernel, if its { then.state } else { SmState::Stalled }));
        }
        shares.leave_alone(None);
        prop_assert!(shares.holders().eq(before));
        shares.leave_alone(Some(alone));
        shares.resume();
        prop_assert!(shares.holders().all(|holder| holder.state != SmState::Stalled));
    }

    #[test]
    fn given_numbers_are_what_kernels_get(sms in 1..257_u16, wanted in prop::collection::vec(1..130_u16, 1..5)) {
        let sum: u32 = wanted.iter().map(|sms| u32::from(*sms)).sum();
        match Shares::of(sms, &wanted) {
            None => prop_assert!(sum > u32::from(sms)),
            Some(shares) => {
                prop_assert!(sum <= u32::from(sms));
                wanted.iter().enumerate().for_each(|(kernel, wanted)| assert_eq!(held(&shares, kernel), *wanted));
                prop_assert_eq!(shares.holders().filter(|holder| holder.kernel.is_none()).count(), usize::from(sms) - sum as usize);
            }
        }
    }
}

/// Zhao et al. 2018, figure 2: 4 and 20 of 24.
#[test]
fn four_and_twenty() {
    let mut shares = Shares::even(24, 2);
    shares.keep(0, 4);
    shares.give_to(0b10);
    assert_eq!([0, 1].map(|kernel| shares.active(kernel)), [4, 20]);
    // SMs 0, 2, 4 and 6 stay with the first kernel.
    let of_first: Vec<u16> = (0..24).filter(|sm| shares.holder(*sm).kernel == Some(0)).collect();
    assert_eq!(of_first, [0, 2, 4, 6]);
}
