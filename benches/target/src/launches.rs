//! Sets of kernels that are launched together: those of the thesis, and synthetic ones that cause a
//! policy's longest path.

use mias_firmware::resources::{Resources, SmLimits, TbShape};

use crate::block;

const fn shape(threads: u32, thread_registers: u32, shared_bytes: u32) -> TbShape {
    TbShape { threads, thread_registers, shared_bytes }
}

/// Kernels of the thesis that are launched together (demands: sources.md D79).
pub(crate) const SETS: [&[TbShape]; 4] = [
    // mm, fwt.
    &[shape(256, 39, 2048), shape(256, 22, 0)],
    // blk, bopt.
    &[shape(128, 23, 0), shape(128, 32, 516)],
    // blk, bopt, dxtc.
    &[shape(128, 23, 0), shape(128, 32, 516), shape(64, 98, 2048)],
    // blk, bopt, dxtc, mm.
    &[shape(128, 23, 0), shape(128, 32, 516), shape(64, 98, 2048), shape(256, 39, 2048)],
];

/// Kernels, the remaining TBs of each, and their SM.
pub(crate) struct Launches {
    pub(crate) kernels: &'static [TbShape],
    /// Remaining TBs of each kernel.
    pub(crate) tbs: &'static [u32],
    pub(crate) sm: SmLimits,
}

/// More TBs than any SM holds.
const MANY: u32 = 1_000_000;

/// Creates kernels of the thesis with many TBs each, on its GPU.
pub(crate) const fn endless(kernels: &'static [TbShape]) -> Launches {
    Launches { kernels, tbs: &[MANY; 4], sm: block::SM }
}

/// Creates kernels of one warp per TB on an SM with `sm_tbs` TB slots and no other limit. One of
/// them has unlimited TBs and fills the remaining slots. There are therefore as many configurations
/// as placements of the others.
const fn warps(tbs: &'static [u32], sm_tbs: u32) -> Launches {
    let kernels = SETS_OF_WARPS.split_at(tbs.len()).0;
    let capacity = Resources { threads: 32 * sm_tbs, registers: 65_536, shared_bytes: 65_536, tbs: sm_tbs };
    Launches { kernels, tbs, sm: SmLimits { capacity, ..block::SM } }
}

const SETS_OF_WARPS: &[TbShape] = &[shape(32, 16, 0); 4];

/// Returns launches that reach a build's limits, for a GPU with `sms` SMs: two full rounds, and
/// more configurations than can be tried. Two full rounds are twice as many configurations as SMs,
/// which both capacities of the image allow.
pub(crate) const fn extremes(sms: u16) -> [Launches; 2] {
    let full = match sms {
        // 32 configurations.
        16 => warps(&[MANY, 2, 10], 12),
        // 60.
        30 => warps(&[MANY, 1, 4, 6], 8),
        // 160.
        80 => warps(&[MANY, 4, 5, 7], 9),
        // 264.
        _ => warps(&[MANY, 7, 7, 9], 10),
    };
    // 451.
    [full, warps(&[MANY; 4], 12)]
}

/// Launches `kernels` unlimited kernels on an SM with `places` slots for their TBs: that many
/// points each, and one step per slot for Warped-Slicer.
const fn crowd(kernels: usize, places: u32) -> Launches {
    const ALL: &[u32] = &[MANY; 4];
    warps(ALL.split_at(kernels).0, places)
}

/// Launches for Warped-Slicer and its variant: 8, 16, 30 and 32 points of two kernels, 27 of three
/// and 32 of four.
pub(crate) const FEW_POINTS: [Launches; 6] = [crowd(2, 4), crowd(2, 8), crowd(2, 15), crowd(2, 16), crowd(3, 9), crowd(4, 8)];

/// Returns launches for Warped-Slicer of two, three and four kernels with about as many points as
/// can be profiled, and one of many more.
pub(crate) const fn many_points(sms: u16) -> [Launches; 4] {
    // A kernel has at most 64 TBs on an SM (hw-model/src/config/check.rs).
    let [two, three, four] = match sms {
        16 => [16, 10, 8],
        30 => [30, 20, 15],
        80 => [64, 53, 40],
        _ => [64, 64, 64],
    };
    [crowd(2, two), crowd(3, three), crowd(4, four), crowd(4, 64)]
}

/// Launches with the most points of each number of kernels that the boards can time: 128 of two
/// kernels, 60 of three and of four. More points of three and four have more configurations than
/// the boards' clocks can time.
pub(crate) const MANY_WAYS: [Launches; 3] = [crowd(2, 64), crowd(3, 20), crowd(4, 15)];

/// Launches for Warped-Slicer in which every point is a step: the last TBs of kernels, which all
/// fit together.
pub(crate) const ALL_FIT: [Launches; 3] = [warps(&[8, 8], 16), warps(&[9, 9, 8], 26), warps(&[8, 8, 7, 7], 30)];

/// Launches for policies that add TBs one by one: 16 slots, as for kernels of 64 threads on an SM
/// of 1,024.
pub(crate) const PLACES: [Launches; 3] = [crowd(2, 16), crowd(3, 16), crowd(4, 16)];
