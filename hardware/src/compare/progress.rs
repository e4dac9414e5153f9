//! Progress and metrics of a set's configurations, and their maximality.

use super::choice;
use super::measured::{Measured, Set};
use super::metrics::{self, best, regret, stp};
use super::tables::configuration;
use crate::fit::{self, Need};

/// Warp instructions of a TB in PTX, as the model counts them: `mias run KERNEL --until done`,
/// instructions over TBs, at the measured inputs. Exceptions are `mm` at 320, `fwt` at 16,384,
/// `blk` at 4,096, `bopt` at 2 and `bfs` at 262,144, whose TBs do the same (`bfs`: nearly), and
/// `nbdy` as 320 + 121.65625 per body, from systems of 512 and 1,024. Only S and IPC depend on
/// them.
const WARP_INSTRUCTIONS: [(&str, f64); 7] = [
    ("mm", 9736.0),
    ("fwt", 336.0),
    ("nbdy", 3_737_600.0),
    ("blk", 552.0),
    ("bopt", 222_798.0),
    ("bfs", 1551.84375),
    ("dxtc", 11_787.648_75),
];

/// Returns the warp instructions of a TB of a kernel, if they are known.
pub fn warp_instructions(kernel: &str) -> Option<f64> {
    WARP_INSTRUCTIONS.iter().find(|(known, _)| *known == kernel).map(|(_, count)| *count)
}

/// Denominator of the kernels' progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// Largest isolated rate, at any number of TBs per SM.
    Best,
    /// Isolated rate with as many TBs per SM as fit (the thesis').
    Full,
}

/// Progress of a set in its configurations.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Names of the kernels.
    pub kernels: Vec<String>,
    /// Demand of their TBs.
    pub needs: Vec<Need>,
    /// Configurations, in lexicographic order.
    pub configurations: Vec<Vec<u32>>,
    /// Shared rate over isolated rate of each kernel.
    pub progress: Vec<Vec<f64>>,
    /// STP of each configuration.
    pub stp: Vec<f64>,
    /// Speedup S of each configuration; none if a kernel's instructions are not known.
    pub s: Option<Vec<f64>>,
    /// Indices of the maximal configurations.
    pub maximal: Vec<usize>,
}

impl Progress {
    /// Computes the progress of a measured set.
    pub fn of(measured: &Measured, set: &Set, base: Base) -> Self {
        let alone = |kernel: &String| match base {
            Base::Best => measured.alone[kernel].best(),
            Base::Full => measured.alone[kernel].full(),
        };
        let alone: Vec<f64> = set.kernels.iter().map(alone).collect();
        let needs = measured.needs_of(&set.kernels);
        let (configurations, rates): (Vec<_>, Vec<_>) = set.configurations.iter().map(|(a, b)| (a.clone(), b.clone())).unzip();
        let progress: Vec<Vec<f64>> =
            rates.iter().map(|rates| rates.iter().zip(&alone).map(|(rate, alone)| rate / alone).collect()).collect();
        let ipc = |(kernel, alone): (&String, &f64)| warp_instructions(kernel).map(|count| count * alone);
        let ipc: Option<Vec<f64>> = set.kernels.iter().zip(&alone).map(ipc).collect();
        let full = fit::configurations(&needs, fit::Which::Maximal);
        Progress {
            kernels: set.kernels.clone(),
            maximal: (0..configurations.len()).filter(|&place| full.contains(&configurations[place])).collect(),
            stp: progress.iter().map(|progress| stp(progress)).collect(),
            s: ipc.map(|ipc| progress.iter().map(|progress| metrics::speedup(progress, &ipc)).collect()),
            needs,
            configurations,
            progress,
        }
    }

    /// Returns the STP of the maximal configurations, in their order.
    pub fn maximal_stp(&self) -> Vec<f64> {
        self.maximal.iter().map(|&place| self.stp[place]).collect()
    }

