//! Hand-computed orders, and properties of any sequence: GTO for one kernel, and fair turns.

use super::plain::{PlainPicker, PlainWarp};
use super::*;
use proptest::prelude::*;

/// Warps that arrive in this order, by local number.
fn warps(order: [u32; 4]) -> Residents {
    let mut warps = Residents::new(WarpSchedulerKind::Gto);
    (0..).zip(order).for_each(|(age, local)| assert!(warps.arrive(local, 0, age).is_none()));
    warps
}

#[test]
fn gto_stays_with_its_warp_and_falls_back_to_the_oldest() {
    let warps = warps([1, 3, 0, 2]);
    let mut gto = Picker::new(WarpSchedulerKind::Gto);
    gto.placed(&warps);
    let mut pick = |issuable: u32| {
        let places = (0..4).filter(|local| issuable >> local & 1 == 1).fold(0, |places, local| places | warps.bit(local));
        gto.pick(places, &warps)
    };
    assert_eq!(pick(0b1110), 1, "oldest of 1, 2, 3");
    assert_eq!(pick(0b1111), 1, "greedy");
    assert_eq!(pick(0b1101), 3, "1 stalls, 3 is the oldest left");
    assert_eq!(pick(0b1111), 3, "greedy again, although 1 is older");
}

#[test]
fn lrr_takes_turns() {
    let mut warps = Residents::new(WarpSchedulerKind::Lrr);
    (0..).zip([2, 0, 3, 1]).for_each(|(age, local)| assert!(warps.arrive(local, 0, age).is_none()));
    let mut lrr = Picker::new(WarpSchedulerKind::Lrr);
    let order: Vec<u32> = [0b1111, 0b1111, 0b1011, 0b1111, 0b1111].map(|m| lrr.pick(m, &warps)).to_vec();
    assert_eq!(order, [1, 2, 3, 0, 1]);
}

/// Warps with these kernel slots; age and place are the position, for all schedulers.
fn of_kernels(kernels: &[u8]) -> Residents {
    let mut warps = Residents::new(WarpSchedulerKind::Gto);
    (0..).zip(kernels).for_each(|(at, &kernel)| assert!(warps.arrive(at, kernel, at).is_none()));
    warps
}

#[test]
fn kernel_lrr_gives_kernels_turns_and_is_greedy_within() {
    // Warps 0, 1, 2 of kernel 0; 3, 4 of kernel 2; 5 of kernel 5.
    let warps = of_kernels(&[0, 0, 0, 2, 2, 5]);
    let mut picker = Picker::new(WarpSchedulerKind::KernelLrr);
    let mut pick = |issuable| picker.pick(issuable, &warps);
    assert_eq!(pick(0b111111), 3, "slot 2 comes after slot 0, 3 is its oldest");
    assert_eq!(pick(0b111111), 5);
    assert_eq!(pick(0b111110), 1, "slot 0 again, warp 0 stalls");
    assert_eq!(pick(0b110111), 4, "warp 3 stalls, 4 is next of slot 2");
    assert_eq!(pick(0b011111), 1, "slot 5 loses its turn; slot 0 stays with 1, although 0 is older");
    assert_eq!(pick(0b111111), 4, "slot 2 stays with 4, although 3 is older");
    assert_eq!(pick(0b010000), 4, "alone: its turn again");
}

/// Selections for a sequence of masks.
fn picks(kind: WarpSchedulerKind, warps: &Residents, masks: &[u32]) -> Vec<u32> {
    let mut picker = Picker::new(kind);
    picker.placed(warps);
    masks.iter().map(|&mask| picker.pick(mask, warps)).collect()
}

fn masks(count: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(1u32..(1 << count), 1..60)
}

