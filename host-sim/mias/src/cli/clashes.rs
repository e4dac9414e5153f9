//! Options that do not go with a policy or a level: what a preset or the firmware sets, an option may not set, too, shares are for who deals SMs out, and
//! steps for who searches.

use super::CliError;
use super::args::CommonArgs;
use mias_lab::choice::Choice;
use mias_lab::experiment::policy::Policy;

/// Refuses options that say what one of the policies or a level says itself, and shares and steps that no policy looks at.
pub(super) fn check(policies: &[Policy], common: &CommonArgs) -> Result<(), CliError> {
    let issue = &common.memory_issue;
    let given = [
        ("sm.memory_issue.order", "memory-issue", issue.memory_issue.is_some()),
        ("sm.memory_issue.in_flight", "in-flight", issue.in_flight.is_some()),
        ("sm.memory_issue.warp_quota", "warp-quota", !issue.warp_quota.is_empty()),
        ("l1.partition.by", "l1-ways", common.partition.l1_ways_given()),
        ("l1.miss_resources.by", "miss-resources", common.partition.miss_resources_given()),
    ];
    for preset in policies.iter().filter_map(|policy| policy.preset()) {
        let sets = preset.sets();
        if let Some((_, option, _)) = given.iter().find(|(key, _, given)| *given && sets.iter().any(|set| set == key)) {
            let (name, places) = (preset.name, preset.places.name());
            return Err(CliError::User(format!(
                "`--{option}`: the policy `{name}` says that itself: leave the option out, or give it with `{places}`"
            )));
        }
        if common.levels.warps() && sets.iter().any(|set| set.starts_with("sm.memory_issue.")) {
            return Err(CliError::User(format!(
                "`--levels {}`: the firmware sets how memory instructions are held back, and the policy `{}` says that itself: give the level with `{}`",
                common.levels.name(),
                preset.name,
                preset.places.name()
            )));
        }
    }
    let set_by_level = [
        (common.levels.warps(), issue.memory_issue.is_some(), "memory-issue", "how memory instructions are held back"),
        (common.levels.warps(), issue.in_flight.is_some(), "in-flight", "how memory instructions are held back"),
        (common.levels.requests(), common.dram.order_given(), "dram-scheduler", "the order of DRAM requests"),
    ];
    if let Some((.., option, what)) = set_by_level.iter().find(|(level, given, ..)| *level && *given) {
        let levels = common.levels.name();
        return Err(CliError::User(format!(
            "`--{option}`: with `--levels {levels}` the firmware sets {what}: leave the option out, or the level"
        )));
    }
    // A policy of one's own may do with shares what it likes.
    let deals = |policy: &Policy| {
        let places = policy.preset().map_or(*policy, |preset| preset.places);
        matches!(places, Policy::Spatial | Policy::Own(_))
    };
    if common.shares.is_some() && !policies.iter().any(deals) {
        return Err(CliError::User(
            "`--shares` are SMs of each kernel under `spatial`: add it with --policy, or leave --shares out".into(),
        ));
    }
    let searches = |policy: &Policy| policy.places().searches() || matches!(policy, Policy::Own(_));
    if common.search_cycles.is_some() && !policies.iter().any(searches) {
        let all: Vec<&str> = Policy::ALL.iter().filter(|policy| policy.searches()).map(|policy| policy.name()).collect();
        return Err(CliError::User(format!(
            "`--search-cycles` is for a policy that searches ({}): add one with --policy, or leave --search-cycles out",
            all.join(", ")
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::args::{Arguments, Command};
    use super::*;
    use clap::Parser;
    use mias_lab::experiment::presets::PRESETS;

    fn checked(words: &str) -> Result<(), String> {
        let arguments = Arguments::parse_from(words.split(' '));
        let Command::Run(args) = &arguments.command else { panic!("a run") };
        check(args.policy.as_slice(), &args.common).map_err(|error| error.to_string())
    }

    /// A level that the firmware sets and an option, or a preset, for the same.
    #[test]
    fn what_a_level_sets_no_option_says() {
        for (words, clash) in [
            ("--levels warps --in-flight 1,1", true),
            ("--levels warps --memory-issue quota", true),
            ("--levels kernels+requests --dram-scheduler batch", true),
            ("--levels warps --policy smk-p-qbmi", true),
            ("--levels requests --in-flight 1,1", false),
            ("--levels warps --dram-scheduler batch", false),
            ("--levels requests --policy smk-p-qbmi", false),
        ] {
            assert_eq!(checked(&format!("mias run mm fwt {words}")).is_err(), clash, "{words}");
        }
    }

    #[test]
    fn shares_are_for_whoever_deals_sms_out() {
        for (policy, deals) in [("spatial", true), ("smk", false), ("cd-search", false), ("mias-ipc", false)] {
            assert_eq!(checked(&format!("mias run mm fwt --policy {policy} --shares 6-18")).is_ok(), deals, "{policy}");
        }
        assert!(checked("mias run mm fwt --shares 6-18").is_err());
    }

    #[test]
    fn steps_are_for_whoever_searches() {
        for (policy, searches) in [("cd-search", true), ("mias-trial", true), ("spatial", false), ("mias-ipc", false)] {
            assert_eq!(checked(&format!("mias run mm fwt --policy {policy} --search-cycles 100")).is_ok(), searches, "{policy}");
        }
        assert!(checked("mias run mm fwt --search-cycles 100").is_err());
    }

    /// Every preset with every option: refused if and only if its name says the same.
    #[test]
    fn what_a_name_says_no_option_says() {
        let options = [
            ("--memory-issue round-robin", &["qbmi", "rbmi"][..]),
            ("--in-flight 3,1", &["dmil"]),
            ("--in-flight firmware", &["dmil"]),
            ("--warp-quota 100,100", &["w"]),
            ("--l1-ways 2,1", &["l1d"]),
            ("--miss-resources 3,1", &["miss"]),
        ];
        for preset in PRESETS {
            for (option, words) in options {
                let said = checked(&format!("mias run mm fwt --policy {} {option}", preset.name));
                let twice = preset.name.split('-').any(|part| words.contains(&part));
                assert_eq!(said.is_err(), twice, "{} {option}", preset.name);
            }
        }
        let said = checked("mias run mm fwt --policy ws-qbmi --memory-issue round-robin").expect_err("said twice");
        let expected =
            "error: `--memory-issue`: the policy `ws-qbmi` says that itself: leave the option out, or give it with `warped-slicer`";
        assert_eq!(said, expected);
    }
}
