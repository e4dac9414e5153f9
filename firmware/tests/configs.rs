//! Configuration generation against brute force, against a reference port of the thesis' tree, and
//! against the thesis' cases (docs/porting/guarantees.md, "Invariants"; the number of each
//! invariant is in the test).

use crate::bodies::numbers::configurations_are_feasible;
use crate::cases::cases;
use mias_firmware::configs::{Candidate, Generator, Rules, Stride, TbVector, subsample};
use mias_firmware::resources::{Resources, SmLimits, TbShape};
use proptest::prelude::*;

/// SM of the thesis' GPU (Nasef 2023, table 4.1), with the rounding of its simulator
/// (sources.md D13).
const RTX2060: SmLimits = SmLimits {
    capacity: Resources { threads: 1024, registers: 65_536, shared_bytes: 65_536, tbs: 32 },
    warp_threads: 32,
    register_granule: 4,
    shared_granule_bytes: 1,
};

/// The seven kernels of sources.md D79: name, TB, most TBs per SM.
const KERNELS: [(&str, TbShape, u8); 7] = [
    ("mm", shape(256, 39, 2048), 4),
    ("bfs", shape(256, 20, 0), 4),
    ("fwt", shape(256, 22, 0), 4),
    ("blk", shape(128, 23, 0), 8),
    ("nbdy", shape(256, 60, 4096), 4),
    ("bopt", shape(128, 32, 516), 8),
    ("dxtc", shape(64, 98, 2048), 10),
];

const fn shape(threads: u32, thread_registers: u32, shared_bytes: u32) -> TbShape {
    TbShape { threads, thread_registers, shared_bytes }
}

fn named(names: &[&str]) -> Vec<Candidate> {
    let find = |name| KERNELS.iter().find(|kernel| kernel.0 == name).unwrap_or_else(|| panic!("no kernel {name}"));
    names.iter().map(|name| Candidate { demand: RTX2060.demand(&find(*name).1), cap: 255 }).collect()
}

fn all(capacity: Resources, kernels: &[Candidate]) -> Vec<TbVector> {
    Generator::new(capacity, kernels).collect()
}

fn admitted(names: &[&str], rules: Rules) -> Vec<TbVector> {
    Generator::new(RTX2060.capacity, &named(names)).filter(|vector| rules.admit(vector, names.len())).collect()
}

fn fits(capacity: &Resources, kernels: &[Candidate], vector: &TbVector) -> bool {
    let within_caps = kernels.iter().zip(vector.0).all(|(kernel, tbs)| tbs <= kernel.cap);
    let total = |of: fn(&Resources) -> u32| -> u64 {
        kernels.iter().zip(vector.0).map(|(kernel, tbs)| u64::from(of(&kernel.demand)) * u64::from(tbs)).sum()
    };
    within_caps
        && total(|r| r.threads) <= u64::from(capacity.threads)
        && total(|r| r.registers) <= u64::from(capacity.registers)
        && total(|r| r.shared_bytes) <= u64::from(capacity.shared_bytes)
        && total(|r| r.tbs) <= u64::from(capacity.tbs)
}

fn plus(vector: &TbVector, kernel: usize) -> TbVector {
    let mut more = *vector;
    more.set(kernel, vector.get(kernel) + 1);
    more
}

/// Returns every maximal vector in lexicographic order, by enumeration up to the single-kernel
/// maxima.
fn brute_force(capacity: &Resources, kernels: &[Candidate]) -> Vec<TbVector> {
    let mut vectors = vec![TbVector::default()];
    for kernel in 0..kernels.len() {
        let most = (0..=255).take_while(|tbs| fits(capacity, kernels, &TbVector::single(kernel, *tbs))).last().unwrap_or(0);
        let extend = |vector: TbVector| {
            (0..=most).map(move |tbs| {
                let mut longer = vector;
                longer.set(kernel, tbs);
                longer
            })
        };
        vectors = vectors.into_iter().flat_map(extend).collect();
    }
    let maximal = |v: &TbVector| fits(capacity, kernels, v) && (0..kernels.len()).all(|k| !fits(capacity, kernels, &plus(v, k)));
    vectors.retain(|vector| !kernels.is_empty() && maximal(vector));
    vectors
}

