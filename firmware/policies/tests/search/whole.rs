//! Driver and scheduler under a search, on a fake register block.

use super::chip::{Chip, Kernel};
use crate::cases::cases;
use mias_policies::policy::{HillClimb, LEVELS, SearchPolicy, most_windows};
use mias_registers::{PhaseCode, PolicyCode, fault, feature, global, option, search_found, sm, sm_state};
use proptest::prelude::*;

const POLICIES: [PolicyCode; 12] = [
    PolicyCode::CdSearch,
    PolicyCode::CdSearchPerformance,
    PolicyCode::CdSearchPower,
    PolicyCode::GivenShares,
    PolicyCode::MaestroSearch,
    PolicyCode::CdSearchMaestro,
    PolicyCode::FairShare,
    PolicyCode::FairShareModel,
    PolicyCode::EffectiveBandwidth,
    PolicyCode::EffectiveBandwidthFair,
    PolicyCode::EffectiveBandwidthHarmonic,
    PolicyCode::MiasTrial,
];

/// Kernel that demands 1,000 sectors per thousand warp instructions on 24 SMs of two schedulers: 48
/// per cycle, of 4 available.
const MEMORY: Kernel = Kernel { rate: 32, saturates_at: 6, apki: 1000, fits: 0 };
const COMPUTE: Kernel = Kernel { rate: 64, saturates_at: 1000, apki: 10, fits: 0 };

fn states(chip: &Chip) -> [usize; 3] {
    [sm_state::ACTIVE, sm_state::STALLED, sm_state::GATED]
        .map(|state| (0..chip.block.sms).filter(|sm| chip.block.state(*sm) == state).count())
}

/// Zhao et al. 2018, section 4.2, over registers: 6 SMs for the memory-intensive kernel, and
/// stalled SMs meanwhile.
#[test]
fn performance_mode_over_registers() {
    let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[]);
    chip.launch(3, MEMORY);
    chip.launch(1, COMPUTE);
    let mut seen = Vec::new();
    while chip.step() {
        seen.push((chip.block.active(3), chip.block.active(1), states(&chip)[1]));
    }
    seen.dedup();
    assert_eq!(seen, [(12, 12, 0), (10, 12, 2), (8, 12, 4), (6, 12, 6), (4, 12, 8), (6, 18, 0)]);
    assert_eq!((chip.phase(), states(&chip)), (PhaseCode::Steady, [24, 0, 0]));
    assert_eq!(chip.firmware.scheduler().policy().searching().expect("it searches").state.windows, 5);
}

/// Zhao et al. 2018, section 4.3: the remaining SMs have no quota and no power.
#[test]
fn power_mode_over_registers() {
    let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[]);
    chip.launch(0, MEMORY);
    chip.launch(1, Kernel { saturates_at: 4, ..MEMORY });
    chip.rest();
    assert_eq!([chip.block.active(0), chip.block.active(1)], [6, 4]);
    assert_eq!(states(&chip), [10, 0, 14]);
    let gated = (0..24).filter(|sm| chip.block.state(*sm) == sm_state::GATED);
    gated.for_each(|sm| assert_eq!([0, 1].map(|slot| chip.block.quota(sm, slot)), [0, 0]));
    // A kernel arrives: all SMs are awake again, and each of three kernels has eight.
    chip.launch(5, COMPUTE);
    chip.step();
    assert_eq!((states(&chip), [0, 1, 5].map(|slot| chip.block.active(slot))), ([24, 0, 0], [8, 8, 8]));
    chip.rest();
    assert_eq!([0, 1, 5].map(|slot| chip.block.active(slot)), [6, 4, 14]);
    // One kernel is alone at last.
    chip.end(0, true);
    chip.rest();
    chip.end(5, true);
    chip.rest();
    assert_eq!((states(&chip), chip.block.active(1)), ([24, 0, 0], 24));
}

