//! Checks that a GPU supports the requested policies. Otherwise the firmware would fall back
//! silently.

use super::levels::Levels;
use super::options::Options;
use super::policy::Policy;
use mias_hw_model::config::{GpuConfig, Partition};
use mias_registers::PolicyCode;

/// Rejects policies that give every kernel its own SMs if there are fewer SMs than kernels: the
/// firmware falls back to Left-over.
///
/// # Errors
/// The policy, its requirement and the remedy.
pub fn check_sms(policies: &[Policy], kernels: usize, gpu: &GpuConfig) -> Result<(), String> {
    let mut configs = policies.iter().filter_map(|policy| if let Policy::Static(config) = policy { Some(config) } else { None });
    configs.try_for_each(|config| config.check(kernels))?;
    let kernels = u32::try_from(kernels).unwrap_or(u32::MAX);
    let had = gpu.sm.count;
    match policies.iter().find(|policy| policy.least_sms(kernels) > had) {
        Some(policy) => Err(format!(
            "{} needs {} SMs for {kernels} kernels, `{}` has {had}; use fewer kernels, more SMs, or a policy that shares SMs",
            policy.name(),
            policy.least_sms(kernels),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Rejects power gating that takes longer than SMs have to settle in a step of a search. The
/// firmware would leave SMs empty instead, which then leak (sources.md D151).
///
/// # Errors
/// The policy, both times and the remedy.
pub fn check_gating(policies: &[Policy], options: Options, gpu: &GpuConfig) -> Result<(), String> {
    let Some(gating) = &gpu.sm.power_gating else { return Ok(()) };
    let (wake, settles) = (gating.wake_cycles, options.search_cycles);
    match policies.iter().find(|policy| gates(**policy)).filter(|_| wake > settles) {
        Some(policy) => Err(format!(
            "{} gates SMs, which take {wake} cycles to wake (sm.power_gating.wake_cycles of `{}`) and have {settles} to settle in a step; \
             set search-cycles to {wake} or more, or use a GPU with a shorter wake time",
            policy.name(),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Rejects more SMs than the GPU has.
///
/// # Errors
/// The number of SMs.
pub fn check_open_sms(sms: u32, gpu: &GpuConfig) -> Result<(), String> {
    let count = gpu.sm.count;
    if sms <= count { Ok(()) } else { Err(format!("{sms} exceeds the {count} SMs of `{}`; use {count} or fewer", gpu.name)) }
}

/// Rejects partitioned caches with fewer ways than kernels.
///
/// # Errors
/// The cache and the remedy.
pub fn check_ways(kernels: usize, gpu: &GpuConfig) -> Result<(), String> {
    let caches = [
        ("l1.partition", "the L1 of an SM", gpu.l1.least_ways(), &gpu.l1.partition),
        ("l2.partition", "a slice of the L2", gpu.l2.ways, &gpu.l2.partition),
    ];
    for (key, cache, ways, partition) in caches {
        let Some(partition) = partition.as_ref().filter(|partition| partition.by != Partition::Shared) else { continue };
        let fixed = if partition.by == Partition::Fixed { &partition.ways[..] } else { &[] };
        // One way for each kernel without a given number.
        let others = kernels.saturating_sub(fixed.len()) as u64;
        let needed = fixed.iter().map(|&number| u64::from(number)).sum::<u64>() + others;
        if needed > u64::from(ways) {
            return Err(format!(
                "{key}: {cache} of `{}` has {ways} ways, and {kernels} kernels need {needed}, at least one each: divide fewer, share them, or run fewer kernels",
                gpu.name
            ));
        }
    }
    Ok(())
}

/// Rejects keys of the GPU that a policy's mechanism or a level also sets: one of the two values
/// would be lost.
///
/// # Errors
/// The key, its other source and the remedy.
pub fn check_set_once(policies: &[Policy], levels: Levels, keys: &[String]) -> Result<(), String> {
    let within = |key: &str, table: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    for composed in policies.iter().filter_map(|policy| policy.composed()) {
        let sets = composed.sets();
        if let Some(key) = keys.iter().find(|key| sets.iter().any(|set| within(key, set))) {
            let (name, base) = (composed.name, composed.base.name());
            return Err(format!("{key} conflicts with {name}, which already sets it: leave it out, or use {base}"));
        }
        if let Some((level, set)) = sets.iter().find_map(|set| Some((levels.setting(set)?, set))) {
            return Err(format!("{} conflicts with level `{level}`: both set {set}; leave one out", composed.name));
        }
    }
    match keys.iter().find_map(|key| Some((levels.setting(key)?, key))) {
        Some((level, key)) => Err(format!("{key} conflicts with level `{level}`, which already sets it: leave one out")),
        None => Ok(()),
    }
}

/// Rejects parameters that none of the policies uses; `given` tells which are given.
///
/// # Errors
/// The parameter, and the policies that use it.
pub fn check_used(policies: &[Policy], given: impl Fn(&str) -> bool) -> Result<(), String> {
    // A custom policy may use shares.
    let deals = |policy: &Policy| matches!(policy.base(), Policy::Spatial | Policy::Custom(_));
    if given("shares") && !policies.iter().any(deals) {
        return Err("`shares` needs policy `spatial`: add that policy, or leave `shares` out".into());
    }
    let searches = |policy: &Policy| policy.base().searches() || matches!(policy, Policy::Custom(_));
    if given("search-cycles") && !policies.iter().any(searches) {
        let all: Vec<&str> = Policy::ALL.iter().filter(|policy| policy.searches()).map(|policy| policy.name()).collect();
        return Err(format!("`search-cycles` needs a policy that searches ({}): add one, or leave it out", all.join(", ")));
    }
    Ok(())
}

/// Returns whether a policy's search may power-gate SMs.
fn gates(policy: Policy) -> bool {
    matches!(
        policy.in_firmware().map(|named| named.code),
        Some(PolicyCode::CdSearch | PolicyCode::CdSearchPower | PolicyCode::CdSearchMaestro)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gpu_runner::End;

    #[test]
    fn every_kernel_needs_an_sm_where_none_is_shared() {
        let mut gpu = crate::gpus::load("zhao18").unwrap();
        gpu.sm.count = 2;
        let all = [Policy::LeftOver, Policy::MiasIpc, Policy::Spatial, Policy::CdSearch];
        assert_eq!(check_sms(&all, 2, &gpu), Ok(()));
        assert_eq!(check_sms(&all[..2], 3, &gpu), Ok(()));
        let message = check_sms(&all, 3, &gpu).unwrap_err();
        assert!(message.starts_with("spatial needs 3 SMs for 3 kernels, `zhao18` has 2; use fewer kernels"), "{message}");
    }

    /// A window equal to the wake-up time suffices; one cycle less does not.
    #[test]
    fn sms_wake_while_a_step_settles() {
        let gpu = crate::gpus::load("zhao18").unwrap();
        let wake = gpu.sm.power_gating.as_ref().unwrap().wake_cycles;
        let settling = |search_cycles| Options { search_cycles, ..Options::new(End::Cycles(1)) };
        assert_eq!(check_gating(&[Policy::CdSearch], settling(wake), &gpu), Ok(()));
        let message = check_gating(&[Policy::Spatial, Policy::CdSearchPower], settling(wake - 1), &gpu).unwrap_err();
        assert!(message.starts_with("cd-search+power gates SMs, which take 1000 cycles to wake"), "{message}");
        assert_eq!(check_gating(&[Policy::FairShare, Policy::CdSearchPerformance], settling(1), &gpu), Ok(()));
    }

    fn policy(name: &str) -> Policy {
        crate::experiment::policies::Policies::default().find(name).unwrap()
    }

    /// A key that a mechanism or a level sets cannot be set elsewhere.
    #[test]
    fn a_key_is_set_once() {
        use Levels::{Requests, Warps, WarpsRequests};
        for (name, levels, key, fits) in [
            ("mias-ipc", Levels::None, "sm.memory_issue.order", true),
            ("mias-ipc+qbmi", Levels::None, "sm.memory_issue.order", false),
            ("mias-ipc+qbmi", Levels::None, "sm.memory_issue.in_flight", true),
            ("mias-ipc+warp-quota", Levels::None, "sm.memory_issue.warp_quota.0", false),
            ("mias-ipc+l1-ucp", Levels::None, "l1.partition.by", false),
            ("mias-ipc+l1-ucp", Levels::None, "l2.partition.by", true),
            ("mias-ipc", Warps, "sm.memory_issue.in_flight", false),
            ("mias-ipc", Warps, "dram.scheduler.by", true),
            ("mias-ipc", WarpsRequests, "dram.scheduler.by", false),
            ("mias-ipc", Requests, "sm.memory_issue.in_flight", true),
            ("mias-ipc+qbmi", Warps, "l1.mshrs", false),
            ("mias-ipc+qbmi", Requests, "l1.mshrs", true),
        ] {
            assert_eq!(check_set_once(&[policy(name)], levels, &[key.to_owned()]).is_ok(), fits, "{name} {levels:?} {key}");
        }
        let said = check_set_once(&[policy("mias-ipc+qbmi")], Levels::None, &["sm.memory_issue.order".to_owned()]).unwrap_err();
        assert!(said.contains("which already sets it: leave it out, or use mias-ipc"), "{said}");
    }

    #[test]
    fn parameters_are_for_policies_that_look_at_them() {
        for (name, shares, search) in [
            ("spatial", true, false),
            ("smk", false, false),
            ("cd-search", false, true),
            ("mias-trial", false, true),
            ("mias-ipc", false, false),
        ] {
            let policies = [policy(name)];
            assert_eq!(check_used(&policies, |key| key == "shares").is_ok(), shares, "{name}");
            assert_eq!(check_used(&policies, |key| key == "search-cycles").is_ok(), search, "{name}");
            assert_eq!(check_used(&policies, |_| false), Ok(()));
        }
    }

    /// Six ways suffice for six kernels.
    #[test]
    fn every_kernel_needs_a_way_where_they_are_divided() {
        use mias_hw_model::config::PartitionConfig;
        let mut gpu = crate::gpus::load("dai18").unwrap();
        let mut fits = |by, ways: &[u32], kernels| {
            gpu.l1.partition = Some(PartitionConfig { by, ways: ways.to_vec(), ..PartitionConfig::default() });
            check_ways(kernels, &gpu)
        };
        assert_eq!(fits(Partition::Fixed, &[4, 2], 2), Ok(()));
        assert_eq!(fits(Partition::Fixed, &[4, 1], 3), Ok(()));
        assert!(fits(Partition::Fixed, &[4, 2], 3).unwrap_err().contains("has 6 ways, and 3 kernels need 7"));
        assert_eq!(fits(Partition::Ucp, &[], 6), Ok(()));
        assert!(fits(Partition::Ucp, &[], 7).unwrap_err().contains("share them, or run fewer kernels"));
        assert_eq!(fits(Partition::Shared, &[], 7), Ok(()));
    }
}
