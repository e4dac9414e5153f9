//! Presets beside options: what a preset sets, an option may not set, too.

use super::CliError;
use super::args::CommonArgs;
use mias_lab::experiment::policy::Policy;

/// Refuses options that say what one of the policies says itself.
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
