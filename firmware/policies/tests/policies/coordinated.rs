//! Coordinated TB combination: each rule of sources.md D54 by hand.

use super::world::{Counts, WINDOW, World, shape};
use mias_registers::{PhaseCode, PolicyCode};

/// SMs of the GPU. Its interconnect moves 10 sectors per cycle, its DRAM 8, of which 6 count.
const SMS: usize = 10;

/// Use of the whole GPU by a kernel with all its TBs, in hundredths: issue slots, sustained
/// interconnect, sustained DRAM.
type Shares = [u32; 3];

/// Returns the counts of one SM.
fn counts([scheduler, interconnect, dram]: Shares) -> Counts {
    let per_sm = |hundredths: u32, tenths: u32| hundredths * WINDOW * tenths / 1000 / SMS as u32;
    Counts {
        // Four schedulers, 32 threads each.
        instructions: [scheduler * WINDOW * 4 / 100 * 32, 0, 0, 0],
        load_requests: per_sm(interconnect, 60),
        l2_accesses: per_sm(dram, 60) + 700,
        l2_hits: 700,
        ..Counts::default()
    }
}

/// Returns the combination of kernels with eight TBs per SM.
fn combined(kernels: &[Shares]) -> Vec<u32> {
    let mut world = World::new(PolicyCode::Coordinated, SMS, &vec![shape(128); kernels.len()], &[]);
    assert!(world.phase() == PhaseCode::Transition && world.is_spatial(), "each kernel on SMs of its own");
    world.profile(|sm, _| {
        let kernel = sm % kernels.len();
        let mut counts = counts(kernels[kernel]);
        counts.instructions.swap(0, kernel);
        counts
    });
    assert_eq!((world.phase(), world.faults()), (PhaseCode::Steady, 0));
    world.shared()
}

/// Much is left of everything: the kernel with the fewest TBs is next, the first of equals.
#[test]
fn where_much_is_left_all_get_as_many() {
    assert_eq!(combined(&[[40, 10, 10], [10, 40, 10]]), [4, 4]);
    assert_eq!(combined(&[[40, 10, 10], [10, 40, 10], [10, 10, 40]]), [3, 3, 2]);
}

/// One kernel issues, the other loads: per TB 0.12 issue slots, and 0.01 issue slots, 0.05
/// interconnect and 0.2 DRAM. Up to 2-2 much is left of all (0.4 of DRAM), and so at 3-2. 3-3 uses
/// 0.6 of DRAM and 0.39 of the issue slots. The critical resource of the first is still used less
/// at 4-3 (0.51): 5-3.
#[test]
fn the_kernel_of_the_less_used_resource_is_next() {
    assert_eq!(combined(&[[96, 0, 0], [8, 40, 160]]), [5, 3]);
    assert_eq!(combined(&[[8, 40, 160], [96, 0, 0]]), [3, 5]);
}

/// Two kernels load 0.25 of DRAM per TB. From 1-1 on half is used, and the kernel with fewer TBs is
/// next. At 2-2 DRAM is exhausted and nothing else is. Neither kernel gets more, although an SM
/// could hold four more TBs.
#[test]
fn a_resource_that_is_used_up_gets_no_more_tbs() {
    assert_eq!(combined(&[[4, 20, 200], [4, 20, 200]]), [2, 2]);
}

/// Two kernels load 0.48 of DRAM per TB, and a third one issues, 0.08 per TB: it gets the rest.
#[test]
fn kernels_of_other_resources_go_on() {
    assert_eq!(combined(&[[4, 20, 384], [4, 20, 384], [64, 0, 0]]), [1, 1, 6]);
}

/// All resources are used alike (within 0.05): the scheduler counts as the least used, and its
/// kernel is next. Per TB 0.15 of one resource and 0.025 of the two others; for the last kernel
/// 0.15 of all three.
#[test]
fn where_all_are_used_alike_the_scheduler_goes_first() {
    // 1-1: 0.175 of two, 0.05 of DRAM; 3-3 of eight: 0.525 of two and 0.15 of DRAM, apart. Third
    // kernel: DRAM. 2-2-2: 0.4 each, low; 3-2-2: low (0.55 of 0.6); 3-3-2: full.
    assert_eq!(combined(&[[120, 20, 20], [20, 120, 20], [20, 20, 120]]), [3, 3, 2]);
    // Twice as much: 1-1-1 uses 0.4 of each, low; 2-1-1: 0.7, 0.45 and 0.45. Then the least used,
    // interconnect, 2-2-1: 0.75, 0.75, 0.5; DRAM: 2-2-2: 0.8 each, alike. The scheduler's kernel is
    // therefore next: 3-2-2, and then the least used again: 3-3-2.
    assert_eq!(combined(&[[240, 40, 40], [40, 240, 40], [40, 40, 240]]), [3, 3, 2]);
}

#[test]
fn kernels_that_do_not_fit_together_get_sms_of_their_own() {
    let mut world = World::new(PolicyCode::Coordinated, SMS, &[shape(1024), shape(1024)], &[]);
    assert!(world.phase() == PhaseCode::Steady && world.is_spatial());
}
