//! Colours and hatches, each policy and stall class having one of each throughout the report. Colours of built-in policies are in the table of
//! policies (`firmware/policies/src/policy/table.rs`), which says where they come from, and those of compositions are mixed from them. Hatches are given in the order in which the report first has the
//! policies, so that the first twelve of a report differ without colour, too.

use crate::evaluation::figure::{Marker, Style};
use mias_hw_model::sm::IssueClass;
use mias_lab::experiment::policies::Policies;

/// For what is no policy's.
const INK: &str = "#222222";

// Okabe and Ito's.
pub(super) const BLUE: &str = "#0072B2";
pub(super) const VERMILLION: &str = "#D55E00";
pub(super) const GREEN: &str = "#009E73";
pub(super) const ORANGE: &str = "#E69F00";
pub(super) const PURPLE: &str = "#CC79A7";
pub(super) const SKY: &str = "#56B4E9";
pub(super) const GREY: &str = "#999999";

/// For policies of the program's own, in the order in which the report first has them: of Tol's vibrant and contrast schemes
/// (SRON/EPS/TN/09-002), none that a built-in policy has.
const OWN: [&str; 6] = ["#EE3377", "#004488", "#997700", "#EE99AA", "#6699CC", "#CC3311"];

/// Colours and hatches of the policies of a report.
#[derive(Clone, Debug, Default)]
pub(super) struct Palette {
    /// All of them, in the order in which the report first has them.
    all: Vec<&'static str>,
    /// Names of those that are not built in.
    own: Vec<&'static str>,
}

/// Shape of dots that are no one policy's: one that no policy among the first has.
const SHARED: usize = 6;

impl Palette {
    /// For a report on policies of these names, each as often as it comes.
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

    /// A policy's colour and hatch.
    pub(super) fn style(&self, name: &str) -> Style {
        Style { colour: self.policy(name), number: self.all.iter().position(|known| *known == name).unwrap_or_default() }
    }

    /// A policy's dot for a group of the class at this place in the list of classes.
    pub(super) fn marker(&self, name: &str, class: usize) -> Marker {
        let style = self.style(name);
        // Past the shape that is kept for several.
        let number = if style.number % 9 >= SHARED { style.number % 9 + 1 } else { style.number % 9 };
        Marker { style: Style { number, ..style }, filling: class }
    }

    /// A dot for several policies at one place.
    pub(super) fn shared(class: usize) -> Marker {
        Marker { style: Style { colour: INK, number: SHARED }, filling: class }
    }

    /// A round dot that only says the class.
    pub(super) fn class(class: usize) -> Marker {
        Marker { style: Style { colour: INK, number: 0 }, filling: class }
    }

    /// A policy's colour.
    fn policy(&self, name: &str) -> &'static str {
        let place = || self.own.iter().position(|own| *own == name).unwrap_or_default();
        built_in(name).unwrap_or_else(|| OWN[place() % OWN.len()])
    }
}

fn built_in(name: &str) -> Option<&'static str> {
    Policies::default().find(name)?.colour()
}

/// Of a series that is alone.
pub(super) const ONE: Style = Style { colour: BLUE, number: 0 };

/// Of the n-th of several series of these colours.
pub(super) fn of(colours: &[&'static str], number: usize) -> Style {
    Style { colour: colours.get(number % colours.len().max(1)).unwrap_or(&INK), number }
}

/// Marker and dash of the n-th of several curves.
pub(super) fn curve(number: usize) -> (Marker, &'static str) {
    const COLOURS: [&str; 7] = [VERMILLION, ORANGE, PURPLE, BLUE, GREEN, SKY, INK];
    const DASHES: [&str; 4] = ["", "7 3", "2 3", "10 3 2 3"];
    let style = Style { colour: COLOURS[number % COLOURS.len()], number };
    (Marker { style, filling: number / COLOURS.len() }, DASHES[(number / COLOURS.len() + number % 2) % DASHES.len()])
}

/// Style of a class of stalls.
pub(super) fn stall(class: IssueClass) -> Style {
    let number = STALLS.iter().position(|(known, _)| *known == class).unwrap_or_default();
    Style { colour: STALLS.get(number).map_or(INK, |(_, colour)| colour), number }
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
        let names = || Policies::default().names().into_iter().chain(["a", "b", "c", "d", "e", "f"]);
        let palette = Palette::of(names());
        let colours: BTreeSet<&str> = names().map(|name| palette.policy(name)).collect();
        assert_eq!(colours.len(), names().count());
    }

    /// Also where a study has only some of them.
    #[test]
    fn a_policy_keeps_its_colour_throughout_a_report() {
        let (all, none) = (Palette::of(Policies::default().names().into_iter()), Palette::default());
        assert!(Policies::default().names().iter().all(|name| all.policy(name) == none.policy(name)));
        let own = Palette::of(["mias-ipc", "mine", "spatial", "mine", "yours"].into_iter());
        assert_eq!(["mine", "yours"].map(|name| own.policy(name)), [OWN[0], OWN[1]]);
        // Hatches follow the order, so that the first are told apart without colour.
        assert_eq!(["mias-ipc", "mine", "spatial", "yours"].map(|name| own.style(name).number), [0, 1, 2, 3]);
    }
}
