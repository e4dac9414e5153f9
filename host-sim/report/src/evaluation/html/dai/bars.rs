//! Bars of Dai et al. 2018: means by the paper's classes, single groups, single kernels. Means of speedups and slowdowns are geometric, as the
//! paper says of its figure 4; means of rates and shares, some of which are 0, are arithmetic.

use super::super::means::{self, classes, joined, plain};
use super::paper;
use crate::evaluation::figure::{Bar, Cluster, Mark};
use mias_lab::evaluate::memory::KernelMemory;
use mias_lab::evaluate::results::{GroupResult, StudyResult};
use mias_lab::evaluate::statistics::{arithmetic, geometric};
use mias_lab::evaluate::summary::{self, ALL};

/// What a caption says of means.
pub(super) const MEANS: &str = "means are geometric, whiskers are quartiles";

/// The same of rates and shares.
pub(super) const SHARES: &str = "means are arithmetic, whiskers are quartiles";

/// A quantity of which there are means.
#[derive(Clone, Copy)]
pub(super) struct Quantity {
    /// Its name in results.
    pub(super) name: &'static str,
    /// What axes say.
    pub(super) label: &'static str,
    geometric: bool,
}

const fn ratio(name: &'static str, label: &'static str) -> Quantity {
    Quantity { name, label, geometric: true }
}

const fn share(name: &'static str, label: &'static str) -> Quantity {
    Quantity { name, label, geometric: false }
}

pub(super) const SPEEDUP: Quantity = ratio("stp", "weighted speedup");
pub(super) const ANTT: Quantity = ratio("antt", "ANTT");
pub(super) const FAIRNESS: Quantity = ratio("fairness", "fairness");
pub(super) const MISSES: Quantity = share("l1_miss_rate", "L1 miss rate");
pub(super) const FAILS: Quantity = share("fails_per_access", "reservation fails per L1 access");
pub(super) const STALLS: Quantity = share("lsu_stall_share", "LSU stall cycles");
pub(super) const ALU: Quantity = share("alu_utilization", "issue slots used");

impl Quantity {
    /// The mean of values; none of nothing.
    pub(super) fn mean(self, values: &[f64]) -> Option<f64> {
        if self.geometric { geometric(values) } else { arithmetic(values) }
    }
}

/// The mean of a quantity under a policy over the groups of a class.
pub(super) fn mean(study: &StudyResult, class: &str, policy: &str, quantity: Quantity) -> Option<f64> {
    quantity.mean(&summary::values(&study.groups, class, policy, quantity.name))
}

fn bar(study: &StudyResult, class: &str, policy: &str, quantity: Quantity) -> Option<Bar> {
    let values = summary::values(&study.groups, class, policy, quantity.name);
    means::of_mean(quantity.mean(&values), &values)
}

/// Classes with few memory-intensive kernels first, then all groups.
pub(super) fn ordered(study: &StudyResult) -> Vec<&str> {
    let mut classes = classes(study);
    classes.sort_by_key(|class| class.matches('M').count());
    classes.into_iter().chain([ALL]).collect()
}

/// A class as the paper writes it.
pub(super) fn named(class: &str) -> String {
    if class == ALL { "all".to_owned() } else { paper::class(class) }
}

/// Means by class; over all groups, the paper's beside them where it gives one.
pub(super) fn by_class(
    study: &StudyResult,
    policies: &[&'static str],
    quantity: Quantity,
    paper: &dyn Fn(&str) -> Option<f64>,
) -> Vec<Cluster> {
    let of = |class: &str| {
        let said = policies.iter().enumerate().filter(|_| class == ALL);
        Cluster {
            names: vec![named(class), means::count(study, class)],
            bars: policies.iter().map(|policy| bar(study, class, policy, quantity)).collect(),
            marks: said.filter_map(|(at, policy)| Some(Mark::Paper(at, paper(policy)?))).collect(),
            apart: class == ALL,
        }
    };
    ordered(study).into_iter().map(of).collect()
}

/// Weighted speedup of single groups, half-widths where runs ended early.
pub(super) fn of_groups(groups: &[&GroupResult], policies: &[&'static str]) -> Vec<Cluster> {
    let of_group = |group: &&GroupResult| {
        let bar = |policy: &&str| {
            let result = means::of(group, policy)?;
            let half_width = result.half_widths.as_ref().and_then(|half| half.metrics.stp);
            Some(Bar { half_width, ..Bar::new(result.metrics.stp?) })
        };
        Cluster { names: vec![joined(group)], bars: policies.iter().map(bar).collect(), marks: Vec::new(), apart: false }
    };
    groups.iter().map(of_group).collect()
}

/// A quantity of every kernel of some groups: the kernel, beside whom.
pub(super) fn of_kernels(groups: &[&GroupResult], policies: &[&'static str], value: fn(&KernelMemory) -> Option<f64>) -> Vec<Cluster> {
    let kernels = groups.iter().flat_map(|group| (0..group.kernels.len()).map(move |kernel| (*group, kernel)));
    let of_kernel = |(group, kernel): (&GroupResult, usize)| {
        let bar = |policy: &&str| {
            let memory = means::of(group, policy)?.memory.as_ref()?;
            value(memory.kernels.get(kernel)?).map(Bar::new)
        };
        Cluster {
            names: vec![plain(&group.kernels[kernel]).into_owned(), format!("in {}", joined(group))],
            bars: policies.iter().map(bar).collect(),
            marks: Vec::new(),
            apart: false,
        }
    };
    kernels.map(of_kernel).collect()
}