/// Fair share: each kernel alone, and then 8 and 16. The chip gives each of 6 SMs of the first a
/// sector per cycle, of 8: alone it would reach 4/3 of that. The other reaches twice its rate on
/// 12. By hand, with 12 and 12: 3/4 and 1/2, which makes 2.4 SMs; 10 and 14: 1.4; 9 and 15: 1.0; 8
/// and 16: 0.6.
#[test]
fn fair_share_over_registers() {
    let mut chip = Chip::new(PolicyCode::FairShare, 24, &[]);
    chip.launch(3, MEMORY);
    chip.launch(1, COMPUTE);
    let mut seen = Vec::new();
    while chip.step() {
        seen.push((chip.block.active(3), chip.block.active(1), states(&chip)[1]));
    }
    seen.dedup();
    assert_eq!(seen, [(12, 0, 12), (0, 12, 12), (12, 12, 0), (10, 14, 0), (9, 15, 0), (8, 16, 0)]);
    assert_eq!((chip.phase(), chip.firmware.scheduler().policy().searching().expect("it searches").state.windows), (PhaseCode::Steady, 6));
    let progress = [3, 1].map(|slot| chip.block.register(global::SEARCH_PROGRESS + 4 * slot));
    for (found, exact) in progress.into_iter().zip([0.75, 2.0 / 3.0]) {
        assert!((f64::from(found) / 16_384.0 - exact).abs() < 1e-2, "{progress:?}");
    }
    // A kernel arrives while one runs alone: no SM stays stalled.
    let mut chip = Chip::new(PolicyCode::FairShare, 24, &[]);
    chip.launch(3, MEMORY);
    chip.launch(1, COMPUTE);
    while states(&chip)[1] == 0 {
        assert!(chip.step());
    }
    chip.end(1, false);
    assert_eq!((states(&chip), chip.block.active(3), chip.block.active(1)), ([24, 0, 0], 12, 12));
}

/// Effective bandwidth: a scheduler has 16 warps of each kernel. Up to 6 active ones the first
/// kernel's data fit its L1s, and the same DRAM bandwidth serves four times as many accesses.
/// Nothing changes for the other. By hand: all levels of each, since none is a fall, and those of
/// the second once more.
#[test]
fn effective_bandwidth_over_registers() {
    let mut chip = Chip::new(PolicyCode::EffectiveBandwidth, 24, &[]);
    chip.launch(3, Kernel { fits: 6, ..MEMORY });
    chip.launch(1, COMPUTE);
    let mut seen = Vec::new();
    while chip.step() {
        seen.push([chip.block.limit(3), chip.block.limit(1)]);
        assert_eq!([chip.block.active(3), chip.block.active(1)], [12, 12]);
    }
    seen.dedup();
    let levels = [12, 8, 6, 4, 2, 1];
    let expected =
        [&[[0, 0]][..], &levels.map(|level| [level, 0]), &levels.map(|level| [0, level]), &levels.map(|level| [6, level]), &[[6, 0]]];
    assert_eq!(seen, expected.concat());
    assert_eq!((chip.phase(), states(&chip)), (PhaseCode::Steady, [24, 0, 0]));
    let found = chip.block.register(global::SEARCH_FOUND);
    assert_eq!(found, search_found::DONE | search_found::LIMITS_WARPS | 19 << search_found::WINDOWS_SHIFT);
    // A kernel arrives: there is no limit while it starts, and none for a kernel alone.
    chip.launch(5, COMPUTE);
    chip.step();
    assert_eq!([3, 1, 5].map(|slot| chip.block.limit(slot)), [0; 3]);
    chip.rest();
    assert_eq!([3, 1, 5].map(|slot| chip.block.limit(slot)), [6, 0, 0]);
    for slot in [1, 5] {
        chip.end(slot, true);
        chip.rest();
    }
    assert_eq!((chip.block.limit(3), chip.block.active(3)), (0, 24));
}

/// A kernel with no TB left to issue ends the search: the best limits so far stay.
#[test]
fn a_search_cut_short_keeps_the_best_limits() {
    let mut chip = Chip::new(PolicyCode::EffectiveBandwidth, 24, &[]);
    chip.launch(0, Kernel { fits: 8, ..MEMORY });
    chip.launch(1, COMPUTE);
    while chip.block.limit(0) != 4 {
        assert!(chip.step());
    }
    chip.end(1, false);
    chip.rest();
    assert_eq!((chip.phase(), [0, 1].map(|slot| chip.block.limit(slot))), (PhaseCode::Steady, [8, 0]));
}

