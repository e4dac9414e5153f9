//! Colors and hatches, one of each per policy and stall class throughout the report.
//!
//! Colors of built-in policies, with their sources, are in the table of policies
//! (`firmware/policies/src/policy/table.rs`); those of compositions are mixed from them. Hatches
//! follow the order of policies in the report, so that its first twelve policies differ without
//! color, too.

use crate::evaluation::figure::{Marker, Style};
use mias_hw_model::sm::IssueClass;
use mias_lab::experiment::policies::Policies;

/// Color of items that belong to no policy.
const INK: &str = "#222222";

// Palette of Okabe and Ito.
pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const GREEN: &str = "#009E73";
pub(super) const ORANGE: &str = "#E69F00";
pub(super) const PURPLE: &str = "#CC79A7";
pub(super) const SKY: &str = "#56B4E9";
pub(super) const GRAY: &str = "#999999";

/// Colors of custom policies, in the order of appearance in the report: from Tol's vibrant and
/// contrast schemes (SRON/EPS/TN/09-002), without those of built-in policies.
const OWN: [&str; 6] = ["#EE3377", "#004488", "#997700", "#EE99AA", "#6699CC", "#CC3311"];

/// Colors and hatches of the policies of a report.
#[derive(Clone, Debug, Default)]
pub(super) struct Palette {
    /// All policies, in the order of appearance in the report.
    all: Vec<&'static str>,
    /// Names of custom policies.
    own: Vec<&'static str>,
}

/// Shape of dots shared by several policies: one that none of the first policies has.
const SHARED: usize = 6;

impl Palette {
    /// Creates the palette of a report on policies of these names, with repetitions.
    pub(super) fn of(names: impl Iterator<Item = &'static str>) -> Self {
        let mut all = Vec::new();
        for name in names {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        let own = all.iter().copied().filter(|name| built_in(name).is_none()).collect();
        Palette { all, own }
    }

    /// Returns a policy's color and hatch.
    pub(super) fn style(&self, name: &str) -> Style {
        Style { color: self.policy(name), number: self.all.iter().position(|known| *known == name).unwrap_or_default() }
    }

    /// Returns a policy's dot for a group of the class with this index.
    pub(super) fn marker(&self, name: &str, class: usize) -> Marker {
        let style = self.style(name);
        // Skip the shape that is reserved for shared dots.
        let number = if style.number % 9 >= SHARED { style.number % 9 + 1 } else { style.number % 9 };
        Marker { style: Style { number, ..style }, filling: class }
    }

    /// Returns the dot for several policies at the same coordinates.
    pub(super) fn shared(class: usize) -> Marker {
        Marker { style: Style { color: INK, number: SHARED }, filling: class }
    }

    /// Returns a round dot that only shows the class.
    pub(super) fn class(class: usize) -> Marker {
        Marker { style: Style { color: INK, number: 0 }, filling: class }
    }

    /// Returns a policy's color.
    fn policy(&self, name: &str) -> &'static str {
        let place = || self.own.iter().position(|own| *own == name).unwrap_or_default();
        built_in(name).unwrap_or_else(|| OWN[place() % OWN.len()])
    }
}

fn built_in(name: &str) -> Option<&'static str> {
    Policies::default().find(name)?.color()
}

/// Style of a single series.
pub(super) const ONE: Style = Style { color: BLUE, number: 0 };

/// Returns the style of the n-th of several series of these colors.
pub(super) fn of(colors: &[&'static str], number: usize) -> Style {
    Style { color: colors.get(number % colors.len().max(1)).unwrap_or(&INK), number }
}

/// Returns marker and dash of the n-th of several curves.
pub(super) fn curve(number: usize) -> (Marker, &'static str) {
    const COLORS: [&str; 7] = [VERMILLION, ORANGE, PURPLE, BLUE, GREEN, SKY, INK];
    const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
    let style = Style { color: COLORS[number % COLORS.len()], number };
    (Marker { style, filling: number / COLORS.len() }, DASHES[(number / COLORS.len() + number % 2) % DASHES.len()])
}

/// Returns the style of a stall class.
pub(super) fn stall(class: IssueClass) -> Style {
    let number = STALLS.iter().position(|(known, _)| *known == class).unwrap_or_default();
    Style { color: STALLS.get(number).map_or(INK, |(_, color)| color), number }
}

/// Stall classes, from the bottom of a bar up, with their colors.
pub(super) const STALLS: [(IssueClass, &str); 8] = [
    (IssueClass::MemoryRaw, VERMILLION),
    (IssueClass::SharedRaw, PURPLE),
    (IssueClass::ConstantRaw, INK),
    (IssueClass::ComputeRaw, ORANGE),
    (IssueClass::IdleOrControl, GRAY),
    (IssueClass::MemoryPipeline, BLUE),
    (IssueClass::BothPipelines, GREEN),
    (IssueClass::ComputePipeline, SKY),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_policy_has_a_color_of_its_own() {
        let names = || Policies::default().names().into_iter().chain(["a", "b", "c", "d", "e", "f"]);
        let palette = Palette::of(names());
        let colors: BTreeSet<&str> = names().map(|name| palette.policy(name)).collect();
        assert_eq!(colors.len(), names().count());
    }

    /// A policy keeps its color in all studies of a report, including those with only some of the
    /// policies.
    #[test]
    fn a_policy_keeps_its_color_throughout_a_report() {
        let (all, none) = (Palette::of(Policies::default().names().into_iter()), Palette::default());
        assert!(Policies::default().names().iter().all(|name| all.policy(name) == none.policy(name)));
        let own = Palette::of(["mias-ipc", "mine", "spatial", "mine", "yours"].into_iter());
        assert_eq!(["mine", "yours"].map(|name| own.policy(name)), [OWN[0], OWN[1]]);
        // Hatches follow the order of policies, so that the first are distinct without color.
        assert_eq!(["mias-ipc", "mine", "spatial", "yours"].map(|name| own.style(name).number), [0, 1, 2, 3]);
    }
}
