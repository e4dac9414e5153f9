//! Colours: the eight of Okabe and Ito (2008), which people with any colour vision can tell apart, and for what goes beyond them those of
//! Tol's muted and dark schemes (SRON/EPS/TN/09-002). Each policy and stall class has one throughout the report.

use mias_hw_model::sm::IssueClass;

/// For what is no policy's: references, means.
pub(super) const INK: &str = "#222222";

const BLUE: &str = "#0072B2";
const VERMILLION: &str = "#D55E00";
const GREEN: &str = "#009E73";
const ORANGE: &str = "#E69F00";
const PURPLE: &str = "#CC79A7";
const SKY: &str = "#56B4E9";
const YELLOW: &str = "#F0E442";
const GREY: &str = "#999999";
const SAND: &str = "#DDCC77";

/// For policies without a colour of their own, in the order in which they appear.
const OTHERS: [&str; 9] = [YELLOW, "#332288", "#882255", "#44AA99", "#999933", "#117733", "#CC6677", "#AA4499", "#663333"];

/// A policy's colour; `others` are the names of all policies in the report.
pub(super) fn policy(name: &str, others: &[&str]) -> &'static str {
    named(name).unwrap_or_else(|| {
        let place = others.iter().filter(|other| named(other).is_none()).position(|other| *other == name).unwrap_or_default();
        OTHERS[place % OTHERS.len()]
    })
}

fn named(policy: &str) -> Option<&'static str> {
    Some(match policy {
        "left-over" => GREY,
        "spatial" => SKY,
        "null" => INK,
        "sequential" => SAND,
        // The thesis' colour for it.
        "warped-slicer" => PURPLE,
        "mias-ipc" => BLUE,
        "mias-ipm-ipc" => VERMILLION,
        "mias-factor" => GREEN,
        "mias-linear" => ORANGE,
        _ => return None,
    })
}

/// Colour and dash of the n-th of several curves.
pub(super) fn curve(number: usize) -> (&'static str, &'static str) {
    const COLOURS: [&str; 7] = [VERMILLION, ORANGE, PURPLE, BLUE, GREEN, SKY, INK];
    const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
    (COLOURS[number % COLOURS.len()], DASHES[(number / COLOURS.len() + number % 2) % DASHES.len()])
}

/// The classes of stalls, from the bottom of a bar up: colour and name for people.
pub(super) const STALLS: [(IssueClass, &str, &str); 5] = [
    (IssueClass::RawMemory, VERMILLION, "RAW, memory"),
    (IssueClass::RawCompute, ORANGE, "RAW, arithmetic"),
    (IssueClass::IdleOrControl, GREY, "idle or control"),
    (IssueClass::MemoryPipeline, BLUE, "memory pipeline"),
    (IssueClass::ComputePipeline, SKY, "compute pipeline"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::policy::Policy;
    use std::collections::BTreeSet;

    #[test]
    fn every_policy_has_a_colour_of_its_own() {
        let names: Vec<&str> = Policy::ALL.iter().map(|policy| policy.name()).collect();
        let colours: BTreeSet<&str> = names.iter().map(|name| policy(name, &names)).collect();
        assert_eq!(colours.len(), names.len());
    }
}