/// A window lies between two latches. The first latch is at the end of the unmeasured cycles.
#[test]
fn windows_are_as_long_as_asked_for() {
    let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[]);
    chip.launch(0, MEMORY);
    chip.launch(1, COMPUTE);
    while chip.step() {
        let counts = &chip.firmware.scheduler().policy().searching().expect("it searches").state.counts[0];
        if chip.phase() == PhaseCode::Profile {
            assert_eq!(counts.cycles, super::chip::WARM_UP);
        } else if chip.phase() == PhaseCode::Steady {
            assert_eq!(counts.cycles, super::chip::WINDOW);
        }
    }
}

/// Hardware without support or without known bandwidths: the even split, and a fault.
#[test]
fn without_hardware_the_split_is_even() {
    for set in [
        (global::FEATURES, feature::SM_STATES),
        (global::FEATURES, feature::KERNEL_COUNTERS),
        (global::L2_SECTORS, 0),
        (global::REPLY_SECTORS, 0),
        (global::DRAM_SECTORS, 0),
    ] {
        let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[set]);
        chip.launch(0, MEMORY);
        chip.launch(1, COMPUTE);
        chip.rest();
        assert_eq!([chip.block.active(0), chip.block.active(1)], [12, 12]);
        assert_eq!(chip.block_fault(), fault::NO_SEARCH, "{set:?}");
    }
    let cannot = (global::FEATURES, feature::SM_STATES | feature::KERNEL_COUNTERS);
    for (policy, faults) in [(PolicyCode::EffectiveBandwidth, fault::NO_SEARCH), (PolicyCode::CdSearch, 0)] {
        let mut chip = Chip::new(policy, 24, &[cannot]);
        chip.launch(0, MEMORY);
        chip.launch(1, COMPUTE);
        chip.rest();
        assert_eq!(chip.block_fault(), faults, "{policy:?}");
        assert!(chip.block.writes.iter().all(|(offset, _)| !is_limit(*offset)), "{policy:?}");
    }
    // SMs that wake later than a step's warm-up are not gated.
    for (wake, gated) in [(super::chip::WARM_UP, 14), (super::chip::WARM_UP + 1, 0)] {
        let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[(global::SM_WAKE_CYCLES, wake)]);
        chip.launch(0, MEMORY);
        chip.launch(1, Kernel { saturates_at: 4, ..MEMORY });
        chip.rest();
        assert_eq!(states(&chip)[2], gated);
    }
}

#[test]
fn given_shares_are_heeded_if_they_add_up() {
    for (given, expected) in [([6, 18], [6, 18]), ([20, 4], [20, 4]), ([4, 8], [4, 8]), ([6, 19], [12, 12]), ([0, 24], [12, 12])] {
        let set = [(global::STRAP_SHARES, given[0]), (global::STRAP_SHARES + 4, given[1])];
        let mut chip = Chip::new(PolicyCode::GivenShares, 24, &set);
        chip.launch(2, MEMORY);
        chip.launch(1, COMPUTE);
        chip.rest();
        assert_eq!([2, 1].map(|slot| chip.block.active(slot)), expected);
        // Unassigned SMs have no power.
        assert_eq!(states(&chip), [expected[0] + expected[1], 0, 24 - expected[0] - expected[1]].map(|sms| sms as usize));
    }
}