proptest! {
    /// Warps come and go while others issue.
    #[test]
    fn picks_what_the_list_says(
        kind in prop::sample::select(vec![WarpSchedulerKind::Gto, WarpSchedulerKind::Lrr, WarpSchedulerKind::KernelLrr]),
        steps in prop::collection::vec((0u32..32, 0u8..8, any::<u32>(), any::<u32>()), 1..200),
    ) {
        let (mut warps, mut picker) = (Residents::new(kind), Picker::new(kind));
        let mut plain: Vec<PlainWarp> = vec![];
        let mut plain_picker = PlainPicker { kind, issued: vec![] };
        for (age, (local, kernel, some, others)) in (0..).zip(steps) {
            if let Some(at) = plain.iter().position(|warp| warp.local == local) {
                warps.leave(local);
                plain.remove(at);
            } else {
                warps.arrive(local, kernel, age);
                plain.push(PlainWarp { local, kernel, age, issuable: false });
            }
            picker.placed(&warps);
            // Few warps can issue, or many.
            for mask in [some & others, some, some | others] {
                plain.iter_mut().for_each(|warp| warp.issuable = mask >> warp.local & 1 == 1);
                let issuable = plain.iter().filter(|warp| warp.issuable).fold(0, |places, warp| places | warps.bit(warp.local));
                let picked = (issuable != 0).then(|| picker.pick(issuable, &warps));
                prop_assert_eq!(picked, plain_picker.pick(&plain));
            }
        }
    }

    #[test]
    fn every_pick_is_issuable(kernels in prop::collection::vec(0u8..8, 12), masks in masks(12)) {
        let warps = of_kernels(&kernels);
        for kind in [WarpSchedulerKind::Gto, WarpSchedulerKind::Lrr, WarpSchedulerKind::KernelLrr] {
            for (pick, mask) in picks(kind, &warps, &masks).into_iter().zip(&masks) {
                prop_assert!(mask >> pick & 1 == 1, "{kind:?} picked {pick} of {mask:b}");
            }
        }
    }

    #[test]
    fn with_one_kernel_kernel_lrr_is_gto(slot in 0u8..8, masks in masks(12)) {
        let warps = of_kernels(&[slot; 12]);
        prop_assert_eq!(picks(WarpSchedulerKind::KernelLrr, &warps, &masks), picks(WarpSchedulerKind::Gto, &warps, &masks));
    }

    /// If a kernel could have issued and did not, each of the others issues at most once before it
    /// does.
    #[test]
    fn no_kernel_waits_longer_than_a_round(kernels in prop::collection::vec(0u8..8, 12), masks in masks(12)) {
        let warps = of_kernels(&kernels);
        let mut passed = [[0u32; KERNEL_SLOTS]; KERNEL_SLOTS];
        for (pick, mask) in picks(WarpSchedulerKind::KernelLrr, &warps, &masks).into_iter().zip(&masks) {
            let winner = usize::from(kernels[pick as usize]);
            for (kernel, passed) in passed.iter_mut().enumerate() {
                let could = (0..12).any(|warp| mask >> warp & 1 == 1 && usize::from(kernels[warp]) == kernel);
                if !could || kernel == winner {
                    *passed = [0; KERNEL_SLOTS];
                } else {
                    passed[winner] += 1;
                    prop_assert!(passed[winner] <= 1, "kernel {winner} went twice while {kernel} waited");
                }
            }
        }
    }

    /// Kernels that can always issue do so equally often, to within one.
    #[test]
    fn kernels_that_are_always_ready_share_equally(kernels in prop::collection::vec(0u8..8, 12), cycles in 1usize..200) {
        let warps = of_kernels(&kernels);
        let mut issued = [0usize; KERNEL_SLOTS];
        for pick in picks(WarpSchedulerKind::KernelLrr, &warps, &vec![0xfff; cycles]) {
            issued[usize::from(kernels[pick as usize])] += 1;
        }
        let present = || issued.iter().enumerate().filter(|(slot, _)| kernels.contains(&(*slot as u8))).map(|(_, &count)| count);
        prop_assert!(present().max().unwrap() - present().min().unwrap() <= 1, "{issued:?}");
    }
}
