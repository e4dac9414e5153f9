//! Whether a machine can do what policies ask of it: what the firmware would fall back from without anybody being told.

use super::levels::Levels;
use super::options::Options;
use super::policy::Policy;
use mias_hw_model::config::{GpuConfig, Partition};
use mias_registers::PolicyCode;

/// Refuses policies that give every kernel SMs of its own where there are fewer SMs than kernels: the firmware falls back to Left-over.
///
/// # Errors
/// Which policy, what it needs, and what to do.
pub fn check_sms(policies: &[Policy], kernels: usize, gpu: &GpuConfig) -> Result<(), String> {
    let mut configs = policies.iter().filter_map(|policy| if let Policy::Static(config) = policy { Some(config) } else { None });
    configs.try_for_each(|config| config.check(kernels))?;
    let kernels = u32::try_from(kernels).unwrap_or(u32::MAX);
    let had = gpu.sm.count;
    match policies.iter().find(|policy| policy.least_sms(kernels) > had) {
        Some(policy) => Err(format!(
            "{} needs {} SMs for {kernels} kernels, `{}` here has {had}; take fewer kernels, more SMs, or a policy that lets kernels share them",
            policy.name(),
            policy.least_sms(kernels),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Refuses gating that takes longer than SMs have to settle in a step of a search: the firmware leaves SMs empty in its place, which then leak
/// (sources.md D151).
///
/// # Errors
/// Which policy, both times, and what to do.
pub fn check_gating(policies: &[Policy], options: Options, gpu: &GpuConfig) -> Result<(), String> {
    let Some(gating) = &gpu.sm.power_gating else { return Ok(()) };
    let (wake, settles) = (gating.wake_cycles, options.search_cycles);
    match policies.iter().find(|policy| gates(**policy)).filter(|_| wake > settles) {
        Some(policy) => Err(format!(
            "{} gates SMs, which take {wake} cycles to wake (sm.power_gating.wake_cycles of `{}`) and have {settles} to settle in a step; \
             give search-cycles of {wake} or more, or a machine whose SMs wake sooner",
            policy.name(),
            gpu.name
        )),
        None => Ok(()),
    }
}

/// Refuses more SMs than there are.
///
/// # Errors
/// How many there are.
pub fn check_open_sms(sms: u32, gpu: &GpuConfig) -> Result<(), String> {
    let count = gpu.sm.count;
    if sms <= count { Ok(()) } else { Err(format!("{sms} of the {count} SMs of `{}`; give {count} or fewer", gpu.name)) }
}

/// Refuses caches whose ways are divided, but not into one for each of so many kernels at least.
///
/// # Errors
/// Which cache, and what to do.
pub fn check_ways(kernels: usize, gpu: &GpuConfig) -> Result<(), String> {
    let caches = [
        ("l1.partition", "the L1 of an SM", gpu.l1.least_ways(), &gpu.l1.partition),
        ("l2.partition", "a slice of the L2", gpu.l2.ways, &gpu.l2.partition),
    ];
    for (key, cache, ways, partition) in caches {
        let Some(partition) = partition.as_ref().filter(|partition| partition.by != Partition::Shared) else { continue };
        let fixed = if partition.by == Partition::Fixed { &partition.ways[..] } else { &[] };
        // One for each kernel that no number is given for.
        let others = kernels.saturating_sub(fixed.len()) as u64;
        let needed = fixed.iter().map(|&number| u64::from(number)).sum::<u64>() + others;
        if needed > u64::from(ways) {
            return Err(format!(
                "{key}: {cache} of `{}` has {ways} ways, and {kernels} kernels need {needed}, each at least one: divide fewer, share them, or run fewer kernels",
                gpu.name
            ));
        }
    }
    Ok(())
}

/// Refuses keys of the GPU that a policy's mechanism or a level sets itself: one of them would not hold.
///
/// # Errors
/// Which key, what sets it, and what to do.
pub fn check_set_once(policies: &[Policy], levels: Levels, keys: &[String]) -> Result<(), String> {
    let within = |key: &str, table: &str| key.strip_prefix(table).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    for composed in policies.iter().filter_map(|policy| policy.composed()) {
        let sets = composed.sets();
        if let Some(key) = keys.iter().find(|key| sets.iter().any(|set| within(key, set))) {
            let (name, base) = (composed.name, composed.base.name());
            return Err(format!("{name} sets {key} itself, and it is given, too: leave it out, or name {base} instead"));
        }
        if let Some((level, set)) = sets.iter().find_map(|set| Some((levels.setting(set)?, set))) {
            return Err(format!("{} sets {set}, and the level `{level}` sets that, too: leave out the one or the other", composed.name));
        }
    }
    match keys.iter().find_map(|key| Some((levels.setting(key)?, key))) {
        Some((level, key)) => Err(format!("the level `{level}` sets {key} itself, and it is given, too: leave out the one or the other")),
        None => Ok(()),
    }
}

/// Refuses parameters that none of the policies looks at; `given` says which are given.
///
/// # Errors
/// Which parameter, and the policies that do.
pub fn check_used(policies: &[Policy], given: impl Fn(&str) -> bool) -> Result<(), String> {
    // A policy of one's own may do with shares what it likes.
    let deals = |policy: &Policy| matches!(policy.base(), Policy::Spatial | Policy::Custom(_));
    if given("shares") && !policies.iter().any(deals) {
        return Err("`shares` are SMs of each kernel under `spatial`: name that policy, too, or leave them out".into());
    }
    let searches = |policy: &Policy| policy.base().searches() || matches!(policy, Policy::Custom(_));
    if given("search-cycles") && !policies.iter().any(searches) {
        let all: Vec<&str> = Policy::ALL.iter().filter(|policy| policy.searches()).map(|policy| policy.name()).collect();
        return Err(format!("`search-cycles` is for a policy that searches ({}): name one, or leave it out", all.join(", ")));
    }
    Ok(())
}

/// Whether a policy's search may end with SMs without power.
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
        assert!(message.starts_with("spatial needs 3 SMs for 3 kernels, `zhao18` here has 2; take fewer kernels"), "{message}");
    }

    /// A window of as many cycles is enough; one cycle less is not.
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

    /// What a mechanism or a level sets, nobody else may set.
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
        assert!(said.contains("sets sm.memory_issue.order itself, and it is given, too: leave it out, or name mias-ipc instead"), "{said}");
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

    /// Six ways: one for each kernel at least.
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