    /// Returns the loss of a configuration relative to the best of all.
    pub fn loss(&self, place: usize) -> f64 {
        regret(self.stp[place], &self.stp)
    }

    /// Returns a kernel's rate in a configuration over its isolated rate with as many TBs per SM.
    pub fn kept(&self, measured: &Measured, place: usize, kernel: usize) -> f64 {
        let alone = &measured.alone[&self.kernels[kernel]];
        let rate = alone.rates.get((self.configurations[place][kernel] as usize).wrapping_sub(1)).copied();
        rate.map_or(f64::NAN, |rate| self.progress[place][kernel] * alone.best() / rate)
    }

    /// Returns the indices of the best configurations: by STP of all, by STP of the maximal ones,
    /// and by S.
    pub fn bests(&self) -> [Option<usize>; 3] {
        let maximal = best(&self.maximal_stp()).map(|place| self.maximal[place]);
        [best(&self.stp), maximal, self.s.as_ref().and_then(|s| best(s))]
    }

    /// Returns whether some maximal configuration has a larger STP than the first and the last of
    /// them, which only pairs can have.
    pub fn interior(&self) -> bool {
        let stp = self.maximal_stp();
        best(&stp).is_some_and(|best| best > 0 && best + 1 < stp.len())
    }

    /// Returns the indices of SMK-P's configuration, of the middle one of the maximal, and of the
    /// one of these that is even by threads.
    pub fn unmeasured_choices(&self) -> [Option<usize>; 3] {
        let smk = choice::smk(&self.needs).and_then(|counts| self.configurations.iter().position(|one| *one == counts));
        let maximal: Vec<&Vec<u32>> = self.maximal.iter().map(|&place| &self.configurations[place]).collect();
        [
            smk,
            choice::middle(maximal.len()).map(|place| self.maximal[place]),
            choice::even(&self.needs, &maximal).map(|place| self.maximal[place]),
        ]
    }

    /// Returns the text of a configuration.
    pub fn name(&self, place: usize) -> String {
        configuration(&self.configurations[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::measured::Alone;
    use std::collections::BTreeMap;

    /// Two kernels of 512 threads: four TBs of either, and an isolated rate of 100 with 3 TBs per
    /// SM, 80 with 4.
    #[test]
    fn progress_is_over_the_best_alone_or_the_full_sm() {
        let alone = Alone { rates: vec![50.0, 70.0, 100.0, 80.0] };
        let need = Need { threads: 512, registers: 32, shared: 0 };
        let named = |name: &str| name.to_owned();
        let measured = Measured {
            alone: ["a", "b"].map(|name| (named(name), alone.clone())).into(),
            needs: ["a", "b"].map(|name| (named(name), need)).into(),
            ..Measured::default()
        };
        let rates = [([1, 1], [40.0, 40.0]), ([1, 3], [20.0, 90.0]), ([2, 2], [60.0, 60.0]), ([3, 1], [90.0, 10.0])];
        let configurations: BTreeMap<_, _> = rates.map(|(counts, rates)| (counts.to_vec(), rates.to_vec())).into();
        let set = Set { kernels: vec![named("a"), named("b")], configurations, ..Set::default() };
        let progress = Progress::of(&measured, &set, Base::Best);
        assert_eq!(progress.maximal, [1, 2, 3]);
        assert!(progress.stp.iter().zip([0.8, 1.1, 1.2, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12) && progress.s.is_none());
        assert_eq!((progress.bests(), progress.interior()), ([Some(2), Some(2), None], true));
        assert_eq!(progress.unmeasured_choices(), [Some(2); 3]);
        assert_eq!((progress.loss(2), progress.name(2)), (0.0, "2-2".to_owned()));
        assert!((progress.loss(3) - (1.0 - 1.0 / 1.2)).abs() < 1e-12);
        assert_eq!(Progress::of(&measured, &set, Base::Full).progress[1], [0.25, 1.125]);
    }
}