/// Zhao et al. 2018, section 7.5: two kernels that do not saturate are as fast together as apart,
/// so the split stays. The score of every neighbor is known.
#[test]
fn maestro_measures_both_ways() {
    for (policy, expected) in [(PolicyCode::MaestroSearch, [12, 12]), (PolicyCode::CdSearchMaestro, [6, 18])] {
        let mut chip = Chip::new(policy, 24, &[]);
        chip.launch(0, MEMORY);
        chip.launch(1, Kernel { saturates_at: 18, ..COMPUTE });
        let (mut shared, mut windows) = (0, 0);
        while chip.step() {
            windows += u32::from(chip.phase() == PhaseCode::Profile);
            shared +=
                u32::from(chip.phase() == PhaseCode::Profile && (0..24).all(|sm| chip.block.quota(sm, 0) * chip.block.quota(sm, 1) != 0));
        }
        // In this chip each TB is as fast as a quarter of an SM: a shared SM counts for both.
        let [apart, together] = climb(&chip).scores();
        assert!(shared >= 1 && apart > 0 && together > 0, "{windows} windows, {shared} shared");
        let quotas: Vec<[u32; 2]> = (0..24).map(|sm| [chip.block.quota(sm, 0), chip.block.quota(sm, 1)]).collect();
        if together > apart {
            assert!(quotas.iter().all(|quotas| *quotas == quotas_of(&chip)));
        } else {
            assert_eq!([chip.block.active(0), chip.block.active(1)], expected);
        }
    }
}

fn climb(chip: &Chip) -> &HillClimb {
    match &chip.firmware.scheduler().policy().searching().expect("it searches").by {
        SearchPolicy::MaestroSearch(search) => &search.climb,
        other => panic!("{other:?} climbs no hill"),
    }
}

fn quotas_of(chip: &Chip) -> [u32; 2] {
    let best = climb(chip).best();
    [best.get(0).into(), best.get(1).into()]
}

/// A restarted firmware finds the SMs in their earlier states, and wakes them all.
#[test]
fn a_restart_wakes_all_sms() {
    let mut chip = Chip::new(PolicyCode::CdSearch, 24, &[]);
    chip.launch(0, MEMORY);
    chip.launch(1, Kernel { saturates_at: 4, ..MEMORY });
    chip.rest();
    assert_ne!(states(&chip)[2], 0);
    chip.firmware.restart(&mut chip.block, 24).expect("as before");
    assert_eq!(states(&chip), [24, 0, 0]);
}

/// Other policies touch no register of a search.
#[test]
fn others_do_not_know_of_it() {
    for policy in PolicyCode::ALL.into_iter().filter(|policy| !policy.searches()) {
        let mut chip = Chip::new(policy, 24, &[]);
        chip.launch(0, MEMORY);
        chip.launch(1, COMPUTE);
        chip.step();
        let of_search = |offset: u32| {
            is_limit(offset)
                || offset == global::KERNEL_SNAPSHOT
                || offset >= sm::BASE && (offset - sm::BASE) % sm::STRIDE == sm::STATE_REQUEST
        };
        assert!(chip.block.writes.iter().all(|(offset, _)| !of_search(*offset)), "{policy:?}");
    }
}

/// Event between two steps.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Nothing,
    Launch(usize),
    Drains(usize),
    Completes(usize),
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        6 => Just(Happens::Nothing),
        1 => (0..8_usize).prop_map(Happens::Launch),
        1 => (0..8_usize).prop_map(Happens::Drains),
        1 => (0..8_usize).prop_map(Happens::Completes),
    ]
}

/// Returns whether a register is a limit of active warps.
fn is_limit(offset: u32) -> bool {
    (global::ACTIVE_WARPS_ALL..global::ACTIVE_WARPS_ALL + 32).contains(&offset)
}

/// Checks that no kernel without TBs to issue is stalled, and no SM outside a search. Every placed
/// kernel has an SM.
fn holds(chip: &Chip) {
    let searching = matches!(chip.phase(), PhaseCode::Transition | PhaseCode::Profile);
    assert_eq!(states(chip).iter().sum::<usize>(), chip.block.sms as usize);
    assert!(searching || states(chip)[1] == 0, "stalled in {:?}", chip.phase());
    let kernels = chip.firmware.scheduler().kernels();
    // No limit or a level, and never a limit of zero warps.
    assert!((0..8).all(|slot| chip.block.limit(slot) == 0 || LEVELS.iter().any(|level| u32::from(*level) == chip.block.limit(slot))));
    assert!(
        kernels.len() > 1 || chip.phase() != PhaseCode::Steady || (0..8).all(|slot| chip.block.limit(slot) == 0),
        "one alone is limited"
    );
    for sm in 0..chip.block.sms {
        let quotas: u32 = (0..8).map(|slot| chip.block.quota(sm, slot)).sum();
        // With more kernels than SMs it is Left-over, which does not change while further events
        // are pending.
        let left_over = kernels.len() > chip.block.sms as usize || chip.phase() == PhaseCode::Partition;
        assert!(quotas <= 4 || left_over, "SM {sm} is shared");
        assert!(chip.block.state(sm) != sm_state::GATED || quotas == 0 || chip.phase() == PhaseCode::Partition);
    }
    if chip.phase() != PhaseCode::Partition && kernels.len() <= chip.block.sms as usize {
        for kernel in kernels {
            // While one kernel runs alone on all SMs, the others wait.
            let search = chip.firmware.scheduler().policy().searching().expect("it searches");
            let waits = searching && search.state.measuring() && matches!(search.by, SearchPolicy::MiasTrial(_));
            assert!(waits || chip.block.placed(kernel.slot.into()) >= 1, "slot {} has no SM", kernel.slot);
            assert!(searching || chip.block.active(kernel.slot.into()) >= 1, "slot {} has no SM that issues", kernel.slot);
        }
    }
}