fn dominates(big: &TbVector, small: &TbVector) -> bool {
    big.0.iter().zip(small.0).all(|(big, small)| *big >= small)
}

prop_compose! {
    /// Generates small capacities, so that brute force stays small. A demand may be 0 in any
    /// resource except the slot.
    fn space(kernels: std::ops::RangeInclusive<usize>)(
        capacity in (0..24_u32, 0..24_u32, 0..24_u32, 0..10_u32),
        demands in proptest::collection::vec((0..9_u32, 0..9_u32, 0..9_u32, prop_oneof![3 => Just(255_u8), 1 => 0..6_u8]), kernels),
    ) -> (Resources, Vec<Candidate>) {
        let (threads, registers, shared_bytes, tbs) = capacity;
        let candidate = |(threads, registers, shared_bytes, cap)| {
            Candidate { demand: Resources { threads, registers, shared_bytes, tbs: 1 }, cap }
        };
        (Resources { threads, registers, shared_bytes, tbs }, demands.into_iter().map(candidate).collect())
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    /// Invariants 1 to 4, 7 (order), 14 and 17: set, order and absence of duplicates equal brute
    /// force.
    #[test]
    fn equals_brute_force((capacity, kernels) in space(0..=4)) {
        prop_assert_eq!(all(capacity, &kernels), brute_force(&capacity, &kernels));
    }

    /// Invariants 5, 6: the thesis' tree, whose pruned leaves equal the generator's vectors. The
    /// thesis has no caps.
    #[test]
    fn equals_the_thesis_tree((capacity, mut kernels) in space(0..=4)) {
        kernels.iter_mut().for_each(|kernel| kernel.cap = 255);
        let demands: Vec<_> = kernels.iter().map(|kernel| kernel.demand).collect();
        let tree = crate::tree::generate(&capacity, &demands);
        prop_assert_eq!(tree.leaves.len(), crate::tree::feasible_prefixes(&capacity, &demands));
        for leaf in &tree.leaves {
            prop_assert!(!fits(&capacity, &kernels, &plus(leaf, kernels.len() - 1)), "leaf {:?} has room for the last kernel", leaf);
        }
        prop_assert_eq!(tree.configurations, all(capacity, &kernels));
    }

    /// Invariant 7: permuting the kernels permutes the vectors.
    #[test]
    fn order_does_not_matter((capacity, kernels) in space(0..=4), rotation in 0..4_usize) {
        let mut turned = kernels.clone();
        let by = rotation.min(kernels.len());
        turned.rotate_left(by);
        let mut vectors: Vec<TbVector> = all(capacity, &turned).into_iter().map(|mut vector| {
            vector.0[..kernels.len()].rotate_right(by);
            vector
        }).collect();
        vectors.sort();
        prop_assert_eq!(vectors, all(capacity, &kernels));
    }

    /// Invariants 8 and 9: an antichain that covers every feasible vector.
    #[test]
    fn antichain_and_coverage((capacity, kernels) in space(0..=3), probe in proptest::array::uniform4(0..6_u8)) {
        let vectors = all(capacity, &kernels);
        for (index, one) in vectors.iter().enumerate() {
            prop_assert!(vectors.iter().enumerate().all(|(other, two)| index == other || !dominates(one, two)));
        }
        let mut probe = TbVector(probe);
        (kernels.len()..4).for_each(|kernel| probe.set(kernel, 0));
        if !kernels.is_empty() && fits(&capacity, &kernels, &probe) {
            prop_assert!(vectors.iter().any(|vector| dominates(vector, &probe)));
        }
    }

    /// Invariant 10: the filter, and its treatment of single kernels.
    #[test]
    fn single_kernel_filter((capacity, kernels) in space(0..=4), require_all_present: bool) {
        let rules = Rules { require_all_present };
        let vectors = all(capacity, &kernels);
        let most = |kernel: &Candidate| u8::try_from(capacity.max_tbs(&kernel.demand)).unwrap_or(255).min(kernel.cap);
        let dropped: Vec<TbVector> = vectors.iter().copied().filter(|vector| !rules.admit(vector, kernels.len())).collect();
        let expected: Vec<TbVector> = vectors.iter().copied().filter(|vector| match kernels.len() {
            0 => false,
            // No vector with TBs is dropped.
            1 => vector.get(0) == 0,
            count if require_all_present => (0..count).any(|kernel| vector.get(kernel) == 0),
            // The maximum of TBs of one kernel, and none of the others.
            _ => kernels.iter().enumerate().any(|(index, kernel)| *vector == TbVector::single(index, most(kernel))),
        }).collect();
        prop_assert_eq!(dropped, expected);
        for (index, kernel) in kernels.iter().enumerate() {
            let most = most(kernel);
            prop_assert!(vectors.iter().any(|vector| vector.get(index) == most));
            if kernels.len() == 1 {
                prop_assert_eq!(&vectors, &vec![TbVector::single(0, most)]);
            }
        }
    }

    /// Invariant 11: a larger SM covers the vectors of a smaller one.
    #[test]
    fn enlarging_keeps_coverage((capacity, kernels) in space(0..=3), more in (0..5_u32, 0..5_u32, 0..5_u32, 0..5_u32)) {
        let larger = Resources {
            threads: capacity.threads + more.0,
            registers: capacity.registers + more.1,
            shared_bytes: capacity.shared_bytes + more.2,
            tbs: capacity.tbs + more.3,
        };
        let wide = all(larger, &kernels);
        prop_assert!(all(capacity, &kernels).iter().all(|old| wide.iter().any(|new| dominates(new, old))));
    }

    /// Invariant 12: equal kernels are interchangeable.
    #[test]
    fn equal_kernels_swap((capacity, mut kernels) in space(2..=4)) {
        kernels[1] = kernels[0];
        let vectors = all(capacity, &kernels);
        for vector in &vectors {
            let mut swapped = *vector;
            swapped.0.swap(0, 1);
            prop_assert!(vectors.contains(&swapped));
        }
    }

    /// Invariant 13: the result does not depend on units.
    #[test]
    fn scale_does_not_matter((capacity, kernels) in space(0..=4), factor in 1..1000_u32) {
        let scaled = |r: Resources| Resources { registers: r.registers * factor, ..r };
        let scaled_kernels: Vec<_> = kernels.iter().map(|k| Candidate { demand: scaled(k.demand), ..*k }).collect();
        prop_assert_eq!(all(capacity, &kernels), all(scaled(capacity), &scaled_kernels));
    }

    /// Invariant 15: two kernels make a staircase.
    #[test]
    fn two_kernels_make_a_staircase((capacity, kernels) in space(2..=2)) {
        let vectors = all(capacity, &kernels);
        prop_assert!(vectors.windows(2).all(|pair| pair[0].0[0] < pair[1].0[0] && pair[0].0[1] > pair[1].0[1]));
        let most = |kernel: &Candidate| capacity.max_tbs(&kernel.demand).min(kernel.cap.into()) as usize;
        prop_assert!(vectors.len() <= most(&kernels[0]).min(most(&kernels[1])) + 1);
    }

    /// Invariant 17: any values terminate without a panic.
    #[test]
    fn survives_anything(capacity: [u32; 3], tbs in 0..=40_u32, shapes in proptest::collection::vec(any::<(u32, u32, u32, u8)>(), 0..6),
                         granules: [u32; 3]) {
        let [threads, registers, shared_bytes] = capacity;
        let limits = SmLimits {
            capacity: Resources { threads, registers, shared_bytes, tbs },
            warp_threads: granules[0], register_granule: granules[1], shared_granule_bytes: granules[2],
        };
        let shapes: Vec<_> = shapes.into_iter().map(|(threads, thread_registers, shared_bytes, cap)| {
            (TbShape { threads, thread_registers, shared_bytes }, cap)
        }).collect();
        configurations_are_feasible(&limits, &shapes, 500);
    }

    /// Sub-sampling picks exactly the wanted number, the first item among them, at distances that
    /// differ by at most one.
    #[test]
    fn stride_is_even(want in 1..80_u32, total in 1..500_u32) {
        let picks: Vec<u32> = subsample(0..total, want, total).collect();
        prop_assert_eq!(picks.len() as u32, want.min(total));
        prop_assert_eq!(picks[0], 0);
        let gaps: Vec<u32> = picks.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if let (Some(least), Some(most)) = (gaps.iter().min(), gaps.iter().max()) {
            prop_assert!(most - least <= 1);
        }
    }
}

/// Invariant 16: exactly the configurations 1-3, 2-2 and 3-1 of the thesis (Nasef 2023, section
/// 4.2.3).
#[test]
fn thesis_pairs() {
    let three = vec![TbVector([1, 3, 0, 0]), TbVector([2, 2, 0, 0]), TbVector([3, 1, 0, 0])];
    assert_eq!(admitted(&["bfs", "mm"], Rules::default()), three);
    assert_eq!(admitted(&["mm", "fwt"], Rules::default()), three);
}

/// All pairs have the enumerated numbers of configurations: 3 for 18 of the 21 pairs, 7, 5 and 6
/// for the others (sources.md D24).
#[test]
fn all_pairs_have_the_enumerated_number_of_configurations() {
    let mut pairs = 0;
    for (index, (first, ..)) in KERNELS.iter().enumerate() {
        for (second, ..) in &KERNELS[index + 1..] {
            let expected = match (*first, *second) {
                ("blk", "bopt") => 7,
                ("blk", "dxtc") => 5,
                ("bopt", "dxtc") => 6,
                _ => 3,
            };
            assert_eq!(admitted(&[first, second], Rules::default()).len(), expected, "{first} + {second}");
            pairs += 1;
        }
    }
    assert_eq!(pairs, 21);
}

/// Invariant 16: 39 maximal, 36 not single, 19 with all present (sources.md D24).
#[test]
fn thesis_triple() {
    let names = ["blk", "bopt", "dxtc"];
    assert_eq!(all(RTX2060.capacity, &named(&names)).len(), 39);
    assert_eq!(admitted(&names, Rules::default()).len(), 36);
    assert_eq!(admitted(&names, Rules { require_all_present: true }).len(), 19);
}

/// The maxima of single kernels equal the last column of sources.md D79.
#[test]
fn single_kernel_maxima() {
    for (name, shape, most) in KERNELS {
        assert_eq!(RTX2060.max_tbs(&RTX2060.demand(&shape)), most, "{name}");
    }
}

/// Nasef 2023, figure 3.3: with every kernel fitting 4 times, the first leaf is (0, 0, 4).
#[test]
fn first_leaf_of_the_tree() {
    let quarter = Candidate { demand: Resources { threads: 256, tbs: 1, ..Resources::default() }, cap: 255 };
    assert_eq!(all(RTX2060.capacity, &[quarter; 3])[0], TbVector([0, 0, 4, 0]));
}

/// Invariant 17: only the slots limit a TB without demands.
#[test]
fn slots_limit_a_tb_without_demands() {
    let nothing = Candidate { demand: RTX2060.demand(&TbShape::default()), cap: 255 };
    assert_eq!(all(RTX2060.capacity, &[nothing]), [TbVector::single(0, 32)]);
    assert_eq!(all(RTX2060.capacity, &[]), []);
}

#[test]
fn demand_rounds_up_to_warps_and_granules() {
    let limits = SmLimits { shared_granule_bytes: 256, ..RTX2060 };
    let demand = limits.demand(&shape(33, 39, 516));
    assert_eq!(demand, Resources { threads: 64, registers: 64 * 40, shared_bytes: 768, tbs: 1 });
}

#[test]
fn stride_of_nothing_picks_nothing() {
    assert!(!Stride::new(0, 3).pick());
}
