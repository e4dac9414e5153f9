//! From the interrupt to the commit of the quotas, by every policy that profiles: in time and late, on its longest ways.

use mias_firmware::regs::PolicyCode;
use semihosting::println;

use crate::block::Counts;
use crate::launches::{ALL_FIT, FEW_POINTS, Launches, MANY_WAYS, PLACES, SETS, endless, extremes, many_points};
use crate::measure::MIAS;
use crate::scenario::{Way, schedule};

/// MIAS with the kernels alone beside the configurations.
const WITH_ALONE: [(&str, PolicyCode); 4] = [
    ("mias-stp", PolicyCode::MiasStp),
    ("mias-guard", PolicyCode::MiasGuard),
    ("mias-roofline", PolicyCode::MiasRoofline),
    ("mias-roofline-stp", PolicyCode::MiasRooflineStp),
];
/// Policies that add TBs one by one.
const ONE_BY_ONE: [(&str, PolicyCode); 2] = [("coordinated", PolicyCode::Coordinated), ("maestro", PolicyCode::Maestro)];
const WATER_FILL: (&str, PolicyCode) = ("warped-slicer", PolicyCode::WarpedSlicer);
/// The same where all points fit together, which the page has apart.
const CLIMB: (&str, PolicyCode) = ("warped-slicer-all-fit", PolicyCode::WarpedSlicer);
const LARGEST_SUM: (&str, PolicyCode) = ("warped-slicer-sum", PolicyCode::WarpedSlicerSum);

const IN_TIME: Way = Way { drained: true, ..Way::USUAL };
const LATE: Way = Way { late: true, ..IN_TIME };
/// The two, with the best at the end and in the middle.
const RANKED: [Way; 4] = [IN_TIME, LATE, Way { counts: Counts::Peaked, ..IN_TIME }, Way { counts: Counts::Peaked, ..LATE }];
/// Ways on which a policy that measures kernels alone gives them SMs of their own.
const APART: [Way; 3] = [Way { loses: true, ..IN_TIME }, Way { loses: true, ..LATE }, Way { lost: true, ..LATE }];
const BY_TBS: [Way; 4] = [
    Way { counts: Counts::ByTbs, ..IN_TIME },
    Way { counts: Counts::ByTbs, ..LATE },
    Way { counts: Counts::ByTbs, loses: true, ..IN_TIME },
    Way { counts: Counts::ByTbs, loses: true, ..LATE },
];

/// Prints all of it for a machine with so many SMs; returns the deepest stack.
pub(crate) fn measure(sms: u16) -> u32 {
    let mut deepest = 0;
    let mut all = |policies: &[(&str, PolicyCode)], launches: &[Launches], ways: &[Way]| {
        for launches in launches {
            for (policy, way) in policies.iter().flat_map(|policy| ways.iter().map(move |way| (policy, way))) {
                deepest = deepest.max(commits(sms, launches, *policy, *way));
            }
        }
    };
    let (sets, extremes) = (SETS.map(endless), extremes(sms));
    for launches in [&sets[..], &extremes] {
        all(&MIAS, launches, &RANKED);
        all(&WITH_ALONE, launches, &RANKED);
        all(&WITH_ALONE, launches, &APART);
    }
    for launches in [&sets[..], &PLACES] {
        all(&ONE_BY_ONE, launches, &RANKED[..2]);
        all(&ONE_BY_ONE, launches, &APART);
    }
    for launches in [&sets[..], &extremes, &FEW_POINTS] {
        all(&[WATER_FILL, LARGEST_SUM], launches, &BY_TBS);
    }
    all(&[WATER_FILL], &many_points(sms), &BY_TBS);
    all(&[LARGEST_SUM], &MANY_WAYS, &BY_TBS);
    all(&[CLIMB], &ALL_FIT, &BY_TBS[..1]);
    deepest
}

fn commits(sms: u16, launches: &Launches, (name, policy): (&str, PolicyCode), way: Way) -> u32 {
    let costs = schedule(policy, sms, launches, way);
    let kernels = launches.kernels.len();
    let [first, second] = costs.rounds;
    // The first of two rounds ends with the second one's configurations, of so many; a policy may count none.
    let generated = if second.configs == 0 { 0 } else { costs.total.max(1) };
    let (late, peaked) = (u8::from(way.late), way.counts == Counts::Peaked);
    if !peaked || generated != 0 {
        println!("commit {sms} {kernels} {name} {late} {} {generated} {}", first.configs, first.to_commit);
    }
    if !peaked && second.configs != 0 {
        let scored = first.configs + second.configs;
        println!("commit {sms} {kernels} {name} {late} {scored} 0 {}", second.to_commit);
    }
    costs.stack
}
