//! Results of a search for the number of SMs of each kernel (`mias_policies::search`) as a line;
//! and the power of policies if one stalls or gates SMs.

use super::energy;
use mias_hw_model::config::GpuConfig;
use mias_hw_model::energy::Spent;
use mias_lab::experiment::comparison::PolicyResult;
use mias_lab::experiment::gpu_runner::{Placement, SearchFound};
use mias_lab::table::{self, number, percent};
use serde::Serialize;

/// Power of a policy over its run, in watts.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Power {
    average_watts: f64,
    /// Part of the power from SM leakage, and from SM clocks.
    leakage_watts: f64,
    clock_watts: f64,
}

impl Power {
    fn without_leakage(self) -> f64 {
        self.average_watts - self.leakage_watts
    }
}

/// Returns the power of a policy over its run. `None` if no policy of the comparison stalls or
/// gates an SM, or the GPU has no coefficients.
pub(super) fn watts(results: &[PolicyResult], of: &PolicyResult, gpu: &GpuConfig) -> Option<Power> {
    if !results.iter().any(|result| result.sm_states.is_some()) {
        return None;
    }
    let Spent { total, standing } = of.energy?;
    let watts = |energy| energy::watts(energy, gpu, of.cycles);
    Some(Power { average_watts: watts(total)?, leakage_watts: watts(standing.leakage)?, clock_watts: watts(standing.clocks)? })
}

/// Formats a table of power, and of energy times delay for equal work, both with SM leakage and
/// without. STP is work per time, so the latter is power over its square. Empty where [`watts`] has
/// none.
pub(super) fn power(results: &[PolicyResult], gpu: &GpuConfig) -> String {
    let with = ["policy", "power W", "leakage", "clocks", "energy x delay, W / STP^2"];
    let mut table = table::new(&[&with[..], &["power W without leakage", "W / STP^2 without"]].concat());
    let mut any = false;
    for result in results {
        let Some(power) = watts(results, result, gpu) else { continue };
        table.add_row(std::iter::once(result.policy.name().to_owned()).chain(cells(power, result.metrics.stp)));
        any = true;
    }
    if any { format!("\n{}\n", table::text(&table)) } else { String::new() }
}

/// Returns the cells of a policy.
fn cells(power: Power, stp: Option<f64>) -> [String; 6] {
    let share = |watts: f64| percent((power.average_watts > 0.0).then(|| watts / power.average_watts));
    let delay = |watts: f64| number(stp.filter(|stp| *stp > 0.0).map(|stp| watts / (stp * stp)), 2);
    [
        number(Some(power.average_watts), 2),
        share(power.leakage_watts),
        share(power.clock_watts),
        delay(power.average_watts),
        number(Some(power.without_leakage()), 2),
        delay(power.without_leakage()),
    ]
}

/// Formats the memory-intensive kernels, the SMs for each kernel, and the number of windows.
pub(super) fn line(found: &SearchFound, names: &[&str], placement: &[Placement]) -> String {
    if !found.estimated_progress.is_empty() {
        return slowdowns(found, names, placement);
    }
    if !found.active_warps.is_empty() {
        return limits(found, names);
    }
    let memory: Vec<&str> = names.iter().zip(&found.memory_intensive).filter(|(_, memory)| **memory).map(|(name, _)| *name).collect();
    let memory = if memory.is_empty() { "no kernel is".to_owned() } else { format!("{} {}", memory.join(", "), are(memory.len())) };
    let windows = windows(found);
    if !found.done {
        return format!("search for SMs: {memory} memory-intensive; {windows} so far, incomplete\n");
    }
    if placement.is_empty() {
        return format!("search for SMs: {memory} memory-intensive; after {windows}\n");
    }
    let all: usize = placement.iter().map(|place| place.sms.len()).sum();
    let of_each: Vec<usize> = (0..names.len()).map(|kernel| sms(placement, kernel)).collect();
    if of_each.iter().all(|&sms| sms == all) {
        return format!("search for SMs: {memory} memory-intensive; after {windows}: all kernels on every SM\n");
    }
    let shares: Vec<String> = names.iter().zip(&of_each).map(|(name, sms)| format!("{name} {sms}")).collect();
    if found.windows == 0 {
        return format!("SMs as given: {}\n", shares.join(", "));
    }
    format!("search for SMs: {memory} memory-intensive; after {windows}: SMs of {}\n", shares.join(", "))
}

/// Formats the line of a search for equal slowdowns: the SMs of each kernel, and its slowdown as
/// the firmware estimates it.
fn slowdowns(found: &SearchFound, names: &[&str], placement: &[Placement]) -> String {
    let slowed = |progress: f64| number((progress > 0.0).then(|| 1.0 / progress), 2);
    let of = |(kernel, name): (usize, &&str)| {
        let progress = found.estimated_progress.get(kernel).copied().unwrap_or_default();
        let sms = if found.done { format!(" on {} SMs", sms(placement, kernel)) } else { String::new() };
        format!("{name} {} times as slow as alone{sms}", slowed(progress))
    };
    let kernels: Vec<String> = names.iter().enumerate().map(of).collect();
    let so_far = if found.done { "" } else { " so far, incomplete" };
    format!("search for SMs: {} by its estimate; {}{so_far}\n", kernels.join(", "), windows(found))
}

