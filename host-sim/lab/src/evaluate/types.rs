//! Which kernels are memory-intensive, and who tells them: a kernel's type is what its IPC over SMs says (sources.md D147), by a rule that was stated before
//! anything was measured; judged against it are the model of off-SM bandwidth (sources.md D149) and the share of DRAM's bandwidth, with the threshold that is
//! best in hindsight and with one that is found without the kernel that it judges (Zhao et al. 2018, sections 4.1 and 7).

use super::results::{AloneResult, StudyResult};

/// Memory-intensive is what all SMs make less than this times as much as half of them (sources.md D147).
pub const SATURATED_BELOW: f64 = 1.5;

/// The key of the setting that says how many SMs there are.
pub const SMS: &str = "sms";

/// A kernel and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed<'r> {
    /// Alone on all SMs.
    pub alone: &'r AloneResult,
    /// IPC on all SMs over that on half of them.
    pub ratio: f64,
}

impl Typed<'_> {
    /// Whether it is memory-intensive.
    pub fn memory(&self) -> bool {
        self.ratio < SATURATED_BELOW
    }

    fn utilisation(&self) -> Option<f64> {
        self.alone.off_sm?.dram_utilization
    }

    fn demand(&self) -> Option<f64> {
        self.alone.off_sm?.demand_over_supply
    }
}

/// SMs of a setting.
pub fn sms(study: &StudyResult) -> Option<u32> {
    study.setting.iter().find(|(key, _)| key == SMS)?.1.parse().ok()
}

/// The kernels of an experiment that runs them alone on some numbers of SMs, in its order: those that ran on the most, and on half as many.
pub fn measured<'r>(studies: &[&'r StudyResult]) -> Vec<Typed<'r>> {
    let Some(most) = studies.iter().filter_map(|study| sms(study)).max() else { return Vec::new() };
    let on = |count: u32| studies.iter().find(|study| sms(study) == Some(count));
    let (Some(all), Some(half)) = (on(most), on(most / 2)) else { return Vec::new() };
    let typed = |alone: &'r AloneResult| {
        let half = half.kernels.iter().find(|kernel| kernel.name == alone.name && kernel.ipc > 0.0)?;
        Some(Typed { alone, ratio: alone.ipc / half.ipc })
    };
    all.kernels.iter().filter_map(typed).collect()
}

/// How often a classifier is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its name.
    pub classifier: &'static str,
    /// Its threshold, if it has one for all kernels.
    pub threshold: Option<f64>,
    /// Kernels, by measured type (compute-intensive first) and by what it calls them.
    pub confusion: [[usize; 2]; 2],
}

impl Judged {
    fn of(classifier: &'static str, threshold: Option<f64>, told: &[(bool, bool)]) -> Self {
        let mut confusion = [[0; 2]; 2];
        told.iter().for_each(|&(measured, called)| confusion[usize::from(measured)][usize::from(called)] += 1);
        Judged { classifier, threshold, confusion }
    }

    /// Kernels whose type it says.
    pub fn right(&self) -> usize {
        self.confusion[0][0] + self.confusion[1][1]
    }

    /// Kernels.
    pub fn kernels(&self) -> usize {
        self.confusion.iter().flatten().sum()
    }

    /// Pairs, and those of which it has a kernel wrong.
    pub fn pairs(&self) -> (usize, usize) {
        let pairs = |of: usize| of * of.saturating_sub(1) / 2;
        (pairs(self.kernels()), pairs(self.kernels()) - pairs(self.right()))
    }
}

/// The classifiers against the kernels' measured types; those of which no counter is known are left out.
pub fn judge(kernels: &[Typed<'_>]) -> Vec<Judged> {
    let by = |called: &dyn Fn(&Typed<'_>) -> Option<bool>| -> Vec<(bool, bool)> {
        kernels.iter().filter_map(|kernel| Some((kernel.memory(), called(kernel)?))).collect()
    };
    let model = |least: f64| by(&|kernel| Some(kernel.demand()? > least));
    let known: Vec<(f64, bool)> = kernels.iter().filter_map(|kernel| Some((kernel.utilisation()?, kernel.memory()))).collect();
    let mut judged = vec![
        Judged::of("off-SM bandwidth, all SMs", None, &model(1.0)),
        // With half of the SMs half as much is asked for.
        Judged::of("off-SM bandwidth, half of the SMs", None, &model(2.0)),
    ];
    if let Some(best) = threshold(&known) {
        let hindsight: Vec<(bool, bool)> = known.iter().map(|&(share, memory)| (memory, share > best)).collect();
        judged.push(Judged::of("DRAM utilisation, best in hindsight", Some(best), &hindsight));
    }
    let without = |at: usize| {
        let others: Vec<(f64, bool)> = known.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, kernel)| *kernel).collect();
        Some((known[at].1, known[at].0 > threshold(&others)?))
    };
    let each: Vec<(bool, bool)> = (0..known.len()).filter_map(without).collect();
    judged.push(Judged::of("DRAM utilisation, threshold of the other kernels", None, &each));
    judged.retain(|judged| judged.kernels() > 0);
    judged
}

/// The threshold above which most kernels are memory-intensive and below which most are not: halfway between two kernels, the lowest of several as
/// good; none of no kernel.
fn threshold(kernels: &[(f64, bool)]) -> Option<f64> {
    let mut shares: Vec<f64> = kernels.iter().map(|kernel| kernel.0).collect();
    shares.sort_by(f64::total_cmp);
    let between = shares.windows(2).map(|two| f64::midpoint(two[0], two[1]));
    let all = std::iter::once(0.0).chain(between).chain(shares.last().copied());
    let right = |threshold: f64| kernels.iter().filter(|&&(share, memory)| (share > threshold) == memory).count();
    all.map(|threshold| (right(threshold), threshold))
        .fold(None, |best: Option<(usize, f64)>, one| match best {
            Some(best) if best.0 >= one.0 => Some(best),
            _ => Some(one),
        })
        .map(|best| best.1)
}

#[cfg(test)]
mod tests;
