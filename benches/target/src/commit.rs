//! Counts the instructions from the interrupt to the commit of the quotas, for every profiling
//! policy on its longest paths: with all windows in time, and with some late ones.

use mias_policies::policy::Charged;
use mias_registers::PolicyCode;
use semihosting::println;

use crate::block::Counts;
use crate::launches::{ALL_FIT, FEW_POINTS, Launches, MANY_WAYS, PLACES, SETS, endless, extremes, many_points};
use crate::measure::{counted, metrics};
use crate::scenario::{Way, schedule};

/// Water-filling if all points fit together, which the page lists separately.
const CLIMB: (&str, PolicyCode) = ("warped-slicer-all-fit", PolicyCode::WarpedSlicer);

const IN_TIME: Way = Way { drained: true, ..Way::USUAL };
const LATE: Way = Way { late: true, ..IN_TIME };
/// Ways in time and late, with the best configuration at the end, in the middle and, in a first
/// round, at the beginning.
const RANKED: [Way; 6] = [
    IN_TIME,
    LATE,
    Way { counts: Counts::Peaked, ..IN_TIME },
    Way { counts: Counts::Peaked, ..LATE },
    Way { counts: Counts::Turning, ..IN_TIME },
    Way { counts: Counts::Turning, ..LATE },
];
/// Ways on which a policy with isolated measurements gives kernels SMs of their own.
const APART: [Way; 3] = [Way { loses: true, ..IN_TIME }, Way { loses: true, ..LATE }, Way { lost: true, ..LATE }];
const BY_TBS: [Way; 4] = [
    Way { counts: Counts::ByTbs, ..IN_TIME },
    Way { counts: Counts::ByTbs, ..LATE },
    Way { counts: Counts::ByTbs, loses: true, ..IN_TIME },
    Way { counts: Counts::ByTbs, loses: true, ..LATE },
];

/// Prints all measurements for a GPU with `sms` SMs; returns the deepest stack.
pub(crate) fn measure(sms: u16) -> u32 {
    let mut deepest = 0;
    let mut all = |policies: &mut dyn Iterator<Item = (&'static str, PolicyCode)>, launches: &[Launches], ways: &[Way]| {
        for policy in policies {
            for (launches, way) in launches.iter().flat_map(|launches| ways.iter().map(move |way| (launches, way))) {
                deepest = deepest.max(commits(sms, launches, policy, *way));
            }
        }
    };
    let (sets, extremes) = (SETS.map(endless), extremes(sms));
    for launches in [&sets[..], &extremes] {
        all(&mut metrics(), launches, &RANKED);
        all(&mut counted(Charged::WithAlone), launches, &RANKED);
        all(&mut counted(Charged::WithAlone), launches, &APART);
    }
    for launches in [&sets[..], &PLACES] {
        all(&mut counted(Charged::OneByOne), launches, &RANKED[..2]);
        all(&mut counted(Charged::OneByOne), launches, &APART);
    }
    for launches in [&sets[..], &extremes, &FEW_POINTS] {
        all(&mut counted(Charged::WaterFill), launches, &BY_TBS);
        all(&mut counted(Charged::Sum), launches, &BY_TBS);
    }
    all(&mut counted(Charged::WaterFill), &many_points(sms), &BY_TBS);
    all(&mut counted(Charged::Sum), &MANY_WAYS, &BY_TBS);
    all(&mut [CLIMB].into_iter(), &ALL_FIT, &BY_TBS[..1]);
    deepest
}

fn commits(sms: u16, launches: &Launches, (name, policy): (&str, PolicyCode), way: Way) -> u32 {
    let costs = schedule(policy, sms, launches, way);
    let kernels = launches.kernels.len();
    let (late, peaked) = (u8::from(way.late), way.counts == Counts::Peaked);
    let mut scored = 0;
    for (number, round) in costs.rounds.iter().enumerate().take_while(|(_, round)| round.configs != 0) {
        scored += round.configs;
        // All rounds but the last end with the configurations of another round; a policy may count
        // none.
        let goes_on = costs.rounds.get(number + 1).is_some_and(|next| next.configs != 0);
        let generated = if goes_on { costs.total.max(1) } else { 0 };
        if !peaked || generated != 0 {
            println!("commit {sms} {kernels} {name} {late} {scored} {generated} {}", round.to_commit);
        }
    }
    costs.stack
}