/// Formats the slowdowns over the whole run, including the search, against the firmware's estimates
/// for its shares. Empty if there is no estimate, the search is unfinished, or a kernel made no
/// progress.
pub(super) fn errors(result: &PolicyResult, names: &[&str]) -> String {
    let Some(found) = result.search.as_ref().filter(|found| found.done && !found.estimated_progress.is_empty()) else {
        return String::new();
    };
    let of = |(name, (estimated, real)): (&&str, (&f64, Option<f64>))| {
        let slowed = |progress: f64| (progress > 0.0).then(|| progress.recip());
        let (estimated, real) = (slowed(*estimated)?, slowed(real?)?);
        Some(format!("{name} {real:.2} (estimated {estimated:.2}, {:+.1} %)", 100.0 * (estimated / real - 1.0)))
    };
    let progress = found.estimated_progress.iter().zip(result.kernels.iter().map(|kernel| kernel.normalized_ipc));
    let kernels: Option<Vec<String>> = names.iter().zip(progress).map(of).collect();
    kernels.map_or_else(String::new, |kernels| {
        format!("{}: times as slow as alone over the whole run, search included: {}\n", result.policy.name(), kernels.join(", "))
    })
}

/// Formats the line of a search that limits active warps: the limit of each kernel per warp
/// scheduler.
fn limits(found: &SearchFound, names: &[&str]) -> String {
    let of = |(name, limit): (&&str, &u32)| match limit {
        0 => format!("{name} any number"),
        limit => format!("{name} {limit}"),
    };
    let kernels: Vec<String> = names.iter().zip(&found.active_warps).map(of).collect();
    let (windows, limits) = (windows(found), kernels.join(", "));
    if found.done {
        format!("search for active warps: after {windows}: per warp scheduler {limits}\n")
    } else {
        format!("search for active warps: {windows} so far, incomplete; now per warp scheduler {limits}\n")
    }
}

fn windows(found: &SearchFound) -> String {
    match found.windows {
        1 => "1 window".to_owned(),
        windows => format!("{windows} windows"),
    }
}

/// Returns the number of SMs that may hold TBs of a kernel.
fn sms(placement: &[Placement], kernel: usize) -> usize {
    placement.iter().filter(|place| place.config.get(kernel).is_some_and(|tbs| *tbs > 0)).map(|place| place.sms.len()).sum()
}

fn are(kernels: usize) -> &'static str {
    if kernels == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 80 W, including 30 W of leakage and 10 W of clocks, for an STP of 2.
    #[test]
    fn power_has_its_shares() {
        let power = Power { average_watts: 80.0, leakage_watts: 30.0, clock_watts: 10.0 };
        assert_eq!(cells(power, Some(2.0)), ["80.00", "37.5 %", "12.5 %", "20.00", "50.00", "12.50"]);
        assert_eq!(cells(power, None)[3], table::DASH);
    }

    #[test]
    fn it_says_who_and_how_many() {
        let found = SearchFound {
            memory_intensive: vec![true, false],
            windows: 5,
            done: true,
            estimated_progress: Vec::new(),
            active_warps: Vec::new(),
        };
        let placement = [
            Placement { sms: vec![0, 2, 4, 6], config: vec![8, 0] },
            Placement { sms: vec![1, 3, 5], config: vec![0, 4] },
            Placement { sms: vec![7], config: vec![0, 0] },
        ];
        let text = line(&found, &["lbm", "merge"], &placement);
        assert_eq!(text, "search for SMs: lbm is memory-intensive; after 5 windows: SMs of lbm 4, merge 3\n");
        let given = SearchFound { memory_intensive: vec![false; 2], windows: 0, ..found.clone() };
        assert_eq!(line(&given, &["lbm", "merge"], &placement), "SMs as given: lbm 4, merge 3\n");
        let shared = [Placement { config: vec![3, 5], sms: (0..7).collect() }];
        assert!(line(&found, &["lbm", "merge"], &shared).ends_with("after 5 windows: all kernels on every SM\n"));
        assert!(line(&found, &["lbm", "merge"], &[]).ends_with("after 5 windows\n"), "one configuration, or none that is in effect");
        let first = SearchFound { memory_intensive: vec![false; 2], windows: 1, done: false, ..found.clone() };
        let text = line(&first, &["lbm", "merge"], &[]);
        assert_eq!(text, "search for SMs: no kernel is memory-intensive; 1 window so far, incomplete\n");
        let limited = SearchFound { active_warps: vec![4, 0], ..found.clone() };
        let text = line(&limited, &["lbm", "merge"], &placement);
        assert_eq!(text, "search for active warps: after 5 windows: per warp scheduler lbm 4, merge any number\n");
        let slowed = SearchFound { estimated_progress: vec![0.5, 0.4], ..found };
        let text = line(&slowed, &["lbm", "merge"], &placement);
        let expected = "lbm 2.00 times as slow as alone on 4 SMs, merge 2.50 times as slow as alone on 3 SMs";
        assert_eq!(text, format!("search for SMs: {expected} by its estimate; 5 windows\n"));
    }
}
