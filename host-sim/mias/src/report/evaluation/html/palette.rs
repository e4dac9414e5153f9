//! Colours, each policy and stall class having one throughout the report. Those of built-in policies are in the table of policies
//! (`firmware/src/policy/table.rs`), which says where they come from.

use mias_hw_model::sm::IssueClass;
use mias_lab::experiment::policy::Policy;

/// For what is no policy's: references, means.
pub(super) const INK: &str = "#222222";

const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const GREEN: &str = "#009E73";
const ORANGE: &str = "#E69F00";
const PURPLE: &str = "#CC79A7";
const SKY: &str = "#56B4E9";
const GREY: &str = "#999999";

/// For policies of the program's own, in the order in which the report first has them: of Tol's vibrant and contrast schemes
/// (SRON/EPS/TN/09-002), none that a built-in policy has.
const OWN: [&str; 6] = ["#EE3377", "#004488", "#997700", "#EE99AA", "#6699CC", "#CC3311"];

/// Colours of the policies of a report.
#[derive(Clone, Debug, Default)]
pub(super) struct Palette {
    /// Names of those that are not built in.
    own: Vec<&'static str>,
}

impl Palette {
    /// For a report on policies of these names, each as often as it comes.
    pub(super) fn of(names: impl Iterator<Item = &'static str>) -> Self {
        let mut own = Vec::new();
        for name in names.filter(|name| built_in(name).is_none()) {
            if !own.contains(&name) {
                own.push(name);
            }
        }
        Palette { own }
    }

    /// A policy's colour.
    pub(super) fn policy(&self, name: &str) -> &'static str {
        let place = || self.own.iter().position(|own| *own == name).unwrap_or_default();
        built_in(name).unwrap_or_else(|| OWN[place() % OWN.len()])
    }
}

fn built_in(name: &str) -> Option<&'static str> {
    Policy::ALL.iter().find(|policy| policy.name() == name)?.colour()
}

/// Colour and dash of the n-th of several curves.
pub(super) fn curve(number: usize) -> (&'static str, &'static str) {
    const COLOURS: [&str; 7] = [VERMILLION, ORANGE, PURPLE, BLUE, GREEN, SKY, INK];
    const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
    (COLOURS[number % COLOURS.len()], DASHES[(number / COLOURS.len() + number % 2) % DASHES.len()])
}

/// The classes of stalls, from the bottom of a bar up, and their colours.
pub(super) const STALLS: [(IssueClass, &str); 8] = [
    (IssueClass::MemoryRaw, VERMILLION),
    (IssueClass::SharedRaw, PURPLE),
    (IssueClass::ConstantRaw, INK),
    (IssueClass::ComputeRaw, ORANGE),
    (IssueClass::IdleOrControl, GREY),
    (IssueClass::MemoryPipeline, BLUE),
    (IssueClass::BothPipelines, GREEN),
    (IssueClass::ComputePipeline, SKY),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_policy_has_a_colour_of_its_own() {
        let names = || Policy::ALL.iter().map(|policy| policy.name()).chain(["a", "b", "c", "d", "e", "f"]);
        let palette = Palette::of(names());
        let colours: BTreeSet<&str> = names().map(|name| palette.policy(name)).collect();
        assert_eq!(colours.len(), names().count());
    }

    /// Also where a study has only some of them.
    #[test]
    fn a_policy_keeps_its_colour_throughout_a_report() {
        let (all, none) = (Palette::of(Policy::ALL.iter().map(|policy| policy.name())), Palette::default());
        assert!(Policy::ALL.iter().all(|policy| all.policy(policy.name()) == none.policy(policy.name())));
        let own = Palette::of(["mias-ipc", "mine", "spatial", "mine", "yours"].into_iter());
        assert_eq!(["mine", "yours"].map(|name| own.policy(name)), [OWN[0], OWN[1]]);
    }
}
