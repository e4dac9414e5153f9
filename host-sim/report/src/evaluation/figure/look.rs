//! Appearance of lines, areas and texts of each class: one table, from which the style sheet is
//! generated.

use super::drawing::short;
use super::measure::TEXT;

/// Appearance of a class: colors, and the width and dashes of lines in user units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Look {
    /// Fill color as `#rrggbb`.
    pub(super) fill: Option<&'static str>,
    pub(super) stroke: Option<&'static str>,
    pub(super) width: f64,
    /// Lengths of dash and gap.
    pub(super) dash: Option<(f64, f64)>,
    /// Whether letters have a white edge, to be readable on any ground.
    pub(super) halo: bool,
}

const fn text(fill: &'static str, halo: bool) -> Look {
    Look { fill: Some(fill), stroke: None, width: if halo { 3.0 } else { 0.0 }, dash: None, halo }
}

const fn line(stroke: &'static str, width: f64, dash: Option<(f64, f64)>) -> Look {
    Look { fill: None, stroke: Some(stroke), width, dash, halo: false }
}

/// Edge of bars, which are filled in their series' style.
const BAR: Look = line("#222222", 0.5, None);

/// All style classes.
const CLASSES: [(&str, Look); 17] = [
    ("tick", text("#444444", false)),
    ("label", text("#1a1a1a", false)),
    ("name", text("#1a1a1a", false)),
    ("value", text("#1a1a1a", true)),
    ("title", text("#1a1a1a", false)),
    ("bar", BAR),
    ("band", Look { fill: Some("#e8e8e8"), stroke: None, width: 0.0, dash: None, halo: false }),
    ("axis", line("#333333", 1.0, None)),
    ("grid", line("#dddddd", 1.0, None)),
    ("one", line("#444444", 1.2, Some((6.0, 3.0)))),
    ("null", line("#111111", 2.2, Some((2.0, 2.5)))),
    ("oracle", line("#111111", 1.8, None)),
    ("mean", line("#111111", 2.6, None)),
    ("spread", line("#111111", 1.1, None)),
    ("late", Look { fill: Some("#111111"), stroke: Some("#ffffff"), width: 0.8, dash: None, halo: false }),
    ("thesis", Look { fill: Some("#ffffff"), stroke: Some("#111111"), width: 1.5, dash: None, halo: false }),
    ("dot", Look { fill: None, stroke: None, width: 1.1, dash: None, halo: false }),
];

/// Width of a curve in user units.
pub(super) const CURVE_WIDTH: f64 = 1.8;

/// Returns the style sheet of all drawings.
pub(crate) fn sheet() -> String {
    let rule = |(name, look): &(&str, Look)| {
        let mut says = String::new();
        if let Some(fill) = look.fill {
            says += &format!("fill:{fill};");
        }
        if look.halo {
            says += "paint-order:stroke;stroke:#ffffff;stroke-linejoin:round;";
        }
        if let Some(stroke) = look.stroke {
            says += &format!("stroke:{stroke};");
        }
        if look.width > 0.0 {
            says += &format!("stroke-width:{};", short(look.width));
        }
        if let Some((dash, gap)) = look.dash {
            says += &format!("stroke-dasharray:{} {};", short(dash), short(gap));
        }
        format!(".{name}{{{}}}\n", says.trim_end_matches(';'))
    };
    CLASSES.iter().map(rule).collect::<String>()
        + &format!(".curve{{stroke-width:{}}}\nsvg text{{font-size:{TEXT}px}}\n", short(CURVE_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_class_has_one_rule() {
        let names: BTreeSet<&str> = CLASSES.iter().map(|(name, _)| *name).collect();
        assert_eq!(names.len(), CLASSES.len());
        assert!(sheet().contains(".null{stroke:#111111;stroke-width:2.2;stroke-dasharray:2 2.5}\n"));
    }
}