proptest! {
    #![proptest_config(cases(600))]

    /// The search ends or rests within the stated number of windows, under any counters, and for
    /// kernels that arrive, drain and end at any time.
    #[test]
    fn any_counters_and_any_events(
        (policy, sms) in (prop::sample::select(POLICIES.to_vec()), prop_oneof![2..9_u32, Just(24_u32), Just(33), 2..133_u32]),
        options in prop::sample::select(vec![0, option::SEARCH_BY_UTILIZATION, option::SEARCH_BY_SHARE, option::SEARCH_REASSIGNS, option::SEARCH_REASSIGNS | option::WARP_IPC]),
        (loss, threshold) in (any::<u32>(), any::<u32>()),
        (kind, seed) in (0..3_u8, any::<u64>()),
        given in any::<[u8; 4]>(),
        events in prop::collection::vec(happens(), 0..40),
    ) {
        let mut set = vec![(global::STRAP_OPTIONS, options), (global::STRAP_SEARCH_LOSS, loss), (global::STRAP_SEARCH_UTILIZATION, threshold), (global::STRAP_SEARCH_REACH, loss >> 3), (global::STRAP_SEARCH_REACH_OF_HITS, threshold >> 3)];
        set.extend((0..4).map(|kernel| (global::STRAP_SHARES + 4 * kernel, u32::from(given[kernel as usize]))));
        let mut chip = Chip::new(policy, sms, &set);
        let mut state = seed | 1;
        chip.block.liar = (kind != 0).then(|| -> super::chip::Liar {
            Box::new(move || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as u32 >> if kind == 1 { 0 } else { (state & 31) as u32 }
            })
        });
        let mut live = [false; 8];
        for event in events.into_iter().chain([Happens::Nothing; 4]) {
            match event {
                Happens::Launch(slot) if !live[slot] && live.iter().filter(|live| **live).count() < 4 => {
                    live[slot] = true;
                    chip.launch(slot, if slot % 2 == 0 { MEMORY } else { COMPUTE });
                }
                Happens::Drains(slot) if live[slot] => chip.end(slot, false),
                Happens::Completes(slot) if live[slot] => {
                    live[slot] = false;
                    chip.end(slot, true);
                }
                _ => drop(chip.step()),
            }
            holds(&chip);
        }
        let (mut windows, mut rests) = (0, 0);
        while rests < 3 && chip.step() {
            holds(&chip);
            windows += u32::from(chip.phase() == PhaseCode::Profile);
            // Trials continue after a rest.
            if chip.phase() == PhaseCode::Steady {
                (windows, rests) = (0, rests + 1);
            }
            prop_assert!(windows <= u32::from(most_windows(sms as u16)), "{} windows on {} SMs", windows, sms);
        }
        let idle = live.iter().all(|live| !live);
        prop_assert_eq!(chip.phase(), if idle { PhaseCode::Idle } else { PhaseCode::Steady });
        holds(&chip);
    }
}

impl Chip {
    /// Returns the raised faults.
    fn block_fault(&mut self) -> u32 {
        use mias_registers::bus::Bus;
        self.block.read32(global::FAULT)
    }
}
